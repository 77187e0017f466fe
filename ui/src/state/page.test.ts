import { describe, expect, it } from 'vitest'
import { parse } from './page.svelte'

describe('the page behind #', () => {
  it.each([
    ['#settings/hotkey', { page: 'settings', pane: 'hotkey' }],
    ['/settings', { page: 'settings', pane: null }],
    ['job/job-000001', { page: 'job', id: 'job-000001' }],
    ['agent/支付-7f3a', { page: 'agent', id: '支付-7f3a' }],
    ['spawn//Users/dev/code/api', { page: 'spawn', text: '', folder: '/Users/dev/code/api' }],
    ['cleanup', { page: 'cleanup' }],
    [`#${encodeURIComponent('{"page":"spawn","text":"修 a/b","folder":null}')}`, { page: 'spawn', text: '修 a/b', folder: null }],
  ])('%s', (hash, page) => expect(parse(hash)).toEqual(page))

  it.each(['', '#', 'agent', 'nowhere', '{broken', '%E0%A4%A'])('%s is no page', (hash) => expect(parse(hash)).toBeNull())
})
