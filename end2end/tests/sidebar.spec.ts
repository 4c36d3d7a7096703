import type { Page } from '@playwright/test';
import { sideways } from './faults';
import { addProject, expect, live, logIn, test } from './world';

const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Projects and chats' });
const hide = (page: Page) => page.getByRole('button', { name: 'Hide the sidebar' });
const show = (page: Page) => page.getByRole('button', { name: 'Show the sidebar' });
const fits = async (page: Page) => expect(await sideways(page)).toEqual([]);

test('the sidebar makes room, by button and by key, and stays away', { tag: '@desk' }, async ({ chat }) => {
  const pane = chat.locator('.pane[data-focused]');
  const before = (await pane.boundingBox())!;
  await hide(chat).click();
  await expect(sidebar(chat)).toBeHidden();
  await expect(show(chat)).toBeFocused();
  const after = (await pane.boundingBox())!;
  expect(after.x).toBe(0);
  expect(after.width).toBe(before.x + before.width);

  // The button stands at the top left, and no tab lies under it.
  const button = (await show(chat).boundingBox())!;
  const tab = (await chat.locator('.pane-tab').first().boundingBox())!;
  expect(button.x + button.width).toBeLessThanOrEqual(tab.x);
  expect(button.x).toBeLessThan(20);

  // It is away from the first paint on.
  const html = await (await chat.request.get(chat.url())).text();
  expect(html).toMatch(/<html[^>]* data-sidebar="hidden"/);
  await chat.reload();
  await expect(sidebar(chat)).toBeHidden();
  // The connection is told in the sidebar, hidden or not. Before the page lives, the button sends a form, and the page
  // that answers it has no focus to keep.
  await live(chat);
  await expect(show(chat)).toHaveCount(1);
  await show(chat).click();
  await expect(sidebar(chat)).toBeVisible();
  await expect(hide(chat)).toBeFocused();

  await chat.keyboard.press('Control+b');
  await expect(sidebar(chat)).toBeHidden();
  await chat.getByLabel('Your message').focus();
  await chat.keyboard.press('Control+b');
  await expect(sidebar(chat)).toBeVisible();
  await expect(chat.getByLabel('Your message')).toBeFocused();
});

test('one button brings it back, whichever pane is where', { tag: '@desk' }, async ({ chat }) => {
  await chat.keyboard.press('Alt+Backslash');
  await expect(chat.locator('.pane')).toHaveCount(2);
  await chat.keyboard.press('Control+b');
  await expect(show(chat)).toHaveCount(1);
  await chat.keyboard.press('Alt+m');
  await expect(show(chat)).toHaveCount(1);
  await expect(chat.locator('.pane[data-focused]').getByRole('button', { name: 'Show the sidebar' })).toBeVisible();
  for (const path of ['/', '/settings', '/history']) {
    await chat.goto(new URL(path, chat.url()).href);
    await expect(sidebar(chat)).toBeHidden();
    await expect(show(chat)).toHaveCount(1);
    await fits(chat);
  }
  // The history runs no scripts of the app.
  await show(chat).click();
  await expect(sidebar(chat)).toBeVisible();
  await expect(chat).toHaveURL(/\/history/);
});

test('the palette and the help sheet know it', { tag: '@desk' }, async ({ chat }) => {
  await chat.keyboard.press('Control+k');
  const field = chat.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' });
  await field.fill('sidebar');
  await expect(chat.locator('#palette .option').first().locator('.kbd')).toHaveText('B');
  await field.press('Enter');
  await expect(sidebar(chat)).toBeHidden();
  await chat.keyboard.press('Control+/');
  await expect(chat.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('Show or hide the sidebar');
});

test('the drawer has the keyboard while it is open, and is made for fingers', { tag: '@phone' }, async ({ chat }, info) => {
  const toggle = chat.getByRole('button', { name: 'Projects and chats' });
  await toggle.click();
  const close = chat.locator('.drawer-close');
  await expect(close).toBeFocused();
  await expect(chat.locator('#main')).toHaveAttribute('inert', '');
  const inside = () => chat.evaluate(() => document.activeElement!.matches('#sidebar *, .scrim, body'));
  for (let pressed = 0; pressed < 30; pressed++) {
    await chat.keyboard.press('Tab');
    expect(await inside()).toBe(true);
  }
  for (const part of await sidebar(chat).locator('a:visible, button:visible, summary:visible').all()) {
    const box = (await part.boundingBox())!;
    expect(Math.min(box.width, box.height), (await part.getAttribute('aria-label')) ?? (await part.textContent())!).toBeGreaterThanOrEqual(44);
  }
  await fits(chat);
  await chat.screenshot({ path: info.outputPath('drawer.png') });
  await close.press('Space');
  await expect(sidebar(chat)).toBeHidden();
  await expect(toggle).toBeFocused();
  await toggle.click();
  await close.click();
  await expect(sidebar(chat)).toBeHidden();
  await expect(toggle).toBeFocused();
  await expect(chat.locator('#main')).not.toHaveAttribute('inert');
  await toggle.press('Space');
  await expect(close).toBeFocused();
  await chat.keyboard.press('Escape');
  await expect(toggle).toBeFocused();
  // A page that becomes wide has no drawer, and nothing behind one.
  await toggle.click();
  await chat.setViewportSize({ width: 1200, height: 844 });
  await expect(chat.locator('#main')).not.toHaveAttribute('inert');
  await chat.getByLabel('Your message').click();
});

test('the drawer goes with whatever is chosen in it, the chat in front too', { tag: '@phone' }, async ({ chat }) => {
  const toggle = chat.getByRole('button', { name: 'Projects and chats' });
  const here = chat.url();
  await toggle.click();
  // What only folds a list chooses nothing.
  const summary = sidebar(chat).locator('summary').first();
  await summary.click();
  await summary.click();
  await sidebar(chat).locator(`a[href="${new URL(here).pathname}"]`).click();
  await expect(sidebar(chat)).toBeHidden();
  await expect(chat).toHaveURL(here);
  await expect(toggle).toBeFocused();
});

test('a phone keeps its drawer', { tag: '@phone' }, async ({ chat }) => {
  await expect(sidebar(chat)).toBeHidden();
  await expect(show(chat)).toHaveCount(0);
  await chat.keyboard.press('Control+b');
  await expect(sidebar(chat)).toBeVisible();
  await expect(hide(chat)).toHaveCount(0);
  await chat.keyboard.press('Control+b');
  await expect(sidebar(chat)).toBeHidden();
  await chat.getByRole('button', { name: 'Projects and chats' }).click();
  await expect(sidebar(chat)).toBeVisible();
  await fits(chat);
});

test('the list of a project folds and stays folded', async ({ chat, boocode }, info) => {
  const name = `folds-${info.testId}-${info.retry}`;
  await chat.goto(boocode.url);
  await addProject(chat, boocode.repository(name));
  const drawer = chat.getByRole('button', { name: 'Projects and chats' });
  const open = async () => {
    if (await drawer.isVisible()) await drawer.click();
  };
  await open();
  const group = sidebar(chat).locator('section').filter({ hasText: name });
  const chats = group.locator('.nav-list').getByRole('link');
  await expect(chats).toHaveCount(1);
  // A key does it as a finger does.
  await group.locator('summary').focus();
  await chat.keyboard.press('Enter');
  await expect(chats).toHaveCount(0);
  await expect(group.getByRole('button', { name: 'New session' })).toBeVisible();

  // It is folded from the first paint on, and nothing else is.
  const folded = async () => (await (await chat.request.get(chat.url())).text()).match(/<details(?![^>]* open)[^>]*>/g)?.length ?? 0;
  await expect.poll(folded).toBe(1);
  await chat.reload();
  await live(chat);
  await open();
  await expect(chats).toHaveCount(0);
  await group.locator('summary').click();
  await expect(chats).toHaveCount(1);
  await expect.poll(folded).toBe(0);
  await chat.reload();
  await live(chat);
  await open();
  await expect(chats).toHaveCount(1);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the sidebar is hidden and comes back', { tag: '@desk' }, async ({ page, boocode }) => {
    await logIn(page, boocode);
    await hide(page).click();
    await expect(sidebar(page)).toBeHidden();
    await page.reload();
    await expect(sidebar(page)).toBeHidden();
    await show(page).click();
    await expect(sidebar(page)).toBeVisible();
  });
});
