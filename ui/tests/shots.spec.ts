import { test } from '@playwright/test'
import { mkdirSync } from 'node:fs'
import { open } from './open'
import { PAGES } from './pages'

/** Pictures of everything, to be looked at: SHOTS=1 npm run test:browser. They lie in shots/, which is ignored. */
test.use({ deviceScaleFactor: 1.25 })
mkdirSync('shots', { recursive: true })

for (const scheme of ['light', 'dark'] as const) {
  for (const shown of PAGES) {
    test(`${shown.name} ${scheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme })
      await open(page, shown, '&mac')
      await page.waitForTimeout(350)
      await page.screenshot({ path: `shots/${shown.name}-${scheme}.png` })
    })
  }
}
