import { screen, waitFor } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { openApp } from '../../test-app'

const box = (name: RegExp) => screen.findByRole('checkbox', { name })

describe('cleaning up', () => {
  it('shows exactly what would be removed, and leaves out what should be kept', async () => {
    const { user } = openApp('?page=cleanup')
    expect(await box(/^importer/)).toBeChecked()
    expect(await box(/^api-3/)).not.toBeChecked()
    expect(screen.getByText('Left out: it is paused and could be resumed')).toBeVisible()
    expect(screen.getByText('CLAUDE.local.md, our block only (lines 41–44)')).toBeVisible()
    expect(screen.getByText('3 of 4 selected')).toBeVisible()
    expect(screen.getByText('7 items, 71 KB. Can be undone for 7 days.')).toBeVisible()
    await user.click(screen.getByRole('button', { name: '2 items of blog-2' }))
    expect(screen.getByText('agents/blog-2-7f3a/run.sh')).toBeVisible()
  })

  it('cleans up what is selected by Ctrl+⏎, and undoes it by Ctrl+Z', async () => {
    const { user, asked, host } = openApp('?page=cleanup')
    await user.click(await box(/^ledger-2/))
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(await screen.findByText('2 agents cleaned up. 5 items, 59 KB, are kept aside until 7 Dec.')).toBeVisible()
    expect(asked('clean')).toEqual([['importer-7f3a', 'blog-2-7f3a']])
    expect(screen.getAllByText('Kept, as you chose')).toHaveLength(2)
    expect(host.world.agents.map((one) => one.name)).not.toContain('importer')
    await user.keyboard('{Control>}z{/Control}')
    expect(await screen.findByText('Everything is back: importer and blog-2.')).toBeVisible()
    expect(host.world.agents.map((one) => one.name)).toContain('importer')
    await user.keyboard('{Enter}')
    expect(asked('close')).toEqual(['panel'])
  })

  it('takes a paused agent only with a yes of its own, having said what it means', async () => {
    const { user, asked } = openApp('?page=cleanup')
    const paused = await box(/^api-3/)
    expect(screen.getByText('If you tick it, it leaves the list and cannot be resumed, unless you undo the cleanup.')).toBeVisible()
    for (const name of [/^importer/, /^blog-2/, /^ledger-2/]) await user.click(await box(name))
    await user.click(paused)
    await user.keyboard('{Control>}{Enter}{/Control}')
    const dialog = await screen.findByRole('dialog', { name: 'Clean up api-3 as well?' })
    expect(dialog).toHaveTextContent('it is paused and could be resumed. It leaves the list')
    await user.keyboard('{Escape}')
    expect(asked('clean')).toEqual([])
    await user.keyboard('{Control>}{Enter}{/Control}')
    await screen.findByRole('dialog')
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('clean')).toEqual([['api-3-7f3a']]))
  })

  it('offers no tick for what stays', async () => {
    const { host } = openApp('?page=settings')
    const plan = await host.ask('clean_plan', null)
    host.ask = ((ask) => (verb: never, input: never) => (verb === 'clean_plan' ? Promise.resolve({ ...plan, entries: plan.entries.map((one) => ({ ...one, left_out: 'its process 7 still runs', held: true })) }) : ask(verb, input)) as never)(host.ask)
    host.emit('page', { page: 'cleanup' })
    expect(await box(/^importer/)).toBeDisabled()
    expect(screen.getAllByText('Stays: its process 7 still runs')).toHaveLength(4)
  })

  it('undoes an earlier cleanup', async () => {
    const { user, asked, host } = openApp('?page=cleanup')
    await box(/^importer/)
    host.world.cleaned.set('clean-9', [])
    host.world.changed()
    await user.click(await screen.findByRole('button', { name: 'Undo the cleanup of 0 agents, today' }))
    await waitFor(() => expect(asked('clean_undo')).toEqual(['clean-9']))
  })

  it('has nothing to press when nothing is selected or there', async () => {
    const { user } = openApp('?page=cleanup')
    for (const name of [/^importer/, /^blog-2/, /^ledger-2/]) await user.click(await box(name))
    expect(screen.getByRole('button', { name: 'Clean up' })).toBeDisabled()
  })

  it('says when there is nothing to clean up', async () => {
    openApp('?page=cleanup&empty')
    expect(await screen.findByText(/Nothing to clean up/)).toBeVisible()
  })

  it('says what went wrong, and leaves the plan as it was', async () => {
    const { user } = openApp('?page=cleanup&broken=clean')
    await box(/^importer/)
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(await screen.findByRole('alert')).toHaveTextContent('nothing was changed')
    expect(await box(/^importer/)).toBeChecked()
  })
})
