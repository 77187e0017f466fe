/** How long a window waits for its host. What waits for a person, or works through many things, has time. */
import type { Failure } from './door'
import type { VerbName } from './index'

/** In milliseconds. */
const USUAL = 10_000
const LONG = 180_000

const TAKES_LONG: readonly VerbName[] = ['preview', 'check_source', 'first_run', 'finish_first_run', 'pause', 'resume', 'rebrief', 'handover', 'checkpoint', 'tell', 'clean', 'clean_undo', 'forget', 'diagnostics', 'traces', 'remove_everything']
/** The system asks the user something meanwhile. */
const ASKS: readonly VerbName[] = ['choose_folder', 'set_secret', 'switch']

export function patience(verb: VerbName): number {
  if (ASKS.includes(verb)) return Infinity
  return TAKES_LONG.includes(verb) ? LONG : USUAL
}

/** The answer, or a failure when it is not there in time. */
export function inTime<T>(verb: VerbName, ms: number, answer: Promise<T>): Promise<T> {
  if (ms === Infinity) return answer
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(silent(verb, ms)), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function silent(verb: VerbName, ms: number): Failure {
  return {
    kind: 'environment',
    message: `The app has not answered for ${Math.round(ms / 1000)} s (${verb}).`,
    done: '',
    next: 'It may still do what was asked. Look again in a moment; if it stays silent, quit it and open it anew. Agents go on.',
  }
}
