import type { Locator, Page } from '@playwright/test';
import { focused, menu, newTab, panes, splitDown, splitRight, tabs } from './panes';
import { expect, live, logIn, test } from './world';

const order = (pane: Locator) => pane.locator('.pane-tab-number').allTextContents().then((all) => all.map((text) => text.trim()));
const at = async (pane: Locator) => (await pane.boundingBox())!;

async function threeTabs(page: Page): Promise<void> {
  await newTab(page);
  await newTab(page);
  await expect(tabs(focused(page))).toHaveCount(3);
}

test('tabs carry their numbers, and change places by drag and by key', { tag: '@desk' }, async ({ chat, boocode, browser }) => {
  await threeTabs(chat);
  const pane = focused(chat);
  expect(await order(pane)).toEqual(['1', '2', '3']);
  const second = await (await browser.newContext()).newPage();
  await logIn(second, boocode);
  await second.goto(chat.url());
  await live(second);

  // Before the first, behind the second, and to the end.
  const drag = async (from: number, to: number, x: number) =>
    tabs(pane).nth(from).getByRole('link').dragTo(tabs(pane).nth(to), { targetPosition: { x, y: 12 } });
  await drag(2, 0, 10);
  await expect.poll(() => order(pane)).toEqual(['3', '1', '2']);
  await expect.poll(() => order(focused(second))).toEqual(['3', '1', '2']);
  const width = (await at(tabs(pane).nth(1))).width;
  await drag(0, 1, width - 10);
  await expect.poll(() => order(pane)).toEqual(['1', '3', '2']);
  await expect(chat.locator('[data-drop]')).toHaveCount(0);

  await tabs(pane).first().getByRole('link').click();
  await chat.keyboard.press('Alt+Shift+PageDown');
  await expect.poll(() => order(pane)).toEqual(['3', '1', '2']);
  await chat.keyboard.press('Alt+Shift+PageUp');
  await expect.poll(() => order(pane)).toEqual(['1', '3', '2']);
  await chat.reload();
  expect(await order(pane)).toEqual(['1', '3', '2']);
});

test('a pane moves with all of its tabs, by drag and by the palette', { tag: '@desk' }, async ({ chat }) => {
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  const many = chat.locator('.pane').filter({ has: chat.locator('.pane-tab').nth(1) });
  const alone = chat.locator('.pane').filter({ hasNot: chat.locator('.pane-tab').nth(1) });
  expect((await at(many)).x).toBeLessThan((await at(alone)).x);

  // By the room beside its tabs, to the right edge of the other.
  const strip = many.locator('.pane-tabs');
  const room = (await strip.boundingBox())!;
  const body = await at(alone);
  await strip.dragTo(alone, {
    sourcePosition: { x: room.width - 20, y: 12 },
    targetPosition: { x: body.width - 20, y: body.height / 2 },
  });
  await expect.poll(async () => (await at(many)).x).toBeGreaterThan(body.x - 5);
  await expect(tabs(many)).toHaveCount(2);
  // Under itself it stays where it is.
  const before = await at(many);
  await strip.dragTo(many, { sourcePosition: { x: room.width - 20, y: 12 }, targetPosition: { x: 200, y: 500 } });
  expect(await at(many)).toEqual(before);

  await tabs(many).first().getByRole('link').click();
  await chat.keyboard.press('Control+k');
  await chat.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' }).fill('move this pane to the left');
  await chat.keyboard.press('Enter');
  await expect.poll(async () => (await at(many)).x).toBeLessThan(before.x - 100);
  await expect(tabs(many)).toHaveCount(2);
  await menu(many, 'More', /Move this pane to the right/);
  await expect.poll(async () => (await at(many)).x).toBe(before.x);
});

test('a divider loses no step of a held key, and a second browser sees it move', { tag: '@desk' }, async ({ chat, boocode, browser }) => {
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  const second = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await logIn(second, boocode);
  await second.goto(chat.url());
  await live(second);
  const divider = chat.getByRole('separator', { name: 'Resize the panes' });
  await divider.focus();
  // Each is two hundredths, from the middle on, without waiting for the server.
  for (let pressed = 0; pressed < 10; pressed++) await chat.keyboard.down('ArrowRight');
  await expect(divider).toHaveAttribute('aria-valuenow', '70');
  await chat.keyboard.up('ArrowRight');
  const share = async (page: Page) => {
    const [left, whole] = [await at(panes(page).first()), await at(page.locator('.panes'))];
    return Math.round((left.width / whole.width) * 100);
  };
  await expect.poll(() => share(second)).toBe(70);
  // A pointer that passes by drags nothing.
  const line = (await divider.boundingBox())!;
  await chat.mouse.move(line.x + line.width / 2, line.y + 100);
  await chat.mouse.move(line.x + line.width / 2 + 1, line.y + 300);
  await chat.reload();
  await live(chat);
  await expect.poll(() => share(chat)).toBe(70);
  await expect.poll(() => share(second)).toBe(70);
});

test('a tab joins the pane above or below by the palette', { tag: '@desk' }, async ({ chat }) => {
  await splitDown(chat);
  await expect(panes(chat)).toHaveCount(2);
  await newTab(chat);
  const [upper, lower] = [panes(chat).first(), panes(chat).last()];
  await expect(tabs(lower)).toHaveCount(2);
  const move = async (where: string) => {
    await chat.keyboard.press('Control+k');
    await chat.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' }).fill(`move this tab to the pane ${where}`);
    await chat.keyboard.press('Enter');
  };
  await move('above');
  await expect(tabs(upper)).toHaveCount(2);
  await expect(tabs(lower)).toHaveCount(1);
  await expect(upper).toHaveAttribute('data-focused', '');
  await move('below');
  await expect(tabs(lower)).toHaveCount(2);
});

test('a tab that is dropped on its own pane stays where it is', { tag: '@desk' }, async ({ chat }) => {
  await threeTabs(chat);
  const pane = focused(chat);
  const body = await at(pane);
  await tabs(pane).first().getByRole('link').dragTo(pane, { targetPosition: { x: body.width / 2, y: body.height / 2 } });
  await expect(chat.locator('.drop-zone')).toHaveCount(0);
  // The control: at its edge it becomes a pane.
  await tabs(pane).nth(1).getByRole('link').dragTo(pane, { targetPosition: { x: body.width - 20, y: body.height / 2 } });
  await expect(panes(chat)).toHaveCount(2);
  expect(await order(panes(chat).first())).toEqual(['1', '3']);
});

test('a new pane is seen, also where one filled the screen', { tag: '@desk' }, async ({ chat }) => {
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  const fields = chat.getByRole('textbox', { name: 'Your message' });
  await chat.keyboard.press('Alt+m');
  await expect(fields).toHaveCount(1);
  await chat.keyboard.press('Alt+Shift+Backslash');
  await expect(panes(chat)).toHaveCount(3);
  await expect(fields).toHaveCount(3);
  await chat.keyboard.press('Alt+m');
  await expect(fields).toHaveCount(1);
  await chat.keyboard.press('Alt+w');
  await expect(panes(chat)).toHaveCount(2);
  await expect(fields).toHaveCount(1);
  await chat.keyboard.press('Alt+w');
  await expect(panes(chat)).toHaveCount(1);
  await splitRight(chat);
  await expect(fields).toHaveCount(2);
});
