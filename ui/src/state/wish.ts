/** A wish with nothing chosen yet: everything follows the folder's last choices. `otherwise` is where it goes as long as neither a folder is chosen nor the text names one. */
import type { Wish } from '../host'

export function wishFor(text: string, folder: string | null, otherwise: string | null = null): Wish {
  return {
    text,
    folder,
    otherwise,
    name: null,
    permission: null,
    delivery: null,
    terminal: null,
    agent: null,
    budget: null,
    without_sources: [],
    worktree: false,
    markdown: null,
  }
}
