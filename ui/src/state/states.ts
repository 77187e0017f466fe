/** What an agent's state, its verbs and its choices are called, and which shape stands for them. */
import type { AgentState, Verb } from '../host'
import type { Shape } from '../parts/icons'
import type { Tone } from '../parts/StateIcon.svelte'

export const STATES: Record<AgentState, { word: string; shape: Shape; tone: Tone }> = {
  'needs-you': { word: 'Needs you', shape: 's-needs', tone: 'needs' },
  working: { word: 'Working', shape: 's-work', tone: 'work' },
  idle: { word: 'Idle', shape: 's-idle', tone: 'quiet' },
  starting: { word: 'Starting', shape: 's-start', tone: 'now' },
  paused: { word: 'Paused', shape: 's-paused', tone: 'quiet' },
  ended: { word: 'Ended', shape: 's-ended', tone: 'quiet' },
  lost: { word: 'Lost', shape: 's-lost', tone: 'quiet' },
}

export interface Action {
  label: string
  keys: string
  icon: Shape
}

export const VERBS: Record<Verb, Action> = {
  focus: { label: 'Focus', keys: 'enter', icon: 'i-term' },
  tell: { label: 'Tell…', keys: 't', icon: 'i-tell' },
  checkpoint: { label: 'Checkpoint', keys: 'c', icon: 'i-flag' },
  pause: { label: 'Pause', keys: 'p', icon: 'i-pause' },
  resume: { label: 'Resume', keys: 'p', icon: 's-work' },
  handover: { label: 'Hand over…', keys: 'h', icon: 'i-hand' },
  rebrief: { label: 'Brief again', keys: 'b', icon: 'i-sync' },
  forget: { label: 'Forget…', keys: 'shift+backspace', icon: 'i-trash' },
}

export const PERMISSIONS = [
  { value: 'ask', label: 'Ask', hint: 'Asks before every tool that changes something.' },
  { value: 'accept-edits', label: 'Accept edits', hint: 'Edits files without asking; asks before commands.' },
  { value: 'plan', label: 'Plan', hint: 'Reads and plans; changes nothing until you agree to the plan.' },
  {
    value: 'skip',
    label: 'Skip',
    danger: true,
    hint: 'Runs every command without asking, whatever it does. Only where losing the folder would not hurt.',
  },
] as const

export const DELIVERIES = [
  { value: 'auto', label: 'Automatic' },
  { value: 'session', label: 'Session hook' },
  { value: 'files', label: 'Files' },
] as const

/** Why a line is not in the briefing. */
export const REASONS: Record<string, string> = {
  irrelevant: 'Below the floor: too little to do with the topic.',
  duplicate: 'Says the same as',
  superseded: 'Superseded by',
  'over-budget': 'There was no room left in the budget.',
  quarantined: 'Quarantined: it gives the agent an order. Not delivered.',
  dropped: 'Dropped by you.',
  never: 'Never again, as you said.',
  'not-found': 'Its source answered without it.',
  'no-answer': 'Its source did not answer, which says nothing about it.',
  'not-asked': 'Its source was not asked.',
  edited: 'You took it out of the document then.',
}

export const STEPS: Record<string, { name: string; todo: string }> = {
  topic: { name: 'Topic', todo: 'Find out where and under which name' },
  gather: { name: 'Gather', todo: 'Ask every source' },
  briefing: { name: 'Briefing', todo: 'Rank, fit the budget, cite' },
  deliver: { name: 'Deliver', todo: 'Put the briefing where the agent finds it' },
  trust: { name: 'Trust', todo: 'See that no dialog appears' },
  launch: { name: 'Launch', todo: 'Open the terminal' },
  ready: { name: 'Ready', todo: 'See that the agent has all it needs' },
}
