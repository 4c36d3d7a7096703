import type { Page } from '@playwright/test';
import { choose, launch, launcher } from './battles';
import { focused, menu, panes, splitDown, splitRight } from './panes';
import { expect, live, test } from './world';

/** Three that stay, each of several lines: failures of chats that are out of sight. */
async function fail(page: Page): Promise<void> {
  const front = page.locator('.pane-body:not([hidden])').first();
  for (const name of ['first', 'second', 'third']) {
    const before = page.url();
    await front.getByLabel('Your message').fill(`[[rate 20]][[count 40]][[cut after 30]] ${name}`);
    await front.getByLabel('Your message').press('Control+Enter');
    await expect(front.locator('.message.assistant')).toHaveCount(1);
    await page.keyboard.press('Alt+n');
    await expect(page).not.toHaveURL(before);
  }
  await expect(page.locator('.toast.failed')).toHaveCount(3);
}

/** What of this a toast lies over. */
const covered = (page: Page, selector: string) =>
  page.evaluate((selector) => {
    const boxes = (selector: string) =>
      [...document.querySelectorAll<HTMLElement>(selector)].filter((one) => one.checkVisibility()).map((one) => ({ one, box: one.getBoundingClientRect() }));
    const toasts = boxes('.toast');
    const meets = (a: DOMRect, b: DOMRect) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const found = boxes(selector).filter(({ box }) => box.width > 0 && toasts.some((toast) => meets(toast.box, box)));
    return found.map(({ one }) => one.getAttribute('aria-label') ?? one.className);
  }, selector);

const BUTTONS = '.composer-actions button, .pane-head button, .pane-head a, .topbar button, .arena-actions button, .orchestrator-actions button';

test('what is said in passing covers neither what sends nor the head of a pane', async ({ chat, isMobile }, info) => {
  await fail(chat);
  expect(await covered(chat, BUTTONS)).toEqual([]);
  await chat.screenshot({ path: info.outputPath('toasts.png') });
  if (isMobile) return;
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  expect(await covered(chat, BUTTONS)).toEqual([]);
  await splitDown(chat);
  await expect(panes(chat)).toHaveCount(3);
  expect(await covered(chat, BUTTONS)).toEqual([]);
  await live(chat);
});

test('nor does it cover what stops a battle', async ({ chat }, info) => {
  await fail(chat);
  await menu(focused(chat), 'New in this pane', /New Arena/);
  const form = launcher(chat);
  await form.getByText('Q&A').click();
  await choose(form, 'Persona', [['Debugger', 'local/small'], ['Architect', 'local/small']]);
  await form.getByLabel('Prompt').fill('[[hang after 3]]');
  await launch(chat, form);
  await expect(chat.locator('.arena-actions').getByRole('button', { name: 'Stop' })).toBeVisible();
  await expect(chat.locator('.toast.failed')).toHaveCount(3);
  expect(await covered(chat, BUTTONS)).toEqual([]);
  await chat.screenshot({ path: info.outputPath('battle.png') });
  await chat.locator('.arena-actions').getByRole('button', { name: 'Stop' }).click();
});

test('the keyboard goes on to the next, and back to where one writes', { tag: '@desk' }, async ({ chat }) => {
  await fail(chat);
  const dismiss = chat.locator('.toast').getByRole('button', { name: 'Dismiss' });
  await dismiss.first().focus();
  for (const left of [2, 1]) {
    await chat.keyboard.press('Enter');
    await expect(chat.locator('.toast')).toHaveCount(left);
    await expect(dismiss.first()).toBeFocused();
  }
  const before = chat.url();
  await chat.locator('.toast').getByRole('button', { name: 'Open' }).press('Enter');
  await expect(chat).not.toHaveURL(before);
  await expect(focused(chat).locator('.pane-body:not([hidden])').getByLabel('Your message')).toBeFocused();
});
