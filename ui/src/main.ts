import { mount } from 'svelte'
import App from './App.svelte'
import { connect } from './host'
import { asFailure } from './state/failure'
import { restoreTextSize } from './state/textsize'
import './styles'

restoreTextSize()
// Chosen in one window, it holds in the other, too.
window.addEventListener('storage', restoreTextSize)

function show(props: { host?: Awaited<ReturnType<typeof connect>>; failure?: ReturnType<typeof asFailure> }): void {
  mount(App, { target: document.body, props })
  document.getElementById('boot')?.remove()
}

// Even without a host there is a sentence to read, never a blank window.
connect().then(
  (host) => show({ host }),
  (thrown: unknown) => show({ failure: asFailure(thrown) }),
)
