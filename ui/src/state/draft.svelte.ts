/** The spawn being prepared. It outlives its page, so that coming back from a failed start finds everything as chosen. */
import type { Wish } from '../host'
import { wishFor } from './wish'

class Draft {
  wish = $state<Wish>(wishFor('', null))

  begin(text: string, folder: string | null): void {
    this.wish = wishFor(text, folder)
  }
}

export const draft = new Draft()
