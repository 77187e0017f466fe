/** The spawn being prepared. It outlives its page, so that coming back from a failed start finds everything as chosen. */
import type { Wish } from '../host'
import { wishFor } from './wish'

class Draft {
  wish = $state<Wish>(wishFor('', null))
  /** Further folders that were chosen with this one: one spawn each. */
  others = $state.raw<string[]>([])
  /** What is to be said about what came from outside. */
  note = $state.raw<string | null>(null)

  begin(text: string, folder: string | null, others: string[] = [], note: string | null = null): void {
    this.wish = wishFor(text, folder)
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
