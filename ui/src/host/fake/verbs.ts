/** Every verb of the door, as the stand-in answers it. */
import type { AgentRow, Job, Marked, Message, Outcome, ProjectRow, Settings, Trouble, Verbs, Wish } from '../door'
import type { Events } from '../index'
import { page, row, VERBS_OF } from './agents'
import { glance } from './index'
import { FakeJob, type Script } from './job'
import { LINES, preview, type Marks } from './memories'
import { firstRun, plan, written } from './settings'

export interface World {
  agents: AgentRow[]
  projects: ProjectRow[]
  settings: Settings
  indexed: number
  marks: Marks
  cleaned: Map<string, AgentRow[]>
  jobs: Map<string, FakeJob>
  nothing: boolean
  /** Tokens a briefing may take. */
  budget: number
  first: boolean
  troubles: Trouble[]
  fails: string | null
  stops: string | null
  question: string | null
  speed: number
  now(): number
  emit<E extends keyof Events>(event: E, payload: Events[E]): void
  changed(): void
}

/** What trust enables in a folder of this world. */
const ENABLED = ['2 hooks in .claude/settings.json', '1 MCP server in .mcp.json']

type Answers = { [V in keyof Verbs]: (input: Verbs[V]['with']) => Verbs[V]['gives'] }

export function answers(world: World): Answers {
  const well = (what: string, outcome: string): Outcome => ({ what, outcome, well: true })
  const find = (id: string): AgentRow => world.agents.find((one) => one.id === id) ?? fail(`There is no agent ${id} any more.`, 'It may have been cleaned up; look at the list.')
  const at = () => new Date(world.now()).toISOString()
  /** What each job was to start, anew. */
  const wanted = new Map<string, (terminal: string | null) => string>()
  /** Texts by their id, with the agent they are for. */
  const told = new Map<number, [agent: string, message: Message]>()
  let count = 0

  function change(id: string, change: Partial<AgentRow>): void {
    world.agents = world.agents.map((one) => (one.id === id ? { ...one, ...change, since: at(), sign_at: at() } : one))
    world.changed()
  }

  function turn(target: { agent: string | null; now: boolean }, to: 'paused' | 'working', word: string): Outcome[] {
    const chosen = world.agents.filter((one) => !target.agent || one.id === target.agent)
    return chosen.map((one) => {
      if (to === 'paused' && one.state === 'working' && !target.now) return { what: one.name, outcome: 'is in the middle of a turn; pausing now would interrupt it', well: false }
      change(one.id, { state: to, verbs: VERBS_OF[to], needs: null, asks: null, doing: to === 'paused' ? 'Resumes where it was' : 'Reading what has changed' })
      return well(one.name, word)
    })
  }

  function clean(ids: string[]): { id: string; items: Outcome[] } {
    const id = `clean-${(count += 1)}`
    world.cleaned.set(id, world.agents.filter((one) => ids.includes(one.id)))
    world.agents = world.agents.filter((one) => !ids.includes(one.id))
    world.changed()
    return { id, items: ids.map((one) => well(one, 'put aside')) }
  }

  function begin(wish: Wish): string {
    const shown = preview(wish, world.marks, false)
    const id = `job-${(count += 1)}`
    wanted.set(id, (terminal) => begin({ ...wish, terminal: terminal ?? wish.terminal }))
    const kind = wish.permission === 'skip' ? 'skip-permissions' : world.question === 'trust' ? 'trust' : null
    const question = kind && { kind, shown: shown.shown, details: kind === 'trust' ? ENABLED : ['It is a git repository with 3 uncommitted changes'] } as Job['question']
    return run({ id, verb: 'spawn', agent: `${shown.name}-new`, name: shown.name, shown: shown.shown, question }, wish.terminal, (agent) => {
      world.agents = [...world.agents, { ...row([shown.name, shown.shown, 'working', wish.text, [0, 's'], 1]), id: agent }]
      world.changed()
    })
  }

  function run(script: Pick<Script, 'id' | 'verb' | 'agent' | 'name' | 'shown' | 'question'>, terminal: string | null, done: (agent: string) => void): string {
    const job = new FakeJob(
      { ...script, fails: terminal === 'tmux' ? null : world.fails, stops: world.stops, speed: world.speed, now: at },
      (now) => world.emit('job', now),
      (end) => end.how === 'done' && done(end.agent),
    )
    world.jobs.set(script.id, job)
    setTimeout(() => job.run())
    return script.id
  }

  /** An agent whose folder is not trusted any more asks in the panel before it comes back. */
  function comeBack(one: AgentRow, terminal: string | null): string {
    const id = `job-${(count += 1)}`
    wanted.set(id, (terminal) => comeBack(one, terminal))
    const question = { kind: 'trust', shown: one.shown, details: ENABLED } as const
    return run({ id, verb: 'resume', agent: one.id, name: one.name, shown: one.shown, question }, terminal, () => turn({ agent: one.id, now: true }, 'working', ''))
  }

  function marked(): Marked[] {
    return [...world.marks.values()].map(({ mark, line, folder, at }) => ({ source: line.source, id: line.id, mark, project: folder || null, shown: folder ? folder.replace('/Users/dev', '~') : null, text: line.text, at }))
  }

  return {
    glance: () => glance(world),
    preview: (wish) => (wish.folder === '/' ? fail('/ is not a project.', 'Name a folder inside of it.') : preview(wish, world.marks, world.nothing, world.budget)),
    spawn: begin,
    again({ job, terminal }) {
      const anew = wanted.get(job) ?? fail('This start is too long ago.', 'Begin it anew.')
      return anew(terminal)
    },
    jobs: () => [...world.jobs.values()].map((one) => one.job),
    config_anew() {
      world.troubles = world.troubles.filter((one) => one.kind !== 'config')
      world.changed()
      return well('The configuration', 'begun anew; the broken one is kept as ~/.pao/config.toml.broken')
    },
    consent({ folder, trust, skip }) {
      const folders = world.settings.folders.map((one) => (one.folder === folder ? { ...one, trust: one.trust && trust, skip: one.skip && skip } : one))
      world.settings = { ...world.settings, folders }
      return { ...world.settings, marks: marked() }
    },
    withdraw(id) {
      const [agent, message] = told.get(id) ?? fail(`There is no text ${id}.`, 'Look at the agent again.')
      if (message.fate !== 'queued') fail(`Text ${id} cannot be taken back: it is ${message.fate}.`, 'Tell it something else.')
      const withdrawn = { ...message, fate: 'withdrawn' }
      told.set(id, [agent, withdrawn])
      change(agent, { queued: Math.max(0, find(agent).queued - 1) })
      return withdrawn
    },
    answer: ({ job, yes }) => (world.jobs.get(job)?.answer(yes), null),
    cancel: (id) => (world.jobs.get(id)?.cancel(), null),
    mark({ source, id, folder, mark, text }) {
      const key = `${source} ${id}`
      const line = LINES.find((one) => one.source === source && one.id === id) ?? fail(`${source} has no ${id}.`, 'Look at a new preview.')
      if (mark) world.marks.set(key, { mark, line: { ...line, text }, folder: folder ?? '', at: at() })
      else world.marks.delete(key)
      return null
    },
    show_source: ({ source, id }) => `${LINES.find((one) => one.source === source && one.id === id)?.text ?? ''}\n\nRecorded by ${source}, with everything around it: <b>this stays text</b>.`,
    agent(id) {
      const its = [...told.values()].filter(([agent]) => agent === id).map(([, message]) => message)
      const known = page(find(id))
      return { ...known, messages: [...its.reverse(), ...known.messages] }
    },
    focus: (id) => (find(id).terminal ? well(find(id).name, 'is in front') : { what: find(id).name, outcome: 'has no window any more', well: false }),
    tell({ agent, text }) {
      const waits = find(agent).state === 'needs-you'
      if (waits) change(agent, { queued: find(agent).queued + 1 })
      const message = { id: 100 + (count += 1), at: at(), text, fate: waits ? 'queued' : 'confirmed', note: null }
      told.set(message.id, [agent, message])
      return message
    },
    checkpoint: ({ agent }) => well(find(agent).name, 'has a checkpoint: main, 3 changed'),
    pause: (target) => turn(target, 'paused', 'is paused'),
    resume(target) {
      const one = world.question === 'trust' && target.agent ? find(target.agent) : null
      if (!one) return turn(target, 'working', 'is back in the same conversation')
      const page = { page: 'job', id: comeBack(one, null) } as const
      world.emit('page', page)
      return [{ ...well(one.name, 'asks you something before it comes back'), action: { label: 'Answer…', verb: 'open', with: page } }]
    },
    rebrief: (id) => well(find(id).name, 'gets 2 new lines with its next prompt'),
    handover: ({ from, to }) => well(find(from).name, to ? `handed over to ${find(to).name}` : 'handed over to a new agent'),
    forget: (id) => clean([find(id).id]),
    clean_plan: () => ({ ...plan(), entries: world.agents.length === 0 ? [] : plan().entries.filter((entry) => ![...world.cleaned.keys()].some((key) => key.includes(entry.id))) }),
    clean: (ids) => clean(ids),
    clean_undo(id) {
      world.agents = [...world.agents, ...(world.cleaned.get(id) ?? [])]
      world.cleaned.delete(id)
      world.changed()
      return { id, items: [] }
    },
    settings: () => ({ ...world.settings, marks: marked() }),
    set({ key, value }) {
      const [head, name, field] = key.split('.')
      const source = { enabled: value === 'true', deadline_ms: Number(value) }
      if (head === 'sources') world.settings = { ...world.settings, sources: world.settings.sources.map((one) => (one.name === name ? { ...one, [field ?? '']: source[field as 'enabled'] } : one)) }
      else world.settings = { ...world.settings, values: world.settings.values.map((one) => (one.key === key ? { ...one, value: /^\d+$/.test(value ?? '') ? value : `"${value}"`, default: false } : one)) }
      return { ...world.settings, marks: marked() }
    },
    check_source(name) {
      const source = world.settings.sources.find((one) => one.name === name) ?? fail(`There is no source ${name}.`, 'Add it first.')
      return { ...source, reachable: name !== 'worker', found: name === 'worker' ? 'Timed out after 1.5 s' : name === 'postgres' ? '12,408 observations · answered in 212 ms' : '214 transcripts in 31 folders, all indexed' }
    },
    add_source({ name, kind, values }) {
      if (world.settings.sources.some((one) => one.name === name)) fail(`There is a source ${name} already.`, 'Choose another name.')
      const source = { name, kind, enabled: true, by_default: false, at: values.url ?? values.folders ?? '', reachable: null, found: null, deadline_ms: 1500, has_secret: false }
      world.settings = { ...world.settings, sources: [...world.settings.sources, source] }
      return source
    },
    remove_source: (name) => ((world.settings = { ...world.settings, sources: world.settings.sources.filter((one) => one.name !== name) }), null),
    set_secret({ name, value }) {
      world.settings = { ...world.settings, sources: world.settings.sources.map((one) => (one.name === name ? { ...one, has_secret: value !== null } : one)) }
      return well(name, value ? 'has its secret in Keychain' : 'has no secret any more')
    },
    switch({ which, on }) {
      const key = ({ 'login-item': 'login_item', notifications: 'notifications', 'file-manager': 'file_manager', 'command-line': 'command_line' } as const)[which]
      const now = { ...world.settings[key], on }
      world.settings = { ...world.settings, [key]: now }
      return now
    },
    set_hotkey(keys) {
      const taken = keys === 'Cmd+Space'
      const hotkey = { keys, active: keys !== null && !taken, note: taken ? 'Spotlight has ⌘Space. Record another one, or free it in System Settings.' : null }
      world.settings = { ...world.settings, hotkey }
      return hotkey
    },
    set_roots(folders) {
      const known = world.settings.roots.map((root) => ({ ...root, watched: folders.includes(root.folder) }))
      const fresh = folders.filter((folder) => !known.some((root) => root.folder === folder)).map((folder) => ({ folder, shown: folder, projects: 0, examples: [], active_at: null, watched: true, note: null }))
      world.settings = { ...world.settings, roots: [...known, ...fresh] }
      return world.settings
    },
    choose_folder: () => '/Volumes/Work/新项目',
    first_run: () => firstRun(),
    finish_first_run: () => ((world.first = false), world.changed(), null),
    traces: () => written(),
    remove_everything: () => written().map((one) => ({ ...one, outcome: 'removed' })),
    diagnostics: () => 'pao 0.1.0, without secrets',
    reveal: () => null,
    open: () => null,
    page: () => null,
    close: () => null,
    pin: () => null,
    copy: () => null,
    quit: () => null,
  }
}

function fail(message: string, next: string): never {
  throw { kind: 'user', message, done: '', next }
}
