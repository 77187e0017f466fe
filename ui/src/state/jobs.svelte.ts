/** Starts under way and those that ended last, whichever window began them. */
import { ask, on, type Job, type JobStep, type Wish } from '../host'
import { clock } from './clock.svelte'

class Jobs {
  all = $state.raw<Record<string, Job>>({})

  /** Hears of every change; what runs already when this window loads is asked for. */
  start(): () => void {
    const off = on('job', (job) => this.#take(job))
    void ask('jobs', null).then(
      (known) => known.forEach((job) => this.all[job.id] ?? this.#take(job)),
      () => undefined,
    )
    return off
  }

  spawn(wish: Wish): Promise<string> {
    return this.begun(ask('spawn', wish))
  }

  /** A job that was just begun, shown from now on. */
  async begun(id: Promise<string>): Promise<string> {
    const begun = await id
    clock.tick()
    return begun
  }

  #take(job: Job): void {
    clock.tick()
    this.all = { ...this.all, [job.id]: job }
  }
}

/** The step under way. */
export function underWay(job: Job): JobStep | undefined {
  return job.end ? undefined : job.steps.find((step) => step.state === 'running')
}

export const jobs = new Jobs()
