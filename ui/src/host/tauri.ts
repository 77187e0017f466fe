/** The app as host: one command, three events. */
import { invoke } from '@tauri-apps/api/core'
import { listen } from '@tauri-apps/api/event'
import { getCurrentWindow } from '@tauri-apps/api/window'
import type { Host } from './index'

export function tauri(): Host {
  return {
    label: getCurrentWindow().label === 'popover' ? 'popover' : 'panel',
    mac: /Mac/.test(navigator.userAgent),
    first: location.hash.slice(1),
    now: () => Date.now(),
    ask: (verb, input) => invoke('door', { verb, with: input }),
    on(event, hear, heard) {
      // The listener is only there after a round trip; whoever leaves before that must not hear anything any more.
      let there = true
      const ready = listen(event, ({ payload }) => there && hear(payload as never))
      void ready.then(() => there && heard?.())
      return () => {
        there = false
        void ready.then((unlisten) => unlisten())
      }
    },
  }
}
