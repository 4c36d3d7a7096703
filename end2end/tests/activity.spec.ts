import { type Page } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choose } from './battles';
import { git } from './coders';
import { focused, menu } from './panes';
import { addProject, BooCode, expect, list, logIn, scripted, test as base } from './world';

/** Chats, battles and runs on one local server, which does one thing at a time. */
const test = base.extend<object, { model: string; boocode: BooCode }>({
  model: [
    async ({}, use) => {
      const model = await scripted(100, '--models', 'small,analyst');
      await use(model.url);
      model.stop();
    },
    { scope: 'worker' },
  ],

  boocode: [
    async ({ model }, use) => {
      const flows = ['--flow-backend', 'native', '--flow-model', 'local/analyst'];
      const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, ...flows]);
      await boocode.start();
      await use(boocode);
      await boocode.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

const path = (page: Page) => new URL(page.url()).pathname;
const front = (page: Page) => page.locator('.pane-body:not([hidden])');
const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Projects and chats' });
const entry = (page: Page, to: string) => sidebar(page).locator(`a[href="${to}"]`);
const toast = (page: Page) => page.locator('.toast');

async function ask(page: Page, text: string): Promise<void> {
  const field = front(page).getByLabel('Your message');
  await field.fill(text);
  await field.press('Control+Enter');
  await expect(field).toHaveValue('');
}

/** Asks in a chat of its own. Where that is. */
async function askAnew(page: Page, kind: RegExp, text: string): Promise<string> {
  const before = page.url();
  await menu(focused(page), 'New in this pane', kind);
  await expect(page).not.toHaveURL(before);
  await ask(page, text);
  return path(page);
}

/** How a dot looks, in all that tells dots apart. */
const look = (page: Page, to: string) =>
  entry(page, to)
    .locator('.dot')
    .evaluate((dot) => {
      const { backgroundColor, borderRadius, boxShadow } = getComputedStyle(dot);
      return `${backgroundColor} ${borderRadius} ${boxShadow.includes('inset')}`;
    });

async function openProject(page: Page, boocode: BooCode, name: string): Promise<void> {
  await logIn(page, boocode);
  const project = boocode.repository(name);
  writeFileSync(join(project, 'main.rs'), 'fn main() {\n    println!("one");\n}\n');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  await addProject(page, project);
}

test('a dot tells what runs, what waits and what needs a person, and a folded project the most urgent', async ({
  page,
  boocode,
}, info) => {
  await openProject(page, boocode, `dots-${info.testId}`);
  // What is stopped with a message behind it goes on only by hand.
  await ask(page, '[[hang after 3]]');
  await expect(front(page).locator('.message.assistant')).toBeVisible();
  await ask(page, 'and then this');
  await front(page).getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(front(page).getByText('The queue is held')).toBeVisible();
  const held = path(page);
  const runs = await askAnew(page, /New chat/, '[[hang after 3]]');
  await expect(front(page).locator('.message-status')).toContainText('Writing…');
  const waits = await askAnew(page, /New chat/, '[[say at last]]');
  const idle = await (async () => {
    await menu(focused(page), 'New in this pane', /New chat/);
    await expect(page).not.toHaveURL(new RegExp(waits));
    return path(page);
  })();
  await list(page);
  await expect(entry(page, held)).toContainText('Waits for you');
  await expect(entry(page, runs)).toContainText('At work');
  await expect(entry(page, waits)).toContainText('Waits for the model');
  await expect(entry(page, idle).locator('.dot')).toHaveCount(0);
  const looks = [await look(page, held), await look(page, runs), await look(page, waits)];
  expect(new Set(looks).size).toBe(3);
  // None is the dot that says nothing.
  const plain = await page.evaluate(() => {
    const dot = document.body.appendChild(Object.assign(document.createElement('span'), { className: 'dot' }));
    const { backgroundColor, borderRadius, boxShadow } = getComputedStyle(dot);
    dot.remove();
    return `${backgroundColor} ${borderRadius} ${boxShadow.includes('inset')}`;
  });
  expect(looks).not.toContain(plain);

  const group = sidebar(page).locator('section').filter({ hasText: `dots-${info.testId}` });
  const folded = group.locator('summary .dot');
  await expect(folded).toBeHidden();
  await group.locator('summary').click();
  await expect(folded).toBeVisible();
  await expect(folded).toHaveClass('dot needed');
  await expect(group.locator('summary')).toContainText('Waits for you');
  await page.screenshot({ path: info.outputPath('dots.png') });
  await group.locator('summary').click();
  await entry(page, runs).click();
  await front(page).getByRole('button', { name: 'Stop', exact: true }).click();
  await list(page);
  await expect(entry(page, waits).locator('.dot')).toHaveCount(0);
  await expect(entry(page, runs).locator('.dot')).toHaveCount(0);
});

test('battles and runs have dots too, and how a run ends is told', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openProject(page, boocode, `more-dots-${info.testId}`);
  await menu(focused(page), 'New in this pane', /New Arena/);
  const form = page.locator('.arena-launcher');
  await form.getByText('Q&A').click();
  await choose(form, 'Persona', [['Debugger', 'local/small'], ['Architect', 'local/small']]);
  await form.getByLabel('Prompt').fill('[[hang after 3]]');
  await form.getByRole('button', { name: 'Launch' }).click();
  await expect(page).toHaveURL(/\/battle\//);
  const battle = path(page);
  await expect(page.locator('.arena-row').first()).toContainText('Running');
  await askAnew(page, /New chat/, '[[say behind the battle]]');
  await front(page).getByLabel('Your message').fill('/code-review Is it right?');
  await front(page).getByLabel('Your message').press('Control+Enter');
  await expect(page).toHaveURL(/\/run\//);
  const run = path(page);
  await list(page);
  await expect(entry(page, battle)).toContainText('At work');
  await expect(entry(page, run)).toContainText('Waits for the model');
  await entry(page, battle).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  // Whoever stopped it knows; the run ends elsewhere.
  const report = toast(page).filter({ hasText: 'The report is ready.' });
  await expect(report).toBeVisible({ timeout: 60_000 });
  await expect(toast(page).filter({ hasNotText: /report is ready|answer is ready/ })).toHaveCount(0);
  await report.getByRole('button', { name: 'Open' }).click();
  await expect(page).toHaveURL(new RegExp(`${run}$`));
  await expect(report).toHaveCount(0);
  await list(page);
  await expect(entry(page, battle).locator('.dot')).toHaveCount(0);
  await expect(entry(page, run).locator('.dot')).toHaveCount(0);
});

test('an agent that asks while one looks elsewhere is told, until somebody answers', async ({ page, boocode, context }, info) => {
  await openProject(page, boocode, `asks-${info.testId}`);
  const other = page.url();
  await menu(focused(page), 'New in this pane', /New task/);
  await expect(page).not.toHaveURL(other);
  await page.getByLabel('Ask before changes').check();
  const edit = JSON.stringify({ path: 'main.rs', old: 'one', new: 'two' });
  await ask(page, `[[loading 1500]][[tool edit ${edit}]][[say so be it]]`);
  const coder = page.url();
  await page.evaluate(() => history.back());
  await expect(page).toHaveURL(other);
  await expect(toast(page)).toContainText('Asks before it goes on: Edit main.rs');
  await list(page);
  await expect(entry(page, new URL(coder).pathname).locator('.dot')).toHaveClass('dot needed');
  // From anywhere.
  const second = await context.newPage();
  await second.goto(coder);
  await second.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(toast(page).filter({ hasText: 'Asks' })).toHaveCount(0);
  await second.close();
});
