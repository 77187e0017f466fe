/** Does what the host offered as a button. A start leads to its progress, a page is opened by whoever shows pages. */
import { ask, host, type Action, type Outcome, type Page, type VerbName } from '../host'
import { jobs } from './jobs.svelte'
import { pages } from './page.svelte'

export async function perform({ verb, with: input }: Action): Promise<Outcome | null> {
  const inPanel = host().label === 'panel'
  if (verb === 'again') {
    const page = { page: 'job', id: await jobs.begun(ask('again', input as never)) } as const
    if (!inPanel) await ask('open', page)
    else if (pages.top?.page === 'job') pages.replace(page)
    else pages.go(page)
  } else if (verb === 'open' && inPanel) pages.go(input as Page)
  else return outcomeOf(await ask(verb as VerbName, input as never))
  return null
}

function outcomeOf(given: unknown): Outcome | null {
  if (Array.isArray(given)) return outcomeOf(given[0])
  return typeof given === 'object' && given !== null && 'outcome' in given ? (given as Outcome) : null
}
