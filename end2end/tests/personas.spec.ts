import type { Page } from '@playwright/test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faults, sideways } from './faults';
import { answer, ask, expect, live, test } from './world';

const picker = (page: Page) => page.getByLabel('Persona');
const author = (page: Page) => answer(page).locator('.message-author');

test('a persona is chosen, answers, and stays chosen after a reload', async ({ chat }) => {
  await expect(picker(chat)).toHaveValue('');
  await picker(chat).selectOption('Debugger');
  await ask(chat, '[[say found it]]');
  await expect(answer(chat)).toContainText('found it');
  await expect(author(chat)).toHaveText('Debugger · small');
  await chat.reload();
  await live(chat);
  await expect(author(chat)).toHaveText('Debugger · small');
  await expect(picker(chat)).toHaveValue('Debugger');
  await picker(chat).selectOption('');
  await answer(chat).getByRole('button', { name: 'Retry' }).click();
  await expect(author(chat)).toHaveText('small');
});

test("a project's own are offered, and what is wrong with them is told by its line", async ({ chat, boocode }, info) => {
  const folder = join(boocode.home, `project-${info.testId}-${info.retry}`, '.boocode');
  mkdirSync(folder);
  writeFileSync(join(folder, 'AGENTS.md'), '## Poet\n---\ndescription: Rhymes\n---\nYou rhyme.\n\n## Bare\n');
  await picker(chat).focus();
  await expect(picker(chat).locator('option', { hasText: 'Poet' })).toBeAttached();
  await expect(picker(chat).locator('optgroup option')).toHaveText(/^Line 7: Bare has no settings/);
  await picker(chat).selectOption('Poet');
  await ask(chat, '[[say rhymed]]');
  await expect(author(chat)).toHaveText('Poet · small');
  await expect(answer(chat)).toContainText('rhymed');
  // Gone again: what is written stays, and it is said why it was not sent.
  writeFileSync(join(folder, 'AGENTS.md'), '');
  const field = chat.getByLabel('Your message');
  await field.fill('[[say once more]]');
  await field.press('Control+Enter');
  await expect(chat.getByRole('alert')).toContainText('There is no persona Poet here');
  await expect(field).toHaveValue('[[say once more]]');
  await picker(chat).selectOption('');
  await field.press('Control+Enter');
  await expect(answer(chat)).toContainText('once more');
});

test('the composer has room for its pickers', async ({ chat }) => {
  await picker(chat).selectOption('Security Reviewer');
  expect(await sideways(chat)).toEqual([]);
  expect(await faults(chat)).toEqual([]);
  const send = chat.locator('.composer-actions .primary');
  await expect(send).toBeInViewport({ ratio: 1 });
});
