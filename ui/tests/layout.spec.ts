import { expect, test, type Page } from '@playwright/test'
import { open } from './open'
import { PAGES } from './pages'

/** What is wider than its window, or is cut off where it could not be scrolled to. */
async function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const told: string[] = []
    const width = document.documentElement.clientWidth
    const height = document.documentElement.clientHeight
    if (document.documentElement.scrollWidth > width) told.push(`the page is ${document.documentElement.scrollWidth} wide`)
    for (const element of document.querySelectorAll('button, input, select, textarea, h1, .note, .line, .row, .step')) {
      if (element.closest('.vh, details:not([open]) > :not(summary)')) continue
      const box = element.getBoundingClientRect()
      if (box.width === 0) continue
      const scrolls = element.closest('.body, .pop, .brief, .scroll, .spawn, form, aside, .grid, nav, dialog .inside, ul[role=listbox], [role=document]')
      if (box.right > width + 1 || box.left < -1) told.push(`${element.className} ${element.textContent?.slice(0, 40)} reaches to ${box.right} of ${width}`)
      if (!scrolls && (box.bottom > height + 1 || box.top < -1)) told.push(`${element.className} ${element.textContent?.slice(0, 40)} is cut off at ${box.bottom} of ${height}`)
    }
    return told
  })
}

for (const shown of PAGES) {
  test(`${shown.name} holds at 200 % text`, async ({ page }) => {
    await page.addInitScript(() => localStorage.setItem('text-size', '200'))
    await open(page, shown, '&still')
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px')
    expect(await overflowing(page)).toEqual([])
  })
}

test('Chinese and very long names break no layout', async ({ page }) => {
  const long = { name: 'popover', address: '?window=popover&many', size: { width: 380, height: 560 }, wait: 'service-0' }
  await open(page, long)
  await expect(page.getByText('支付对账服务-3', { exact: true })).toBeVisible()
  expect(await overflowing(page)).toEqual([])
  for (const [id, name] of [['agent-5', 'a-name-so-long'], ['agent-3', '支付对账服务-3']] as const) {
    await open(page, { name, address: `?page=agent/${id}&many`, size: { width: 760, height: 560 }, wait: 'Briefing as delivered' })
    await expect(page.getByRole('heading', { level: 1 })).toContainText(name)
    expect(await overflowing(page)).toEqual([])
  }
  const topic = encodeURIComponent(JSON.stringify({ page: 'spawn', text: '很'.repeat(400) + 'x'.repeat(400), folder: '/Users/dev/code/a-repository-with-a-name-that-goes-on-and-on-and-on-without-any-space' }))
  await open(page, { name: 'spawn', address: `?page=${topic}`, size: { width: 820, height: 600 }, wait: 'Held back' })
  expect(await overflowing(page)).toEqual([])
})

test('nothing moves where motion is not wanted, and nothing ever moves for ever', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  for (const shown of PAGES.filter((one) => ['popover-row', 'spawn-line', 'progress', 'settings-sources'].includes(one.name))) {
    await open(page, shown)
    const moving = await page.evaluate(() => ({
      animations: document.getAnimations().length,
      transitions: [...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).transitionDuration !== '0s').length,
    }))
    expect(moving).toEqual({ animations: 0, transitions: 0 })
  }
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  expect(await page.evaluate(() => document.getAnimations().filter((one) => one.effect?.getTiming().iterations === Infinity).length)).toBe(0)
})

test('more contrast and less transparency are followed while it is open', async ({ page, browserName }) => {
  expect(browserName).toBe('chromium')
  await open(page, PAGES[0]!)
  const style = (name: string) => page.evaluate((one) => getComputedStyle(document.documentElement).getPropertyValue(one).trim(), name)
  const [panel, dim] = [await style('--panel'), await style('--text-2')]
  const session = await page.context().newCDPSession(page)
  const features = [{ name: 'prefers-contrast', value: 'more' }, { name: 'prefers-reduced-transparency', value: 'reduce' }]
  await session.send('Emulation.setEmulatedMedia', { features })
  expect(await style('--panel')).not.toBe(panel)
  expect(await style('--text-2')).not.toBe(dim)
})
