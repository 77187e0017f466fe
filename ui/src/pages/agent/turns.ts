/** States over time as stretches, and how long each state lasted altogether. */
import type { AgentState, Turn } from '../../host'

export interface Span {
  state: AgentState
  from: number
  to: number
}

/** At most this many are drawn; older ones would be thinner than a line. */
const MOST = 120

export function spans(turns: Turn[], now: number): Span[] {
  const at = turns.map((turn) => Date.parse(turn.at))
  return turns.map((turn, i) => ({ state: turn.state, from: at[i] ?? now, to: Math.max(at[i] ?? now, at[i + 1] ?? now) })).slice(-MOST)
}

export function totals(all: Span[]): { state: AgentState; ms: number }[] {
  const sums = new Map<AgentState, number>()
  for (const span of all) sums.set(span.state, (sums.get(span.state) ?? 0) + span.to - span.from)
  return [...sums].map(([state, ms]) => ({ state, ms })).sort((a, b) => b.ms - a.ms)
}
