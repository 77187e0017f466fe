/**
 * The only door to whatever hosts this page: the app, or, in a plain browser, an in-memory stand-in. Everything else
 * in `src/` talks through `ask` and `on` and never learns which of the two it is.
 */
import type { Events, Failure, Verbs } from './door'
import { inTime, patience } from './patience'

export type * from './door'

export type VerbName = keyof Verbs
export type WindowLabel = 'popover' | 'panel'

export interface Host {
  label: WindowLabel
  /** Keys are written the way this system writes them. */
  mac: boolean
  /** The page to begin with, as written behind `#`; empty when there is none. */
  first: string
  /** The longest it is waited for in ms, where that is shorter than usual. */
  patience?: number
  /** Milliseconds since 1970. The stand-in's clock begins at a fixed time. */
  now(): number
  ask<V extends VerbName>(verb: V, input: Verbs[V]['with']): Promise<Verbs[V]['gives']>
  /** `heard` is called once nothing can be missed any more. */
  on<E extends keyof Events>(event: E, hear: (payload: Events[E]) => void, heard?: () => void): () => void
}

let current: Host | undefined

/** Puts a host in place; tests bring their own. */
export function use(host: Host): Host {
  return (current = host)
}

/** Finds out where this page runs. In the app's own bundle there is no stand-in. */
export async function connect(): Promise<Host> {
  if ('__TAURI_INTERNALS__' in window) return use((await import('./tauri')).tauri())
  if (import.meta.env.MODE !== 'production') return use((await import('./fake')).fake(location.search, location.hash))
  throw failure('This page belongs inside the app.', 'Open it from the menu bar, or with pao app.')
}

export function host(): Host {
  if (!current) throw failure('The page was used before it found its host.', 'Close this window and open it again.')
  return current
}

export const ask: Host['ask'] = (verb, input) => inTime(verb, Math.min(patience(verb), host().patience ?? Infinity), host().ask(verb, input))
export const on: Host['on'] = (event, hear, heard) => host().on(event, hear, heard)

function failure(message: string, next: string): Failure {
  return { kind: 'internal', message, done: '', next }
}
