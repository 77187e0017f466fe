/** The settings as last told by the host, and the ways to change them. What could not be changed stays as it was. */
import { ask, type Failure, type Outcome, type Reveal, type Settings, type Source, type Which } from '../../host'
import { asFailure } from '../../state/failure'
import { say } from '../../state/say.svelte'

export class SettingsState {
  all = $state.raw<Settings | null>(null)
  failure = $state.raw<Failure | null>(null)
  outcome = $state.raw<Outcome | null>(null)
  /** What the sources said when last checked here, and which are being checked since when. */
  checked = $state.raw<Record<string, Source>>({})
  checking = $state.raw<Record<string, number>>({})

  /** A value as people write it: TOML strings without their quotes. */
  value(key: string): string {
    const toml = this.all?.values.find((setting) => setting.key === key)?.value ?? ''
    return /^".*"$/.test(toml) ? toml.slice(1, -1) : toml
  }

  load = (): Promise<void> =>
    this.attempt(async () => {
      this.all = await ask('settings', null)
    })

  set(key: string, value: string | null): Promise<void> {
    return this.attempt(async () => {
      this.all = await ask('set', { key, value })
      say.aloud('Saved')
    })
  }

  switch(which: Which, on: boolean): Promise<void> {
    return this.attempt(async () => {
      await ask('switch', { which, on })
      this.all = await ask('settings', null)
    })
  }

  consent(folder: string, trust: boolean, skip: boolean): Promise<void> {
    return this.attempt(async () => {
      this.all = await ask('consent', { folder, trust, skip })
      say.aloud('Taken back')
    })
  }

  /** Opens a file of ours, or a pane of the system's settings. */
  reveal(what: Reveal): Promise<void> {
    return this.attempt(async () => {
      await ask('reveal', what)
    })
  }

  roots(folders: string[]): Promise<void> {
    return this.attempt(async () => {
      this.all = await ask('set_roots', folders)
    })
  }

  async check(name: string, now: number): Promise<void> {
    this.checking = { ...this.checking, [name]: now }
    await this.attempt(async () => {
      const source = await ask('check_source', name)
      this.checked = { ...this.checked, [name]: source }
      say.aloud(`${name}: ${source.reachable ? 'answered' : 'did not answer'}`)
    })
    const { [name]: _, ...rest } = this.checking
    this.checking = rest
  }

  async attempt(work: () => Promise<void>): Promise<void> {
    this.failure = null
    this.outcome = null
    try {
      await work()
    } catch (thrown) {
      this.failure = asFailure(thrown)
    }
  }
}
