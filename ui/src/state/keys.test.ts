import { describe, expect, it } from 'vitest'
import { use } from '../host'
import { fake } from '../host/fake'
import { announced, matches, written } from './keys'

const press = (init: KeyboardEventInit) => new KeyboardEvent('keydown', init)

describe('keys', () => {
  it('are ⌘ on a Mac and Ctrl elsewhere', () => {
    use(fake('?mac'))
    expect(matches(press({ key: 'Enter', metaKey: true }), 'mod+enter')).toBe(true)
    expect(matches(press({ key: 'Enter', ctrlKey: true }), 'mod+enter')).toBe(false)
    expect([written('mod+enter'), written('shift+backspace'), written('alt+1')]).toEqual(['⌘⏎', '⇧⌫', '⌥1'])
    expect(announced('mod+e')).toBe('Meta+E')
    use(fake())
    expect(matches(press({ key: 'Enter', ctrlKey: true }), 'mod+enter')).toBe(true)
    expect(matches(press({ key: 'Enter', ctrlKey: true, metaKey: true }), 'mod+enter')).toBe(false)
    expect([written('mod+enter'), written('shift+backspace')]).toEqual(['Ctrl ⏎', '⇧⌫'])
  })

  it('are found by place where the layout writes something else', () => {
    use(fake('?mac'))
    expect(matches(press({ key: '¡', code: 'Digit1', altKey: true }), 'alt+1')).toBe(true)
    expect(matches(press({ key: 'е', code: 'KeyT' }), 't')).toBe(true)
    expect(matches(press({ key: 'k', code: 'KeyT' }), 't')).toBe(false)
  })

  it('want exactly their modifiers', () => {
    use(fake())
    expect(matches(press({ key: 'Backspace' }), 'shift+backspace')).toBe(false)
    expect(matches(press({ key: 'Backspace', shiftKey: true }), 'backspace')).toBe(false)
    expect(matches(press({ key: 'P', shiftKey: true }), 'p')).toBe(false)
  })
})
