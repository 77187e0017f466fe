/** A wish with nothing chosen yet: everything follows the folder's last choices. */
import type { Wish } from '../host'

export function wishFor(text: string, folder: string | null): Wish {
  return {
    text,
    folder,
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
