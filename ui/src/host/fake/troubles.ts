/** What can keep the app from its work, by kind, in the words the app has for it. */
import type { Trouble } from '../door'

const ALL: Trouble[] = [
  { kind: 'no-agent', message: 'Claude Code was not found: there is no `claude` on your PATH or your login shell\u2019s', next: 'install it (`npm install -g @anthropic-ai/claude-code`), or name it with `pao config set agents.claude-code.command /path/to/it`', action: { label: 'Open Settings', verb: 'open', with: { page: 'settings', pane: 'agents' } } },
  { kind: 'config', message: '~/.pao/config.toml:3: not valid TOML: string values must be quoted; the defaults are in effect', next: 'mend that line; nothing was changed, or begin a new file: this one is then kept beside it', action: { label: 'Begin a new file', verb: 'config_anew', with: null } },
  { kind: 'registry', message: 'the registry /Users/dev/.pao/registry.db is kept by another process', next: 'see which one with: lsof /Users/dev/.pao/registry.db; wait for it or end it, then try again', action: null },
  { kind: 'disk', message: 'the registry cannot be used: database or disk is full', next: 'check that the disk is not read-only, its free space and who may write to PAO\u2019s folder, then run `pao doctor`', action: null },
  { kind: 'no-keyring', message: 'no credential store answers here', next: 'set the variable PAO_SECRET_NAME, or choose a private file: `pao config set secrets.store file`', action: null },
  { kind: 'no-pao', message: 'the command `pao` was found neither beside the app nor on the PATH, so no agent can be started', next: 'install the app again', action: null },
]

/** `null`: none. Without a word the first two. */
export function troubles(asked: string | null): Trouble[] {
  if (asked === null) return []
  const kinds = asked ? asked.split(',') : ['no-agent', 'config']
  return asked === 'all' ? ALL : ALL.filter((one) => kinds.includes(one.kind))
}
