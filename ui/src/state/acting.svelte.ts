/** Doing something with an agent: what needs words opens a sheet first, the rest is done and its outcome told. */
import { ask, type AgentRow, type CleanDone, type Failure, type Outcome, type Verb } from '../host'
import { asFailure } from './failure'
import { say } from './say.svelte'

type Sheet = { kind: 'tell' | 'handover' | 'forget'; row: AgentRow }

export interface Told {
  outcome: Outcome
  /** What else could be done about it. */
  offer?: { label: string; run: () => void }
  /** The agent as it was: what is told is only true of it in that state. */
  of?: AgentRow
}

export class Acting {
  sheet = $state.raw<Sheet | null>(null)
  told = $state.raw<Told | null>(null)
  failure = $state.raw<Failure | null>(null)
  /** What is being done, in words, while it is. */
  doing = $state<string | null>(null)

  act = (verb: Verb, row: AgentRow): void => {
    this.clear()
    if (verb === 'tell' || verb === 'handover' || verb === 'forget') this.sheet = { kind: verb, row }
    else void this.#now(verb, row)
  }

  clear = (): void => {
    this.told = null
    this.failure = null
  }

  closeSheet = (): void => {
    this.sheet = null
  }

  async #now(verb: Exclude<Verb, 'tell' | 'handover' | 'forget'>, row: AgentRow): Promise<void> {
    if (verb === 'focus') return this.run(`Bringing ${row.name} to the front`, () => ask('focus', row.id), true)
    if (verb === 'checkpoint') return this.run(`Making a checkpoint of ${row.name}`, () => ask('checkpoint', { agent: row.id, message: null }))
    if (verb === 'rebrief') return this.run(`Asking the stores for ${row.name}`, () => ask('rebrief', row.id))
    if (verb === 'resume') return this.run(`Resuming ${row.name}`, async () => one(await ask('resume', { agent: row.id, now: false })))
    return this.pause(row, false)
  }

  async pause(row: AgentRow, now: boolean): Promise<void> {
    const work = async (): Promise<Outcome> => one(await ask('pause', { agent: row.id, now }))
    await this.run(`Pausing ${row.name}`, work)
    const kept = this.told?.outcome
    if (kept && !kept.well && !now) this.told = { outcome: kept, offer: { label: 'Pause now', run: () => void this.pause(row, true) }, of: row }
  }

  async tell(row: AgentRow, text: string): Promise<void> {
    await this.run(`Telling ${row.name}`, async () => {
      const message = await ask('tell', { agent: row.id, text })
      return { what: row.name, outcome: FATES[message.fate] ?? message.fate, well: message.fate !== 'unknown' }
    })
  }

  async withdraw(row: AgentRow, id: number): Promise<void> {
    await this.run('Taking the text back', async () => {
      const message = await ask('withdraw', id)
      return { what: row.name, outcome: FATES[message.fate] ?? message.fate, well: message.fate === 'withdrawn' }
    })
  }

  async handover(row: AgentRow, to: string | null, text: string): Promise<void> {
    await this.run(`Handing over from ${row.name}`, () => ask('handover', { from: row.id, to, text: text || null }))
  }

  async forget(row: AgentRow): Promise<void> {
    let done: CleanDone | undefined
    await this.run(`Putting ${row.name} aside`, async () => {
      done = await ask('forget', row.id)
      return done.items.find((item) => !item.well) ?? { what: row.name, outcome: 'put aside', well: true }
    })
    const id = done?.id
    if (id && this.told) this.told = { ...this.told, offer: { label: 'Undo', run: () => void this.#undo(id, row) } }
  }

  async #undo(id: string, row: AgentRow): Promise<void> {
    await this.run(`Bringing ${row.name} back`, async () => {
      await ask('clean_undo', id)
      return { what: row.name, outcome: 'is back in the list', well: true }
    })
  }

  /** `quiet`: going well is not worth a word, because it is plain to see. */
  async run(doing: string, work: () => Promise<Outcome>, quiet = false): Promise<void> {
    this.clear()
    this.doing = doing
    try {
      const outcome = await work()
      if (!quiet || !outcome.well) this.told = { outcome }
      say.aloud(`${outcome.what}: ${outcome.outcome}`)
    } catch (thrown) {
      this.failure = asFailure(thrown)
    }
    this.doing = null
  }
}

export const FATES: Record<string, string> = {
  queued: 'will be told as soon as it can listen',
  sent: 'was told',
  confirmed: 'was told, and has it',
  unknown: 'may or may not have heard it',
  withdrawn: 'was not told; the text was withdrawn',
}

function one(outcomes: Outcome[]): Outcome {
  return outcomes.find((o) => !o.well) ?? outcomes[0] ?? { what: 'Nothing', outcome: 'had to be done', well: true }
}
