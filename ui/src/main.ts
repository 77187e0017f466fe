import { mount } from 'svelte'
import App from './App.svelte'
import { connect } from './host'
import { asFailure } from './state/failure'
import { restoreTextSize } from './state/textsize'
import './styles'

restoreTextSize()
// Chosen in one window, it holds in the other, too.
window.addEventListener('storage', restoreTextSize)
// Even without a host there is a sentence to read, never a blank window.
connect().then(
  (host) => mount(App, { target: document.body, props: { host } }),
  (thrown: unknown) => mount(App, { target: document.body, props: { failure: asFailure(thrown) } }),
)
