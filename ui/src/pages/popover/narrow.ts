/** Narrowing the lists by what is typed. A sentence narrows nothing: then the lists stay as they are. */
import type { AgentRow, ProjectRow } from '../../host'

export interface Narrowed {
  agents: AgentRow[]
  projects: ProjectRow[]
  /** What was typed is a part of some name. */
  narrowed: boolean
}

export function narrow(text: string, agents: AgentRow[], projects: ProjectRow[]): Narrowed {
  const part = text.trim().toLowerCase()
  if (part) {
    const some = {
      agents: agents.filter((a) => `${a.name}\n${a.shown}`.toLowerCase().includes(part)),
      projects: projects.filter((p) => `${p.name}\n${p.shown}`.toLowerCase().includes(part)),
    }
    if (some.agents.length + some.projects.length > 0) return { ...some, narrowed: true }
  }
  return { agents, projects, narrowed: false }
}
