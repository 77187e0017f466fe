import { describe, expect, it, vi } from 'vitest'
import { use, type Preview, type Wish } from '../host'
import { fake } from '../host/fake'
import { PreviewState } from './preview.svelte'
import { wishFor } from './wish'

/** A host whose previews come when the test says so. */
function slowHost() {
  const waiting: { wish: Wish; give: (name: string) => void; fail: () => void }[] = []
  use({
    ...fake(),
    ask: (_, wish) =>
      new Promise((resolve, reject) => {
        waiting.push({ wish: wish as Wish, give: (name) => resolve({ name } as Preview as never), fail: () => reject({ message: 'down', next: 'Wait.' }) })
      }),
  })
  return waiting
}

describe('the preview', () => {
  it('drops an answer that comes after a newer question', async () => {
    const waiting = slowHost()
    const preview = new PreviewState()
    const first = preview.now(wishFor('a', null))
    const second = preview.now(wishFor('ab', null))
    waiting[1]?.give('newer')
    await second
    waiting[0]?.give('older')
    await first
    expect(preview.last?.name).toBe('newer')
    expect(preview.text).toBe('ab')
    expect(preview.since).toBeNull()
  })

  it('shows the last one until the next is there, and keeps it when the next fails', async () => {
    const waiting = slowHost()
    const preview = new PreviewState()
    const first = preview.now(wishFor('a', null))
    waiting[0]?.give('known')
    await first
    const second = preview.now(wishFor('b', null))
    expect(preview.last?.name).toBe('known')
    expect(preview.since).not.toBeNull()
    waiting[1]?.fail()
    await second
    expect(preview.last?.name).toBe('known')
    expect(preview.failure).toMatchObject({ message: 'down', next: 'Wait.' })
  })

  it('asks for the last of several quick wishes only', async () => {
    const waiting = slowHost()
    const preview = new PreviewState()
    for (const text of ['a', 'ab', 'abc']) preview.follow(wishFor(text, null), 5)
    await new Promise((done) => setTimeout(done, 30))
    expect(waiting.map((one) => one.wish.text)).toEqual(['abc'])
  })

  it('asks nothing as long as nobody can see it', async () => {
    const waiting = slowHost()
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
    const preview = new PreviewState()
    await preview.now(wishFor('a', null))
    expect(waiting).toEqual([])
    hidden.mockRestore()
    document.dispatchEvent(new Event('visibilitychange'))
    await vi.waitFor(() => expect(waiting.map((one) => one.wish.text)).toEqual(['a']))
  })
})
