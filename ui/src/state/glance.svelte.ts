/** Everything at a glance, as last told by the host. What is known stays shown until something newer comes. */
import { ask, on, type AgentRow, type Failure, type Glance } from '../host'
import { asFailure } from './failure'
import { say } from './say.svelte'
import { STATES } from './states'

class GlanceState {
  // Raw: a thousand rows are replaced as a whole, nothing in them is ever changed in place.
  last = $state.raw<Glance | null>(null)
  failure = $state.raw<Failure | null>(null)

  start(): () => void {
    const off = on('glance', (glance) => this.#take(glance))
    void this.refresh()
    return off
  }

  async refresh(): Promise<void> {
    try {
      this.#take(await ask('glance', null))
    } catch (thrown) {
      this.failure = asFailure(thrown)
    }
  }

  agent(id: string): AgentRow | undefined {
    return this.last?.agents.find((row) => row.id === id)
  }

  #take(glance: Glance): void {
    const before = this.last
    this.last = glance
    this.failure = null
    if (before) announce(before.agents, glance.agents)
    // Drawn, and there is something to see. The benchmark reads it.
    else requestAnimationFrame(() => setTimeout(() => performance.mark('usable')))
  }
}

/** Tells which agents turned to the user; other changes would be noise to listen to. */
function announce(before: AgentRow[], after: AgentRow[]): void {
  const known = new Map(before.map((row) => [row.id, row.state]))
  const turned = after.filter((row) => known.has(row.id) && known.get(row.id) !== row.state)
  const needing = turned.filter((row) => row.state === 'needs-you')
  if (needing.length > 0) say.aloud(needing.map((row) => `${row.name} needs you: ${row.needs ?? ''}`).join('. '))
  else if (turned.length === 1) say.aloud(turned.map((row) => `${row.name}: ${STATES[row.state].word}`).join())
}

export const glance = new GlanceState()
