/** Errors nobody expected: what they say, and what is reported of them. The page goes on where it can. */
class Mishap {
  /** The last one that did not take its page away. */
  last = $state.raw<unknown>(null)

  /** Catches what no page catches, until the returned function is called. */
  start(): () => void {
    const failed = (event: ErrorEvent): void => this.#note(event.error ?? event.message)
    const rejected = (event: PromiseRejectionEvent): void => this.#note(event.reason)
    window.addEventListener('error', failed)
    window.addEventListener('unhandledrejection', rejected)
    return () => {
      window.removeEventListener('error', failed)
      window.removeEventListener('unhandledrejection', rejected)
    }
  }

  dismiss = (): void => {
    this.last = null
  }

  #note(thrown: unknown): void {
    // The browser's own remark about a size that changed while it was looked at; nothing failed.
    if (String(thrown).includes('ResizeObserver')) return
    this.last = thrown
  }

  words(thrown: unknown): string {
    if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message)
    return String(thrown)
  }

  report(thrown: unknown): string {
    const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
    return `${this.words(thrown)}\n${stack}`.trim()
  }
}

export const mishap = new Mishap()
