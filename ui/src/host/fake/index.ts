/**
 * An in-memory host for a plain browser and for tests. It keeps what is done to it, as the app would, and every call
 * stands in `asked`. The address says what world it is: `?window=popover`, `?page=settings/hotkey`, `?many`, `?empty`,
 * `?first`, `?trouble=kind`, `?slow`, `?broken=verb`, `?mute=verb`, `?garbled=verb`, `?fail=step`, `?stop=step`, `?question=trust`, `?nothing`, `?mac`.
 */
import type { Glance } from '../door'
import type { Events, Host, VerbName } from '../index'
import { agents, manyAgents } from './agents'
import { manyProjects, projects } from './projects'
import { START } from './time'
import { troubles } from './troubles'
import { answers, type World } from './verbs'
import { settings } from './settings'

export interface Fake extends Host {
  verbs: VerbName[]
  world: World
  asked: [verb: VerbName, input: unknown][]
  emit<E extends keyof Events>(event: E, payload: Events[E]): void
}

export function fake(search = '', hash = ''): Fake {
  const params = new URLSearchParams(search)
  const flag = (name: string) => params.has(name)
  const heard: { event: string; hear: (payload: never) => void }[] = []
  const asked: Fake['asked'] = []
  const began = performance.now()
  const many = flag('many')

  const emit: Fake['emit'] = (event, payload) => {
    for (const one of [...heard]) if (one.event === event) one.hear(payload as never)
  }
  const world: World = {
    agents: flag('empty') || flag('first') ? [] : many ? manyAgents(1000) : agents(),
    projects: flag('empty') || flag('first') ? [] : many ? manyProjects(2000) : projects(),
    settings: settings(),
    indexed: 1,
    marks: new Map(),
    cleaned: new Map(),
    jobs: new Map(),
    budget: Number(params.get('budget')) || 2000,
    nothing: flag('nothing') || flag('empty'),
    first: flag('first'),
    troubles: troubles(params.get('trouble')),
    fails: params.get('fail'),
    stops: params.get('stop'),
    question: params.get('question'),
    speed: Number(params.get('speed')) || 1,
    now: () => START + (flag('still') ? 0 : performance.now() - began),
    emit,
    changed: () => emit('glance', glance(world)),
  }
  const verbs = answers(world)
  const broken = params.get('broken')?.split(',') ?? []
  const garbled = params.get('garbled')?.split(',') ?? []
  const mute = params.get('mute')?.split(',') ?? []

  const host: Fake = {
    label: params.get('window') === 'popover' ? 'popover' : 'panel',
    mac: flag('mac') || /Mac/.test(navigator.userAgent),
    first: params.get('page') ?? hash.slice(1),
    patience: Number(params.get('patience')) || undefined,
    now: world.now,
    verbs: Object.keys(verbs) as VerbName[],
    world,
    asked,
    emit,
    async ask(verb, input) {
      asked.push([verb, input])
      if (mute.includes(verb)) return new Promise(() => {})
      const slow = flag('slow') && (verb === 'preview' || verb === 'check_source') ? 1500 : 0
      await new Promise((done) => setTimeout(done, slow))
      if (broken.includes(verb)) throw { kind: 'environment', message: 'The registry is locked by another program.', done: 'nothing was changed.', next: 'Close that program, then try again.' }
      if (garbled.includes(verb)) return {} as never
      return (verbs[verb] as (input: unknown) => never)(input)
    },
    on(event, hear, ready) {
      const one = { event, hear: hear as (payload: never) => void }
      heard.push(one)
      ready?.()
      return () => void heard.splice(heard.indexOf(one), 1)
    },
  }
  // So that tests in a real browser can look at what was asked, and make things happen.
  Object.assign(window, { fake: host })
  return host
}

export function glance(world: World): Glance {
  const of = (state: string) => world.agents.filter((row) => row.state === state).length
  const needs = of('needs-you')
  const working = of('working')
  return {
    agents: world.agents,
    projects: world.projects,
    roots: world.settings.roots.filter((root) => root.watched),
    indexed: world.indexed,
    sources: world.first ? [] : [
      { name: 'postgres', state: 'ok', reason: null },
      { name: 'worker', state: 'timed-out', reason: 'no answer within 1.5 s' },
      { name: 'history', state: 'ok', reason: null },
      { name: 'memory', state: 'ok', reason: null },
    ],
    tray: { shape: needs ? 'needs-you' : working ? 'working' : 'idle', number: needs || working, label: `Prime Agent Orchestrator — ${working} working, ${needs} needs you` },
    troubles: world.troubles,
    first_run: world.first,
    undoable: [...world.cleaned].map(([id, was]) => ({ id, at: new Date(START - 3_600_000).toISOString(), agents: was.length })),
  }
}
