/** A start that takes its time, step by step, and can ask, fail or be cancelled. */
import type { Failure, Job, JobEnd, JobStep, Question } from '../door'

export interface Script {
  id: string
  verb: Job['verb']
  /** Registry id of what is started. */
  agent: string
  name: string
  shown: string
  question: Question | null
  /** Name of the step that fails. */
  fails: string | null
  /** Name of the step at which everything stands still, for a picture of it. */
  stops: string | null
  /** How much faster than usual. */
  speed: number
  now(): string
}

const STEPS: [name: string, ms: number, note: string, doing: string][] = [
  ['topic', 2, 'api, found in the text', ''],
  ['gather', 1504, '29 found; worker timed out', 'Asking 4 sources'],
  ['briefing', 11, '18 lines, 1,420 tokens', ''],
  ['deliver', 6, 'session hook; project untouched', ''],
  ['trust', 3, 'agreed on 12 Nov for this folder', ''],
  ['launch', 1300, 'Terminal, window 4', 'Opening a Terminal window'],
  ['ready', 900, 'the topic arrived', 'Waiting for the agent'],
]

const DENIED: Failure = {
  kind: 'environment',
  message: 'macOS did not let PAO control Terminal.',
  done: 'briefing saved; your project is unchanged.',
  next: 'Allow it in System Settings → Privacy & Security → Automation, or open the agent in tmux.',
}

const GONE: Failure = { kind: 'user', message: '~/code/api is not a folder any more.', done: 'nothing had been written.', next: 'Choose another folder.' }

const FULL: Failure = { kind: 'environment', message: 'The disk is full: CONTEXT_BRIEFING.md could not be written.', done: 'everything done before was taken back.', next: 'Make room, then try again.' }

export class FakeJob {
  job: Job
  /** An agent that comes back has its topic and its briefing. */
  #steps: typeof STEPS
  #timer: ReturnType<typeof setTimeout> | undefined
  #answered = false

  constructor(
    readonly script: Script,
    readonly push: (job: Job) => void,
    readonly ended: (end: JobEnd) => void,
  ) {
    this.#steps = STEPS.slice(script.verb === 'resume' ? 3 : 0)
    const steps = this.#steps.map(([name, usual_ms]): JobStep => ({ name, usual_ms, began_at: null, ms: 0, state: 'pending', note: '' }))
    this.job = { id: script.id, verb: script.verb, name: script.name, shown: script.shown, began_at: script.now(), steps, question: null, end: null }
  }

  run(i = 0): void {
    const [name, ms, note, doing] = this.#steps[i] ?? STEPS[0]!
    if (name === 'deliver' && this.script.question && !this.#answered) return this.#push({ question: this.script.question })
    this.#step(i, { state: 'running', note: doing, began_at: this.script.now() })
    if (this.script.stops === name) return
    this.#timer = setTimeout(() => {
      if (this.script.fails === name) {
        this.#step(i, { state: 'failed', ms: 38, note: name === 'launch' ? 'Automation denied' : name === 'topic' ? 'the folder is gone' : 'no room on the disk' })
        return this.#end({ how: 'failed', failure: this.#failure(name), retry: name !== 'topic' })
      }
      this.#step(i, { state: 'done', ms, note })
      if (i + 1 < this.#steps.length) this.run(i + 1)
      else this.#end({ how: 'done', agent: this.script.agent, confirmed: true, needs: null, attach: null, notes: [] })
    }, ms / this.script.speed)
  }

  answer(yes: boolean): void {
    this.#answered = true
    this.#push({ question: null })
    if (yes) this.run(this.#steps.findIndex(([name]) => name === 'deliver'))
    else this.cancel()
  }

  /** Only a terminal that refuses has another one that could be taken instead. */
  #failure(step: string): Failure {
    if (step === 'topic') return GONE
    return step === 'launch' ? { ...DENIED, action: { label: 'Open in tmux instead', verb: 'again', with: { job: this.script.id, terminal: 'tmux' } } } : FULL
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#end({ how: 'cancelled' })
  }

  #step(i: number, change: Partial<JobStep>): void {
    this.#push({ steps: this.job.steps.map((step, at) => (at === i ? { ...step, ...change } : step)) })
  }

  #end(end: JobEnd): void {
    this.#push({ end })
    this.ended(end)
  }

  #push(change: Partial<Job>): void {
    this.job = { ...this.job, ...change }
    this.push(this.job)
  }
}
