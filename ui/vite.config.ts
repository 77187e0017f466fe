import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [svelte()],
  // The page is served from inside the app; nothing is fetched from anywhere else.
  base: './',
  build: { target: ['safari16', 'chrome109'], modulePreload: { polyfill: false } },
  server: { host: '127.0.0.1', port: 5183, strictPort: true },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : undefined,
  test: { environment: 'jsdom', setupFiles: ['./src/test-setup.ts'] },
})
