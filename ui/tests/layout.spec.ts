import { expect, test } from '@playwright/test'
import { open } from './open'
import { overflowing } from './overflowing'
import { PAGES } from './pages'

test('the text grows to 200 % by keys, and the layout with it', async ({ page }) => {
  await open(page, PAGES[0]!)
  for (let i = 0; i < 8; i += 1) await page.keyboard.press('Control+=')
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px')
  expect(await overflowing(page)).toEqual([])
  await page.reload()
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px')
})

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
