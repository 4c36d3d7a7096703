import { type Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { focused, menu } from './panes';
import { answer, type BooCode, enter, expect, live } from './world';

export const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' });

export const changes = (page: Page) => page.getByRole('region', { name: 'Changes' }).first();
export const tools = (page: Page) => answer(page).locator('.tool');
export const action = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The empty chat behind it has a composer too. */
export async function ask(page: Page, text: string): Promise<void> {
  const field = page.getByRole('region', { name: 'Coder' }).getByLabel('Your message');
  await field.fill(text);
  await field.press('Control+Enter');
  await expect(field).toHaveValue('');
}

/** A project with a file and a commit, and an empty Coder in front. */
export async function openCoder(page: Page, boocode: BooCode, name: string): Promise<string> {
  const project = boocode.repository(name);
  writeFileSync(join(project, 'main.rs'), 'fn main() {\n    println!("one");\n}\n');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  await enter(page, boocode, project);
  await menu(focused(page), 'New in this pane', /New task/);
  await expect(page.getByRole('region', { name: 'Coder' })).toBeVisible();
  await live(page);
  return project;
}

/** A comment on the first changed line goes into the next message, which it returns. */
export async function comment(page: Page, words: string): Promise<string> {
  await page.getByRole('grid', { name: 'Changed lines' }).focus();
  await page.keyboard.press('n');
  await expect(page.locator('.diff-rows .current')).toHaveClass(/del/);
  await page.keyboard.press('c');
  await page.getByRole('textbox', { name: /^Comment on main.rs/ }).fill(words);
  await action(page, 'Add comment').click();
  await action(page, 'Send comments').click();
  const field = page.getByRole('region', { name: 'Coder' }).getByLabel('Your message');
  await expect(field).toHaveValue(/main\.rs:2/);
  return field.inputValue();
}
