/** The spawn being prepared. It outlives its page, so that coming back from a failed start finds everything as chosen. */
import type { Wish } from '../host'
import { wishFor } from './wish'

class Draft {
  wish = $state<Wish>(wishFor('', null))
  /** Further folders that were chosen with this one: one spawn each. */
  others = $state.raw<string[]>([])
  /** What is to be said about what came from outside. */
  note = $state.raw<string | null>(null)

  /** The text of the last start from here. */
  #tried: string | null = null

  tried(): void {
    this.#tried = this.wish.text
  }

  /** It was started as it stands: whoever opens the panel anew begins anew. */
  get spent(): boolean {
    return this.#tried === this.wish.text
  }

  /** The panel is opened again: the words stay, but that nothing is asked must be chosen in plain sight. */
  reopen(note: string | null): void {
    this.note = note ?? this.note
    if (this.wish.permission === 'skip') this.wish.permission = null
  }

  begin(text: string, folder: string | null, others: string[] = [], note: string | null = null): void {
    this.wish = wishFor(text, folder)
    this.#tried = null
    this.others = others
    this.note = note
  }

  /** Takes one of the further folders first; the one before comes after it. */
  turnTo(folder: string): void {
    const before = this.wish.folder
    this.others = this.others.flatMap((other) => (other !== folder ? [other] : before === null ? [] : [before]))
    this.wish.folder = folder
    this.wish.markdown = null
  }
}

export const draft = new Draft()
