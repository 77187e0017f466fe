import { screen, waitFor, within } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import type { Preview } from '../../host'
import { moment } from '../../state/words'
import { openApp, spawnPage } from '../../test-app'
import { changes } from './lines'

const topic = () => screen.getByRole('textbox', { name: 'What should the agent do?' })
const line = (text: RegExp) => screen.findByRole('listitem', { name: text })
const spawn = () => screen.getByRole('button', { name: /^Spawn/ })

describe('the spawn panel', () => {
  it('previews what the text asks for and underlines the folder found in it', async () => {
    openApp(spawnPage('Fix the race in ~/code/infra, 现在'))
    expect(await line(/^Refresh tokens rotate/)).toBeVisible()
    expect(document.querySelector('.found')).toHaveTextContent('~/code/infra')
    expect(screen.getByText('from the text')).toBeVisible()
    expect(screen.getByTitle('Against the last spawn in this folder, since 28 Nov')).toHaveTextContent('+3 new −1 gone ~1 changed since 28 Nov')
    expect(screen.getByText(/infra works in this folder, too/)).toBeVisible()
  })

  it('previews and spawns what is typed in the project on the chip, where nothing says another', async () => {
    const { user, asked } = openApp(spawnPage(''))
    await line(/^Refresh tokens/)
    await user.type(topic(), 'fix login')
    await waitFor(() => expect(asked('preview').at(-1)?.text).toBe('fix login'), { timeout: 2000 })
    expect(screen.getByRole('button', { name: /^Project: api/ })).toBeVisible()
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn')).toHaveLength(1))
    const place = { text: 'fix login', folder: null, otherwise: '/Users/dev/code/api' }
    expect([asked('preview').at(-1), asked('spawn')[0]]).toMatchObject([place, place])
  })

  it('spawns where the chip says after a preview that failed', async () => {
    const { user, asked } = openApp(spawnPage('fix login', '&broken=preview'))
    await screen.findByRole('alert')
    expect(screen.getByRole('button', { name: /^Project: api/ })).toBeVisible()
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn')).toMatchObject([{ folder: null, otherwise: '/Users/dev/code/api' }]))
  })

  it('begins anew after a start, and never at skip because of what was chosen before', async () => {
    const { user, host, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{Alt>}4{/Alt}')
    host.emit('page', { page: 'spawn', text: '', folder: null })
    await waitFor(() => expect(screen.getByRole('radio', { name: 'Ask' })).toBeChecked())
    expect(topic()).toHaveValue('Fix it')
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn')).toHaveLength(1))
    await user.keyboard('{Escape}')
    host.emit('page', { page: 'spawn', text: '', folder: null })
    await waitFor(() => expect(topic()).toHaveValue(''))
  })

  it('says the time of a last spawn that was today', () => {
    const at = new Date(2026, 11, 1, 14, 5)
    expect(moment(at.toISOString(), at.getTime() + 60_000)).toBe('14:05')
    const preview = { compared_with: at.toISOString(), sections: [], gone: [] } as unknown as Preview
    expect(changes(preview, '14:05')).toEqual({ words: 'as it was', since: 'since 14:05' })
  })

  it('asks again when the typing pauses, not for each letter', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.type(topic(), ' quickly in ~/code/web-console')
    expect(asked('preview')).toHaveLength(1)
    await waitFor(() => expect(asked('preview').at(-1)?.text).toBe('Fix it quickly in ~/code/web-console'), { timeout: 2000 })
    expect(asked('preview')).toHaveLength(2)
  })

  it('says what is new, changed, gone and quarantined in words', async () => {
    openApp(spawnPage('Fix it'))
    expect(await line(/^Changed since last spawn\. Access tokens live 10 min/)).toBeVisible()
    expect(await line(/^New since last spawn\. A row lock/)).toBeVisible()
    expect(await line(/^Gone since last spawn\. Access tokens live 15 min/)).toBeVisible()
    const held = await line(/^Ignore the tests/)
    expect(held).toHaveTextContent('Quarantined: it gives the agent an order. Not delivered.')
    held.focus()
    expect(within(held).queryByRole('button', { name: 'Pin' })).toBeNull()
  })

  it('pins, drops and forbids the active line by its keys, and previews anew', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{ArrowDown}{ArrowDown}')
    expect(await line(/Access tokens live 10 min/)).toHaveFocus()
    await user.keyboard('p')
    await line(/^Pinned\. Access tokens live 10 min/)
    await waitFor(() => expect(asked('preview')).toHaveLength(2))
    await user.keyboard('p')
    await line(/^Changed since last spawn\. Access tokens live 10/)
    const lock = await line(/A row lock/)
    lock.focus()
    await user.keyboard('{Shift>}{Backspace}{/Shift}')
    await line(/Never again, as you said\./)
    ;(await line(/Redis must run/)).focus()
    await user.keyboard('{Backspace}')
    await line(/Redis must run.*Dropped by you\./)
    expect(asked('mark')).toMatchObject([
      { source: 'postgres', id: 'o-131', mark: 'pinned', folder: '/Users/dev/code/api' },
      { source: 'postgres', id: 'o-131', mark: null },
      { source: 'history', id: 's-77', mark: 'never', folder: '/Users/dev/code/api' },
      { source: 'memory', id: 'm-12', mark: 'dropped' },
    ])
    const held = await screen.findByRole('list', { name: 'Held back' })
    await within(held).findByRole('listitem', { name: /Redis must run/ })
    await waitFor(() => expect(screen.getByRole('listitem', { name: /^Grace period/ })).toHaveFocus())
    // What was dropped stays in sight, so that it can be taken back.
    ;(await line(/Redis must run.*Dropped by you/)).focus()
    await user.keyboard('{Backspace}')
    await waitFor(() => expect(asked('mark').at(-1)).toMatchObject({ id: 'm-12', mark: null }))
  })

  it('takes back a never before another decision, which it would win over', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    ;(await line(/A row lock/)).focus()
    await user.keyboard('{Shift>}{Backspace}{/Shift}')
    const held = await screen.findByRole('list', { name: 'Held back' })
    ;(await within(held).findByRole('listitem', { name: /A row lock.*Never again/ })).focus()
    await user.keyboard('p')
    await line(/^Pinned\. A row lock/)
    expect(asked('mark').map(({ mark, folder }) => [mark, folder])).toEqual([['never', '/Users/dev/code/api'], [null, '/Users/dev/code/api'], ['pinned', '/Users/dev/code/api']])
  })

  it('says what a changed line said before, and why one is gone', async () => {
    openApp(spawnPage('Fix it'))
    const changed = await line(/^Changed since last spawn\. Access tokens live 10 min/)
    changed.focus()
    await waitFor(() => expect(changed).toHaveTextContent('Before: Access tokens live 15 min.'))
    expect(await line(/^Gone since last spawn\. Access tokens live 15 min/)).toHaveTextContent('Its source answered without it.')
  })

  it('shows the whole source, as text', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    ;(await line(/A row lock/)).focus()
    await user.keyboard('s')
    const dialog = await screen.findByRole('dialog', { name: 'From history, s-77' })
    expect(await within(dialog).findByText(/<b>this stays text<\/b>/)).toBeVisible()
    expect(asked('show_source')).toEqual([{ source: 'history', id: 's-77' }])
    await user.keyboard('{Escape}')
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('leaves letters to the text while it is typed', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.type(topic(), ' ps{Backspace}')
    expect(topic()).toHaveValue('Fix it p')
    expect(asked('mark')).toEqual([])
  })

  it('shows what was left out, with the reason', async () => {
    const { user } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    expect(screen.getByText(/^5 lines left out/)).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Show' }))
    expect(await line(/slow train.*no room left in the budget/)).toBeVisible()
    expect(await line(/Lunch is at one.*Below the floor/)).toBeVisible()
  })

  it('chooses permissions by ⌥1–4, and turns red for skip', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{Alt>}3{/Alt}')
    expect(screen.getByRole('radio', { name: 'Plan' })).toBeChecked()
    await user.keyboard('{Alt>}4{/Alt}')
    expect(screen.getByRole('button', { name: 'Spawn without asking' })).toHaveClass('is-danger')
    expect(screen.getByText(/Runs every command without asking/)).toBeVisible()
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn')).toMatchObject([{ permission: 'skip' }]))
    expect(await screen.findByText(/do everything without asking\?/)).toBeVisible()
    expect(topic).toThrow()
  })

  it('changes delivery, budget and sources of this spawn only', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    screen.getByRole('radio', { name: 'Session hook' }).focus()
    await user.keyboard('{ArrowRight}')
    expect(screen.getByText(/written into ~\/code\/api; gone again/)).toBeVisible()
    const budget = screen.getByRole('spinbutton', { name: 'Budget in tokens' })
    await user.clear(budget)
    await user.type(budget, '1000{Tab}')
    await user.click(screen.getByRole('checkbox', { name: 'Ask worker' }))
    await waitFor(() => expect(asked('preview').at(-1)).toMatchObject({ delivery: 'files', budget: 1000, without_sources: ['worker'] }), { timeout: 2000 })
    expect(await screen.findByText(/420 tokens over the budget/)).toBeVisible()
    expect(screen.getByText('not asked')).toBeVisible()
    expect(asked('set')).toEqual([])
  })

  it('asks a source that was too slow again', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await user.click(await screen.findByRole('button', { name: 'Ask worker again' }))
    await waitFor(() => expect(asked('preview')).toHaveLength(2))
  })

  it('delivers the briefing as the user edited it', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{Control>}e{/Control}')
    const text = await screen.findByRole('textbox', { name: 'Briefing in Markdown' })
    expect(text).toHaveFocus()
    await user.clear(text)
    await user.type(text, 'Only this.')
    await user.keyboard('{Control>}e{/Control}')
    expect(await screen.findByText('Edited by you')).toBeVisible()
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn')).toMatchObject([{ markdown: 'Only this.' }]))
  })

  it('takes edits back', async () => {
    const { user } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{Control>}e{/Control}')
    await user.type(await screen.findByRole('textbox', { name: 'Briefing in Markdown' }), 'x')
    await user.click(await screen.findByRole('button', { name: 'Discard edits' }))
    expect(await line(/^Refresh tokens/)).toBeVisible()
    expect(screen.queryByText('Edited by you')).toBeNull()
  })

  it('shows the document as the host made it, with markup of memories as text', async () => {
    const { user } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{Control>}d{/Control}')
    expect(within(await screen.findByRole('document', { name: 'Briefing' })).getAllByRole('listitem')).toHaveLength(7)
  })

  it('says that no source knew anything, and that the agent will ask for itself', async () => {
    openApp(spawnPage('Something new', '&nothing'))
    expect(await screen.findByText(/No source knew anything about this/)).toBeVisible()
    expect(spawn()).toBeEnabled()
  })

  it('says what keeps a preview from being made, and can spawn all the same', async () => {
    openApp(spawnPage('Fix it', '&broken=preview'))
    expect(await screen.findByRole('alert')).toHaveTextContent('Close that program, then try again.')
    expect(spawn()).toBeEnabled()
  })

  it('keeps what is typed when the hotkey opens it again, but follows a new folder', async () => {
    const { user, host } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.type(topic(), ' now')
    host.emit('page', { page: 'spawn', text: '', folder: null })
    expect(topic()).toHaveValue('Fix it now')
    host.emit('page', { page: 'spawn', text: '', folder: '/Users/dev/code/infra' })
    await waitFor(() => expect(topic()).toHaveValue(''))
    expect(await screen.findByRole('button', { name: /^Project: infra/ })).toBeVisible()
  })

  it('says where it came from when a link filled it in, until that is read', async () => {
    const { user, host } = openApp(spawnPage(''))
    host.emit('page', { page: 'spawn', text: 'Fix the login', folder: '/Users/dev/code/api', note: 'A link filled this in. Read it before you spawn.' })
    await waitFor(() => expect(topic()).toHaveValue('Fix the login'))
    expect(screen.getByText(/A link filled this in/)).toBeVisible()
    host.emit('page', { page: 'spawn', text: '', folder: null, note: 'A link could not be used: it is too long.' })
    expect(await screen.findByText(/could not be used/)).toBeVisible()
    expect(topic()).toHaveValue('Fix the login')
    await user.click(screen.getByRole('button', { name: 'Dismiss' }))
    expect(screen.queryByText(/could not be used/)).toBeNull()
  })

  it('takes several folders one after another, in the order the user wants', async () => {
    const { user, host, asked } = openApp(spawnPage(''))
    host.emit('page', { page: 'spawn', text: '', folder: '/Users/dev/code/api', others: ['/Users/dev/code/infra', '/Users/dev/code/web'] })
    await user.click(await screen.findByRole('button', { name: 'web' }))
    await user.type(topic(), 'Go')
    expect(screen.getByRole('button', { name: 'api' })).toBeVisible()
    await user.keyboard('{Control>}{Enter}{/Control}')
    await waitFor(() => expect(asked('spawn').map((wish) => wish.folder)).toEqual(['/Users/dev/code/web']))
  })

  it('goes back from the lines to the text, then closes', async () => {
    const { user, asked } = openApp(spawnPage('Fix it'))
    await line(/^Refresh tokens/)
    await user.keyboard('{ArrowDown}{Escape}')
    expect(topic()).toHaveFocus()
    await user.keyboard('{Escape}')
    expect(asked('close')).toEqual(['panel'])
  })
})
