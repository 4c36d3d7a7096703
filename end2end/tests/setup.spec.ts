import { type Page } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, changes, openCoder, tools } from './coders';
import { faults, sideways } from './faults';
import { answer, expect, live, logIn, test } from './world';

const part = (page: Page, project: string) => page.locator('.settings-project', { hasText: project });

/** From the project in the sidebar, which is a drawer on a phone. */
async function openSetup(page: Page, project: string): Promise<void> {
  const opener = page.locator('.drawer-toggle').first();
  if (await opener.isVisible()) await opener.click();
  await page.getByRole('link', { name: `Settings of ${project}`, exact: true }).click();
  await expect(page).toHaveURL(/\/settings\/projects#project-/);
  await expect(page.locator('.settings[data-alive]')).toBeVisible();
  await expect(part(page, project)).toHaveAttribute('open', '');
}

async function save(page: Page, project: string, fields: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await part(page, project).getByLabel(label).fill(value);
  await page.getByRole('button', { name: `Save the setup of ${project}` }).click();
}

test('a project is set up, and its worktrees begin so', async ({ page, boocode }, info) => {
  const name = `setup-${info.testId}`;
  const project = await openCoder(page, boocode, name);
  const coder = page.url();
  writeFileSync(join(project, '.env'), 'NAME=value\n');
  await openSetup(page, name);
  await expect(part(page, name)).toContainText('nothing set up');

  // What leads out of the project is refused, and what was typed stays.
  await save(page, name, { 'Files to copy': '.env\n../other/.env', 'Setup command': 'cat .env' });
  await expect(part(page, name).getByRole('alert')).toContainText('../other/.env leads out of the project.');
  await expect(part(page, name).getByLabel('Files to copy')).toHaveValue('.env\n../other/.env');
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('setup.png') });
  await save(page, name, { 'Files to copy': './.env', 'Check command': 'make test' });
  await expect(part(page, name).getByRole('status')).toContainText('Saved.');
  await expect(part(page, name)).toContainText('copies .env, runs a command, has a check');
  // As it is kept, not as it was typed.
  await expect(part(page, name).getByLabel('Files to copy')).toHaveValue('.env');

  await page.goto(coder);
  await live(page);
  await ask(page, '[[tool run {"command":"cat .env"}]][[say done]]');
  await expect(answer(page)).toContainText('done');
  await expect(tools(page)).toHaveCount(2);
  await expect(tools(page).first()).toContainText('Set up the worktree');
  await tools(page).first().locator('summary').click();
  await expect(tools(page).first().getByLabel('Output')).toContainText('NAME=value');
  await expect(changes(page)).toContainText('Nothing changed yet');
});

test('a setup that fails is said in the turn', async ({ page, boocode }, info) => {
  const name = `broken-${info.testId}`;
  await openCoder(page, boocode, name);
  const coder = page.url();
  await openSetup(page, name);
  await save(page, name, { 'Setup command': 'echo the compiler is missing; exit 4' });
  await expect(part(page, name).getByRole('status')).toContainText('Saved.');
  await page.goto(coder);
  await live(page);
  await ask(page, '[[say never]]');
  await expect(answer(page)).toContainText("The project's setup command failed, and the worktree was not used.");
  await expect(answer(page)).toContainText('the compiler is missing');
  await expect(answer(page)).toContainText('code 4');
  await expect(changes(page)).toHaveCount(0);
});

test('the budget of worktrees is set', async ({ page, boocode }) => {
  await logIn(page, boocode);
  await page.goto(`${boocode.url}/settings/worktrees`);
  await expect(page.locator('.settings[data-alive]')).toBeVisible();
  const field = page.getByLabel('Budget in GB');
  const keep = page.getByRole('button', { name: 'Save', exact: true });
  await field.fill('nothing');
  await keep.click();
  await expect(page.locator('#budget-error')).toContainText('"nothing" is no budget');
  await field.fill('30');
  await keep.click();
  await expect(page.locator('#budget-error')).toBeEmpty();
  await page.reload();
  await expect(field).toHaveValue('30');
});
