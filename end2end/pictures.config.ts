import tests from './playwright.config';

// The README's pictures, which `cargo xtask pictures` takes of the product as it is.
export default {
  ...tests,
  testDir: './pictures',
  timeout: 180_000,
  workers: 1,
  projects: tests.projects!.filter((project) => project.name === 'desktop'),
};
