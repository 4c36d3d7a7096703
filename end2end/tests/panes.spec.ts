import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sideways } from './faults';
import { focused, menu, panes, splitDown, splitRight, tabs } from './panes';
import { answer, ask, expect, live, logIn, test } from './world';

test('panes split, keep their work apart, and are there after a reload and in a second browser', async ({
  chat,
  boocode,
  browser,
}) => {
  await ask(chat, '[[say in the first pane]]');
  await expect(answer(chat)).toContainText('in the first pane');
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  await focused(chat).getByLabel('Your message').fill('[[say in the second pane]]');
  await focused(chat).getByLabel('Your message').press('Control+Enter');
  await expect(focused(chat).locator('.message.assistant')).toContainText('in the second pane');
  await expect(panes(chat).first().locator('.message.assistant')).toContainText('in the first pane');

  const context = await browser.newContext();
  const second = await context.newPage();
  await logIn(second, boocode);
  await second.goto(chat.url());
  await live(second);
  await expect(panes(second)).toHaveCount(2);

  await splitDown(chat);
  await expect(panes(chat)).toHaveCount(3);
  await expect(panes(second)).toHaveCount(3);
  await chat.reload();
  await expect(panes(chat)).toHaveCount(3);
  await context.close();
});

test('tabs open, switch by address, close and come back with their number', async ({ chat }) => {
  await ask(chat, '[[say one]]');
  await expect(answer(chat)).toContainText('one');
  const first = chat.url();
  await menu(focused(chat), 'New in this pane', /New chat/);
  await expect(chat).not.toHaveURL(first);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const second = chat.url();
  await tabs(focused(chat)).first().getByRole('link').click();
  await expect(chat).toHaveURL(first);
  await expect(answer(chat)).toBeVisible();
  await chat.goBack();
  await expect(chat).toHaveURL(second);

  await tabs(focused(chat)).last().getByRole('button', { name: /^Close/ }).click();
  await expect(tabs(focused(chat))).toHaveCount(1);
  await expect(chat).toHaveURL(first);
  await menu(focused(chat), 'New in this pane', /New chat/);
  await expect(tabs(focused(chat)).last().locator('.pane-tab-number')).toHaveText('3');
});

test('a pane closes and comes back where it was', async ({ chat }) => {
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  await menu(focused(chat), 'More', /Close this pane/);
  await expect(panes(chat)).toHaveCount(1);
  await menu(focused(chat), 'More', /Reopen what was closed last/);
  await expect(panes(chat)).toHaveCount(2);
});

test('when the last pane is closed the session says what to do', async ({ chat }) => {
  await menu(focused(chat), 'More', /Close this pane/);
  await expect(chat.getByRole('heading', { name: 'Nothing is open here' })).toBeVisible();
  await expect(chat).toHaveURL(/\/session\//);
  await chat.getByRole('button', { name: 'Reopen the last one' }).click();
  await expect(panes(chat)).toHaveCount(1);
});

test('dividers move by key and by drag, for everybody', { tag: '@desk' }, async ({ chat }) => {
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  const width = async () => (await panes(chat).first().boundingBox())!.width;
  const before = await width();
  const divider = chat.getByRole('separator', { name: 'Resize the panes' });
  await divider.focus();
  await divider.press('ArrowRight');
  await expect.poll(width).toBeGreaterThan(before + 10);
  // With other keys held they go to panes.
  const moved = await width();
  await divider.press('Alt+Shift+ArrowLeft');
  await expect(panes(chat).first()).toHaveAttribute('data-focused', '');
  expect(await width()).toBe(moved);
  const box = (await divider.boundingBox())!;
  await chat.mouse.move(box.x + box.width / 2, box.y + 200);
  await chat.mouse.down();
  await chat.mouse.move(box.x - 200, box.y + 200, { steps: 4 });
  await chat.mouse.up();
  await expect.poll(width).toBeLessThan(before - 100);
  const dragged = await width();
  await chat.reload();
  await live(chat);
  await expect.poll(async () => Math.abs((await width()) - dragged)).toBeLessThan(3);
});

test('a tab is dragged into a pane of its own', { tag: '@desk' }, async ({ chat }) => {
  await menu(focused(chat), 'New in this pane', /New chat/);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const body = (await focused(chat).boundingBox())!;
  await tabs(focused(chat))
    .last()
    .getByRole('link')
    .dragTo(focused(chat), { targetPosition: { x: body.width - 30, y: body.height / 2 } });
  await expect(panes(chat)).toHaveCount(2);
  await expect(tabs(panes(chat).first())).toHaveCount(1);
});

test('everything about panes goes by keyboard alone', { tag: '@desk' }, async ({ chat }) => {
  await chat.keyboard.press('Alt+Backslash');
  await expect(panes(chat)).toHaveCount(2);
  await expect(panes(chat).nth(1)).toHaveAttribute('data-focused', '');
  await chat.keyboard.press('Alt+Shift+ArrowLeft');
  await expect(panes(chat).nth(0)).toHaveAttribute('data-focused', '');
  // Whatever is written to is there once, and the other pane is behind the one that fills the page.
  const fields = chat.getByRole('textbox', { name: 'Your message' });
  await expect(fields).toHaveCount(2);
  await chat.keyboard.press('Alt+m');
  await expect(fields).toHaveCount(1);
  const inFront = () => chat.locator('.panes').evaluate((frame) => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    const at = [0.25, 0.75].map((part) => document.elementFromPoint(left + width * part, top + height / 2));
    return at.map((element) => [...frame.querySelectorAll('.pane')].indexOf(element!.closest('.pane')!));
  });
  await expect.poll(inFront).toEqual([0, 0]);
  await chat.keyboard.press('Alt+m');
  await expect(fields).toHaveCount(2);
  await expect.poll(inFront).toEqual([0, 1]);
  await chat.keyboard.press('Alt+w');
  await expect(panes(chat)).toHaveCount(1);
  await chat.keyboard.press('Alt+Shift+t');
  await expect(panes(chat)).toHaveCount(2);
});

test('the palette finds actions and chats', async ({ chat }) => {
  await ask(chat, '[[say hello]]');
  await expect(answer(chat)).toContainText('hello');
  await chat.keyboard.press('Control+k');
  const field = chat.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' });
  await field.fill('split down');
  await field.press('Enter');
  await expect(panes(chat)).toHaveCount(2);
  await chat.keyboard.press('Control+k');
  await field.fill('shortcuts');
  await field.press('Enter');
  await expect(chat.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await chat.keyboard.press('Escape');
  await chat.keyboard.press('Control+k');
  await field.fill('nothing is called so');
  await expect(chat.getByText('Nothing is called that.')).toBeVisible();
});

test('a chat is renamed from its pane', async ({ chat }) => {
  await menu(focused(chat), 'More', /Rename this chat/);
  await chat.getByLabel('Title').fill('Another name');
  await chat.getByRole('button', { name: 'Rename', exact: true }).click();
  await expect(tabs(focused(chat)).first()).toContainText('Another name');
});

test('a phone shows one pane and switches by the bar', { tag: '@phone' }, async ({ chat }) => {
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  await expect(panes(chat).filter({ visible: true })).toHaveCount(1);
  const bar = chat.getByRole('navigation', { name: 'Panes' });
  await bar.getByRole('link').first().click();
  await expect(panes(chat).first()).toBeVisible();
  await expect(panes(chat).last()).toBeHidden();
  expect(await sideways(chat)).toEqual([]);
});

test('two browsers on two tabs of one pane are left in peace', async ({ chat, boocode, browser }) => {
  await ask(chat, '[[say mine]]');
  await expect(answer(chat)).toContainText('mine');
  const mine = chat.url();
  const context = await browser.newContext();
  const other = await context.newPage();
  await logIn(other, boocode);
  await other.goto(mine);
  await live(other);
  await menu(focused(other), 'New in this pane', /New chat/);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await expect(other).not.toHaveURL(mine);
  await expect(chat).toHaveURL(mine);
  await expect(answer(chat)).toBeVisible();
  await context.close();
});

test('what somebody else closes is left, and opens again by its address', async ({ chat, boocode, browser }) => {
  const first = chat.url();
  await menu(focused(chat), 'New in this pane', /New chat/);
  await expect(chat).not.toHaveURL(first);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const second = chat.url();
  const context = await browser.newContext();
  const other = await context.newPage();
  await logIn(other, boocode);
  await other.goto(second);
  await live(other);
  await expect(tabs(focused(other))).toHaveCount(2);

  await tabs(focused(chat)).last().getByRole('button', { name: /^Close/ }).click();
  await expect(other).toHaveURL(first);
  await expect(tabs(focused(other))).toHaveCount(1);
  await expect(focused(other).getByLabel('Your message')).toBeVisible();
  // What comes next has a number of its own, and can be closed there too.
  await menu(focused(chat), 'New in this pane', /New chat/);
  await expect(tabs(focused(other)).last().locator('.pane-tab-number')).toHaveText('3');
  await tabs(focused(other)).last().getByRole('link').click();
  await tabs(focused(other)).last().getByRole('button', { name: /^Close/ }).click();
  await expect(tabs(focused(chat))).toHaveCount(1);
  await expect(chat).toHaveURL(first);

  await other.goto(second);
  await live(other);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await expect(other).toHaveURL(second);
  await context.close();
});

test('a tab that came to the front while the server was away is there for everybody later', async ({ chat, boocode }) => {
  const first = chat.url();
  await menu(focused(chat), 'New in this pane', /New chat/);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await chat.route('**/api/arrange', (route) => route.abort('connectionrefused'));
  const unheard = chat.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/arrange'));
  await tabs(focused(chat)).first().getByRole('link').click();
  await expect(chat).toHaveURL(first);
  await unheard;
  await expect(chat.getByRole('alert')).toHaveCount(0);
  await chat.unroute('**/api/arrange');
  const heard = chat.waitForResponse((response) => response.url().endsWith('/api/arrange') && response.ok());
  await boocode.kill();
  await boocode.start();
  await heard;
});

test('a slash offers actions and an at offers files', async ({ chat, boocode }, info) => {
  const project = join(boocode.home, `project-${info.testId}-${info.retry}`);
  writeFileSync(join(project, 'lighthouse.md'), 'A tower with a light.');
  const field = focused(chat).getByLabel('Your message');
  const suggestions = focused(chat).locator('.suggestions .option');
  await field.fill('/ne');
  await expect(suggestions.filter({ hasText: '/new' })).toBeVisible();
  await field.press('Escape');
  await expect(suggestions).toHaveCount(0);
  await field.fill('');
  await field.pressSequentially('Look at @lightho');
  await expect(suggestions.filter({ hasText: 'lighthouse.md' })).toBeVisible();
  await field.press('Enter');
  await expect(field).toHaveValue('Look at @lighthouse.md ');
  await field.fill('');
  // Who types faster than the files come means those that are to come.
  await chat.route('**/api/find_files', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  await field.pressSequentially('@l');
  await expect(suggestions.filter({ hasText: 'lighthouse.md' })).toBeVisible();
  await field.press('i');
  await field.press('Enter');
  await expect(field).toHaveValue('@lighthouse.md ');
  await chat.unroute('**/api/find_files');
  await field.fill('');
  await field.pressSequentially('/new');
  await field.press('Enter');
  await expect(tabs(focused(chat))).toHaveCount(2);
  await expect(tabs(focused(chat)).first()).toBeVisible();
});

test('Settings open in a pane, once', async ({ chat }) => {
  await menu(focused(chat), 'New in this pane', /Settings/);
  await expect(chat).toHaveURL(/\/session\/[^/]+\/settings/);
  await expect(focused(chat).getByText('Which model servers are asked')).toBeVisible();
  await menu(focused(chat), 'New in this pane', /Settings/);
  await expect(tabs(focused(chat))).toHaveCount(2);
});
