/** Moving the focus through everything marked `data-row`, in the order in which it is read. */

const ROW = '[data-row]'

export function activeRow(): string | null {
  return document.activeElement?.closest<HTMLElement>(ROW)?.dataset.row ?? null
}

export function rowOf(within: HTMLElement | null | undefined, key: string): HTMLElement | null {
  return within?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null
}

export function moveRow(within: HTMLElement, by: 1 | -1): void {
  const rows = [...within.querySelectorAll<HTMLElement>(ROW)]
  const at = rows.indexOf(document.activeElement?.closest<HTMLElement>(ROW) ?? (null as never))
  focusRow(rows[Math.min(Math.max(at + by, 0), rows.length - 1)])
}

export function focusRow(row: HTMLElement | null | undefined): void {
  row?.focus({ preventScroll: true })
  row?.scrollIntoView?.({ block: 'nearest' })
}
