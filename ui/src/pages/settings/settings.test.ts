import { screen, waitFor, within } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { openApp } from '../../test-app'
import { readable, record } from './recorded'

describe('settings', () => {
  it('has seven panes, walked through with the arrows', async () => {
    const { user } = openApp('?page=settings')
    await screen.findByText('Watched folders')
    for (const name of ['Sources', 'Agents', 'Terminal', 'Hotkey', 'Notifications', 'Privacy']) {
      await user.keyboard('{ArrowDown}')
      expect(screen.getByRole('heading', { level: 1, name })).toBeVisible()
      expect(screen.getByRole('button', { name })).toHaveFocus()
    }
  })

  it('switches what is the system’s, and shows what came of it', async () => {
    const { user, asked } = openApp('?page=settings/general')
    await user.click(await screen.findByRole('switch', { name: 'Open at login' }))
    await waitFor(() => expect(screen.getByRole('switch', { name: 'Open at login' })).toBeChecked())
    expect(asked('switch')).toEqual([{ which: 'login-item', on: true }])
  })

  it('leaves a switch as it was when it could not be moved', async () => {
    const { user } = openApp('?page=settings/notifications&broken=switch')
    await user.click(await screen.findByRole('switch', { name: /Tell me when/ }))
    expect(await screen.findByRole('alert')).toHaveTextContent('registry is locked')
    expect(screen.getByRole('switch', { name: /Tell me when/ })).not.toBeChecked()
  })

  it('watches folders', async () => {
    const { user, asked } = openApp('?page=settings/general')
    await user.click(await screen.findByRole('checkbox', { name: 'Watch ~/Downloads' }))
    await user.click(screen.getByRole('button', { name: 'Add folder…' }))
    expect(await screen.findByRole('checkbox', { name: 'Watch /Volumes/Work/新项目' })).toBeChecked()
    expect(asked('set_roots')[0]).toEqual(['/Users/dev/code', '/Users/dev/工作', '/Users/dev/Downloads'])
  })

  it('says by itself when a watched folder goes away', async () => {
    const { host } = openApp('?page=settings/general')
    await screen.findByRole('checkbox', { name: 'Watch ~/code' })
    host.world.settings = { ...host.world.settings, roots: host.world.settings.roots.map((root) => (root.shown === '~/code' ? { ...root, note: 'not there' } : root)) }
    host.world.changed()
    expect(await screen.findByText('not there')).toBeVisible()
  })

  it('keeps numbers within their limits', async () => {
    const { user, asked } = openApp('?page=settings/general')
    const budget = await screen.findByRole('spinbutton', { name: 'Budget' })
    await user.clear(budget)
    await user.type(budget, '5{Tab}')
    expect(asked('set')).toEqual([{ key: 'spawn.budget', value: '100' }])
  })

  it('checks sources, one or all', async () => {
    const { user, asked } = openApp('?page=settings/sources')
    await user.click(await screen.findByRole('button', { name: 'Check worker' }))
    expect(await within(screen.getByRole('group', { name: 'worker' })).findByText('Timed out after 1.5 s')).toBeVisible()
    await user.keyboard('{Control>}r{/Control}')
    expect(await screen.findByText(/12,408 observations/)).toBeVisible()
    expect(asked('check_source')).toEqual(['worker', 'postgres', 'worker', 'history'])
  })

  it('switches a source off, gives it more time, and takes it out', async () => {
    const { user, asked } = openApp('?page=settings/sources')
    await user.selectOptions(await screen.findByRole('combobox', { name: 'postgres: give up after' }), '3 s')
    await user.click(screen.getByRole('switch', { name: 'postgres on' }))
    expect(await within(screen.getByRole('group', { name: 'postgres' })).findByText('Off: not asked')).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Remove worker' }))
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(screen.queryByRole('group', { name: 'worker' })).toBeNull())
    expect(asked('set')).toEqual([
      { key: 'sources.postgres.deadline_ms', value: '3000' },
      { key: 'sources.postgres.enabled', value: 'false' },
    ])
  })

  it('adds a source and checks it at once', async () => {
    const { user, asked } = openApp('?page=settings/sources')
    await user.click(await screen.findByRole('button', { name: 'Add source…' }))
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'work')
    await user.type(screen.getByRole('textbox', { name: /^Address/ }), 'postgres://me@db/memory{Control>}{Enter}{/Control}')
    expect(await screen.findByRole('group', { name: 'work' })).toBeVisible()
    expect(asked('add_source')).toEqual([{ name: 'work', kind: 'postgres', values: { url: 'postgres://me@db/memory' } }])
    await waitFor(() => expect(asked('check_source')).toEqual(['work']))
  })

  it('takes a secret to its store and never shows it', async () => {
    const { user, asked } = openApp('?page=settings/sources')
    await user.click(await screen.findByRole('button', { name: 'Replace the secret of postgres' }))
    const field = within(screen.getByRole('dialog')).getByLabelText('Secret')
    expect(field).toHaveAttribute('type', 'password')
    await user.type(field, 'hunter2{Control>}{Enter}{/Control}')
    expect(await screen.findByText('has its secret in Keychain', { exact: false })).toBeVisible()
    expect(asked('set_secret')).toEqual([{ name: 'postgres', value: 'hunter2' }])
    expect(document.body.innerHTML).not.toContain('hunter2')
  })

  it('chooses permissions for all but skip, which it shows in red per project', async () => {
    const { user, asked } = openApp('?page=settings/agents')
    await user.click(await screen.findByRole('radio', { name: 'Plan' }))
    expect(asked('set')).toEqual([{ key: 'spawn.permission', value: 'plan' }])
    expect(screen.queryByRole('radio', { name: 'Skip' })).toBeNull()
    expect(screen.getByText('may skip all permissions')).toHaveClass('is-danger')
  })

  it('takes back what was agreed to for a folder, one at a time', async () => {
    const { user, asked } = openApp('?page=settings/agents')
    await user.click(await screen.findByRole('button', { name: 'No longer let ~/code/importer skip permissions' }))
    await waitFor(() => expect(screen.queryByText('may skip all permissions')).toBeNull())
    await user.click(screen.getByRole('button', { name: 'Take back the trust of ~/code/importer' }))
    await waitFor(() => expect(screen.queryByRole('button', { name: /trust of ~\/code\/importer/ })).toBeNull())
    expect(asked('consent')).toEqual([
      { folder: '/Users/dev/code/importer', trust: true, skip: false },
      { folder: '/Users/dev/code/importer', trust: false, skip: false },
    ])
  })

  it('chooses a terminal that is there', async () => {
    const { user, asked } = openApp('?page=settings/terminal')
    await user.click(await screen.findByRole('radio', { name: /^tmux/ }))
    expect(asked('set')).toEqual([{ key: 'spawn.terminal', value: 'tmux' }])
    expect(screen.getByRole('radio', { name: /^iTerm2/ })).toBeDisabled()
  })

  it('records a hotkey as it is pressed', async () => {
    const { user, asked } = openApp('?page=settings/hotkey&mac')
    await user.click(await screen.findByRole('button', { name: /^Hotkey: ⌃⌥⌘P/ }))
    await user.keyboard('{Alt>}{Shift>}k{/Shift}{/Alt}')
    expect(screen.getByRole('alert')).toHaveTextContent('A hotkey needs ⌘ or ⌃ in it')
    await user.keyboard('{Meta>}{Shift>}k{/Shift}{/Meta}')
    expect(await screen.findByRole('button', { name: /^Hotkey: ⇧⌘K/ })).toBeVisible()
    expect(asked('set_hotkey')).toEqual(['Shift+Cmd+K'])
  })

  it('says who has a hotkey already', async () => {
    const { user } = openApp('?page=settings/hotkey&mac')
    await user.click(await screen.findByRole('button', { name: /^Hotkey: / }))
    await user.keyboard('{Meta>}[Space]{/Meta}')
    expect(await screen.findByRole('alert')).toHaveTextContent('Spotlight has ⌘Space.')
  })

  it('leaves the hotkey with Esc and switches it off with ⌫', async () => {
    const { user, asked } = openApp('?page=settings/hotkey')
    await user.click(await screen.findByRole('button', { name: /^Hotkey: / }))
    await user.keyboard('{Escape}')
    expect(asked('set_hotkey')).toEqual([])
    expect(asked('close')).toEqual([])
    await user.click(screen.getByRole('button', { name: /^Hotkey: / }))
    await user.keyboard('{Backspace}')
    expect(await screen.findByRole('button', { name: /^Hotkey: Off/ })).toBeVisible()
    expect(asked('set_hotkey')).toEqual([null])
  })

  it('lists every decision about a memory and takes one back', async () => {
    const { user, asked, host } = openApp('?page=settings/hotkey')
    await host.ask('mark', { source: 'history', id: 's-77', text: 'A row lock', folder: '/Users/dev/code/api', mark: 'never' })
    await host.ask('mark', { source: 'memory', id: 'm-9', text: 'Just test', folder: '/Users/dev/code/api', mark: 'pinned' })
    host.emit('page', { page: 'settings', pane: 'privacy' })
    expect(await screen.findByText(/^Never again · since today · history · ~\/code\/api/)).toBeVisible()
    await user.click(await screen.findByRole('button', { name: 'Take back: Never again, A row lock' }))
    await waitFor(() => expect(screen.queryByText('A row lock')).toBeNull())
    expect(screen.getByText('Just test')).toBeVisible()
    expect(asked('mark').at(-1)).toMatchObject({ source: 'history', id: 's-77', mark: null })
  })

  it('makes a never hold in all projects', async () => {
    const { user, asked, host } = openApp('?page=settings/hotkey')
    await host.ask('mark', { source: 'history', id: 's-77', text: 'A row lock', folder: '/Users/dev/code/api', mark: 'never' })
    host.emit('page', { page: 'settings', pane: 'privacy' })
    await user.click(await screen.findByRole('button', { name: 'In all projects: Never again, A row lock' }))
    await waitFor(() => expect(asked('mark').slice(-2)).toMatchObject([{ folder: null, mark: 'never' }, { folder: '/Users/dev/code/api', mark: null }]))
  })

  it('removes everything only after showing everything', async () => {
    const { user, asked } = openApp('?page=settings/privacy')
    expect(await screen.findByText('trust for 3 folders you agreed to')).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Remove everything…' }))
    const dialog = await screen.findByRole('dialog')
    expect(await within(dialog).findByText('Keychain, pao.postgres')).toBeVisible()
    expect(asked('remove_everything')).toEqual([])
    expect(within(dialog).getByRole('button', { name: 'Remove everything' })).toBeDisabled()
    await user.click(within(dialog).getByRole('checkbox', { name: /End 5 running agents, too/ }))
    await user.click(within(dialog).getByRole('button', { name: 'Remove everything' }))
    expect(await within(dialog).findAllByText('removed')).toHaveLength(3)
    expect(asked('remove_everything')).toEqual([true])
  })

  it('copies diagnostics', async () => {
    const { user, asked } = openApp('?page=settings/general')
    await user.click(await screen.findByRole('button', { name: 'Copy diagnostics' }))
    await waitFor(() => expect(asked('copy')).toEqual(['pao 0.1.0, without secrets']))
  })

  it('makes the text larger and keeps it so', async () => {
    const { user } = openApp('?page=settings/general')
    await screen.findByText('Text size')
    await user.keyboard('{Control>}={/Control}')
    expect(document.documentElement.style.fontSize).toBe('110%')
    expect(localStorage.getItem('text-size')).toBe('110')
    await user.keyboard('{Control>}0{/Control}')
    expect(document.documentElement.style.fontSize).toBe('')
  })

  it('says why it cannot be shown', async () => {
    openApp('?page=settings&broken=settings')
    expect(await screen.findByRole('alert')).toHaveTextContent('registry is locked')
  })
})

describe('a recorded chord', () => {
  const press = (init: KeyboardEventInit) => record(new KeyboardEvent('keydown', init))

  it('is written by place, with modifiers in one order', () => {
    expect(press({ key: 'π', code: 'KeyP', metaKey: true, altKey: true, ctrlKey: true })).toEqual({ keys: 'Ctrl+Alt+Cmd+P' })
    expect(press({ key: ' ', code: 'Space', ctrlKey: true })).toEqual({ keys: 'Ctrl+Space' })
    expect(press({ key: 'F5', code: 'F5', metaKey: true })).toEqual({ keys: 'Cmd+F5' })
    expect(press({ key: 'Meta', code: 'MetaLeft', metaKey: true })).toEqual({ held: 'Cmd' })
  })

  it('is read as the system writes it', () => {
    expect(readable('Ctrl+Alt+Cmd+P', true)).toBe('⌃⌥⌘P')
    expect(readable('Ctrl+Alt+Cmd+P', false)).toBe('Ctrl+Alt+Super+P')
  })
})
