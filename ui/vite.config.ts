import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

// As strict as the app itself (src-tauri/tauri.conf.json), so that the browser tests see what it would refuse.
const csp = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  // The page is served from inside the app; nothing is fetched from anywhere else.
  base: './',
  // Only the mode `browser` holds the in-memory host; see src/host/index.ts.
  build: {
    outDir: mode === 'browser' ? 'dist-browser' : 'dist',
    target: ['safari16', 'chrome109'],
    modulePreload: { polyfill: false },
  },
  server: { host: '127.0.0.1', port: 5183, strictPort: true },
  preview: { host: '127.0.0.1', port: 5184, strictPort: true, headers: { 'Content-Security-Policy': csp } },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : undefined,
  test: { environment: 'jsdom', setupFiles: ['./src/test-setup.ts'], include: ['src/**/*.test.ts'], env: { TZ: 'UTC' } },
}))
