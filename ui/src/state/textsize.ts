/** Text size: ⌘+ and ⌘−, ⌘0 as it was; kept in this window's own storage, applied through the root's font size. */
const STEPS = [80, 90, 100, 110, 125, 150, 175, 200]
const KEY = 'text-size'

export function restoreTextSize(): void {
  apply(Number(localStorage.getItem(KEY)) || 100)
}

export function changeTextSize(by: -1 | 0 | 1): number {
  const now = STEPS.indexOf(Number(localStorage.getItem(KEY)) || 100)
  const size = by === 0 ? 100 : (STEPS[Math.min(Math.max(now + by, 0), STEPS.length - 1)] ?? 100)
  localStorage.setItem(KEY, String(size))
  apply(size)
  return size
}

function apply(size: number): void {
  document.documentElement.style.fontSize = size === 100 ? '' : `${size}%`
}
