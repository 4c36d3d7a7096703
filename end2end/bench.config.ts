import tests, { measuring } from './playwright.config';

// What `cargo xtask bench` measures in a browser: one thing at a time, at the desk.
export default {
  ...tests,
  testDir: './bench',
  timeout: 600_000,
  workers: 1,
  use: { ...tests.use, launchOptions: measuring },
  projects: tests.projects!.filter((project) => project.name === 'desktop'),
};
