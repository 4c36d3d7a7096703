import type { Page } from '@playwright/test';
import { focused, menu, newTab, panes, splitRight, tabs } from './panes';
import { answer, expect, live, logIn, test } from './world';

const help = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' });

/** A key as another layout types it. */
const types = (page: Page, init: KeyboardEventInit) =>
  page.evaluate((init) => {
    const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init });
    return !(document.activeElement ?? document.body).dispatchEvent(event);
  }, init);

test('what is typed goes to the pane that the keys lead to', { tag: '@desk' }, async ({ chat }) => {
  await splitRight(chat);
  const [left, right] = [panes(chat).first().getByLabel('Your message'), panes(chat).last().getByLabel('Your message')];
  await expect(right).toBeFocused();
  await chat.keyboard.type('right');
  await chat.keyboard.press('Alt+Shift+ArrowLeft');
  await expect(left).toBeFocused();
  await chat.keyboard.type('left');
  await chat.keyboard.press('Tab');
  await expect(panes(chat).first()).toHaveAttribute('data-focused', '');
  await chat.keyboard.press('Alt+Shift+ArrowRight');
  await chat.keyboard.type(' side');
  await expect(left).toHaveValue('left');
  await expect(right).toHaveValue('right side');
  // Where there is nothing to type, the pane itself has the keyboard.
  await menu(focused(chat), 'New in this pane', /Settings/);
  await expect(focused(chat)).toBeFocused();
  await chat.keyboard.press('Alt+PageUp');
  await expect(focused(chat).locator('.pane-body:not([hidden])').getByLabel('Your message')).toBeFocused();
  await chat.keyboard.type('!');
  await expect(right).toHaveValue('right side!');
});

test('closing, moving and reopening leave the keyboard in a pane', { tag: '@desk' }, async ({ chat }) => {
  const here = () => focused(chat).locator('.pane-body:not([hidden])').getByLabel('Your message');
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await expect(here()).toBeFocused();
  await chat.keyboard.press('Alt+w');
  await expect(tabs(focused(chat))).toHaveCount(1);
  await expect(here()).toBeFocused();
  await chat.keyboard.press('Alt+Shift+t');
  await expect(tabs(focused(chat))).toHaveCount(2);
  await expect(here()).toBeFocused();
  await menu(focused(chat), 'More', /Move this tab into a pane on the right/);
  await expect(panes(chat)).toHaveCount(2);
  await menu(focused(chat), 'More', /Move this pane to the left/);
  await expect(panes(chat).first()).toHaveAttribute('data-focused', '');
  await chat.keyboard.press('Alt+Shift+ArrowRight');
  await expect(here()).toBeFocused();
});

test('shortcuts are those of the layout in front of the reader', { tag: '@desk' }, async ({ chat }) => {
  // Where others have the slash, a German keyboard has a minus, with which browsers make the page smaller.
  expect(await types(chat, { key: '-', code: 'Slash', ctrlKey: true })).toBe(false);
  await expect(help(chat)).toBeHidden();
  expect(await types(chat, { key: '/', code: 'Digit7', ctrlKey: true, shiftKey: true })).toBe(true);
  await expect(help(chat)).toBeVisible();
});

test('on a Mac, Option and Control alone belong to text fields', { tag: '@desk' }, async ({ chat }) => {
  await chat.addInitScript(() => Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' }));
  await chat.reload();
  await live(chat);
  for (const held of [{ altKey: true }, { ctrlKey: true }]) {
    expect(await types(chat, { key: 'Dead', code: 'KeyN', ...held })).toBe(false);
    expect(await types(chat, { key: 'k', code: 'KeyK', ...held })).toBe(false);
  }
  expect(await types(chat, { key: 'Dead', code: 'KeyN', altKey: true, ctrlKey: true })).toBe(true);
  await expect(tabs(focused(chat))).toHaveCount(2);
  expect(await types(chat, { key: '/', code: 'Slash', metaKey: true })).toBe(true);
  const shown = help(chat).locator('.shortcut').filter({ hasText: 'New chat' }).locator('.key.alt');
  await expect.poll(() => shown.evaluate((key) => getComputedStyle(key, '::before').content)).toBe('"⌃⌥"');
});

test('what a dialog covers is left alone', { tag: '@desk' }, async ({ chat }) => {
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await chat.keyboard.press('Control+/');
  await expect(help(chat)).toBeVisible();
  await chat.keyboard.press('Alt+w');
  await chat.keyboard.press('Control+b');
  await chat.keyboard.press('Control+k');
  await expect(chat.locator('#palette')).toBeHidden();
  await expect(chat.locator('#sidebar')).toBeVisible();
  await chat.keyboard.press('Escape');
  await expect(help(chat)).toBeHidden();
  // The control: uncovered, the same keys act.
  await chat.keyboard.press('Control+k');
  await expect(chat.locator('#palette')).toBeVisible();
  await chat.keyboard.press('Control+k');
  await expect(chat.locator('#palette')).toBeHidden();
  await expect(tabs(focused(chat))).toHaveCount(2);
  await chat.keyboard.press('Alt+w');
  await expect(tabs(focused(chat))).toHaveCount(1);
});

/** Presses Tab until this has the keyboard. The list beside it holds what other tests left. */
async function tabTo(page: Page, name: RegExp, within = 'body', limit = 400): Promise<void> {
  for (let pressed = 0; pressed < limit; pressed++) {
    const focused = await page.evaluate((within) => {
      const active = document.activeElement as HTMLInputElement;
      const isPart = active.matches('a, button, input, select, textarea, summary') && active.closest(within) !== null;
      return isPart ? (active.getAttribute('aria-label') ?? active.labels?.[0]?.textContent ?? active.textContent ?? '') : '';
    }, within);
    if (name.test(focused.trim())) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never came to ${name}`);
}

test('from a first project to the history without a mouse', { tag: '@desk' }, async ({ page, boocode }, info) => {
  const keys = page.keyboard;
  const palette = async () => {
    await keys.press('Control+k');
    await expect(page.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' })).toBeFocused();
  };
  await logIn(page, boocode);
  await live(page);
  await tabTo(page, /Folder of the project/);
  await keys.type(boocode.repository(`by-keys-${info.testId}`));
  await keys.press('Enter');
  await expect(page).toHaveURL(/\/chat\//);
  await live(page);

  // The new chat has the keyboard.
  await keys.type('[[say typewritten]]');
  await keys.press('Control+Enter');
  await expect(answer(page)).toContainText('typewritten');
  await tabTo(page, /^Model$/);
  await keys.press('ArrowDown');

  await keys.press('Alt+Backslash');
  await expect(panes(page)).toHaveCount(2);
  await expect(focused(page).getByLabel('Your message')).toBeFocused();
  await keys.type('[[say beside it]]');
  await keys.press('Control+Enter');
  await expect(focused(page).locator('.message.assistant')).toContainText('beside it');
  await tabTo(page, /^Split this pane$/);
  await keys.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Chat' }).first()).toBeFocused();
  await keys.press('Escape');
  await expect(page.locator(':focus')).toHaveAccessibleName('Split this pane');

  await palette();
  await keys.type('rename');
  await keys.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Title' })).toBeFocused();
  await keys.press('Control+a');
  await keys.type('By keys alone');
  await keys.press('Enter');
  await expect(tabs(focused(page))).toContainText('By keys alone');

  await palette();
  await keys.type('settings');
  await keys.press('Enter');
  await expect(page).toHaveURL(/\/settings$/);
  await expect(page.locator('.settings[data-alive]')).toBeVisible();
  await tabTo(page, /^Appearance$/);
  await keys.press('Enter');
  await tabTo(page, /^System$/);
  await keys.press('ArrowRight');
  await keys.press('ArrowRight');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');

  await palette();
  await keys.type('history');
  await keys.press('Enter');
  await expect(page).toHaveURL(/\/history/);
  await tabTo(page, /Search|Words/i);
  await keys.type('typewritten');
  await keys.press('Enter');
  await expect(page.locator('.entry')).toHaveCount(1);
  await tabTo(page, /By keys alone/, '.entry');
  await keys.press('Enter');
  await expect(page).toHaveURL(/\/chat\//);
  await expect(focused(page).locator('.message.assistant')).toContainText('typewritten');
});
