import { describe, expect, it } from 'vitest'
import { age, bytes, count, day, list, number, old, price, sentence, took } from './words'

const NOW = Date.parse('2026-11-30T11:04:00Z')
const before = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

describe('words', () => {
  it.each([
    [4, '4 s'],
    [59, '59 s'],
    [60, '1 min'],
    [3 * 3600 + 59, '3 h'],
    [23 * 3600, '23 h'],
    [24 * 3600, '1 d'],
    [400 * 86_400, '1 y'],
    [-5, '0 s'],
  ])('an age of %i s is %s', (seconds, words) => expect(age(before(seconds), NOW)).toBe(words))

  it('has no age for what has no date', () => {
    expect(age(null, NOW)).toBe('')
    expect(age('not a date', NOW)).toBe('')
  })

  it.each([
    [2, '2 ms'],
    [999.6, '1000 ms'],
    [1504, '1.5 s'],
    [107_000, '2 min'],
    [59_700, '1 min'],
    [49 * 60_000, '49 min'],
    [107 * 60_000, '2 h'],
  ])('%f ms took %s', (ms, words) => expect(took(ms)).toBe(words))

  it.each([
    ['2026-11-30T00:00:00Z', 'today'],
    ['2026-11-26T23:59:00Z', '4 d'],
    ['2026-11-26T00:00:00Z', '4 d'],
    ['2024-11-26T00:00:00Z', '2 y'],
    [null, ''],
  ])('a memory of %s is %s old, whether or not its time is known', (at, words) => expect(old(at, NOW)).toBe(words))

  it.each([
    [before(60), 'today'],
    [before(86_400), 'yesterday'],
    [before(3 * 86_400), '3 d ago'],
    [before(95 * 86_400), '3 months ago'],
    [null, 'never'],
  ])('%s was %s', (at, words) => expect(day(at, NOW)).toBe(words))

  it.each([
    ['there is no agent x', 'There is no agent x.'],
    ['see `pao agents`', 'See `pao agents`.'],
    ['~/.pao/config.toml:3: not valid TOML', '~/.pao/config.toml:3: not valid TOML.'],
    ['macOS does not allow it', 'macOS does not allow it.'],
    ['pao.sock is gone', 'pao.sock is gone.'],
    ['`claude` is missing', '`claude` is missing.'],
    ['It is full.', 'It is full.'],
    ['磁盘已满', '磁盘已满.'],
    ['', ''],
  ])('%s is said as %s', (core, page) => expect(sentence(core)).toBe(page))

  it('counts, groups and sizes', () => {
    expect([count(1, 'agent'), count(2, 'agent'), count(12_408, 'line')]).toEqual(['1 agent', '2 agents', '12,408 lines'])
    expect([number(999), number(1_234_567)]).toEqual(['999', '1,234,567'])
    expect([bytes(12), bytes(41_000), bytes(12_300_000)]).toEqual(['12 B', '41 KB', '12.3 MB'])
    expect([price(0.0042), price(1.5)]).toEqual(['$0.004', '$1.50'])
    expect(list(['a', 'b', 'c'])).toBe('a, b and c')
  })
})
