import { type Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { focused, menu } from './panes';
import { addProject, answer, type BooCode, expect, live, logIn } from './world';

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
  await logIn(page, boocode);
  const project = boocode.repository(name);
  writeFileSync(join(project, 'main.rs'), 'fn main() {\n    println!("one");\n}\n');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  await addProject(page, project);
  await menu(focused(page), 'New in this pane', /New task/);
  await expect(page.getByRole('region', { name: 'Coder' })).toBeVisible();
  await live(page);
  return project;
}
