import { mount, type ComponentProps } from 'svelte'
import App from './App.svelte'
import { connect } from './host'
import { asFailure } from './state/failure'
import { restoreTextSize } from './state/textsize'
import './styles'

restoreTextSize()
// Chosen in one window, it holds in the other, too.
window.addEventListener('storage', restoreTextSize)

/** Each window reads only what it shows. */
async function open(): Promise<ComponentProps<typeof App>> {
  const host = await connect()
  const page = host.label === 'popover' ? import('./pages/popover/Popover.svelte') : import('./pages/Panel.svelte')
  return { host, Page: (await page).default }
}

function show(props: ComponentProps<typeof App>): void {
  mount(App, { target: document.body, props })
  document.getElementById('boot')?.remove()
}

// Even without a host there is a sentence to read, never a blank window.
open().then(show, (thrown: unknown) => show({ failure: asFailure(thrown) }))
