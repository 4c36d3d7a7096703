import { type Page } from '@playwright/test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './coders';
import { faults, sideways } from './faults';
import { BooCode, enter, expect, scripted, test as base } from './world';

/** Flows are worked on by our own agent, with a model that answers in form, and as fast as `rate` says. */
export const testAt = (rate: number, ...more: string[]) =>
  base.extend<object, { model: string; boocode: BooCode }>({
    model: [
      async ({}, use) => {
        const model = await scripted(rate, '--models', 'small,analyst');
        await use(model.url);
        model.stop();
      },
      { scope: 'worker' },
    ],

    boocode: [
      async ({ model }, use) => {
        const flows = more.length ? more : ['--flow-backend', 'native', '--flow-model', 'local/analyst'];
        const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, ...flows]);
        await boocode.start();
        await use(boocode);
        await boocode.stop();
      },
      { scope: 'worker', timeout: 60_000 },
    ],
  });

export const test = testAt(100);

// Line 3 reads one price too many, and the drawings would like to run.
export const CART = 'pub fn total(prices: &[i64]) -> i64 {\n    let mut total = 0;\n    for i in 0..=prices.len() {\n        total += prices[i];\n    }\n    total\n}\n';
export const LOGO = '<svg xmlns="http://www.w3.org/2000/svg">\n<circle r="40" cx="50" cy="50"/>\n<script>document.documentElement.id = "ran"</script>\n</svg>\n';
export const PAGE = '<!doctype html>\n<p id="words">Till</p>\n<script>document.documentElement.id = "ran"</script>\n<img src="x" onerror="document.body.id = &quot;ran&quot;">\n';
export const TRUE = '[[finding src/cart.rs:3 for i in 0..=prices.len() {]]';
export const INVENTED = '[[finding src/cart.rs:40 drop(prices);]]';
export const DRAWN = '[[finding logo.svg:2 <circle r="40" cx="50" cy="50"/>]]';

export async function openShop(page: Page, boocode: BooCode, name: string): Promise<string> {
  const project = boocode.repository(name);
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, 'src/cart.rs'), CART);
  writeFileSync(join(project, 'logo.svg'), LOGO);
  writeFileSync(join(project, 'till.html'), PAGE);
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  await enter(page, boocode, project);
  return project;
}

export const composer = (page: Page) => page.getByLabel('Your message');
export const run = (page: Page) => page.locator('section.orchestrator:visible');
export const report = (page: Page) => run(page).getByRole('article', { name: 'Report' });
export const step = (page: Page, label: string) => run(page).locator('.step').filter({ has: page.getByText(label, { exact: true }) });

export async function slash(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Control+Enter');
  await expect(page).toHaveURL(/\/run\//);
}

export async function looksWell(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
}

