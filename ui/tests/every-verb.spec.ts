import { expect, test, type Page } from '@playwright/test'

/** Tours through everything by keys alone, and what they asked the host: together every verb of the door. */
interface Fake {
  verbs: string[]
  asked: [verb: string, input: unknown][]
}
const fake = (page: Page) => page.evaluate(() => (({ verbs, asked }: Fake) => ({ verbs, asked: asked.map(([verb]) => verb) }))((window as unknown as { fake: Fake }).fake))

async function keys(page: Page, ...pressed: string[]): Promise<void> {
  for (const key of pressed) await page.keyboard.press(key)
}

/** Tab until the control of that name has the focus, as somebody without a mouse does. */
async function reach(page: Page, name: RegExp, back = false): Promise<void> {
  for (let i = 0; i < 80; i += 1) {
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab')
    const at = await page.evaluate(() => {
      const element = document.activeElement
      const label = (element as HTMLInputElement | null)?.labels?.[0]?.textContent
      return element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? ''
    })
    if (name.test(at)) return
  }
  throw new Error(`${name} was not reached by Tab`)
}

async function press(page: Page, name: RegExp, key = 'Enter'): Promise<void> {
  await reach(page, name)
  await page.keyboard.press(key)
}

const TOURS: Record<string, (page: Page) => Promise<void>> = {
  async popover(page) {
    await page.goto('./?window=popover&trouble=config')
    await expect(page.getByText('web-console', { exact: true })).toBeVisible()
    await keys(page, 'Control+p', 'Enter')
    await press(page, /^Begin a new file/)
    await expect(page.getByText('begun anew')).toBeVisible()
    await keys(page, 'Escape', 'ArrowDown', 'ArrowDown', 'c', 'b', 't')
    await page.keyboard.type('Go on')
    await keys(page, 'Control+Enter', 'h', 'Control+Enter', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'p')
    await expect(page.getByRole('listitem', { name: /^infra, Paused/ })).toBeFocused()
    await keys(page, 'p', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Shift+Backspace', 'Control+Enter')
    await expect(page.getByRole('listitem', { name: /^importer/ })).toHaveCount(0)
    await keys(page, 'Control+z')
    await expect(page.getByText('is back in the list').first()).toBeVisible()
    await keys(page, 'ArrowDown', 'ArrowRight', 'Escape', 'Escape', 'Escape')
  },
  async spawn(page) {
    await page.goto('./?question=trust&fail=launch&speed=60')
    await expect(page.getByRole('textbox', { name: 'What should the agent do?' })).toBeFocused()
    await page.keyboard.type('Fix it in ~/code/api')
    await expect(page.locator('.found')).toHaveText('~/code/api')
    await keys(page, 'ArrowDown', 'p', 's')
    await expect(page.getByRole('dialog')).toBeVisible()
    await press(page, /^Copy/)
    await keys(page, 'Escape', 'Control+l')
    await press(page, /^Project: api/)
    await press(page, /^Another folder/)
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await press(page, /^Name, agent/, 'Space')
    await keys(page, 'Control+Enter')
    await expect(page.getByRole('alert', { name: 'Question' })).toBeVisible()
    await keys(page, 'Control+Enter')
    await expect(page.getByRole('button', { name: /^Open in tmux instead/ })).toBeVisible()
    await keys(page, 'Enter')
    await expect(page.getByRole('alert', { name: 'Question' })).toBeVisible()
    await keys(page, 'Escape')
  },
  async cancel(page) {
    await page.goto('./?page=spawn&stop=gather')
    await expect(page.getByText('Held back')).toBeVisible()
    await keys(page, 'Control+Enter')
    await expect(page.getByRole('progressbar', { name: 'Gather' })).toBeVisible()
    await keys(page, 'Escape')
    await expect(page.getByText('No half-written file is left')).toBeVisible()
  },
  async agent(page) {
    await page.goto('./?page=agent/api-7f3a')
    await expect(page.getByText('Briefing as delivered')).toBeVisible()
    await keys(page, 't')
    await page.keyboard.type('Not that')
    await keys(page, 'Control+Enter')
    await press(page, /^Withdraw: Not that/)
    await expect(page.getByText('the text was withdrawn').first()).toBeVisible()
  },
  async cleanup(page) {
    await page.goto('./?page=cleanup')
    await expect(page.getByText('importer', { exact: true })).toBeVisible()
    await keys(page, 'Control+Enter')
    await expect(page.getByText('3 agents cleaned up')).toBeVisible()
    await keys(page, 'Control+z')
    await expect(page.getByText('Everything is back')).toBeVisible()
  },
  async general(page) {
    await page.goto('./?page=settings/general')
    await expect(page.getByText('Watched folders')).toBeVisible()
    await press(page, /^Open at login/, 'Space')
    await press(page, /^Watch ~.Downloads/, 'Space')
    await reach(page, /^Budget/)
    await page.keyboard.type('3000')
    await keys(page, 'Tab')
    await press(page, /^Open file/)
    await press(page, /^Copy diagnostics/)
    await expect(page.getByText('are in the clipboard')).toBeVisible()
  },
  async sources(page) {
    await page.goto('./?page=settings/sources')
    await expect(page.getByText('postgres', { exact: true })).toBeVisible()
    await keys(page, 'Control+r')
    await press(page, /^Replace the secret of postgres/)
    await page.keyboard.type('hunter2')
    await keys(page, 'Control+Enter')
    await expect(page.getByText('has its secret in Keychain')).toBeVisible()
    await press(page, /^Remove worker/)
    await keys(page, 'Control+Enter')
    await expect(page.getByRole('group', { name: 'worker' })).toHaveCount(0)
    await press(page, /^Add source/)
    await page.keyboard.type('work')
    await keys(page, 'Tab')
    await page.keyboard.type('postgres://me@db/memory')
    await keys(page, 'Control+Enter')
    await expect(page.getByRole('group', { name: 'work', exact: true })).toBeVisible()
  },
  async consents(page) {
    await page.goto('./?page=settings/agents')
    await expect(page.getByText('Project by project')).toBeVisible()
    await press(page, /^No longer let ~.code.importer skip permissions/)
    await expect(page.getByText('may skip all permissions')).toHaveCount(0)
  },
  async hotkey(page) {
    await page.goto('./?page=settings/hotkey')
    await expect(page.getByText('Opens the spawn panel from anywhere')).toBeVisible()
    await press(page, /^Hotkey: /)
    await keys(page, 'Control+Alt+Shift+K')
    await expect(page.getByRole('button', { name: /^Hotkey: Ctrl\+Alt\+Shift\+K/ })).toBeFocused()
  },
  async leave(page) {
    await page.goto('./?page=settings/privacy')
    await expect(page.getByText('written where')).toBeVisible()
    await press(page, /^Remove everything/)
    await expect(page.getByRole('dialog').getByText('Keychain, pao.postgres')).toBeVisible()
    await press(page, /^End 5 running agents, too/, 'Space')
    await press(page, /^Remove everything/)
    await expect(page.getByRole('heading', { name: 'Removed' })).toBeVisible()
    await press(page, /^Quit/)
  },
  async first(page) {
    await page.goto('./?page=first-run&first')
    await expect(page.getByText('would know')).toBeVisible()
    await press(page, /Downloads/, 'Space')
    await keys(page, 'Enter')
  },
}

test('every verb of the door is reached by keys alone', async ({ browser }) => {
  test.setTimeout(120_000)
  const asked = new Set<string>()
  let all: string[] = []
  for (const [name, tour] of Object.entries(TOURS)) {
    const page = await browser.newPage()
    await test.step(name, () => tour(page))
    const told = await fake(page)
    all = told.verbs
    told.asked.forEach((verb) => asked.add(verb))
    await page.close()
  }
  expect(all.length).toBeGreaterThan(40)
  expect(all.filter((verb) => !asked.has(verb))).toEqual([])
})
