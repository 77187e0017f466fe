/** Whatever was thrown, as what happened, what had been done, and one next step. */
import type { Failure } from '../host'

export function asFailure(thrown: unknown): Failure {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
    const { kind, message, done, next, action } = thrown as Partial<Failure>
    return { kind: kind ?? 'internal', message: String(message), done: done ?? '', next: next ?? 'Try again.', ...(action && { action }) }
  }
  return { kind: 'internal', message: String(thrown), done: '', next: 'Try again.' }
}
