/** Which page the panel shows. Pages stack: Esc goes back one, and closes the window where there is none. */
import { ask, on, type Page } from '../host'
import { draft } from './draft.svelte'

class Pages {
  stack = $state.raw<Page[]>([])
  top = $derived(this.stack.at(-1))
  /** Counts what the host opened, so that the same page opened anew really is anew. */
  opened = $state(0)

  start(first: string): () => void {
    this.show(parse(first) ?? { page: 'spawn', text: '', folder: null })
    // What the host opened while nobody listened is asked for.
    return on('page', (page) => this.show(page), () => void ask('page', null).then((page) => page && this.show(page)))
  }

  /** The host opens a page. An empty spawn page keeps what stands in the one already there and was not started yet, and what an agent asks comes above its own. */
  show(page: Page): void {
    if (page.page === 'job' && this.top?.page === 'agent') return this.go(page)
    if (page.page === 'spawn' && this.top?.page === 'spawn' && page.text === '' && page.folder === null && !draft.spent) {
      draft.reopen(page.note ?? null)
      return
    }
    this.opened += 1
    this.stack = [page]
    if (page.page === 'spawn') draft.begin(page.text, page.folder, page.others, page.note)
  }

  go(page: Page): void {
    this.stack = [...this.stack, page]
  }

  replace(page: Page): void {
    this.stack = [...this.stack.slice(0, -1), page]
  }

  back = (): void => {
    if (this.stack.length > 1) this.stack = this.stack.slice(0, -1)
    else void ask('close', 'panel')
  }

  /** Leaves a page that is over: what was beneath it is shown when the window opens again. */
  close = (): void => {
    void ask('close', 'panel')
    this.stack = []
    this.show({ page: 'spawn', text: '', folder: null })
  }

  /** A start that went well is over. Of several folders the next one's turn comes, with the same words. */
  started = (): void => {
    const [folder, ...others] = draft.others
    if (folder === undefined) return this.close()
    this.show({ page: 'spawn', text: draft.wish.text, folder, others })
  }
}

export const pages = new Pages()

/** Reads a page as it stands behind `#`: its JSON, or a word with at most one detail, `settings/hotkey`. */
export function parse(hash: string): Page | null {
  const text = decoded(hash.replace(/^[#/]+/, ''))
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text) as Page
    } catch {
      return null
    }
  }
  const [word, detail = null] = text.split(/\/(.*)/)
  if (word === 'spawn') return { page: 'spawn', text: '', folder: detail }
  if (word === 'settings') return { page: 'settings', pane: detail }
  if ((word === 'agent' || word === 'job') && detail) return { page: word, id: detail }
  if (word === 'cleanup' || word === 'first-run') return { page: word }
  return null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
