import { screen, waitFor } from '@testing-library/svelte'
import { describe, expect, it } from 'vitest'
import { openApp } from './test-app'

describe('a window that makes a mistake', () => {
  it('shows what happened, copies diagnostics with it, and closes with Esc', async () => {
    const { user, asked } = openApp('?page=settings/agents&garbled=settings')
    expect(await screen.findByText('This window made a mistake')).toBeVisible()
    expect(screen.getByText(/^TypeError: /)).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Copy diagnostics' }))
    expect(await screen.findByText('Copied, without secrets.')).toBeVisible()
    expect(asked('copy')[0]).toMatch(/^TypeError: [^]*pao 0\.1\.0, without secrets$/)
    await user.keyboard('{Escape}')
    await waitFor(() => expect(asked('close')).toEqual(['panel']))
  })

  it('says so where even the clipboard is refused', async () => {
    const { user } = openApp('?page=settings/agents&garbled=settings&broken=copy,diagnostics')
    await user.click(await screen.findByRole('button', { name: 'Copy diagnostics' }))
    expect(await screen.findByText(/The clipboard was refused/)).toBeVisible()
  })

  it('keeps the page where only something beside it failed', async () => {
    const { user } = openApp('?window=popover')
    expect(await screen.findByText('web-console')).toBeVisible()
    window.dispatchEvent(new ErrorEvent('error', { error: new Error('nobody expected this'), message: 'x' }))
    expect(await screen.findByText(/nobody expected this/)).toBeVisible()
    expect(screen.getByText('web-console')).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Dismiss' }))
    expect(screen.queryByText(/nobody expected this/)).toBeNull()
  })
})

describe('a host that stays silent', () => {
  it.each([
    ['?page=settings/general', 'settings'],
    ['?page=agent/api-7f3a', 'agent'],
    ['?page=cleanup', 'clean_plan'],
    ['?page=first-run&first', 'first_run'],
    ['?page=spawn', 'preview'],
    ['?window=popover', 'glance'],
  ])('is a state of %s', async (page, verb) => {
    openApp(`${page}&mute=${verb}&patience=40`)
    expect((await screen.findAllByText(new RegExp(`The app has not answered for 0 s \\(${verb}\\)`)))[0]).toBeVisible()
  })
})
