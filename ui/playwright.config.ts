import { defineConfig } from '@playwright/test'

/** The built pages with the in-memory host, under the app's own content security policy, in the system's Chromium. */
export default defineConfig({
  // `npm run bench` measures, alone on its machine; a test is never timed.
  testDir: process.env.PAO_BENCH ? './bench' : './tests',
  // Pictures are made when asked for.
  testIgnore: process.env.SHOTS ? [] : ['**/shots.spec.ts'],
  outputDir: './test-results',
  fullyParallel: true,
  workers: process.env.PAO_BENCH ? 1 : 2,
  // A slow machine is no fault.
  timeout: 60_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    baseURL: 'http://127.0.0.1:5184/',
    timezoneId: 'UTC',
    locale: 'en-GB',
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
  },
  webServer: { command: 'npx vite preview --mode browser --outDir dist-browser', url: 'http://127.0.0.1:5184/', reuseExistingServer: false },
})
