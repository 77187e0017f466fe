/** The preview as one list of lines under headings, in the order in which it is read and walked through. */
import type { BriefingLine, Preview } from '../../host'

export interface Listed {
  line: BriefingLine
  key: string
  /** Struck: it is not in the briefing. */
  gone: boolean
  /** It was in the last one. */
  before: boolean
}

export interface Group {
  title: string
  lines: Listed[]
}

/** What is quarantined is always shown, and what the user dropped, too: it must be possible to take that back. */
function alwaysShown(line: BriefingLine): boolean {
  return line.left_out === 'quarantined' || line.mark !== null
}

/** `since` says when the last briefing was, in words. */
export function groups(preview: Preview, leftOut: boolean, since: string | null): Group[] {
  const listed = (line: BriefingLine, gone: boolean, before = false): Listed => ({ line, gone, before, key: `${line.source} ${line.id}${before ? ' before' : ''}` })
  const held = preview.left_out.filter(alwaysShown)
  const rest = preview.left_out.filter((line) => !alwaysShown(line))
  const all: Group[] = [
    ...preview.sections.map(({ title, lines }) => ({ title, lines: lines.map((line) => listed(line, false)) })),
    { title: 'Held back', lines: held.map((line) => listed(line, true)) },
    { title: `Gone since ${since ?? 'last time'}`, lines: preview.gone.map((line) => listed(line, true, true)) },
    { title: 'Left out', lines: leftOut ? rest.map((line) => listed(line, true)) : [] },
  ]
  return all.filter((group) => group.lines.length > 0)
}

/** How many lines "Show" would bring. */
export function hidden(preview: Preview): number {
  return preview.left_out.filter((line) => !alwaysShown(line)).length
}

/** "+3 new −1 gone ~1 changed", and since when. */
export function changes(preview: Preview, since: string | null): { words: string; since: string } {
  if (since === null) return { words: 'first spawn in this folder', since: '' }
  const lines = preview.sections.flatMap((section) => section.lines)
  const fresh = lines.filter((line) => line.change === 'new').length
  const changed = lines.filter((line) => line.change === 'changed').length
  const parts = [fresh && `+${fresh} new`, preview.gone.length && `−${preview.gone.length} gone`, changed && `~${changed} changed`].filter(Boolean)
  return { words: parts.length ? parts.join(' ') : 'as it was', since: `since ${since}` }
}
