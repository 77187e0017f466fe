import type { CleanPlan, FirstRun, Outcome, Settings } from '../door'
import { LINES } from './memories'
import { ago } from './time'

const value = (key: string, toml: string, says: string) => ({ key, value: toml, default: true, says })
const source = { enabled: true, by_default: false, reachable: null, found: null, deadline_ms: 1500, has_secret: null }

export function settings(): Settings {
  return {
    values: [
      value('spawn.terminal', '"auto"', 'where agents are opened'),
      value('spawn.permission', '"ask"', 'what agents may do without asking'),
      value('spawn.delivery', '"auto"', 'how the briefing reaches the agent'),
      value('spawn.budget', '2000', 'tokens a briefing may take'),
      value('spawn.deadline_ms', '1500', 'milliseconds each source may take'),
      value('agent.kind', '"claude-code"', 'the host agent'),
    ],
    sources: [
      { ...source, name: 'postgres', kind: 'postgres', at: 'localhost:5432/memory, user dev, read-only', deadline_ms: 800, has_secret: true },
      { ...source, name: 'worker', kind: 'worker', at: 'https://memory.example.workers.dev' },
      { ...source, name: 'history', kind: 'history', at: '~/.claude/projects', by_default: true },
      { ...source, name: 'old-notes', kind: 'history', at: '~/工作/旧笔记', enabled: false },
    ],
    roots: roots(),
    terminals: [
      { name: 'terminal', display: 'Terminal', installed: true, note: 'macOS asks once, at the first spawn, whether PAO may control it.' },
      { name: 'tmux', display: 'tmux', installed: true, note: 'No window opens by itself; the agent page has the command that shows it.' },
      { name: 'iterm2', display: 'iTerm2', installed: false, note: null },
    ],
    agents: [
      { kind: 'claude-code', display: 'Claude Code', found: '2.4 in /opt/homebrew/bin' },
      { kind: 'codex', display: 'Codex', found: null },
    ],
    folders: [
      { folder: '/Users/dev/code/api', shown: '~/code/api', trust: true, skip: false, permission: 'ask' },
      { folder: '/Users/dev/code/importer', shown: '~/code/importer', trust: true, skip: true, permission: 'skip' },
      { folder: '/Users/dev/工作/支付对账', shown: '~/工作/支付对账', trust: true, skip: false, permission: 'plan' },
    ],
    hotkey: { keys: 'Ctrl+Alt+Cmd+P', active: true, note: null },
    login_item: { on: false, possible: true, note: null },
    notifications: { on: false, possible: true, note: null },
    file_manager: { on: false, possible: true, note: 'Afterwards it must be ticked in System Settings → Keyboard → Services.' },
    command_line: { on: true, possible: true, note: '/usr/local/bin/pao' },
    marks: [],
    written: written(),
    config_path: '/Users/dev/Library/Application Support/pao/config.toml',
    secret_store: 'Keychain',
    secret_note: null,
  }
}

export function roots(): Settings['roots'] {
  return [
    { folder: '/Users/dev/code', shown: '~/code', projects: 24, examples: ['api', 'web-console', 'infra'], active_at: ago(2, 'min'), watched: true, note: null },
    { folder: '/Users/dev/工作', shown: '~/工作', projects: 5, examples: ['支付对账'], active_at: ago(26, 'h'), watched: true, note: null },
    { folder: '/Users/dev/Downloads', shown: '~/Downloads', projects: 1, examples: [], active_at: ago(92, 'd'), watched: false, note: null },
  ]
}

export function written(): Outcome[] {
  return [
    { what: '~/Library/Application Support/pao/', outcome: 'registry, index, agents’ briefings; 12 MB', well: true },
    { what: '~/.claude.json', outcome: 'trust for 3 folders you agreed to', well: true },
    { what: 'Keychain, pao.postgres', outcome: 'one entry', well: true },
  ]
}

export function firstRun(): FirstRun {
  const check = (name: string, found: string) => ({ name, state: 'ok', found, cure: '' })
  return {
    checks: [
      check('Agent', 'Claude Code 2.4 in /opt/homebrew/bin'),
      { name: 'login', state: 'warning', found: 'no sign of a login to Claude Code', cure: 'start Claude Code once by hand and log in, or set ANTHROPIC_API_KEY' },
      check('Terminal', 'Terminal; macOS asks you once, at the first spawn'),
      check('Transcripts', '214 sessions in 31 folders, indexed in 8 s'),
    ],
    roots: roots(),
    sample: [LINES[0]!, LINES[4]!],
    sample_project: 'api',
    sample_lines: 18,
    hotkey: 'Ctrl+Alt+Cmd+P',
  }
}

export function plan(): CleanPlan {
  return {
    undo_days: 7,
    entries: [
      {
        id: 'importer-7f3a',
        title: 'importer',
        when: 'Lost 2 d ago',
        evidence: 'pid 48213 is gone; Terminal window 3 is closed',
        items: ['agents/importer-7f3a/CONTEXT_BRIEFING.md', 'agents/importer-7f3a/run.sh', 'CLAUDE.local.md, our block only (lines 41–44)'],
        bytes: 41_000,
        left_out: null,
        means: null,
        held: false,
      },
      { id: 'blog-2-7f3a', title: 'blog-2', when: 'Ended 6 d ago', evidence: '/exit at 17:40; tmux pane %12 is closed', items: ['agents/blog-2-7f3a/CONTEXT_BRIEFING.md', 'agents/blog-2-7f3a/run.sh'], bytes: 18_000, left_out: null, means: null, held: false },
      { id: 'ledger-2-7f3a', title: 'ledger-2', when: 'Lost 9 d ago', evidence: 'Mac restarted on 21 Nov; folder ~/工作/试验 no longer exists', items: ['agents/ledger-2/CONTEXT_BRIEFING.md', 'agents/ledger-2/run.sh'], bytes: 12_000, left_out: null, means: null, held: false },
      { id: 'api-3-7f3a', title: 'api-3', when: 'Paused 1 d ago', evidence: 'process 5120 is gone; Terminal window 5 is closed', items: ['agents/api-3/CONTEXT_BRIEFING.md', 'agents/api-3/run.sh'], bytes: 22_000, left_out: 'it is paused and could be resumed', means: 'it leaves the list and cannot be resumed, unless you undo the cleanup', held: false },
    ],
  }
}
