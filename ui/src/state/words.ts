/** Times, sizes and counts as people read them. Pure; nothing here asks what time it is. */

const S = 1000
const MIN = 60 * S
const H = 60 * MIN
const D = 24 * H

/** 1 → "1 agent", 2 → "2 agents". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`
}

export function number(n: number): string {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',')
}

/** How long ago: "4 s", "2 min", "3 h", "9 d". Never negative; clocks differ. */
export function age(at: string | number | null, now: number): string {
  if (at === null) return ''
  const ms = Math.max(0, now - (typeof at === 'string' ? Date.parse(at) : at))
  if (Number.isNaN(ms)) return ''
  if (ms < MIN) return `${Math.floor(ms / S)} s`
  if (ms < H) return `${Math.floor(ms / MIN)} min`
  if (ms < D) return `${Math.floor(ms / H)} h`
  if (ms < 365 * D) return `${Math.floor(ms / D)} d`
  return `${Math.floor(ms / (365 * D))} y`
}

/** How old a memory is, in days of the calendar of its citation (UTC): "today", "4 d", "2 y". A citation tells no time. */
export function old(at: string | null, now: number): string {
  const then = at === null ? NaN : Date.parse(at)
  if (Number.isNaN(then)) return ''
  const days = Math.floor(now / D) - Math.floor(then / D)
  if (days < 1) return 'today'
  return days < 365 ? `${days} d` : `${Math.floor(days / 365)} y`
}

/** How long something took or lasts: "840 ms", "1.5 s", "49 min". */
export function took(ms: number): string {
  if (ms < S) return `${Math.round(ms)} ms`
  if (ms < 10 * S) return seconds(ms)
  if (Math.round(ms / S) < 60) return `${Math.round(ms / S)} s`
  if (Math.round(ms / MIN) < 60) return `${Math.round(ms / MIN)} min`
  return `${Math.round(ms / H)} h`
}

export function seconds(ms: number): string {
  return `${(ms / S).toFixed(1)} s`
}

/** "today", "yesterday", "3 d ago", "3 months ago". */
export function day(at: string | null, now: number): string {
  if (at === null) return 'never'
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  const then = Date.parse(at)
  if (then >= midnight) return 'today'
  if (then >= midnight - D) return 'yesterday'
  const days = Math.ceil((midnight - then) / D)
  return days < 60 ? `${days} d ago` : `${Math.floor(days / 30)} months ago`
}

export function time(at: string): string {
  const date = new Date(at)
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function date(at: string | number): string {
  const then = new Date(at)
  return `${then.getDate()} ${MONTHS[then.getMonth()] ?? ''}`
}

/** The time today, else the date. */
export function moment(at: string, now: number): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? time(at) : date(at)
}

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`
  if (n < 1e6) return `${Math.round(n / 1000)} KB`
  return `${(n / 1e6).toFixed(1)} MB`
}

export function price(dollars: number): string {
  return `$${dollars < 0.1 ? dollars.toFixed(3) : dollars.toFixed(2)}`
}

export function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}

/** "a", "a and b", "a, b and c". */
export function list(words: string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function two(n: number): string {
  return n.toString().padStart(2, '0')
}

/** A sentence of the core as one of the page: it begins large and ends with a stop. A path, a command or a name that is written in its own way stays as it is. */
export function sentence(text: string): string {
  const first = /^[a-z]+(?![\w./`-])/.exec(text)
  const begun = first ? capital(text) : text
  return /[.!?…:`]$/.test(begun) || begun === '' ? (begun.endsWith('`') ? `${begun}.` : begun) : `${begun}.`
}
