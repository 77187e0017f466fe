/** Every page in every state worth looking at, with the address that shows it and the size of its window. */
export interface Shown {
  name: string
  address: string
  /** Logical pixels. */
  size: { width: number; height: number }
  /** What is on the page when it is all there. */
  wait: string
  /** Keys that lead to the state. */
  keys?: string[]
}

const POPOVER = { width: 380, height: 560 }
const PANEL = { width: 820, height: 600 }
const SMALL = { width: 560, height: 480 }
const TOPIC = '~/code/api'

function spawn(text: string): string {
  return `?page=${encodeURIComponent(JSON.stringify({ page: 'spawn', text, folder: null }))}`
}

export const PAGES: Shown[] = [
  { name: 'popover', address: '?window=popover', size: POPOVER, wait: 'web-console' },
  { name: 'popover-row', address: '?window=popover', size: POPOVER, wait: 'web-console', keys: ['ArrowDown', 'ArrowDown'] },
  { name: 'popover-empty', address: '?window=popover&empty', size: POPOVER, wait: 'No agent yet' },
  { name: 'popover-first', address: '?window=popover&first', size: POPOVER, wait: 'Nothing is set up yet' },
  { name: 'popover-trouble', address: '?window=popover&trouble=all', size: POPOVER, wait: 'Claude Code was not found' },
  { name: 'popover-silent', address: '?window=popover&mute=glance&patience=50', size: POPOVER, wait: 'has not answered' },
  { name: 'popover-mistake', address: '?window=popover&garbled=glance', size: POPOVER, wait: 'made a mistake' },
  { name: 'popover-told', address: '?window=popover', size: POPOVER, wait: 'web-console', keys: ['ArrowDown', 'ArrowDown', 'c'] },
  { name: 'popover-tell', address: '?window=popover', size: POPOVER, wait: 'web-console', keys: ['ArrowDown', 't'] },
  { name: 'popover-picker', address: '?window=popover', size: POPOVER, wait: 'web-console', keys: ['Shift+Tab', 'Shift+Tab'] },
  { name: 'popover-progress', address: '?window=popover&stop=launch&speed=50', size: POPOVER, wait: 'web-console', keys: ['Control+1'] },
  { name: 'popover-many', address: '?window=popover&many', size: POPOVER, wait: 'service-0' },
  { name: 'popover-narrowed', address: '?window=popover', size: POPOVER, wait: 'web-console', keys: ['d', 'o', 'c'] },
  { name: 'popover-locked', address: '?window=popover&broken=glance', size: POPOVER, wait: 'registry is locked' },
  { name: 'spawn', address: spawn(`Fix the refresh-token race in ${TOPIC}, 用户偶尔被踢下线`), size: PANEL, wait: 'Held back' },
  { name: 'spawn-line', address: spawn(`Fix the refresh-token race in ${TOPIC}`), size: PANEL, wait: 'Held back', keys: ['ArrowDown', 'ArrowDown', 'ArrowDown'] },
  { name: 'spawn-skip', address: spawn(`Fix the refresh-token race in ${TOPIC}`), size: PANEL, wait: 'Held back', keys: ['Alt+4'] },
  { name: 'spawn-edit', address: spawn(`Fix the refresh-token race in ${TOPIC}`), size: PANEL, wait: 'Held back', keys: ['Control+e'] },
  { name: 'spawn-document', address: spawn(`Fix the refresh-token race in ${TOPIC}`), size: PANEL, wait: 'Held back', keys: ['Control+d'] },
  { name: 'spawn-over', address: `?page=${encodeURIComponent(JSON.stringify({ page: 'spawn', text: 'Fix it', folder: null }))}&budget=900`, size: PANEL, wait: 'over the budget' },
  { name: 'spawn-left-out', address: `${spawn('Fix it')}&leftout`, size: PANEL, wait: 'Held back', keys: ['Control+o'] },
  { name: 'spawn-trouble', address: `${spawn('Fix it')}&trouble=no-agent,registry`, size: PANEL, wait: 'Held back' },
  { name: 'spawn-silent', address: `${spawn('Fix it')}&mute=preview&patience=50`, size: PANEL, wait: 'has not answered' },
  { name: 'spawn-nothing', address: `${spawn('Something new')}&nothing`, size: PANEL, wait: 'No source knew' },
  { name: 'spawn-broken', address: `${spawn('Something')}&broken=preview`, size: PANEL, wait: 'registry is locked' },
  { name: 'progress', address: `${spawn('Fix it')}&stop=launch&speed=50`, size: PANEL, wait: 'Held back', keys: ['Control+Enter'] },
  { name: 'progress-failed', address: `${spawn('Fix it')}&fail=launch&speed=50`, size: PANEL, wait: 'Held back', keys: ['Control+Enter'] },
  { name: 'progress-question', address: `${spawn('Fix it')}&question=trust&speed=50`, size: PANEL, wait: 'Held back', keys: ['Control+Enter'] },
  { name: 'progress-done', address: `${spawn('Fix it')}&speed=50`, size: PANEL, wait: 'Held back', keys: ['Control+Enter'] },
  { name: 'progress-no-retry', address: `${spawn('Fix it')}&fail=topic&speed=50`, size: PANEL, wait: 'Held back', keys: ['Control+Enter'] },
  { name: 'progress-skip', address: `${spawn('Fix it')}&speed=50`, size: PANEL, wait: 'Held back', keys: ['Alt+4', 'Control+Enter'] },
  { name: 'agent-starting', address: '?page=agent/search-7f3a', size: PANEL, wait: 'Briefing as delivered' },
  { name: 'agent-ended', address: '?page=agent/blog-2-7f3a', size: PANEL, wait: 'Briefing as delivered' },
  { name: 'agent-gone', address: '?page=agent/nobody', size: PANEL, wait: 'There is no agent' },
  { name: 'agent', address: '?page=agent/api-7f3a', size: { width: 760, height: 560 }, wait: 'Briefing as delivered' },
  { name: 'agent-lost', address: '?page=agent/importer-7f3a', size: PANEL, wait: 'Briefing as delivered' },
  { name: 'agent-tell', address: '?page=agent/api-7f3a', size: PANEL, wait: 'Briefing as delivered', keys: ['t'] },
  { name: 'agent-handover', address: '?page=agent/api-7f3a', size: PANEL, wait: 'Briefing as delivered', keys: ['h'] },
  { name: 'cleanup', address: '?page=cleanup', size: { width: 560, height: 460 }, wait: 'importer' },
  { name: 'cleanup-done', address: '?page=cleanup', size: { width: 560, height: 460 }, wait: 'importer', keys: ['Control+Enter'] },
  { name: 'cleanup-empty', address: '?page=cleanup&empty', size: PANEL, wait: 'Nothing to clean up' },
  { name: 'settings-general', address: '?page=settings/general', size: PANEL, wait: 'Watched folders' },
  { name: 'settings-sources', address: '?page=settings/sources', size: PANEL, wait: 'postgres', keys: ['Control+r'] },
  { name: 'settings-agents', address: '?page=settings/agents', size: PANEL, wait: 'Project by project' },
  { name: 'settings-terminal', address: '?page=settings/terminal', size: PANEL, wait: 'Automatic' },
  { name: 'settings-hotkey', address: '?page=settings/hotkey', size: PANEL, wait: 'Opens the spawn panel' },
  { name: 'settings-notifications', address: '?page=settings/notifications', size: PANEL, wait: 'Tell me when' },
  { name: 'settings-privacy', address: '?page=settings/privacy', size: PANEL, wait: 'written where' },
  { name: 'settings-silent', address: '?page=settings/general&mute=settings&patience=50', size: PANEL, wait: 'has not answered' },
  { name: 'settings-mistake', address: '?page=settings/agents&garbled=settings', size: PANEL, wait: 'made a mistake' },
  { name: 'first-run-wide', address: '?page=first-run&first', size: { width: 1025, height: 750 }, wait: 'would know' },
  { name: 'first-run', address: '?page=first-run&first', size: SMALL, wait: 'would know' },
]
