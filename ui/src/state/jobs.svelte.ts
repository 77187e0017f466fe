/** Jobs this window has started or heard of, and which wish each came from. */
import { ask, on, type Job, type Wish } from '../host'
import { clock } from './clock.svelte'

export interface Followed {
  wish: Wish
  job: Job | null
  began: number
  /** Since when the step under way is under way, by this window's clock. */
  stepBegan: number
}

class Jobs {
  all = $state.raw<Record<string, Followed>>({})
  /** A job may be heard of before the answer with its id is here. */
  #early: Record<string, Job> = {}

  start(): () => void {
    return on('job', (job) => this.#take(job))
  }

  async spawn(wish: Wish): Promise<string> {
    const id = await ask('spawn', wish)
    clock.tick()
    const followed = { wish, job: this.#early[id] ?? null, began: clock.now, stepBegan: clock.now }
    this.all = { ...this.all, [id]: followed }
    return id
  }

  #take(job: Job): void {
    const known = this.all[job.id]
    if (!known) {
      this.#early = { [job.id]: job }
      return
    }
    clock.tick()
    const moved = underWay(job) !== (known.job ? underWay(known.job) : 0)
    this.all = { ...this.all, [job.id]: { ...known, job, stepBegan: moved ? clock.now : known.stepBegan } }
  }
}

/** Index of the step under way; -1 when there is none. */
export function underWay(job: Job): number {
  if (job.end) return -1
  const running = job.steps.findIndex((step) => step.state === 'running')
  return running >= 0 ? running : job.steps.findIndex((step) => step.state === 'pending')
}

export const jobs = new Jobs()
