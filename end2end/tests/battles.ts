import type { Locator, Page } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './coders';
import { focused, menu } from './panes';
import { type BooCode, enter, expect, live, scripted, test as base } from './world';

/** With models that have opinions about what others made. */
export const test = base.extend<object, { model: string }>({
  model: [
    async ({}, use) => {
      const model = await scripted(100, '--models', 'small,large,echo,count,judge,biased-judge,mumbling-judge');
      await use(model.url);
      model.stop();
    },
    { scope: 'worker' },
  ],
});

export const launcher = (page: Page) => page.locator('.arena-launcher');
export const battle = (page: Page) => page.locator('section.arena');
export const row = (page: Page, place: number) => battle(page).locator('.arena-row').nth(place);
export const output = (page: Page, letter: string) => page.getByRole('article', { name: `Output of ${letter}` });
export const view = (page: Page, name: string) => battle(page).getByRole('tab', { name, exact: true });

/** A project with a file and a commit. */
export async function openProject(page: Page, boocode: BooCode, name: string): Promise<string> {
  const project = boocode.repository(name);
  writeFileSync(join(project, 'main.txt'), 'one\n');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  await enter(page, boocode, project);
  return project;
}

/** The same, with an empty launcher in front. */
export async function openLauncher(page: Page, boocode: BooCode, name: string): Promise<string> {
  const project = await openProject(page, boocode, name);
  await menu(focused(page), 'New in this pane', /New Arena/);
  await expect(launcher(page)).toBeVisible();
  await live(page);
  return project;
}

/** Each is an agent or a persona, and a model. */
export async function choose(form: Locator, who: 'Agent' | 'Persona', roster: [string, string][]): Promise<void> {
  const add = form.getByRole('button', { name: 'Add a contestant' });
  while ((await form.locator('.arena-line').count()) < roster.length) await add.click();
  for (const [place, [identity, model]] of roster.entries()) {
    const letter = String.fromCharCode(65 + place);
    const field = form.getByLabel(`${who} of ${letter}`);
    await expect(field.locator(`option[value="${identity}"]`)).toBeAttached();
    await field.selectOption(identity);
    await form.getByLabel(`Model of ${letter}`).selectOption(model);
  }
}

/** Sends the launcher's form, and waits for the battle. */
export async function launch(page: Page, form: Locator): Promise<void> {
  await form.getByRole('button', { name: 'Launch' }).click();
  await expect(page).toHaveURL(/\/battle\//);
  await expect(battle(page)).toBeVisible();
}

/** The same page for somebody without scripts. */
export async function still(page: Page, look: (reader: Page) => Promise<void>): Promise<void> {
  const browser = page.context().browser()!;
  const context = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
    viewport: page.viewportSize()!,
  });
  const reader = await context.newPage();
  await reader.goto(page.url());
  await look(reader);
  await context.close();
}

/** What can be done with a contestant. */
export async function act(page: Page, letter: string, item: RegExp): Promise<void> {
  await battle(page).getByRole('button', { name: `What can be done with ${letter}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}
