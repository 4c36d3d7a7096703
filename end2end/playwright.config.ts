import { defineConfig, devices } from '@playwright/test';

// `cargo xtask test` names the browser; Playwright's own download is not used.
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** As people have it, for what measures. */
export const measuring = { executablePath, args };
const testing = {
  executablePath,
  args: [
    ...args,
    // Debian's launcher asks for the GPU, which a test machine only plays in software.
    '--disable-gpu-rasterization',
    '--disable-gpu-compositing',
    // No page lives long enough to earn back what the optimising compiler costs.
    '--js-flags=--liftoff-only',
  ],
};

export default defineConfig({
  testDir: './tests',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  retries: 0,
  reporter: 'list',
  outputDir: './test-results',
  // A trace of every test costs a tenth of the time; `--trace on` makes one of what is looked into.
  use: { launchOptions: testing, screenshot: 'only-on-failure' },
  projects: [
    // What only a desk or only a phone has is tagged so.
    { name: 'desktop', grepInvert: /@phone/, use: { ...devices['Desktop Chrome'], viewport: { width: 1440, height: 900 } } },
    { name: 'phone', grepInvert: /@desk/, use: { ...devices['Pixel 7'], viewport: { width: 390, height: 844 } } },
  ],
});
