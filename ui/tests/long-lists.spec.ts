/** What the lists do with 1,000 agents and 2,000 projects. How long it takes is measured in `bench/`. */
import { expect, test } from '@playwright/test'
import { openMany } from './open-many'

test('of 2,000 projects only those in view are rows of the page, and the last can be scrolled to', async ({ page }) => {
  await openMany(page)
  await page.getByRole('button', { name: 'All 2,000' }).evaluate((button: HTMLElement) => button.click())
  await page.locator('.pop').evaluate((list) => (list.scrollTop = list.scrollHeight))
  await expect(page.getByText('project-1999', { exact: true })).toBeVisible()
  expect(await page.locator('[data-row]').count()).toBeLessThan(400)
})

test('a thousand agents told anew are shown as told', async ({ page }) => {
  await openMany(page)
  await page.evaluate(() => {
    const host = (window as unknown as { fake: { world: { agents: { doing: string }[]; changed(): void } } }).fake
    host.world.agents = host.world.agents.map((row) => ({ ...row, doing: 'counts the stars' }))
    host.world.changed()
  })
  await expect(page.getByText('counts the stars').first()).toBeVisible()
})

test('typing narrows three thousand rows', async ({ page }) => {
  await openMany(page)
  await page.keyboard.type('project-19')
  await expect(page.getByText('project-19', { exact: true })).toBeVisible()
  await expect(page.getByText('service-0', { exact: true })).toHaveCount(0)
})

test('the arrows reach what is far down', async ({ page }) => {
  await openMany(page)
  for (let i = 0; i < 70; i += 1) await page.keyboard.press('ArrowDown')
  await expect(page.locator('[data-row="agent-69"]')).toBeFocused()
  await expect(page.locator('[data-row="agent-69"]')).toBeInViewport()
})
