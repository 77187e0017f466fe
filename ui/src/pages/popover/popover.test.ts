import { screen, waitFor, within } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { openApp } from '../../test-app'

const field = () => screen.getByRole('textbox', { name: 'What should the agent do?' })
const row = (name: RegExp) => screen.findByRole('listitem', { name })

describe('the popover', () => {
  it('can be typed into at once, and lists what needs the user first', async () => {
    openApp('?window=popover')
    expect(field()).toHaveFocus()
    const rows = await within(await screen.findByRole('list', { name: 'Agents' })).findAllByRole('listitem')
    expect(rows[0]).toHaveAccessibleName(/^api, Needs you, permission for Bash/)
    expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('1 needs you · 2 working')
  })

  it('says who is there when nobody works', async () => {
    const { host } = openApp('?window=popover')
    await row(/^api, Needs/)
    const [first, second] = host.world.agents
    if (!first || !second) throw new Error('the world has agents')
    host.world.agents = [{ ...first, state: 'idle' }, { ...second, state: 'paused' }]
    host.world.changed()
    await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('1 idle · 1 paused'))
  })

  it('brings the first agent that needs the user to the front on ⏎ in the empty field', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^api, Needs/)
    await user.keyboard('{Enter}')
    await waitFor(() => expect(asked('focus')).toEqual(['api-7f3a']))
  })

  it('opens the preview on ⏎ after typing, in the project beside the field', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^api, Needs/)
    await user.keyboard('Fix the login{Enter}')
    expect(asked('open')).toEqual([{ page: 'spawn', text: 'Fix the login', folder: null }])
    expect(asked('focus')).toEqual([])
    expect(field()).toHaveValue('')
  })

  it('lets an input method keep its ⏎', async () => {
    const { asked } = openApp('?window=popover')
    await row(/^api, Needs/)
    field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))
    expect(asked('focus')).toEqual([])
  })

  it('spawns at once on Ctrl+⏎ and shows the seven steps', async () => {
    const { user, asked } = openApp('?window=popover&speed=100')
    await row(/^api, Needs/)
    await user.keyboard('Fix the login{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn')).toMatchObject([{ text: 'Fix the login', folder: null, otherwise: '/Users/dev/code/api' }]))
    expect(await within(await screen.findByRole('list', { name: 'Steps' })).findAllByRole('listitem')).toHaveLength(7)
  })

  it('spawns in a recent project on Ctrl+2', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^infra, feat/)
    await user.keyboard('{Control>}2{/Control}')
    await waitFor(() => expect(asked('spawn')).toMatchObject([{ text: '', folder: '/Users/dev/code/infra' }]))
  })

  it('writes the keys of a Mac on a Mac', async () => {
    const { user, asked } = openApp('?window=popover&mac')
    expect((await row(/^infra, feat/)).querySelector('kbd')).toHaveTextContent('⌘2')
    await user.keyboard('{Meta>}3{/Meta}')
    await waitFor(() => expect(asked('spawn')).toMatchObject([{ folder: '/Users/dev/工作/支付对账' }]))
  })

  it('moves through rows with the arrows and does a row’s verbs by their letters', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^web-console/)
    await user.keyboard('{ArrowDown}{ArrowDown}')
    expect(await row(/^web-console/)).toHaveFocus()
    await user.keyboard('c')
    await waitFor(() => expect(asked('checkpoint')).toEqual([{ agent: 'web-console-7f3a', message: null }]))
    expect((await screen.findAllByText(/has a checkpoint/)).length).toBeGreaterThan(0)
    await user.keyboard('{ArrowRight}')
    expect(asked('open')).toEqual([{ page: 'agent', id: 'web-console-7f3a' }])
    await user.keyboard('{ArrowUp}{ArrowUp}')
    expect(field()).toHaveFocus()
  })

  it('asks again before a pause interrupts a turn', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^web-console/)
    await user.keyboard('{ArrowDown}{ArrowDown}p')
    expect(await screen.findByText(/in the middle of a turn/, { selector: 'span' })).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Pause now' }))
    await row(/^web-console, Paused/)
    expect(asked('pause')).toEqual([
      { agent: 'web-console-7f3a', now: false },
      { agent: 'web-console-7f3a', now: true },
    ])
  })

  it('tells an agent something in a sheet, and leaves it with Esc', async () => {
    const { user, asked } = openApp('?window=popover')
    const web = await row(/^web-console/)
    await user.keyboard('{ArrowDown}{ArrowDown}t')
    const text = await screen.findByRole('textbox', { name: 'What to tell it' })
    expect(text).toHaveFocus()
    await user.keyboard('{Escape}')
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(web).toHaveFocus()
    await user.keyboard('t')
    await screen.findByRole('dialog', { name: 'Tell web-console' })
    await user.keyboard('继续{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('tell')).toEqual([{ agent: 'web-console-7f3a', text: '继续' }]))
  })

  it('hands over to another agent', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^web-console/)
    await user.keyboard('{ArrowDown}{ArrowDown}h')
    await user.selectOptions(await screen.findByRole('combobox', { name: 'To' }), 'ledger-7f3a')
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('handover')).toEqual([{ from: 'web-console-7f3a', to: 'ledger-7f3a', text: null }]))
  })

  it('forgets what is gone, and brings it back', async () => {
    const { user, asked } = openApp('?window=popover')
    const lost = await row(/^importer/)
    lost.focus()
    await user.keyboard('{Shift>}{Backspace}{/Shift}')
    await screen.findByRole('dialog', { name: 'Forget importer?' })
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(screen.queryByRole('listitem', { name: /^importer, Lost/ })).toBeNull())
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await row(/^importer, Lost/)
    expect(asked('clean_undo')).toHaveLength(1)
  })

  it('keeps the keyboard on a row that moves while it has it', async () => {
    const { user, host } = openApp('?window=popover')
    const held = await row(/^web-console/)
    const place = () => screen.getAllByRole('listitem').indexOf(held)
    // Whichever of them is moved in the document: once it is this one, once the ones around it.
    for (const _ of [1, 2]) {
      held.focus()
      const before = place()
      host.world.agents = [...host.world.agents].reverse()
      host.world.changed()
      await waitFor(() => expect(place()).not.toBe(before))
      await waitFor(() => expect(held).toHaveFocus())
    }
    await user.keyboard('t')
    await screen.findByRole('dialog', { name: 'Tell web-console' })
  })

  it('backs out one layer at a time with Esc, then closes', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^docs-site, Paused/)
    await user.keyboard('docs')
    expect(screen.queryByRole('listitem', { name: /^web-console/ })).toBeNull()
    await user.keyboard('{ArrowDown}{Escape}')
    expect(field()).toHaveValue('')
    expect(asked('close')).toEqual([])
    await user.keyboard('{ArrowDown}{Escape}')
    expect(field()).toHaveFocus()
    expect(asked('close')).toEqual([])
    await user.keyboard('{Escape}')
    expect(asked('close')).toEqual(['popover'])
  })

  it('keeps its lists while a sentence is typed', async () => {
    const { user } = openApp('?window=popover')
    await row(/^web-console/)
    await user.keyboard('fix everything in there')
    expect(await row(/^web-console/)).toBeVisible()
    expect(screen.getByText(/Nothing is called that/)).toBeVisible()
  })

  it('chooses another project by a part of its name', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^web-console/)
    await user.click(screen.getByRole('button', { name: /^Project: api/ }))
    await user.keyboard('对账{Enter}')
    expect(screen.queryByRole('dialog')).toBeNull()
    await user.click(field())
    await user.keyboard('Go{Enter}')
    expect(asked('open')).toEqual([{ page: 'spawn', text: 'Go', folder: '/Users/dev/工作/支付对账' }])
  })

  it('holds with a pin, opens the settings, and says what a source lacks', async () => {
    const { user, asked } = openApp('?window=popover')
    await row(/^web-console/)
    await user.keyboard('{Control>}p{/Control}')
    expect(screen.getByRole('button', { name: 'Keep open' })).toHaveAttribute('aria-pressed', 'true')
    await user.keyboard('{Control>},{/Control}')
    await user.click(screen.getByRole('button', { name: /worker timed out/ }))
    expect(asked('pin')).toEqual([true])
    expect(asked('open')).toEqual([{ page: 'settings', pane: null }, { page: 'settings', pane: 'sources' }])
  })

  it('says aloud which agent turned to the user, and shows it', async () => {
    const { host } = openApp('?window=popover')
    await row(/^web-console/)
    host.world.agents = host.world.agents.map((one) => (one.name === 'web-console' ? { ...one, state: 'needs-you', needs: 'permission for Edit' } : one))
    host.world.changed()
    expect(await screen.findByText(/web-console needs you: permission for Edit/)).toBeInTheDocument()
    expect(await screen.findByRole('list', { name: 'Agents that need you' })).toBeVisible()
  })

  it.each([
    ['empty', /No agent yet/],
    ['first', /Nothing is set up yet/],
    ['trouble=no-agent', /Claude Code was not found/],
    ['trouble=config', /not valid TOML: .*; the defaults are in effect/],
    ['trouble=registry', /is kept by another process/],
    ['trouble=disk', /database or disk is full/],
    ['trouble=no-keyring', /No credential store answers here/],
    ['trouble=no-pao', /was found neither beside the app nor on the PATH/],
    ['broken=glance', /registry is locked/],
    ['mute=glance&patience=30', /The app has not answered for 0 s \(glance\)/],
    ['garbled=glance', /This window made a mistake/],
  ])('is never blank: %s', async (world, says) => {
    openApp(`?window=popover&${world}`)
    expect(await screen.findByText(says)).toBeVisible()
  })

  it('does the next step of a trouble, and tells what came of it', async () => {
    const { user, asked } = openApp('?window=popover&trouble=config,no-agent')
    await user.click(await screen.findByRole('button', { name: 'Begin a new file' }))
    expect(await screen.findByText(/the broken one is kept as ~\/.pao\/config.toml.broken/)).toBeVisible()
    expect(screen.queryByText(/not valid TOML/)).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Open Settings' }))
    expect(asked('open')).toEqual([{ page: 'settings', pane: 'agents' }])
  })

  it('keeps what it knew when the host fails, and tries again', async () => {
    const { user, host } = openApp('?window=popover&broken=focus')
    await row(/^web-console/)
    await user.keyboard('{Enter}')
    expect(await screen.findByRole('alert')).toHaveTextContent('The registry is locked by another program.')
    expect(await row(/^web-console/)).toBeVisible()
    expect(host.world.agents).toHaveLength(8)
  })
})
