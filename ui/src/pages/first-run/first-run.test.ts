import { screen, waitFor } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { openApp } from '../../test-app'

describe('the first run', () => {
  it('shows what was found, proposes folders, and two lines an agent would know', async () => {
    openApp('?page=first-run&first')
    expect(await screen.findByText('Claude Code 2.4 in /opt/homebrew/bin')).toBeVisible()
    expect(screen.getByRole('checkbox', { name: /^~\/code api, web-console, infra and 21 more/ })).toBeChecked()
    expect(screen.getByRole('checkbox', { name: /Downloads/ })).not.toBeChecked()
    expect(screen.getByText('2 of 18 lines')).toBeVisible()
  })

  it('watches what is chosen on ⏎', async () => {
    const { user, asked } = openApp('?page=first-run&first')
    await user.click(await screen.findByRole('checkbox', { name: /工作/ }))
    await user.click(screen.getByRole('checkbox', { name: 'Open at login' }))
    expect(screen.getByRole('button', { name: 'Watch 1 folder' })).toBeEnabled()
    await user.keyboard('{Enter}')
    await waitFor(() => expect(asked('finish_first_run')).toEqual([{ roots: ['/Users/dev/code'], open_at_login: true, hotkey: 'Ctrl+Alt+Cmd+P' }]))
    expect(await screen.findByRole('textbox', { name: 'What should the agent do?' })).toBeVisible()
    expect(asked('close')).toEqual([])
  })

  it('proposes a hotkey, which is not kept where it is switched off', async () => {
    const { user, asked } = openApp('?page=first-run&first')
    const box = await screen.findByRole('checkbox', { name: /^Open the spawn panel from anywhere with/ })
    expect(box).toBeChecked()
    await user.click(box)
    await user.click(screen.getByRole('button', { name: 'Watch 2 folders' }))
    await waitFor(() => expect(asked('finish_first_run')).toMatchObject([{ hotkey: null }]))
    expect(asked('set_hotkey')).toEqual([])
  })

  it('says that nobody is logged in, as the doctor does', async () => {
    openApp('?page=first-run&first')
    expect(await screen.findByText(/no sign of a login to Claude Code/)).toHaveTextContent(/Start Claude Code once by hand and log in/i)
  })

  it('adds a folder and changes the hotkey', async () => {
    const { user, asked } = openApp('?page=first-run&first')
    await user.click(await screen.findByRole('button', { name: 'Add folder…' }))
    await user.click(screen.getByRole('button', { name: 'Change the hotkey' }))
    await user.click(await screen.findByRole('button', { name: /^Hotkey: / }))
    await user.keyboard('{Control>}{Shift>}j{/Shift}{/Control}')
    await waitFor(() => expect(asked('set_hotkey')).toEqual(['Ctrl+Shift+J']))
    await user.keyboard('{Escape}')
    await user.click(screen.getByRole('button', { name: 'Watch 3 folders' }))
    await waitFor(() => expect(asked('finish_first_run')).toMatchObject([{ hotkey: 'Ctrl+Shift+J', roots: expect.arrayContaining(['/Volumes/Work/新项目']) }]))
  })

  it('shows what transcripts tell once they are read, and keeps what was chosen meanwhile', async () => {
    const { user, host, asked } = openApp('?page=first-run&first')
    await screen.findByRole('checkbox', { name: /^~\/code/ })
    host.world.indexed = 2
    host.world.changed()
    await waitFor(() => expect(asked('first_run')).toHaveLength(2))
    await user.click(screen.getByRole('checkbox', { name: /^~\/code/ }))
    host.world.indexed = 3
    host.world.changed()
    expect(await screen.findByRole('checkbox', { name: /^~\/code/ })).not.toBeChecked()
    expect(asked('first_run')).toHaveLength(2)
  })

  it('can wait', async () => {
    const { user, asked } = openApp('?page=first-run&first')
    await screen.findByText('2 of 18 lines')
    await user.keyboard('{Escape}')
    expect(asked('close')).toEqual(['panel'])
    expect(asked('finish_first_run')).toEqual([])
  })

  it('says what keeps it from looking, and looks again', async () => {
    const { user, asked } = openApp('?page=first-run&first&broken=first_run')
    expect(await screen.findByRole('alert')).toHaveTextContent('registry is locked')
    await user.click(screen.getByRole('button', { name: 'Look again' }))
    await waitFor(() => expect(asked('first_run')).toHaveLength(2))
  })
})
