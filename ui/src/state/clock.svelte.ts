/**
 * The time, as far as the windows show it. It moves only while somebody can see it: a hidden window costs nothing.
 */
import { host } from '../host'

class Clock {
  /** Milliseconds since 1970. */
  now = $state(0)
  #timer: ReturnType<typeof setTimeout> | undefined
  #close = 0

  constructor() {
    if (typeof document !== 'undefined') document.addEventListener('visibilitychange', () => this.tick())
  }

  /** Reads the host's time and goes on doing so: every 5 s, or ten times a second while something is being timed. */
  tick = (): void => {
    clearTimeout(this.#timer)
    this.now = host().now()
    if (!document.hidden) this.#timer = setTimeout(this.tick, this.#close > 0 ? 100 : 5000)
  }

  /** Looks closely until the returned function is called. */
  watchClosely(): () => void {
    this.#close += 1
    this.tick()
    return () => {
      this.#close -= 1
    }
  }

  stop = (): void => clearTimeout(this.#timer)
}

export const clock = new Clock()
