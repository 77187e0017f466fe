/** Believable agents, in every state there is; facts in them are invented. */
import type { AgentPage, AgentRow, AgentState, Verb } from '../door'
import { ago } from './time'
import { LINES } from './memories'

const ALIVE: Verb[] = ['focus', 'tell', 'checkpoint', 'pause', 'handover', 'rebrief']

export const VERBS_OF: Record<AgentState, Verb[]> = {
  'needs-you': ALIVE,
  working: ALIVE,
  idle: ALIVE,
  starting: ['focus', 'tell'],
  paused: ['resume', 'tell', 'checkpoint', 'handover', 'forget'],
  ended: ['resume', 'checkpoint', 'handover', 'forget'],
  lost: ['resume', 'checkpoint', 'handover', 'forget'],
}

type Sample = [name: string, shown: string, state: AgentState, doing: string, age: [number, 's' | 'min' | 'h' | 'd'], freshness: number]

const SAMPLES: Sample[] = [
  ['api', '~/code/api', 'needs-you', 'Fix the refresh-token race', [2, 'min'], 0.99],
  ['web-console', '~/code/web-console', 'working', 'Editing login/+page.svelte', [4, 's'], 1],
  ['ledger', '~/工作/支付对账', 'working', '正在跑对账测试，38 / 112', [11, 's'], 1],
  ['search', '~/code/search', 'starting', 'Waiting for the first sign of life', [2, 's'], 1],
  ['infra', '~/code/infra', 'idle', 'Reply finished: plan is clean', [3, 'h'], 0.62],
  ['docs-site', '~/code/docs-site', 'paused', 'Resumes at checkpoint 3', [9, 'h'], 0.21],
  ['blog-2', '~/code/blog', 'ended', 'Ended with /exit', [26, 'h'], 0.04],
  ['importer', '~/code/importer', 'lost', 'Process and window are gone', [2, 'd'], 0],
]

export function row([name, shown, state, doing, [n, unit], freshness]: Sample): AgentRow {
  const at = ago(n, unit)
  return {
    id: `${name}-7f3a`,
    name,
    folder: shown.replace('~', '/Users/dev'),
    shown,
    state,
    since: at,
    needs: state === 'needs-you' ? 'permission for Bash' : null,
    asks: state === 'needs-you' ? 'touch made.txt' : null,
    doing,
    sign_at: at,
    freshness,
    host_agent: 'Claude Code',
    terminal: state === 'lost' || state === 'ended' ? null : 'Terminal, window 2',
    verbs: VERBS_OF[state],
    queued: 0,
  }
}

export function agents(): AgentRow[] {
  return SAMPLES.map(row)
}

const LONG = 'a-name-so-long-that-nobody-would-type-it-but-a-script-did-0123456'
const STATES: AgentState[] = ['working', 'idle', 'paused', 'ended', 'lost']

/** A thousand of them, the first twelve waiting, some with names that are hard on a layout. */
export function manyAgents(n: number): AgentRow[] {
  return Array.from({ length: n }, (_, i) => {
    const state = i < 12 ? 'needs-you' : (STATES[Math.floor(((i - 12) / (n - 12)) * STATES.length)] ?? 'lost')
    const name = i % 7 === 3 ? `支付对账服务-${i}` : i % 11 === 5 ? LONG : `service-${i}`
    return { ...row([name, `~/code/team-${i % 40}/${name}`, state, i % 5 ? 'Editing src/main.rs' : '正在跑对账测试，还要很久很久很久很久很久', [i + 3, 'min'], Math.pow(2, -i / 200)]), id: `agent-${i}` }
  })
}

export function page(found: AgentRow): AgentPage {
  const needs = (n: number): { at: string; state: AgentState; needs: string; by: string } => ({ at: ago(n, 'min'), state: 'needs-you', needs: 'permission for Bash', by: 'the agent asked' })
  return {
    row: found,
    branch: 'main',
    changed: 3,
    permission: found.name === 'importer' ? 'skip' : 'ask',
    delivery: 'session',
    origin: found.name === 'importer' ? 'forked from checkpoint 5c0375b4 of api (0123456789ab)' : null,
    prompt: 'Fix the refresh-token race in ~/code/api, 用户偶尔被踢下线',
    sessions: ['7f3a02c9-1d1e-4c1b-9a55-0a4f5be0e2a1', '11c0ffee-2f0b-4f7e-8f5a-5f0d8c5ad4c2'],
    attach: found.terminal || found.state === 'ended' || found.state === 'lost' ? null : `tmux -L pao attach -t ${found.name}`,
    turns: [
      { at: ago(66, 'min'), state: 'starting', needs: null, by: 'started by you' },
      { at: ago(65, 'min'), state: 'working', needs: null, by: 'first prompt arrived' },
      needs(43),
      { at: ago(40, 'min'), state: 'working', needs: null, by: 'allowed' },
      { at: ago(23, 'min'), state: 'idle', needs: null, by: 'reply finished' },
      { at: ago(12, 'min'), state: 'working', needs: null, by: 'you told it something' },
      { at: ago(2, 'min'), state: found.state, needs: found.needs, by: null },
    ],
    briefing: LINES.filter((line) => line.left_out === null).map((line) => (line.id === 'm-9' ? { ...line, used_at: ago(62, 'min') } : line)),
    briefing_tokens: 724,
    briefing_gone: false,
    briefing_html: '<h2>What the user said before</h2><ul><li>Refresh tokens rotate on every use.</li></ul><p>&lt;script&gt; stays text.</p>',
    checkpoints: [
      { id: 'c2', at: ago(12, 'min'), title: '家族撤销已改好' },
      { id: 'c1', at: ago(31, 'min'), title: 'Race reproduced' },
    ],
    messages: [{ id: 1, at: ago(12, 'min'), text: '继续，把重试也加上', fate: 'confirmed', note: null }],
    written: ['agents/api-7f3a/CONTEXT_BRIEFING.md', 'agents/api-7f3a/run.sh'],
  }
}
