import type { Page } from '@playwright/test';
import { focused, menu, newTab, panes, splitRight, tabs } from './panes';
import { answer, ask, expect, list, live, test } from './world';

const field = (page: Page) => page.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' });
const options = (page: Page) => page.locator('#palette .option');

async function find(page: Page, words: string, keys = 'Control+k'): Promise<void> {
  await page.keyboard.press(keys);
  await field(page).fill(words);
}

async function rename(page: Page, title: string): Promise<void> {
  await menu(focused(page), 'More', /Rename this chat/);
  await page.getByLabel('Title').fill(title);
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await expect(tabs(focused(page)).filter({ hasText: title })).toHaveCount(1);
}

test('what is typed in full comes first, and Enter takes it', async ({ chat }) => {
  await find(chat, 'settings');
  await expect(options(chat).first()).toContainText(/^Settings/);
  await field(chat).press('Enter');
  await expect(chat).toHaveURL(/\/settings$/);
  await expect(chat.locator('html')).not.toHaveAttribute('data-theme', /./);
  await find(chat, 'nothing is called so');
  await expect(chat.getByRole('status').filter({ hasText: 'Nothing is called that.' })).toBeVisible();
});

test('every kind of pane opens as a tab, on the right and below', async ({ chat }) => {
  await find(chat, 'new task');
  for (const where of [/^New task on the right/, /^New task below/]) {
    await expect(options(chat).filter({ hasText: where })).toHaveCount(1);
  }
  await field(chat).press('Enter');
  await expect(chat.getByRole('region', { name: 'Coder' })).toBeVisible();
  await expect(tabs(focused(chat))).toHaveCount(2);
  // Also when there is one that is called so.
  await find(chat, 'new task');
  await field(chat).press('Enter');
  await expect(tabs(focused(chat))).toHaveCount(3);
  await find(chat, 'New Arena on the right');
  await field(chat).press('Enter');
  await expect(panes(chat)).toHaveCount(2);
  await expect(focused(chat).locator('.arena-launcher')).toBeVisible();
  await find(chat, 'Settings below');
  await field(chat).press('Enter');
  await expect(panes(chat)).toHaveCount(3);
  await expect(focused(chat).locator('.settings')).toBeVisible();
});

test('it leads to another pane and stays there', { tag: '@desk' }, async ({ chat }) => {
  await rename(chat, 'On the left');
  const left = chat.url();
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  await expect(focused(chat).getByLabel('Your message')).toBeFocused();
  const right = chat.url();
  for (const [words, to, at] of [
    ['focus the pane on the left', left, 0],
    ['focus the pane on the right', right, 1],
    ['on the left', left, 0],
  ] as const) {
    await find(chat, words);
    await expect(options(chat).first()).toContainText(new RegExp(words, 'i'));
    await field(chat).press('Enter');
    await expect(chat.locator('#palette')).toBeHidden();
    await expect(panes(chat).nth(at).getByLabel('Your message')).toBeFocused();
    await expect(panes(chat).nth(at)).toHaveAttribute('data-focused', '');
    await expect(chat).toHaveURL(to);
  }
});

test('sessions and chats open from it', async ({ chat }, info) => {
  await rename(chat, `Chat ${info.testId}`);
  await ask(chat, '[[say from the palette]]');
  await expect(answer(chat)).toContainText('from the palette');
  const first = chat.url();
  await list(chat);
  await chat.getByRole('button', { name: `New session in project-${info.testId}-${info.retry}` }).click();
  await expect(chat).not.toHaveURL(first);
  const second = chat.url();
  await live(chat);
  await find(chat, `Chat ${info.testId}`);
  await expect(options(chat).first()).toContainText(`Chat ${info.testId}`);
  await field(chat).press('Enter');
  await expect(chat).toHaveURL(first);
  await expect(answer(chat)).toContainText('from the palette');
  await find(chat, `project-${info.testId}-${info.retry}: Session 2`);
  await field(chat).press('Enter');
  await expect(chat).toHaveURL(/\/session\//);
  await expect(tabs(focused(chat)).getByRole('link')).toHaveAttribute('href', new URL(second).pathname);
});

test('keys are shown as the machine in front of the reader has them', { tag: '@desk' }, async ({ chat, context }) => {
  const mod = (page: Page) =>
    options(page).filter({ hasText: 'Show or hide the sidebar' }).locator('.key.mod').evaluate((key) => getComputedStyle(key, '::before').content);
  await find(chat, 'sidebar');
  await expect(options(chat).first().locator('.kbd')).toHaveText('B');
  expect(await mod(chat)).toBe('"Ctrl"');
  const mac = await context.newPage();
  await mac.addInitScript(() => Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' }));
  await mac.goto(chat.url());
  await live(mac);
  // There Control moves the caret in a text, and is not ours.
  await mac.keyboard.press('Control+k');
  await expect(field(mac)).toBeHidden();
  await find(mac, 'sidebar', 'Meta+k');
  expect(await mod(mac)).toBe('"⌘"');
});

test('a finger opens it in one tap, and moves a tab by it', { tag: '@phone' }, async ({ chat }, info) => {
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const button = focused(chat).getByRole('button', { name: 'Find anything' });
  const box = (await button.boundingBox())!;
  expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
  await button.tap();
  await expect(field(chat)).toBeFocused();
  await chat.screenshot({ path: info.outputPath('palette.png') });
  await field(chat).fill('move this tab into a pane below');
  await options(chat).first().tap();
  await expect(panes(chat)).toHaveCount(2);
  await button.tap();
  await field(chat).fill('move this tab to the pane above');
  await options(chat).first().tap();
  await expect(panes(chat)).toHaveCount(1);
  await expect(tabs(focused(chat))).toHaveCount(2);
  // From the list too, and where no panes are.
  await list(chat);
  await chat.locator('#sidebar').getByRole('button', { name: 'Find anything' }).tap();
  await field(chat).fill('start page');
  await options(chat).first().tap();
  await expect(chat).toHaveURL(/\/$/);
  await chat.locator('.topbar').getByRole('button', { name: 'Find anything' }).tap();
  await expect(field(chat)).toBeFocused();
});

test('a press beside it closes it', async ({ chat }) => {
  await find(chat, 'sett');
  await options(chat).first().hover();
  await chat.locator('#palette').click({ position: { x: 30, y: 30 } });
  await expect(field(chat)).toBeVisible();
  await chat.mouse.click(5, 5);
  await expect(field(chat)).toBeHidden();
  await chat.keyboard.press('Control+/');
  await expect(chat.locator('#help-sheet')).toBeVisible();
  await chat.mouse.click(5, 5);
  await expect(chat.locator('#help-sheet')).toBeHidden();
  // What can be lost stays.
  await chat.getByLabel('Your message').fill('/arena a prompt');
  await chat.getByLabel('Your message').press('Control+Enter');
  await expect(chat.locator('#launch-battle')).toBeVisible();
  await chat.mouse.click(5, 5);
  await expect(chat.locator('#launch-battle')).toBeVisible();
});

test('the Enter that ends a composed word takes nothing', async ({ chat }) => {
  await find(chat, 'settings');
  await field(chat).dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true });
  await expect(field(chat)).toBeVisible();
  await field(chat).dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true });
  await expect(field(chat)).toBeVisible();
  await field(chat).press('Enter');
  await expect(chat).toHaveURL(/\/settings$/);
});
