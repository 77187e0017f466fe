/**
 * Keys act through layers: a page opens one, a dialog opens one above it, and a press goes to the topmost layer that
 * knows it. A key is declared once, beside its action; what is shown, announced and done can so never differ.
 */
import { getContext, setContext, onDestroy } from 'svelte'
import { host } from '../host'

interface Binding {
  keys: string
  run: (event: KeyboardEvent) => void
  /** Also while text is being typed, where plain keys otherwise belong to the text. */
  typing: boolean
}

export class Layer {
  bindings: Binding[] = []
  constructor(readonly modal: boolean) {}

  /** Binds keys until the returned function is called. The latest binding of the same keys wins. */
  bind(keys: string, run: Binding['run'], typing = false): () => void {
    const binding = { keys, run, typing }
    this.bindings.push(binding)
    return () => {
      this.bindings = this.bindings.filter((b) => b !== binding)
    }
  }
}

const layers: Layer[] = []
const HERE = Symbol('layer')

/** Opens a layer for this component and everything in it. */
export function openLayer(modal = false): Layer {
  const layer = new Layer(modal)
  layers.push(layer)
  setContext(HERE, layer)
  onDestroy(() => layers.splice(layers.indexOf(layer), 1))
  return layer
}

export function hereLayer(): Layer | undefined {
  return getContext<Layer | undefined>(HERE)
}

export function listen(): () => void {
  window.addEventListener('keydown', press)
  return () => window.removeEventListener('keydown', press)
}

function press(event: KeyboardEvent): void {
  // While an input method composes, ⏎ and Esc belong to it: they choose or discard a word.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return
  for (const layer of [...layers].reverse()) {
    const binding = layer.bindings.findLast((b) => matches(event, b.keys) && allowed(event, b))
    if (binding) {
      event.preventDefault()
      binding.run(event)
      return
    }
    if (layer.modal) return
  }
}

/** `mod` is ⌘ on a Mac and Ctrl elsewhere. Letters are also found by their place where the layout writes no Latin. */
export function matches(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split('+')
  const key = parts.pop() ?? ''
  const mac = host().mac
  const mod = parts.includes('mod')
  if ((mac ? event.metaKey : event.ctrlKey) !== mod || (mac ? event.ctrlKey : event.metaKey)) return false
  if (event.altKey !== parts.includes('alt') || event.shiftKey !== parts.includes('shift')) return false
  // ⌥ changes what a digit key writes, so digits go by place.
  if (/^\d$/.test(key)) return event.code === `Digit${key}` || event.key === key
  const pressed = event.key.toLowerCase()
  if (pressed === (NAMES[key] ?? key)) return true
  return /^[a-z]$/.test(key) && !/^[ -~]$/.test(event.key) && event.code === `Key${key.toUpperCase()}`
}

const NAMES: Record<string, string> = { up: 'arrowup', down: 'arrowdown', left: 'arrowleft', right: 'arrowright', esc: 'escape', plus: '+' }

function allowed(event: KeyboardEvent, binding: Binding): boolean {
  const target = event.target instanceof Element ? event.target : null
  const plain = !/mod\+|alt\+/.test(binding.keys)
  // ⏎ on a button presses that button, whatever the page's own ⏎ would do.
  if (binding.keys === 'enter' && target?.closest('button, a, summary, select, [role=option]')) return false
  if (binding.typing || !plain || binding.keys === 'esc') return true
  return !target?.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]')
}

const MAC: Record<string, string> = { mod: '⌘', alt: '⌥', shift: '⇧', ctrl: '⌃' }
const ELSE: Record<string, string> = { mod: 'Ctrl', alt: 'Alt', shift: '⇧', ctrl: 'Ctrl' }
const SIGNS: Record<string, string> = { enter: '⏎', esc: 'Esc', backspace: '⌫', up: '↑', down: '↓', left: '←', right: '→', plus: '+' }

/** Keys as written on this system's buttons: "⌘⏎", "Ctrl ⏎". */
export function written(keys: string): string {
  const mac = host().mac
  const signs = keys.split('+').map((part) => (mac ? MAC : ELSE)[part] ?? SIGNS[part] ?? part.toUpperCase())
  return mac ? signs.join('') : signs.join(' ').replace('⇧ ', '⇧')
}

/** Keys as `aria-keyshortcuts` wants them. */
export function announced(keys: string): string {
  const words: Record<string, string> = { mod: host().mac ? 'Meta' : 'Control', alt: 'Alt', shift: 'Shift', enter: 'Enter', esc: 'Escape', backspace: 'Backspace', up: 'ArrowUp', down: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight' }
  return keys.split('+').map((part) => words[part] ?? part.toUpperCase()).join('+')
}
