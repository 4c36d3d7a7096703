import tests from './playwright.config';

// What needs all six agents, which only `cargo xtask test --agents` installs.
export default { ...tests, testDir: './agents', timeout: 600_000, workers: 1 };
