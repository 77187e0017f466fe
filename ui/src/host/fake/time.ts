/** The stand-in's clock begins at a fixed time, so that what it says is the same on every day. */
export const START = Date.parse('2026-11-30T11:04:00Z')

const S = 1000
const UNITS = { s: S, min: 60 * S, h: 3600 * S, d: 24 * 3600 * S }

/** `ago(2, 'min')` as the host writes times. */
export function ago(n: number, unit: keyof typeof UNITS, now = START): string {
  return new Date(now - n * UNITS[unit]).toISOString()
}
