import { render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Outcome } from '../host'
import { Acting } from '../state/acting.svelte'
import { glance } from '../state/glance.svelte'
import { openApp } from '../test-app'
import Told from './Told.svelte'

const told = (well: boolean): Outcome => ({ what: 'linkshelf', outcome: 'was looked after', well })

describe('what became of an action', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('goes after some seconds where it went well, later where it can be undone', async () => {
    openApp('?window=popover')
    const acting = new Acting()
    render(Told, { acting })
    acting.told = { outcome: told(true) }
    await tick()
    expect(screen.getByText('was looked after', { exact: false })).toBeVisible()
    await vi.advanceTimersByTimeAsync(7_000)
    expect(acting.told).toBeNull()
    acting.told = { outcome: told(true), offer: { label: 'Undo', run: () => undefined } }
    await vi.advanceTimersByTimeAsync(7_000)
    expect(acting.told).not.toBeNull()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(acting.told).toBeNull()
  })

  it('stays where it did not go well, until the agent is not what it was', async () => {
    const { host } = openApp('?window=popover')
    await vi.advanceTimersByTimeAsync(100)
    const row = glance.last?.agents.find((one) => one.state === 'working')
    if (!row) throw new Error('the world has a working agent')
    const acting = new Acting()
    render(Told, { acting })
    acting.told = { outcome: told(false), of: row }
    await vi.advanceTimersByTimeAsync(60_000)
    expect(acting.told).not.toBeNull()
    host.world.agents = host.world.agents.map((one) => (one.id === row.id ? { ...one, state: 'idle' } : one))
    host.world.changed()
    await vi.advanceTimersByTimeAsync(100)
    expect(acting.told).toBeNull()
  })
})
