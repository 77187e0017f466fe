import { render, screen, waitFor, within } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { page } from '../../host/fake/agents'
import { openApp } from '../../test-app'
import Delivered from './Delivered.svelte'

const shown = () => screen.findByRole('heading', { name: 'Briefing as delivered' })

describe('one agent', () => {
  it('shows its states over time, what it was told, its briefing and checkpoints', async () => {
    openApp('?page=agent/api-7f3a')
    await shown()
    expect(screen.getByRole('img', { name: /States from \d\d:\d\d to \d\d:\d\d: working 49 min, idle 11 min, needs you 5 min/ })).toBeVisible()
    expect(screen.getByText('You told it: 继续，把重试也加上')).toBeVisible()
    expect(screen.getByText('Race reproduced')).toBeVisible()
    expect(screen.getByText('touch made.txt')).toBeVisible()
    expect(screen.getByText('7 lines, about 724 tokens')).toBeVisible()
    expect(screen.getByText('used 10:02')).toBeVisible()
    expect(screen.getByText('agents/api-7f3a/run.sh')).toBeVisible()
  })

  it('does every verb by its key', async () => {
    const { user, asked } = openApp('?page=agent/api-7f3a')
    await shown()
    await user.keyboard('c')
    await waitFor(() => expect(asked('checkpoint')).toHaveLength(1))
    await user.keyboard('b')
    await waitFor(() => expect(asked('rebrief')).toEqual(['api-7f3a']))
    await user.keyboard('{Enter}')
    await waitFor(() => expect(asked('focus')).toEqual(['api-7f3a']))
    await user.keyboard('h')
    await screen.findByRole('dialog', { name: 'Hand over from api' })
    await user.keyboard('{Escape}p')
    await waitFor(() => expect(screen.getByRole('heading', { level: 1 }).nextElementSibling).toHaveTextContent('paused'))
    await user.keyboard('p')
    await waitFor(() => expect(asked('resume')).toEqual([{ agent: 'api-7f3a', now: false }]))
  })

  it('says that a text waits while the agent waits for an answer', async () => {
    const { user, asked } = openApp('?page=agent/api-7f3a')
    await shown()
    await user.keyboard('t')
    expect(await screen.findByText(/never answers a dialog/)).toBeVisible()
    await user.keyboard('Yes, go on{Control>}{Enter}{/Control}')
    expect((await screen.findAllByText(/will be told as soon as it can listen/)).length).toBeGreaterThan(0)
    expect(asked('tell')).toEqual([{ agent: 'api-7f3a', text: 'Yes, go on' }])
  })

  it('takes back a text of which nothing was sent', async () => {
    const { user, asked } = openApp('?page=agent/api-7f3a')
    await shown()
    await user.keyboard('t')
    await user.type(await screen.findByRole('textbox', { name: 'What to tell it' }), 'Not that{Control>}{Enter}{/Control}')
    await user.click(await screen.findByRole('button', { name: 'Withdraw: Not that' }))
    expect((await screen.findAllByText(/the text was withdrawn/)).length).toBeGreaterThan(0)
    await waitFor(() => expect(screen.queryByRole('button', { name: /^Withdraw/ })).toBeNull())
    expect(asked('withdraw')).toHaveLength(1)
  })

  it('never forgets what runs', async () => {
    const { user, asked } = openApp('?page=agent/api-7f3a')
    await shown()
    expect(screen.getByRole('button', { name: /Forget…/ })).toBeDisabled()
    await user.keyboard('{Shift>}{Backspace}{/Shift}')
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(asked('forget')).toEqual([])
  })

  it('marks in red and in words that it skips permissions', async () => {
    openApp('?page=agent/importer-7f3a')
    await shown()
    expect(screen.getByText('Skips all of them')).toHaveClass('is-danger')
  })

  it('says from whom it came, where it did not start from nothing', async () => {
    openApp('?page=agent/importer-7f3a')
    await shown()
    expect(screen.getByText('forked from checkpoint 5c0375b4 of api (0123456789ab)')).toBeVisible()
    expect(screen.getByText('From')).toBeVisible()
  })

  it('follows a change of state', async () => {
    const { host, asked } = openApp('?page=agent/web-console-7f3a')
    await shown()
    host.world.agents = host.world.agents.map((one) => (one.name === 'web-console' ? { ...one, state: 'needs-you', needs: 'an answer' } : one))
    host.world.changed()
    expect(await screen.findByText('needs you')).toBeVisible()
    await waitFor(() => expect(asked('agent').length).toBeGreaterThan(1))
  })

  it('says that a briefing was put away, and not that there was none', async () => {
    const { host } = openApp('?page=agent/nobody')
    const told = { ...page(host.world.agents[0]!), briefing: [], briefing_html: '', briefing_tokens: 0 }
    render(Delivered, { page: { ...told, briefing_gone: true } })
    expect(screen.getByText(/It had a briefing, which was put away/)).toBeVisible()
    expect(screen.queryByText(/0 lines/)).toBeNull()
    render(Delivered, { page: told })
    expect(screen.getByText('It started without a briefing.')).toBeVisible()
  })

  it('shows the document with its markup as text', async () => {
    const { user } = openApp('?page=agent/api-7f3a')
    await shown()
    await user.click(screen.getByRole('button', { name: 'As text' }))
    expect(screen.getByText('<script> stays text.')).toBeVisible()
  })

  it('says when it is not there any more, and goes back with Esc', async () => {
    const { user, asked } = openApp('?page=agent/nobody')
    expect(await screen.findByRole('alert')).toHaveTextContent('There is no agent nobody any more.')
    expect(within(screen.getByRole('alert')).getByRole('button', { name: 'Try again' })).toBeVisible()
    await user.keyboard('{Escape}')
    expect(asked('close')).toEqual(['panel'])
  })
})
