/** Does what the host offered as a button. A start leads to its progress, a page is opened by whoever shows pages. */
import { ask, host, type Action, type Page, type VerbName } from '../host'
import { jobs } from './jobs.svelte'
import { pages } from './page.svelte'

export async function perform({ verb, with: input }: Action): Promise<void> {
  const inPanel = host().label === 'panel'
  if (verb === 'again') {
    const page = { page: 'job', id: await jobs.begun(ask('again', input as never)) } as const
    if (!inPanel) await ask('open', page)
    else if (pages.top?.page === 'job') pages.replace(page)
    else pages.go(page)
  } else if (verb === 'open' && inPanel) pages.go(input as Page)
  else await ask(verb as VerbName, input as never)
}
