/** A pressed chord as the configuration writes it, `Ctrl+Alt+Cmd+P`, and as this system's people read it, `⌃⌥⌘P`. */

const MODIFIERS = ['Control', 'Alt', 'Shift', 'Meta', 'CapsLock', 'Fn', 'Hyper', 'Super', 'AltGraph']

export type Recorded = { keys: string } | { held: string } | { refused: string }

/** By place and not by letter: with ⌥ held, a key writes something else. */
export function record(event: KeyboardEvent): Recorded {
  const held = [event.ctrlKey && 'Ctrl', event.altKey && 'Alt', event.shiftKey && 'Shift', event.metaKey && 'Cmd'].filter(Boolean).join('+')
  if (MODIFIERS.includes(event.key)) return { held }
  const key = event.code.replace(/^(Key|Digit)/, '') || event.key.toUpperCase()
  if (!event.ctrlKey && !event.metaKey) return { refused: 'A hotkey needs ⌘ or ⌃ in it; otherwise it would take a key away from every app.' }
  return { keys: `${held}+${key}` }
}

export function readable(keys: string, mac: boolean): string {
  const parts = keys.split('+')
  if (!mac) return parts.map((part) => (part === 'Cmd' ? 'Super' : part)).join('+')
  const signs: Record<string, string> = { Ctrl: '⌃', Alt: '⌥', Shift: '⇧', Cmd: '⌘' }
  return parts.map((part) => signs[part] ?? part).join('')
}
