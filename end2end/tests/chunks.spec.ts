import type { Page } from '@playwright/test';
import { focused, menu } from './panes';
import { addProject, answer, ask, expect, live, logIn, test } from './world';

const CHAT = '**/pkg/split_chat.wasm';
const isChat = (request: { url(): string }) => request.url().endsWith('/split_chat.wasm');
const away = (page: Page) => page.route(CHAT, (route) => route.abort('connectionrefused'));

test('the start page is alive before the code of chats is asked for', async ({ page, boocode }) => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(CHAT, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest(isChat);
  await logIn(page, boocode);
  await live(page);
  await asked;
  await page.getByLabel('Folder of the project').fill(boocode.repository('waits-for-code'));
  await page.getByRole('button', { name: 'Add project' }).click();
  await expect(page.getByText('Loading the chat')).toBeAttached();
  letGo();
  await ask(page, '[[say it came]]');
  await expect(answer(page)).toContainText('it came');
});

test('code that cannot be had is said, and comes when the server is back', async ({ page, boocode }) => {
  await away(page);
  await logIn(page, boocode);
  await live(page);
  await page.getByLabel('Folder of the project').fill(boocode.repository('without-code'));
  await page.getByRole('button', { name: 'Add project' }).click();
  await expect(page.getByRole('alert')).toContainText(/cannot be reached/);
  await page.unroute(CHAT);
  await boocode.kill();
  await boocode.start();
  await ask(page, '[[say back again]]');
  await expect(answer(page)).toContainText('back again');
});

test('a page with a chat asks for its code with the first bytes, and can be read without', async ({ page, boocode }) => {
  await logIn(page, boocode);
  await addProject(page, boocode.repository('preloads'));
  await ask(page, '[[say read me]]');
  await expect(answer(page)).toContainText('read me');
  await page.reload();
  await live(page);
  await expect(page.locator('link[rel=preload][href="/pkg/split_chat.wasm"]')).toHaveCount(1);
  await away(page);
  await page.reload();
  await expect(page.getByRole('alert')).toContainText(/Trying again/);
  await expect(answer(page)).toContainText('read me');
  // It comes alive by itself once it can.
  await page.unroute(CHAT);
  await live(page);
  await expect(page.getByRole('alert')).toHaveCount(0);
  await ask(page, '[[say alive]]');
  await expect(answer(page)).toContainText('alive');
});

test('what only a Coder needs comes with one, and with no other chat', async ({ chat }) => {
  const code = chat.locator('link[rel=preload][href="/pkg/split_coder.wasm"]');
  await chat.reload();
  await live(chat);
  await expect(code).toHaveCount(0);
  await menu(focused(chat), 'New in this pane', /New task/);
  const agent = focused(chat).getByRole('combobox', { name: 'Agent' });
  await expect(agent).toBeVisible();
  const coder = chat.url();
  await chat.reload();
  await live(chat);
  await expect(chat).toHaveURL(coder);
  await expect(code).toHaveCount(1);
  await expect(agent).toBeVisible();
});
