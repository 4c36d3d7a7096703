import type { Page } from '@playwright/test';
import { focused, menu, newTab, panes, splitRight, tabs } from './panes';
import { answer, ask, expect, list, live, logIn, test } from './world';

const projects = (page: Page) => page.getByRole('navigation', { name: 'Projects and chats' });

/** What takes the focus by itself has done so by then. */
async function settled(page: Page): Promise<void> {
  await live(page);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))));
}

test('a chat stays in front although the one beside it is empty', async ({ chat, boocode }) => {
  await ask(chat, '[[say in front]]');
  await expect(answer(chat)).toContainText('in front');
  const first = chat.url();
  await splitRight(chat);
  await expect(chat).not.toHaveURL(first);
  // Whoever opens a new chat is about to write.
  await expect(focused(chat).getByLabel('Your message')).toBeFocused();
  const stays = async () => {
    await settled(chat);
    await expect(chat).toHaveURL(first);
    await expect(focused(chat).locator('.message.assistant')).toContainText('in front');
    await expect(panes(chat)).toHaveCount(2);
  };
  await chat.goto(first);
  await stays();
  await chat.reload();
  await stays();
  await chat.goto(boocode.url);
  await live(chat);
  await list(chat);
  await projects(chat).locator(`a[href="${new URL(first).pathname}"]`).click();
  await stays();
});

test('Settings stay in front of an empty chat after a reload', async ({ chat }) => {
  await menu(focused(chat), 'Split this pane', /Settings/);
  await expect(chat).toHaveURL(/\/settings$/);
  const settings = chat.url();
  await chat.reload();
  await settled(chat);
  await expect(chat).toHaveURL(settings);
});

test('the tab key goes through a pane with an empty chat in order', { tag: '@desk' }, async ({ chat }) => {
  await splitRight(chat);
  await expect(focused(chat).getByLabel('Your message')).toBeFocused();
  await chat.reload();
  await live(chat);
  await tabs(panes(chat).first()).getByRole('link').focus();
  await settled(chat);
  await expect(panes(chat).first()).toHaveAttribute('data-focused', '');
  await expect(tabs(panes(chat).first()).getByRole('link')).toBeFocused();
});

test('the tabs are those of the session that is shown', async ({ chat }) => {
  await menu(focused(chat), 'More', /Rename this chat/);
  await chat.getByLabel('Title').fill('Of the first session');
  await chat.getByRole('button', { name: 'Rename', exact: true }).click();
  await expect(tabs(focused(chat))).toContainText('Of the first session');
  const first = chat.url();
  await list(chat);
  await projects(chat).getByRole('button', { name: /^New session in/ }).first().click();
  await expect(chat).not.toHaveURL(first);
  const shows = async (title: RegExp) => {
    await expect(tabs(focused(chat))).toHaveCount(1);
    await expect(tabs(focused(chat))).toContainText(title);
    await expect(tabs(focused(chat)).getByRole('link')).toHaveAttribute('href', new URL(chat.url()).pathname);
    await expect(tabs(focused(chat)).getByRole('button', { name: /^Close/ })).toHaveAccessibleName(title);
  };
  await shows(/New chat/);
  const second = chat.url();
  await list(chat);
  await projects(chat).locator(`a[href="${new URL(first).pathname}"]`).click();
  await expect(chat).toHaveURL(first);
  await shows(/Of the first session/);
  await list(chat);
  await projects(chat).locator(`a[href="${new URL(second).pathname}"]`).click();
  await expect(chat).toHaveURL(second);
  await shows(/New chat/);
  // What is closed is what the button says.
  await tabs(focused(chat)).getByRole('button', { name: /^Close/ }).click();
  await expect(chat.getByRole('heading', { name: 'Nothing is open here' })).toBeVisible();
  await chat.goto(first);
  await live(chat);
  await shows(/Of the first session/);
});

test('what is reopened comes to the front', async ({ chat }) => {
  await ask(chat, '[[say the one below]]');
  await expect(answer(chat)).toContainText('the one below');
  const first = chat.url();
  await newTab(chat);
  await expect(chat).not.toHaveURL(first);
  const second = chat.url();
  await menu(focused(chat), 'Split this pane', /Settings/);
  await expect(chat).toHaveURL(/\/settings$/);
  await chat.goto(second);
  await live(chat);
  const withTabs = panes(chat).first();
  await tabs(withTabs).last().getByRole('button', { name: /^Close/ }).click();
  await expect(chat).toHaveURL(first);
  await menu(focused(chat), 'More', /Reopen what was closed last/);
  await expect(chat).toHaveURL(second);
  await expect(tabs(withTabs)).toHaveCount(2);
  await expect(tabs(withTabs).last()).toHaveAttribute('data-active', '');
  await chat.goBack();
  await expect(chat).toHaveURL(first);
  // A whole pane too.
  await menu(focused(chat), 'More', /Close this pane/);
  await expect(chat).toHaveURL(/\/settings$/);
  await expect(focused(chat)).toBeFocused();
  await chat.keyboard.press('Alt+Shift+t');
  await expect(panes(chat)).toHaveCount(2);
  await expect(chat).toHaveURL(first);
  // And closing another leaves it in front.
  await chat.evaluate(() => document.querySelector<HTMLElement>('.pane:not([data-focused]) .tab-close')!.click());
  await expect(panes(chat)).toHaveCount(1);
  await expect(chat).toHaveURL(first);
});

test('a pane that fills the page still does after a reload, in its session', { tag: '@desk' }, async ({ chat }) => {
  const frame = chat.locator('.panes');
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  const wide = chat.url();
  await chat.keyboard.press('Alt+m');
  await expect(frame).toHaveAttribute('data-maximised', '');
  const html = await (await chat.request.get(wide)).text();
  expect(html).toMatch(/<div data-maximised[^>]* class="panes"/);
  await chat.reload();
  await settled(chat);
  await expect(frame).toHaveAttribute('data-maximised', '');
  await projects(chat).getByRole('button', { name: /^New session in/ }).first().click();
  await expect(chat).not.toHaveURL(wide);
  await expect(frame).not.toHaveAttribute('data-maximised');
  await chat.goto(wide);
  await live(chat);
  await expect(frame).toHaveAttribute('data-maximised', '');
  await chat.keyboard.press('Alt+m');
  await chat.reload();
  await live(chat);
  await expect(frame).not.toHaveAttribute('data-maximised');
});

test('a pane that is left keeps what it showed, whatever another browser looks at', { tag: '@desk' }, async ({ chat, boocode, browser }) => {
  const first = chat.url();
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  const [left, right] = [panes(chat).first(), panes(chat).last()];
  const shows = (pane: typeof left, tab: number) => expect(tabs(pane).nth(tab)).toHaveAttribute('data-active', '');
  const second = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await logIn(second, boocode);
  await second.goto(first);
  await live(second);
  // A tab more is how this browser hears that the other one has been there.
  await newTab(second);
  await expect(tabs(left)).toHaveCount(3);
  await shows(left, 1);
  await left.locator('.pane-body:not([hidden])').click();
  await expect(left).toHaveAttribute('data-focused', '');
  await shows(left, 1);
  await right.locator('.pane-body:not([hidden])').click();
  await expect(right).toHaveAttribute('data-focused', '');
  await shows(left, 1);
  await shows(panes(second).first(), 2);
  // And so it does when all of it is fetched again.
  await boocode.kill();
  await boocode.start();
  await live(chat);
  await shows(left, 1);
  // What is dragged stays in front, also once its pane is left.
  await tabs(left).nth(2).getByRole('link').dragTo(tabs(left).first(), { targetPosition: { x: 10, y: 12 } });
  await shows(left, 0);
  await right.locator('.pane-body:not([hidden])').click();
  await expect(right).toHaveAttribute('data-focused', '');
  await shows(left, 0);
});
