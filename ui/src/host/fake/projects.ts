import type { ProjectRow } from '../door'
import { ago } from './time'

function project(shown: string, branch: string | null, changed: number | null, session: string | null, agents = 0): ProjectRow {
  return { folder: shown.replace('~', '/Users/dev'), shown, name: shown.split('/').at(-1) ?? shown, branch, changed, active_at: session, session_at: session, agents }
}

export function projects(): ProjectRow[] {
  return [
    project('~/code/api', 'main', 3, ago(2, 'min'), 1),
    project('~/code/infra', 'feat/vpc-peering', 0, ago(3, 'h'), 1),
    project('~/工作/支付对账', 'fix/舍入误差', 1, ago(26, 'h')),
    project('~/code/web-console', 'main', 12, ago(30, 'h'), 1),
    project('~/code/docs-site', 'main', 0, ago(3, 'd')),
    project('~/code/importer', null, null, null),
    project('~/code/a-repository-with-a-name-that-goes-on-and-on-and-on-without-any-space', 'users/someone/a-branch-name-as-long-as-a-sentence', 140, ago(9, 'd')),
  ]
}

export function manyProjects(n: number): ProjectRow[] {
  return Array.from({ length: n }, (_, i) => project(`~/code/team-${i % 40}/${i % 9 === 4 ? `对账-${i}` : `project-${i}`}`, i % 3 ? 'main' : `feature/some-branch-${i}`, i % 4, ago(i + 1, 'h'), i % 10 === 0 ? 1 : 0))
}
