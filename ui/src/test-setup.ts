import '@testing-library/jest-dom/vitest'
import { cleanup, configure } from '@testing-library/svelte'
import { afterEach } from 'vitest'

// What a document without layout does not have; what depends on it is tested in a real browser.
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true
}
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.open = false
}
Element.prototype.scrollIntoView ??= () => {}

// The whole document says less about a fault than the sentence that was missing.
configure({ getElementError: (message) => new Error(message ?? 'not found') })

afterEach(() => {
  cleanup()
  localStorage.clear()
})
