/** How long the page works without letting a frame through, with 1,000 agents and 2,000 projects. Printed, and held to the budget. */
import { expect, test, type Browser, type Page } from '@playwright/test'
import { openMany } from '../tests/open-many'

const MOST = 50

interface Task {
  name: string
  ph: string
  tid: number
  pid: number
  /** Microseconds of the thread's own time: what other programs do meanwhile does not count. */
  tdur?: number
  args?: { name?: string }
}

/** The longest the page's thread worked without letting a frame through, in ms, while something is done. */
async function longest(page: Page, browser: Browser, act: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  await act()
  await page.waitForTimeout(200)
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: Task[] }
  const threads = traceEvents.filter((one) => one.name === 'thread_name' && one.args?.name === 'CrRendererMain').map((one) => `${one.pid} ${one.tid}`)
  const tasks = traceEvents.filter((one) => one.ph === 'X' && one.tdur !== undefined && threads.includes(`${one.pid} ${one.tid}`))
  expect(tasks.length).toBeGreaterThan(10)
  return Math.max(...tasks.map((one) => (one.tdur ?? 0) / 1000))
}

test('1,000 agents and 2,000 projects are scrolled through without a long frame', async ({ page, browser }) => {
  await openMany(page)
  await page.getByRole('button', { name: 'All 2,000' }).evaluate((button: HTMLElement) => button.click())
  await page.mouse.move(190, 300)
  const worst = await longest(page, browser, async () => {
    for (let i = 0; i < 30; i += 1) {
      await page.mouse.wheel(0, 1500)
      await page.waitForTimeout(30)
    }
    await page.locator('.pop').evaluate((list) => (list.scrollTop = list.scrollHeight))
  })
  console.log(`longest task of its own time while scrolling: ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(MOST)
  await expect(page.getByText('project-1999', { exact: true })).toBeVisible()
  expect(await page.locator('[data-row]').count()).toBeLessThan(400)
})

test('a thousand agents pushed anew take no long frame', async ({ page, browser }) => {
  await openMany(page)
  const worst = await longest(page, browser, async () => {
    for (let i = 0; i < 5; i += 1) {
      await page.evaluate(() => {
        const host = (window as unknown as { fake: { world: { agents: { doing: string }[]; changed(): void } } }).fake
        host.world.agents = host.world.agents.map((row) => ({ ...row, doing: `${row.doing}!` }))
        host.world.changed()
      })
      await page.waitForTimeout(50)
    }
  })
  console.log(`longest task of its own time while pushed: ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(MOST)
})

test('typing narrows three thousand rows without a long frame', async ({ page, browser }) => {
  await openMany(page)
  const worst = await longest(page, browser, () => page.keyboard.type('project-19', { delay: 40 }))
  console.log(`longest task of its own time while typing: ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(MOST)
  await expect(page.getByText('project-19', { exact: true })).toBeVisible()
  await expect(page.getByText('service-0', { exact: true })).toHaveCount(0)
})
