import { expect, test, type Page } from '@playwright/test'

const MOST = 50

/** The longest the page worked without letting a frame through, in ms, while something is done. */
async function longest(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const seen: number[] = []
    Object.assign(window, { seen })
    new PerformanceObserver((list) => seen.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' })
  })
  await act()
  await page.waitForTimeout(200)
  return page.evaluate(() => Math.max(0, ...(window as unknown as { seen: number[] }).seen))
}

async function openMany(page: Page): Promise<void> {
  await page.setViewportSize({ width: 380, height: 560 })
  await page.goto('./?window=popover&many')
  await expect(page.getByText('service-0', { exact: true })).toBeVisible()
  await page.waitForTimeout(300)
}

test('1,000 agents and 2,000 projects are scrolled through without a long frame', async ({ page }) => {
  await openMany(page)
  await page.getByRole('button', { name: 'All 2,000' }).evaluate((button: HTMLElement) => button.click())
  await page.mouse.move(190, 300)
  const worst = await longest(page, async () => {
    for (let i = 0; i < 30; i += 1) {
      await page.mouse.wheel(0, 1500)
      await page.waitForTimeout(30)
    }
    await page.locator('.pop').evaluate((list) => (list.scrollTop = list.scrollHeight))
  })
  console.log(`longest task while scrolling: ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(MOST)
  await expect(page.getByText('project-1999', { exact: true })).toBeVisible()
  expect(await page.locator('[data-row]').count()).toBeLessThan(400)
})

test('a thousand agents pushed anew take no long frame', async ({ page }) => {
  await openMany(page)
  const worst = await longest(page, async () => {
    for (let i = 0; i < 5; i += 1) {
      await page.evaluate(() => {
        const host = (window as unknown as { fake: { world: { agents: { doing: string }[]; changed(): void } } }).fake
        host.world.agents = host.world.agents.map((row) => ({ ...row, doing: `${row.doing}!` }))
        host.world.changed()
      })
      await page.waitForTimeout(50)
    }
  })
  console.log(`longest task while pushed: ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(MOST)
})

test('typing narrows three thousand rows without a long frame', async ({ page }) => {
  await openMany(page)
  const worst = await longest(page, () => page.keyboard.type('project-19', { delay: 40 }))
  console.log(`longest task while typing: ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(MOST)
  await expect(page.getByText('project-19', { exact: true })).toBeVisible()
  await expect(page.getByText('service-0', { exact: true })).toHaveCount(0)
})

test('the arrows reach what is far down', async ({ page }) => {
  await openMany(page)
  for (let i = 0; i < 70; i += 1) await page.keyboard.press('ArrowDown')
  await expect(page.locator('[data-row="agent-69"]')).toBeFocused()
  await expect(page.locator('[data-row="agent-69"]')).toBeInViewport()
})
