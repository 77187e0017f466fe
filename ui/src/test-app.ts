/** The whole app as a test opens it: one window on an in-memory host, driven by keys and clicks. */
import { render } from '@testing-library/svelte'
import userEvent, { type UserEvent } from '@testing-library/user-event'
import App from './App.svelte'
import { use, type Host, type VerbName, type Verbs } from './host'
import { fake, type Fake } from './host/fake'
import Panel from './pages/Panel.svelte'
import Popover from './pages/popover/Popover.svelte'
import { glance } from './state/glance.svelte'
import { jobs } from './state/jobs.svelte'
import { mishap } from './state/mishap.svelte'
import { pages } from './state/page.svelte'

export interface Opened {
  host: Fake
  user: UserEvent
  /** What a verb was asked with, oldest first. */
  asked<V extends VerbName>(verb: V): Verbs[V]['with'][]
}

/** Draws the window of that host. */
export function show(host: Host): void {
  render(App, { host: use(host), Page: host.label === 'popover' ? Popover : Panel })
}

export function openApp(search: string): Opened {
  pages.stack = []
  jobs.all = {}
  glance.last = null
  glance.failure = null
  mishap.last = null
  const host = fake(search)
  show(host)
  return {
    host,
    user: userEvent.setup(),
    asked: (verb) => host.asked.filter(([name]) => name === verb).map(([, input]) => input as never),
  }
}

export function spawnPage(text: string, more = ''): string {
  return `?page=${encodeURIComponent(JSON.stringify({ page: 'spawn', text, folder: null }))}&speed=100${more}`
}
