import { cleanup, render, screen, waitFor, within } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import Told from '../../parts/Told.svelte'
import { Acting } from '../../state/acting.svelte'
import { jobs } from '../../state/jobs.svelte'
import { pages } from '../../state/page.svelte'
import { wishFor } from '../../state/wish'
import { openApp, show, spawnPage, type Opened } from '../../test-app'

async function started(more: string): Promise<Opened> {
  const opened = openApp(spawnPage('Fix it', more))
  await screen.findByRole('listitem', { name: /^Refresh tokens/ })
  await opened.user.keyboard('{Control>}{Enter}{/Control}')
  return opened
}

describe('a spawn under way', () => {
  it('shows seven steps, and the one under way against its usual time', async () => {
    await started('&stop=launch')
    const bar = await screen.findByRole('progressbar', { name: 'Launch' })
    const step = bar.closest('li')
    expect(step).toHaveAttribute('aria-current', 'step')
    expect(step).toHaveTextContent(/ms of about 1\.3 s/)
    expect(within(screen.getByRole('list', { name: 'Steps' })).getAllByRole('listitem')).toHaveLength(7)
    expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('Starting api')
  })

  it('is cancelled with Esc and says that nothing half-written is left', async () => {
    const { user, asked } = await started('&stop=gather')
    await screen.findByRole('progressbar', { name: 'Gather' })
    await user.keyboard('{Escape}')
    expect(await screen.findByText(/No half-written file is left/)).toBeVisible()
    expect(asked('cancel')).toHaveLength(1)
    await user.keyboard('{Escape}')
    expect(await screen.findByRole('textbox', { name: 'What should the agent do?' })).toHaveValue('Fix it')
  })

  it('ends with the agent, which ⏎ brings to the front', async () => {
    const { user, asked } = await started('')
    expect(await screen.findByRole('heading', { name: 'api is ready' })).toBeVisible()
    await user.keyboard('{Enter}')
    await waitFor(() => expect(asked('focus')).toEqual(['api-new']))
    await waitFor(() => expect(asked('close')).toEqual(['panel']))
  })

  it('says what happened, what was done and one next step when a step fails, and offers tmux', async () => {
    const { user, asked } = await started('&fail=launch')
    const alert = await screen.findByRole('alert')
    expect(alert).toHaveTextContent('macOS did not let PAO control Terminal.')
    expect(alert).toHaveTextContent('Already done: briefing saved; your project is unchanged.')
    expect(screen.getByText('step 6 of 7')).toBeVisible()
    expect(screen.getByText('Not reached')).toBeVisible()
    await user.keyboard('{Enter}')
    expect(await screen.findByRole('heading', { name: 'api is ready' })).toBeVisible()
    expect(asked('again')).toEqual([{ job: 'job-1', terminal: 'tmux' }])
  })

  it('offers no second try where the very same could not go well', async () => {
    await started('&fail=topic')
    expect(await screen.findByRole('alert')).toHaveTextContent('is not a folder any more')
    expect(screen.queryByRole('button', { name: /Try again/ })).toBeNull()
    expect(screen.getByRole('button', { name: /Close/ })).toBeVisible()
  })

  it('tries the very same again', async () => {
    const { user, asked } = await started('&fail=deliver')
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full')
    await user.keyboard('{Enter}')
    await waitFor(() => expect(asked('again')).toEqual([{ job: 'job-1', terminal: null }]))
  })

  it('is shown by a window that loads while it runs', async () => {
    const { host } = openApp('?page=spawn&stop=launch&speed=100')
    const id = await host.ask('spawn', wishFor('Fix it', '/Users/dev/code/api'))
    await waitFor(() => expect(host.world.jobs.get(id)?.job.steps[5]?.state).toBe('running'))
    cleanup()
    jobs.all = {}
    pages.stack = []
    show({ ...host, first: `job/${id}` })
    expect(await screen.findByRole('progressbar', { name: 'Launch' })).toBeVisible()
  })

  it('leads back from a failure to everything as it was chosen', async () => {
    const { user } = openApp(spawnPage('Fix it', '&fail=gather'))
    await screen.findByRole('listitem', { name: /^Refresh tokens/ })
    await user.keyboard('{Alt>}3{/Alt}{Control>}{Enter}{/Control}')
    await screen.findByRole('alert')
    await user.keyboard('{Escape}')
    expect(await screen.findByRole('radio', { name: 'Plan' })).toBeChecked()
  })

  it('asks for trust before anything is written, with what it enables', async () => {
    const { user, asked } = await started('&question=trust')
    const question = await screen.findByRole('alert', { name: 'Question' })
    expect(question).toHaveTextContent('2 hooks in .claude/settings.json')
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(await screen.findByRole('heading', { name: 'api is ready' })).toBeVisible()
    expect(asked('answer')).toEqual([{ job: expect.stringMatching(/^job-/), yes: true }])
  })

  it('takes a no for a no', async () => {
    const { user, asked } = await started('&question=trust')
    await screen.findByRole('alert', { name: 'Question' })
    await user.keyboard('{Escape}')
    expect(await screen.findByRole('heading', { name: 'api was cancelled' })).toBeVisible()
    expect(asked('answer')).toMatchObject([{ yes: false }])
  })

  it('says what waits, when the topic was not seen to arrive', async () => {
    const { host } = await started('&stop=ready')
    await screen.findByRole('progressbar', { name: 'Ready' })
    const job = [...host.world.jobs.values()][0]!
    host.emit('job', { ...job.job, end: { how: 'done', agent: 'x', confirmed: false, needs: 'permission for Bash', attach: 'tmux -L pao attach', notes: ['A hook was left alone.'] } })
    expect(await screen.findByRole('heading', { name: 'api needs you' })).toBeVisible()
    for (const says of [/not seen to arrive/, /permission for Bash/, /tmux -L pao attach/, /A hook was left alone/]) expect(screen.getByText(says)).toBeVisible()
  })

  it('stays where it is when the spawn is refused at once', async () => {
    const { user } = openApp(spawnPage('Fix it', '&broken=spawn'))
    await screen.findByRole('listitem', { name: /^Refresh tokens/ })
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(await screen.findByRole('alert')).toHaveTextContent('The registry is locked')
    expect(screen.getByRole('textbox', { name: 'What should the agent do?' })).toHaveValue('Fix it')
  })
})

describe('a return under way', () => {
  /** An agent that rests in a folder that is not trusted any more, resumed from its page. */
  async function asking(more = ''): Promise<Opened> {
    const opened = openApp(`?page=agent/api-7f3a&speed=100&question=trust${more}`)
    await screen.findByRole('heading', { name: 'Briefing as delivered' })
    await opened.user.keyboard('p')
    await waitFor(() => expect(screen.getByRole('heading', { level: 1 }).nextElementSibling).toHaveTextContent('paused'))
    await opened.user.keyboard('p')
    expect(await screen.findByRole('heading', { name: 'Before api comes back' })).toBeVisible()
    return opened
  }

  it('asks in the panel, with what a yes enables, and goes on with the answer', async () => {
    const { user, asked } = await asking()
    const question = screen.getByRole('alert', { name: 'Question' })
    expect(question).toHaveTextContent('Trust ~/code/api?')
    expect(question).toHaveTextContent('2 hooks in .claude/settings.json')
    expect(within(screen.getByRole('list', { name: 'Steps' })).getAllByRole('listitem')).toHaveLength(4)
    expect(screen.getByRole('button', { name: /^Trust and resume/ })).toBeVisible()
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(await screen.findByRole('heading', { name: 'api is back' })).toBeVisible()
    expect(asked('answer')).toEqual([{ job: expect.stringMatching(/^job-/), yes: true }])
    await user.keyboard('{Escape}')
    expect(await screen.findByRole('heading', { name: 'api' })).toBeVisible()
    expect(asked('close')).toEqual([])
  })

  it('leaves the agent at rest after a no, and leads back to it', async () => {
    const { user, asked } = await asking()
    await user.keyboard('{Escape}')
    expect(await screen.findByRole('heading', { name: 'api was not resumed' })).toBeVisible()
    expect(screen.getByText('It rests as before, and its conversation is kept.')).toBeVisible()
    expect(asked('answer')).toMatchObject([{ yes: false }])
    await user.keyboard('{Escape}')
    expect((await screen.findByRole('heading', { name: 'api' })).nextElementSibling).toHaveTextContent('paused')
  })

  it('is tried again as the return it was', async () => {
    const { user, asked } = await asking('&fail=deliver')
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect(await screen.findByRole('heading', { name: 'api did not come back' })).toBeVisible()
    expect(screen.getByText('step 1 of 4')).toBeVisible()
    await user.keyboard('{Enter}')
    expect(await screen.findByRole('heading', { name: 'Before api comes back' })).toBeVisible()
    expect(asked('again')).toEqual([{ job: expect.stringMatching(/^job-/), terminal: null }])
  })

  it('is told of in the list with a button that leads to the question', async () => {
    const { user, asked } = openApp('?window=popover&question=trust')
    const paused = await screen.findByRole('listitem', { name: /, Paused/ })
    paused.focus()
    await user.keyboard('p')
    await user.click(await screen.findByRole('button', { name: 'Answer…' }))
    expect(asked('open')).toEqual([{ page: 'job', id: expect.stringMatching(/^job-/) }])
  })

  it('of one among several that could not be asked is offered alone', async () => {
    const { host, user, asked } = openApp('?window=popover&question=trust')
    await screen.findByRole('listitem', { name: /, Paused/ })
    const row = host.world.agents.find((one) => one.state === 'paused')!
    const offer = { label: `Resume ${row.name}…`, verb: 'resume', with: { agent: row.id, now: false } }
    const acting = new Acting()
    acting.told = { outcome: { what: row.name, outcome: 'its folder is not trusted any more: resume it alone, which asks', well: false, action: offer } }
    render(Told, { acting })
    await user.click(await screen.findByRole('button', { name: `Resume ${row.name}…` }))
    await waitFor(() => expect(asked('resume')).toEqual([{ agent: row.id, now: false }]))
    expect(await screen.findByRole('button', { name: 'Answer…' })).toBeVisible()
  })
})
