import type { Page } from '@playwright/test';
import { faults } from './faults';
import { focused, menu, newTab, tabs } from './panes';
import { answer, ask, expect, list, live, test } from './world';

const sidebar = (page: Page) => page.locator('#sidebar');
const line = (page: Page) => focused(page).locator('.notice.archived');
const linkTo = (page: Page) => sidebar(page).locator(`a[href="${new URL(page.url()).pathname}"]`);

test('a chat is archived in every browser, read at its address, and brought back', async ({ chat, boocode, context }) => {
  await ask(chat, '[[say kept]]');
  await expect(answer(chat)).toContainText('tokens/s');
  const address = chat.url();
  const entry = `a[href="${new URL(address).pathname}"]`;
  const other = await context.newPage();
  await other.goto(boocode.url);
  await live(other);
  await expect(sidebar(other).locator(entry)).toHaveCount(1);

  await menu(focused(chat), 'More', /Archive this chat/);
  await expect(chat).not.toHaveURL(address);
  for (const page of [chat, other]) await expect(sidebar(page).locator(entry)).toHaveCount(0);
  await other.close();
  await chat.locator('.toasts').getByRole('button', { name: 'Undo' }).click();
  await expect(chat).toHaveURL(address);
  await expect(sidebar(chat).locator(entry)).toHaveCount(1);

  await menu(focused(chat), 'More', /Archive this chat/);
  await expect(chat).not.toHaveURL(address);
  await chat.goto(new URL('/history?kind=chat&archived=only', address).href);
  await expect(chat.locator('.entry', { has: chat.locator(entry) })).toContainText('Archived');
  expect(await faults(chat), 'the history').toEqual([]);
  await chat.goto(address);
  await live(chat);
  await expect(line(chat)).toContainText('This chat is archived.');
  await expect(answer(chat)).toContainText('kept');
  expect(await faults(chat), 'what is archived').toEqual([]);
  await line(chat).getByRole('button', { name: 'Bring back' }).click();
  await expect(line(chat)).toHaveCount(0);
  await expect(linkTo(chat)).toHaveCount(1);
});

test('a chat at work is not archived', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(answer(chat)).toContainText('Writing…');
  await menu(focused(chat), 'More', /Archive this chat/);
  await expect(chat.locator('.toasts')).toContainText('This chat is at work. Stop it first.');
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
});

test('a session is named and put away by its menu, by keys alone', async ({ chat }, info) => {
  const project = `project-${info.testId}-${info.retry}`;
  await list(chat);
  const first = chat.url();
  await sidebar(chat).getByRole('button', { name: `New session in ${project}` }).click();
  await expect(chat).not.toHaveURL(first);
  await expect(chat.locator('.pane[data-focused]:focus, .pane[data-focused] :focus')).toHaveCount(1);
  await list(chat);
  if (info.project.name === 'phone') await expect(chat.locator('.drawer-close')).toBeFocused();
  const more = (name: string) => sidebar(chat).getByRole('button', { name: `More about ${name}`, exact: true }).last();
  await more('Session 2').focus();
  await chat.keyboard.press('Enter');
  await expect(chat.getByRole('menuitem', { name: 'Rename this session' })).toBeFocused();
  expect(await faults(chat), 'the menu').toEqual([]);
  await chat.keyboard.press('Enter');
  await expect(chat.getByRole('textbox', { name: 'Name' })).toBeFocused();
  expect(await faults(chat), 'the name').toEqual([]);
  await chat.keyboard.press('Control+a');
  await chat.keyboard.type(`Release ${info.testId}`);
  await chat.keyboard.press('Enter');
  await expect(chat.getByRole('textbox', { name: 'Name' })).toHaveCount(0);
  await expect(sidebar(chat).getByRole('heading', { name: `Release ${info.testId}` })).toHaveCount(1);

  await more(`Release ${info.testId}`).focus();
  await chat.keyboard.press('Enter');
  await expect(chat.getByRole('menuitem', { name: 'Rename this session' })).toBeFocused();
  await chat.keyboard.press('ArrowDown');
  await expect(chat.getByRole('menuitem', { name: 'Archive this session' })).toBeFocused();
  await chat.keyboard.press('Enter');
  await expect(sidebar(chat).getByRole('heading', { name: `Release ${info.testId}` })).toHaveCount(0);
  // It stays open where it is looked at, and says so.
  await expect(line(chat)).toContainText('This session is archived.');
});

test('a project leaves the list, and its folder brings it back', async ({ chat, boocode }, info) => {
  const project = `project-${info.testId}-${info.retry}`;
  const head = sidebar(chat).locator('h2', { hasText: project });
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await list(chat);
  const more = sidebar(chat).getByRole('button', { name: `More about ${project}`, exact: true });
  if (info.project.name === 'phone') {
    const { width, height } = (await more.boundingBox())!;
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
  }
  await more.click();
  await chat.getByRole('menuitem', { name: 'Archive this project' }).click();
  await expect(head).toHaveCount(0);
  await chat.goto(boocode.url);
  await live(chat);
  await chat.getByLabel('Folder of the project').fill(`${boocode.home}/${project}`);
  await chat.getByRole('button', { name: 'Add project' }).click();
  await expect(chat).toHaveURL(/\/session\//);
  await expect(head).toHaveCount(1);
  await expect(tabs(focused(chat))).toHaveCount(2);
});
