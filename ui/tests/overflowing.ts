import type { Page } from '@playwright/test'

/** What is wider than its window, or is cut off where it could not be scrolled to. */
export async function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const told: string[] = []
    const width = document.documentElement.clientWidth
    const height = document.documentElement.clientHeight
    if (document.documentElement.scrollWidth > width) told.push(`the page is ${document.documentElement.scrollWidth} wide`)
    for (const element of document.querySelectorAll('button, input, select, textarea, h1, .note, .line, .row, .step')) {
      if (element.closest('.vh, details:not([open]) > :not(summary)')) continue
      const box = element.getBoundingClientRect()
      if (box.width === 0) continue
      const scrolls = element.closest('.body, .pop, .troubles, .brief, .scroll, .spawn, form, aside, .grid, nav, dialog .inside, ul[role=listbox], [role=document]')
      if (box.right > width + 1 || box.left < -1) told.push(`${element.className} ${element.textContent?.slice(0, 40)} reaches to ${box.right} of ${width}`)
      if (!scrolls && (box.bottom > height + 1 || box.top < -1)) told.push(`${element.className} ${element.textContent?.slice(0, 40)} is cut off at ${box.bottom} of ${height}`)
    }
    return told
  })
}
