import { type Page } from '@playwright/test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choose } from './battles';
import { git } from './coders';
import { focused, menu } from './panes';
import { addProject, BooCode, expect, list, live, logIn, scripted, test as base } from './world';

const OUT = '/tmp/shell-shots';
const test = base.extend<object, { model: string; boocode: BooCode }>({
  model: [async ({}, use) => { const model = await scripted(100, '--models', 'small,large,echo,count,judge,analyst'); await use(model.url); model.stop(); }, { scope: 'worker' }],
  boocode: [async ({ model }, use) => {
    const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, '--flow-backend', 'native', '--flow-model', 'local/analyst']);
    await boocode.start(); await use(boocode); await boocode.stop();
  }, { scope: 'worker', timeout: 60_000 }],
});
test.setTimeout(400_000);

const front = (page: Page) => page.locator('.pane[data-focused] .pane-body:not([hidden])');
async function ask(page: Page, text: string) { const field = front(page).getByLabel('Your message'); await field.fill(text); await field.press('Control+Enter'); await expect(field).toHaveValue(''); }

async function shot(page: Page, info: any, name: string) {
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.waitForTimeout(150);
    await page.screenshot({ path: `${OUT}/${name}-${info.project.name}-${scheme}.png` });
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
}
async function project(page: Page, boocode: BooCode, name: string) {
  const path = boocode.repository(name);
  mkdirSync(join(path, 'src'));
  writeFileSync(join(path, 'src/cart.rs'), 'pub fn total(prices: &[i64]) -> i64 {\n    let mut total = 0;\n    for i in 0..=prices.len() {\n        total += prices[i];\n    }\n    total\n}\n');
  writeFileSync(join(path, 'main.rs'), 'fn main() {\n    println!("one");\n}\n');
  writeFileSync(join(path, 'README.md'), '# Shop\n');
  git(path, 'add', '.'); git(path, 'commit', '-qm', 'first');
  await addProject(page, path);
}
const MD = `[[say Yes, **in one place**. \`total\` reads one price too many, because the range includes its end:

\`\`\`rust
for i in 0..=prices.len() {
    total += prices[i]; // the last one is not there
}
\`\`\`

Two ways to mend it:

1. Take \`..\` in place of \`..=\`.
2. Sum the slice itself, which cannot go wrong: \`prices.iter().sum()\`.

| | before | after |
|---|---:|---:|
| items | 3 | 3 |
| reads | 4 | 3 |

> The tests never saw it, since none of them has an empty cart.

See also [the slice docs](https://doc.rust-lang.org/std/primitive.slice.html).]]`;

test('chat', async ({ page, boocode }, info) => {
  await page.goto(boocode.url); await shot(page, info, 'login');
  await logIn(page, boocode); await live(page); await shot(page, info, 'start-empty');
  await project(page, boocode, 'shop');
  await shot(page, info, 'chat-empty');
  await ask(page, 'Is there something wrong with how `src/cart.rs` adds up prices?' + MD);
  await expect(page.locator('.message.assistant')).toContainText('tokens/s');
  await shot(page, info, 'chat-answer');
  await page.locator('.messages').evaluate((list) => list.scrollTo(0, 0)); await shot(page, info, 'chat-top');
  await ask(page, '[[reasoning Let me look at the file first.]][[rate 30]][[count 3000]]');
  await expect(page.locator('.message.assistant').last()).toContainText('10 11');
  await ask(page, 'And then mend it.'); await ask(page, 'Write a test for the empty cart.');
  await shot(page, info, 'chat-running');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByText('The queue is held')).toBeVisible().catch(() => {});
  await shot(page, info, 'chat-held');
  await list(page); await shot(page, info, 'sidebar'); await page.keyboard.press('Escape');
  await front(page).getByLabel('Your message').fill('/'); await page.waitForTimeout(300); await shot(page, info, 'slash');
  await front(page).getByLabel('Your message').fill('@'); await page.waitForTimeout(600); await shot(page, info, 'mention');
  await front(page).getByLabel('Your message').fill('');
  for (const [name, label] of [['menu-new', 'New in this pane'], ['menu-split', 'Split this pane'], ['menu-more', 'More']]) {
    await focused(page).getByRole('button', { name: label, exact: true }).click(); await page.waitForTimeout(250); await shot(page, info, name); await page.keyboard.press('Escape');
  }
  await page.keyboard.press('Control+k'); await page.waitForTimeout(300); await shot(page, info, 'palette');
  await page.getByRole('combobox').fill('nothing such'); await shot(page, info, 'palette-none'); await page.keyboard.press('Escape');
  await page.keyboard.press('Control+/'); await page.waitForTimeout(300); await shot(page, info, 'help'); await page.keyboard.press('Escape');
  await menu(focused(page), 'More', /Rename/); await page.waitForTimeout(300); await shot(page, info, 'rename'); await page.keyboard.press('Escape');
  await menu(focused(page), 'New in this pane', /New chat/);
  await ask(page, '[[truncate after 5]]'); await expect(front(page).getByRole('alert')).toBeVisible(); await shot(page, info, 'chat-failed');
  const chooser = page.waitForEvent('filechooser'); await front(page).getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }, { name: 'a rather long name of a file.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') }, { name: 'program', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) }]);
  await page.waitForTimeout(500); await shot(page, info, 'chat-files');
  if (info.project.name === 'desktop') {
    await menu(focused(page), 'Split this pane', /Settings/); await page.waitForTimeout(600); await shot(page, info, 'split');
    await menu(focused(page), 'Split this pane', /Chat/, 1); await page.waitForTimeout(600); await shot(page, info, 'split-three');
  }
  await page.goto(boocode.url); await live(page); await shot(page, info, 'start');
  await page.goto(`${boocode.url}/history`); await shot(page, info, 'history');
  await page.goto(`${boocode.url}/history?q=nothing`); await shot(page, info, 'history-none');
  await page.goto(`${boocode.url}/nowhere`); await shot(page, info, 'lost');
  for (const section of ['models', 'agents', 'worktrees', 'projects', 'appearance', 'notifications', 'browsers', 'phone', 'about']) {
    await page.goto(`${boocode.url}/settings/${section}`); await live(page); await expect(page.locator('.settings[data-alive]')).toBeVisible(); await shot(page, info, `settings-${section}`);
  }
});

test('coder', async ({ page, boocode }, info) => {
  await logIn(page, boocode); await project(page, boocode, 'coder');
  await menu(focused(page), 'New in this pane', /New task/); await expect(page.getByRole('region', { name: 'Coder' })).toBeVisible(); await live(page);
  await shot(page, info, 'coder-empty');
  await page.getByLabel('Ask before changes').check();
  const edit = (path: string, old: string, neu: string) => `[[tool edit ${JSON.stringify({ path, old, new: neu })}]]`;
  await ask(page, `Mend the total. [[say I read the file first.]][[tool read {"path":"src/cart.rs"}]]${edit('src/cart.rs', '0..=prices.len()', '0..prices.len()')}[[say The range no longer includes its end.]]`);
  await expect(page.getByRole('alertdialog')).toBeVisible({ timeout: 20_000 }); await shot(page, info, 'coder-asks');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(front(page).getByRole('region', { name: 'Changes' }).first()).toContainText('1 file changed', { timeout: 20_000 });
  await front(page).locator('.tool summary').last().click(); await shot(page, info, 'coder-done');
  await page.getByRole('button', { name: 'Review', exact: true }).click(); await expect(page.locator('.diff')).toBeVisible(); await page.waitForTimeout(500); await shot(page, info, 'coder-review');
  await page.getByRole('button', { name: 'Apply…' }).click(); await page.waitForTimeout(300); await shot(page, info, 'coder-apply'); await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard…' }).click(); await page.waitForTimeout(300); await shot(page, info, 'coder-discard'); await page.keyboard.press('Escape');
});

test('arena', async ({ page, boocode }, info) => {
  await logIn(page, boocode); await project(page, boocode, 'arena');
  await menu(focused(page), 'New in this pane', /New Arena/); const form = page.locator('.arena-launcher'); await expect(form).toBeVisible(); await live(page);
  await shot(page, info, 'arena-launcher');
  await form.getByText('Terms').click(); await page.waitForTimeout(200); await shot(page, info, 'arena-terms');
  await choose(form, 'Agent', [['native', 'local/small'], ['native', 'local/large'], ['native', 'local/count']]);
  await form.getByLabel('Prompt').fill('Mend the total. [[on small]][[count 200]][[shell sed -i s/..=/../ src/cart.rs]][[say It is good now.]][[on large]][[shell echo new > new.txt; sleep 6]][[say A bad idea.]][[on count]][[shell echo half > half.txt; sleep 600]]');
  await form.getByLabel('Check of each result').fill('! grep -q ..= src/cart.rs');
  await form.getByLabel('Judge').selectOption('local/judge');
  await form.getByRole('button', { name: 'Launch' }).click(); await expect(page).toHaveURL(/\/battle\//);
  await expect(page.getByRole('article', { name: 'Output of A' })).toContainText('10 11', { timeout: 30_000 }); await shot(page, info, 'arena-running');
  await expect(page.getByRole('article', { name: 'Output of C' })).toContainText('sleep 600', { timeout: 90_000 });
  await page.locator('section.arena').getByRole('button', { name: 'What can be done with C' }).click(); await page.waitForTimeout(200); await shot(page, info, 'arena-menu'); await page.getByRole('menuitem', { name: /Stop this one/ }).click();
  await expect(page.locator('.arena-head')).toContainText('Completed', { timeout: 90_000 }); await shot(page, info, 'arena-finished');
  for (const tab of await page.locator('section.arena').getByRole('tab').all()) { const name = (await tab.textContent())!.trim().toLowerCase().replace(/\W+/g, '-'); await tab.click(); await page.waitForTimeout(500); await shot(page, info, `arena-tab-${name}`); }
});

test('orchestrator', async ({ page, boocode }, info) => {
  await logIn(page, boocode); await project(page, boocode, 'flows');
  await menu(focused(page), 'New in this pane', /New Orchestrator/); await expect(page.getByRole('region', { name: 'New run' })).toBeVisible(); await live(page); await shot(page, info, 'flow-launcher');
  await menu(focused(page), 'New in this pane', /New chat/);
  const field = front(page).getByLabel('Your message'); await field.fill('/code-review Is it right? [[finding src/cart.rs:3 for i in 0..=prices.len() {]] [[finding src/cart.rs:40 drop(prices);]] [[look]]'); await field.press('Control+Enter');
  await expect(page).toHaveURL(/\/run\//);
  const run = page.locator('section.orchestrator:visible'); await expect(run).toContainText('Running', { timeout: 20_000 }); await page.waitForTimeout(2000); await shot(page, info, 'flow-running');
  await expect(run.getByRole('article', { name: 'Report' })).toBeVisible({ timeout: 90_000 }); await shot(page, info, 'flow-report');
  await page.locator('section.orchestrator:visible').evaluate((e) => { const s = e.closest('.pane-body')!; s.scrollTo(0, 900); (e as HTMLElement).scrollTo(0, 900); }); await shot(page, info, 'flow-report-more');
  await run.getByRole('link', { name: 'src/cart.rs:3' }).first().click(); await page.waitForTimeout(800); await shot(page, info, 'flow-evidence');
});
