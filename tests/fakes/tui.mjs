// A terminal program that behaves like a host agent at its start: a row of dialogs, then a prompt line.
// It draws captured screens and reacts to keys; what it took in goes to a log, one JSON line each.
//
//   node tui.mjs PLAN.json
//
// PLAN: {"log": file, "dialogs": [{"lines": [..], "options": [..], "selected": n, "agrees": n}], "prompt": {
//   "top": [..], "foot": [..], "deaf_ms": n, "folds": bool, "returns": n, "dies": "start" | "pasted" },
//   "deaf_ms": how long after drawing the prompt line input is thrown away,
//   "returns": how many Returns it takes until the text is sent (0: never) }
import { appendFileSync, readFileSync } from 'node:fs'

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const log = (what) => appendFileSync(plan.log, JSON.stringify(what) + '\n')
const rule = '─'.repeat(process.stdout.columns || 80)
const draw = (lines) => process.stdout.write('\x1b[2J\x1b[H' + lines.join('\r\n') + '\r\n')

const dialogs = [...(plan.dialogs ?? [])]
let dialog = null
let text = ''
let returns = 0
let openedAt = 0

const drawDialog = () =>
  draw([
    '',
    rule,
    ...dialog.lines,
    '',
    ...dialog.options.map((option, i) => (i === dialog.selected ? ' ❯ ' : '   ') + option),
    '',
    ' Enter to confirm · Esc to cancel',
  ])

const drawPrompt = () => {
  const lines = text.split('\n')
  const folded = plan.prompt.folds && lines.length > 1
  const shown = folded ? [`[Pasted text #1 +${lines.length - 1} lines]`] : lines
  draw([
    ...(plan.prompt.top ?? []),
    rule,
    '❯\u00a0' + shown[0],
    ...shown.slice(1).map((line) => '  ' + line),
    rule,
    ...(text ? ['  ⏸ manual mode on'] : plan.prompt.foot),
  ])
}

const next = () => {
  dialog = dialogs.shift() ?? null
  if (dialog) return drawDialog()
  if (plan.prompt.dies === 'start') {
    draw(['error: cannot find module of no importance'])
    process.exit(3)
  }
  openedAt = Date.now()
  drawPrompt()
  process.stdout.write('\x1b[?2004h')
}

const onDialog = (key) => {
  if (key === '\x1b[A' || key === '\x1bOA') dialog.selected = Math.max(0, dialog.selected - 1)
  else if (key === '\x1b[B' || key === '\x1bOB')
    dialog.selected = Math.min(dialog.options.length - 1, dialog.selected + 1)
  else if (key === '\r') {
    log({ dialog: dialog.lines[0].trim(), chose: dialog.options[dialog.selected] })
    if (dialog.selected !== dialog.agrees) process.exit(1)
    return next()
  } else return log({ dialog: dialog.lines[0].trim(), key })
  drawDialog()
}

const onPrompt = (input) => {
  if (Date.now() - openedAt < (plan.prompt.deaf_ms ?? 0)) return log({ lost: input })
  const pasted = input.match(/^\x1b\[200~([\s\S]*)\x1b\[201~$/)
  if (pasted) {
    log({ pasted: pasted[1] })
    text += pasted[1].replace(/\r\n?/g, '\n')
    if (plan.prompt.dies === 'pasted') process.exit(4)
    return drawPrompt()
  }
  if (input === '\r') {
    returns += 1
    log({ return: returns })
    if (returns === plan.prompt.returns) {
      log({ turn: text })
      plan.prompt.top = ['❯ ' + text.split('\n')[0], '', '✻ Herding… (esc to interrupt)', '']
      text = ''
    }
    return drawPrompt()
  }
  if (/^[^\x1b\r]+$/.test(input)) {
    text += input
    return drawPrompt()
  }
  log({ key: input })
}

let buffer = ''
let timer = null
process.stdin.setRawMode(true)
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  // A paste may come in pieces.
  buffer += chunk
  clearTimeout(timer)
  timer = setTimeout(() => {
    const parts = buffer.match(/\x1b\[200~[\s\S]*?\x1b\[201~|\x1b[[O][A-D]|\r|[^\x1b\r]+|[\s\S]/g) ?? []
    buffer = ''
    for (const part of parts) dialog ? onDialog(part) : onPrompt(part)
  }, 15)
})
next()
