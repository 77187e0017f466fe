import { defineConfig } from '@playwright/test'

/** The built pages with the in-memory host, under the app's own content security policy, in the system's Chromium. */
export default defineConfig({
  testDir: './tests',
  // Pictures are made when asked for.
  testIgnore: process.env.SHOTS ? [] : ['**/shots.spec.ts'],
  outputDir: './test-results',
  fullyParallel: true,
  workers: 2,
  timeout: 10_000,
  expect: { timeout: 4000 },
  reporter: [['list']],
  use: {
    baseURL: 'http://127.0.0.1:5184/',
    timezoneId: 'UTC',
    locale: 'en-GB',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
  },
  webServer: { command: 'npx vite preview --mode browser --outDir dist-browser', url: 'http://127.0.0.1:5184/', reuseExistingServer: false },
})
