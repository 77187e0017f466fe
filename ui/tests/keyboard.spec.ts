import { expect, test, type Page } from '@playwright/test'
import { complaints } from './open'

/** Every verb by keyboard alone, in a real browser with real focus. */
type Call = [verb: string, input: unknown]

const calls = (page: Page) => page.evaluate(() => (window as unknown as { fake: { asked: Call[] } }).fake.asked)
const asked = async (page: Page, verb: string) => (await calls(page)).filter(([name]) => name === verb).map(([, input]) => input)

async function keys(page: Page, ...pressed: string[]): Promise<void> {
  for (const key of pressed) await page.keyboard.press(key)
}

test('from the popover: focus, preview, tell, checkpoint, pause, resume, hand over, forget, undo, close', async ({ page }) => {
  const said = complaints(page)
  await page.goto('./?window=popover')
  await expect(page.getByText('web-console', { exact: true })).toBeVisible()
  await keys(page, 'Enter')
  await expect.poll(() => asked(page, 'focus')).toEqual(['api-7f3a'])
  await keys(page, 'ArrowDown', 'ArrowDown', 'c')
  await expect.poll(() => asked(page, 'checkpoint')).toHaveLength(1)
  await keys(page, 't')
  await page.keyboard.type('Use the other branch')
  await keys(page, 'Control+Enter')
  await expect.poll(() => asked(page, 'tell')).toEqual([{ agent: 'web-console-7f3a', text: 'Use the other branch' }])
  await expect(page.locator('[data-row="web-console-7f3a"]')).toBeFocused()
  await keys(page, 'h', 'Control+Enter')
  await expect.poll(() => asked(page, 'handover')).toHaveLength(1)
  // Down to the idle one, which can be paused without interrupting anything.
  await keys(page, 'ArrowDown', 'ArrowDown', 'ArrowDown', 'p')
  await expect(page.getByRole('listitem', { name: /^infra, Paused/ })).toBeFocused()
  await keys(page, 'p')
  await expect.poll(() => asked(page, 'resume')).toHaveLength(1)
  await keys(page, 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Shift+Backspace', 'Control+Enter')
  await expect(page.getByRole('listitem', { name: /^importer/ })).toHaveCount(0)
  await keys(page, 'Control+z')
  await expect(page.getByRole('listitem', { name: /^importer/ })).toBeVisible()
  await expect(page.getByText('is back in the list').first()).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'What should the agent do?' })).toBeFocused()
  await keys(page, 'Escape')
  await expect(page.getByRole('button', { name: 'Dismiss' })).toHaveCount(0)
  await keys(page, 'Escape')
  await expect.poll(() => asked(page, 'close')).toEqual(['popover'])
  expect(said).toEqual([])
})

test('one key spawns in a recent project, and Esc cancels', async ({ page }) => {
  await page.goto('./?window=popover&stop=gather')
  await expect(page.getByText('web-console', { exact: true })).toBeVisible()
  await keys(page, 'Control+1')
  await expect(page.getByRole('progressbar', { name: 'Gather' })).toBeVisible()
  await keys(page, 'Escape')
  await expect(page.getByText('No half-written file is left')).toBeVisible()
  await keys(page, 'Escape')
  await expect(page.getByRole('textbox', { name: 'What should the agent do?' })).toBeFocused()
})

test('from the spawn panel: type, decide about lines, edit, choose permissions, spawn, focus', async ({ page }) => {
  const said = complaints(page)
  await page.goto('./?speed=40')
  await expect(page.getByRole('textbox', { name: 'What should the agent do?' })).toBeFocused()
  await page.keyboard.type('Fix the race in ~/code/api, 现在')
  await expect(page.locator('.found')).toHaveText('~/code/api')
  await keys(page, 'ArrowDown', 'p')
  await expect(page.getByRole('listitem', { name: /^Pinned\. Refresh tokens/ })).toBeFocused()
  await keys(page, 'ArrowDown', 'Backspace')
  await expect.poll(() => asked(page, 'mark')).toHaveLength(2)
  await expect(page.getByRole('listitem', { name: /^New since last spawn\. A row lock/ })).toBeFocused()
  await keys(page, 's')
  await expect(page.getByRole('dialog', { name: 'From history, s-77' })).toBeVisible()
  await keys(page, 'Escape', 'Shift+Backspace')
  await expect.poll(() => asked(page, 'mark')).toMatchObject([{ mark: 'pinned' }, { mark: 'dropped' }, { mark: 'never' }])
  await keys(page, 'Control+e')
  await expect(page.getByRole('textbox', { name: 'Briefing in Markdown' })).toBeFocused()
  await page.keyboard.type('First: ')
  await keys(page, 'Control+e', 'Alt+2', 'Control+Enter')
  await expect(page.getByRole('heading', { name: 'api is ready' })).toBeVisible()
  expect(await asked(page, 'spawn')).toMatchObject([{ permission: 'accept-edits', markdown: expect.stringContaining('First: ') }])
  await keys(page, 'Enter')
  await expect.poll(() => asked(page, 'close')).toEqual(['panel'])
  expect(said).toEqual([])
})

test('Tab reaches every control of the spawn panel in reading order, and shows where it is', async ({ page }) => {
  await page.goto('./?page=spawn')
  await expect(page.getByText('Held back')).toBeVisible()
  const seen: string[] = []
  for (let i = 0; i < 20; i += 1) {
    await keys(page, 'Tab')
    const now = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement
      if (element === document.body) return null
      return { name: element.getAttribute('aria-label') ?? element.textContent ?? '', ring: getComputedStyle(element).outlineStyle !== 'none' }
    })
    if (!now) break
    expect(now.ring, now.name).toBe(true)
    seen.push(now.name)
  }
  const order = ['Project: api', 'Ask', 'Session hook', 'Budget in tokens', 'Ask history', 'Name, agent', 'Refresh tokens', 'Show', 'Edit', 'Spawn']
  const at = order.map((name) => seen.findIndex((one) => one.includes(name)))
  expect(at.every((one, i) => one > (at[i - 1] ?? -1)), `${at.join()} in ${seen.join(' · ')}`).toBe(true)
})

test('a sheet keeps the focus inside and gives it back', async ({ page }) => {
  await page.goto('./?page=agent/api-7f3a')
  await expect(page.getByText('Briefing as delivered')).toBeVisible()
  const tell = page.getByRole('button', { name: /^Tell/ })
  await tell.focus()
  await keys(page, 'Enter')
  await expect(page.getByRole('textbox', { name: 'What to tell it' })).toBeFocused()
  for (let i = 0; i < 6; i += 1) {
    await keys(page, 'Tab')
    expect(await page.evaluate(() => document.activeElement === document.body || Boolean(document.activeElement?.closest('dialog')))).toBe(true)
  }
  await keys(page, 'Escape')
  await expect(tell).toBeFocused()
})

test('clean up and undo, settings and back, by keys', async ({ page }) => {
  await page.goto('./?page=cleanup')
  await expect(page.getByText('importer', { exact: true })).toBeVisible()
  await keys(page, 'Tab', 'Space', 'Control+Enter')
  await expect.poll(() => asked(page, 'clean')).toEqual([['blog-2-7f3a', 'ledger-2-7f3a']])
  await expect(page.getByText('2 agents cleaned up')).toBeVisible()
  await keys(page, 'Control+z')
  await expect(page.getByText('Everything is back')).toBeVisible()
  await page.goto('./?page=settings/hotkey')
  await expect(page.getByText('Opens the spawn panel from anywhere')).toBeVisible()
  await keys(page, 'Tab', 'Enter', 'Control+Alt+Shift+K')
  await expect(page.getByRole('button', { name: /^Hotkey: Ctrl\+Alt\+Shift\+K/ })).toBeFocused()
  await keys(page, 'Escape')
  await expect.poll(() => asked(page, 'close')).toEqual(['panel'])
})
