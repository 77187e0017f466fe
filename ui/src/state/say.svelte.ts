/** What a screen reader is told when something changes without the user's doing. Shown in one live region per window. */
class Say {
  text = $state('')
  #turn = false

  /** The same sentence twice is still said twice: an invisible character makes it a change. */
  aloud(text: string): void {
    this.#turn = !this.#turn
    this.text = text + (this.#turn ? '' : '\u200b')
  }
}

export const say = new Say()
