import AxeBuilder from '@axe-core/playwright'
import { expect, test, type Page } from '@playwright/test'
import { complaints, open } from './open'
import { overflowing } from './overflowing'
import { PAGES } from './pages'

async function violations(page: Page, rules?: string[]): Promise<string[]> {
  // Half-way between two colours nothing can be said about contrast.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)))
  const builder = new AxeBuilder({ page })
  const { violations } = await (rules ? builder.withRules(rules) : builder).analyze()
  return violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.html.slice(0, 200)} ${node.any[0]?.message ?? ''}`))
}

/** Every page in every state: nothing that axe knows to be in someone's way, and nothing that the policy refuses. */
for (const shown of PAGES) {
  test(`${shown.name} is accessible in light and dark, and holds at 200 % text`, async ({ page }) => {
    const said = complaints(page)
    await page.emulateMedia({ colorScheme: 'light' })
    await open(page, shown, '&still')
    expect(await violations(page)).toEqual([])
    // Only colours differ in the dark.
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violations(page, ['color-contrast'])).toEqual([])
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'))
    expect(await overflowing(page)).toEqual([])
    expect(said).toEqual([])
  })
}
