import { expect, type Page } from '@playwright/test'

/** The popover with 1,000 agents and 2,000 projects. */
export async function openMany(page: Page): Promise<void> {
  await page.setViewportSize({ width: 380, height: 560 })
  await page.goto('./?window=popover&many')
  await expect(page.getByText('service-0', { exact: true })).toBeVisible()
  await page.waitForTimeout(300)
}
