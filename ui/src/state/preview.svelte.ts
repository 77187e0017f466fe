/**
 * The preview that follows the wish. It asks when the typing pauses, drops answers that come too late, and shows the
 * last one until the next is there.
 */
import { ask, type Failure, type Preview, type Wish } from '../host'
import { clock } from './clock.svelte'
import { asFailure } from './failure'

/** A pause in typing, in milliseconds; shorter ones would ask the stores for every word. */
export const PAUSE = 350

export class PreviewState {
  last = $state.raw<Preview | null>(null)
  failure = $state.raw<Failure | null>(null)
  /** Since when an answer is awaited. */
  since = $state<number | null>(null)
  /** The text that `last` belongs to; what was found in it is only true of that. */
  text = $state('')
  #turn = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  follow(wish: Wish, pause = PAUSE): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.now(wish), pause)
  }

  async now(wish: Wish): Promise<void> {
    clearTimeout(this.#timer)
    const turn = (this.#turn += 1)
    // The panel is made hidden when the app starts. Asking the stores may ask the user for a password, so it waits.
    if (document.hidden) {
      document.addEventListener('visibilitychange', () => turn === this.#turn && void this.now(wish), { once: true })
      return
    }
    clock.tick()
    this.since = clock.now
    try {
      const preview = await ask('preview', wish)
      if (turn !== this.#turn) return
      this.last = preview
      this.text = wish.text
      this.failure = null
    } catch (thrown) {
      if (turn !== this.#turn) return
      this.failure = asFailure(thrown)
    }
    this.since = null
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#turn += 1
  }
}
