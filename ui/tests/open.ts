import { expect, type Page } from '@playwright/test'
import type { Shown } from './pages'

/** Opens a page and leads to its state by keys alone. The clock stands still, so that pictures can be compared. */
export async function open(page: Page, shown: Shown, more = ''): Promise<void> {
  await page.setViewportSize(shown.size)
  await page.goto(`./${shown.address}${more}`)
  await expect(page.getByText(shown.wait).first()).toBeVisible()
  for (const key of shown.keys ?? []) await page.keyboard.press(more.includes('mac') ? key.replace('Control', 'Meta') : key)
}

/** What the page complained about: a refused style, an error thrown. Must stay empty. */
export function complaints(page: Page): string[] {
  const said: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') said.push(message.text())
  })
  page.on('pageerror', (error) => said.push(String(error)))
  return said
}
