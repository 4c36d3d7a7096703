import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { focused, menu, newTab, panes, splitDown, splitRight, tabs } from './panes';
import { ask, expect, live, test } from './world';

test('a short pane keeps its tabs in sight and its lists reachable', { tag: '@desk' }, async ({ chat, boocode }, info) => {
  const project = join(boocode.home, `project-${info.testId}-${info.retry}`);
  writeFileSync(join(project, 'lighthouse.md'), 'A tower with a light.');
  for (const [count, place] of [[2, 'last'], [3, 'first']] as const) {
    await splitDown(chat);
    await expect(panes(chat)).toHaveCount(count);
    if (place === 'first') {
      // The shortest at the top of the page, where there is no room above it.
      const height = (await panes(chat).first().boundingBox())!.height;
      const divider = chat.getByRole('separator').first();
      await divider.focus();
      await divider.press('Home');
      await expect.poll(async () => (await panes(chat).first().boundingBox())!.height).toBeLessThan(height / 2);
    }
  }
  const shown = chat.locator('.pane:visible');
  for (const pane of [shown.last(), shown.first()]) {
    const field = pane.getByLabel('Your message');
    await field.focus();
    await field.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    await expect(pane).toHaveAttribute('data-focused', '');
    expect(await pane.evaluate((element) => element.scrollTop)).toBe(0);
    const [frame, head] = [(await pane.boundingBox())!, (await pane.locator('.pane-head').boundingBox())!];
    expect(head.y).toBeGreaterThanOrEqual(frame.y - 1);
    await expect(pane.locator('.pane-head')).toBeInViewport({ ratio: 1 });
    await field.pressSequentially('@lightho');
    const file = chat.locator('.suggestions .option').filter({ hasText: 'lighthouse.md' });
    await expect(file).toBeInViewport({ ratio: 1 });
    await chat.screenshot({ path: info.outputPath(`short-${Math.round(frame.height)}.png`) });
    await file.click();
    await expect(field).toHaveValue('@lighthouse.md ');
    // It scrolls into reach inside the pane.
    await pane.getByRole('button', { name: 'Send' }).click({ trial: true });
    await expect(pane.locator('.pane-head')).toBeInViewport({ ratio: 1 });
  }
});

test('a refusal passes by and moves nothing', async ({ chat }) => {
  const before = await panes(chat).boundingBox();
  await menu(focused(chat), 'More', /Reopen what was closed last/);
  const toast = chat.getByRole('status').filter({ hasText: 'Nothing was closed lately.' });
  await expect(toast).toBeVisible();
  expect(await panes(chat).boundingBox()).toEqual(before);
  await expect(chat.getByRole('alert')).toHaveCount(0);
  await chat.mouse.move(200, 300);
  await expect(toast).toHaveCount(0, { timeout: 15_000 });
});

test('what could not be arranged is said and moves nothing', async ({ chat }) => {
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const before = await panes(chat).boundingBox();
  await chat.route('**/api/reopen', (route) => route.abort('connectionrefused'));
  await menu(focused(chat), 'More', /Reopen what was closed last/);
  await expect(chat.getByRole('alert')).toContainText('BooCode cannot be reached');
  expect(await panes(chat).boundingBox()).toEqual(before);
});

test('a tab that is dropped on the tabs of a pane joins them', { tag: '@desk' }, async ({ chat }) => {
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const left = panes(chat).first();
  await tabs(focused(chat)).last().getByRole('link').dragTo(left.locator('.pane-tabs'), { targetPosition: { x: 260, y: 10 } });
  await expect(tabs(left)).toHaveCount(2);
  await expect(panes(chat)).toHaveCount(2);
  // The control: under them, the edge splits.
  const box = (await left.boundingBox())!;
  await tabs(left).last().getByRole('link').dragTo(left, { targetPosition: { x: box.width / 2, y: 60 } });
  await expect(panes(chat)).toHaveCount(3);
});

test('tabs on a phone keep their name, and the one in front its button', { tag: '@phone' }, async ({ chat, boocode }, info) => {
  await ask(chat, '[[say What a long name this is]]');
  await newTab(chat);
  await expect(tabs(focused(chat))).toHaveCount(2);
  const whole = async () => {
    for (const tab of await tabs(focused(chat)).all()) {
      await tab.scrollIntoViewIfNeeded();
      await expect(tab).toBeInViewport({ ratio: 0.98 });
      expect((await tab.locator('.pane-tab-title').boundingBox())!.width).toBeGreaterThan(50);
    }
    const close = focused(chat).locator('.pane-tab[data-active]').getByRole('button', { name: /^Close/ });
    await expect(close).toBeInViewport({ ratio: 0.98 });
    await expect(focused(chat).locator('.tab-close').filter({ visible: true })).toHaveCount(1);
  };
  await whole();
  await chat.screenshot({ path: info.outputPath('tabs.png') });
  await boocode.kill();
  const lost = focused(chat).locator('.head-connection[data-state="lost"]');
  await expect(lost).toBeVisible({ timeout: 30_000 });
  await expect(lost).toHaveText(/\w/);
  expect((await lost.boundingBox())!.width).toBeLessThan(40);
  await whole();
  await chat.screenshot({ path: info.outputPath('tabs-offline.png') });
  await boocode.start();
  await live(chat);
});

test('of many tabs the wheel and the last menu reach each', { tag: '@desk' }, async ({ chat }) => {
  for (let more = 1; more <= 12; more++) {
    await chat.keyboard.press('Alt+n');
    await expect(tabs(focused(chat))).toHaveCount(more + 1);
  }
  const strip = focused(chat).locator('.pane-tabs');
  const place = () => strip.evaluate((strip) => strip.scrollLeft);
  await expect.poll(place).toBeGreaterThan(100);
  await expect(tabs(focused(chat)).first()).not.toBeInViewport();
  await strip.hover();
  await chat.mouse.wheel(0, -5000);
  await expect.poll(place).toBe(0);
  await expect(tabs(focused(chat)).first()).toBeInViewport();
  await expect(tabs(focused(chat)).last()).not.toBeInViewport();
  const last = chat.url();
  await chat.mouse.wheel(0, 300);
  await expect.poll(place).toBeGreaterThan(100);
  await focused(chat).getByRole('button', { name: 'More' }).click();
  const items = chat.getByRole('menuitemradio');
  await expect(items).toHaveCount(13);
  await expect(chat.getByRole('menuitemradio', { checked: true })).toHaveCount(1);
  await items.first().click();
  await expect(chat).not.toHaveURL(last);
  await expect(tabs(focused(chat)).first()).toBeInViewport();
});

test('the menus of a pane show the keys that do the same, and nothing that would do nothing', async ({ chat, isMobile }) => {
  const keys = (name: string | RegExp, which = 0) => chat.getByRole('menuitem', { name }).nth(which).locator('.menu-keys');
  const pane = focused(chat);
  await pane.getByRole('button', { name: 'New in this pane' }).click();
  await expect(keys(/New chat/)).toHaveText('N');
  await expect(keys(/New task/)).toHaveCount(0);
  await chat.keyboard.press('Escape');
  await pane.getByRole('button', { name: isMobile ? 'New in this pane' : 'Split this pane' }).click();
  for (const which of [0, 1]) await expect(keys(/^Chat/, which)).toHaveText('\\');
  await chat.keyboard.press('Escape');
  const more = async (name: string) => {
    await pane.getByRole('button', { name: 'More' }).click();
    await expect(chat.getByRole('menuitem', { name: 'Close this pane' })).toBeVisible();
    const count = await chat.getByRole('menuitem', { name }).count();
    await chat.keyboard.press('Escape');
    return count;
  };
  expect(await more('Rename this chat')).toBe(1);
  expect(await more('Maximise or restore this pane')).toBe(0);
  await splitRight(chat);
  await expect(panes(chat)).toHaveCount(2);
  await expect.poll(() => more('Maximise or restore this pane')).toBe(isMobile ? 0 : 1);
  await menu(pane, 'New in this pane', /Settings/);
  await expect(chat).toHaveURL(/settings$/);
  expect(await more('Rename this chat')).toBe(0);
});

test('a phone that lies on its side has the layout of a phone', { tag: '@phone' }, async ({ chat }, info) => {
  await chat.setViewportSize({ width: 844, height: 390 });
  await splitRight(chat);
  await expect(panes(chat).filter({ visible: true })).toHaveCount(1);
  await expect(chat.locator('#sidebar')).not.toBeInViewport();
  await expect(chat.getByRole('navigation', { name: 'Panes' }).getByRole('link')).toHaveCount(2);
  await expect(focused(chat).getByRole('button', { name: 'Send' })).toBeInViewport();
  await chat.screenshot({ path: info.outputPath('side.png') });
  await focused(chat).locator('.drawer-toggle').tap();
  await expect(chat.locator('#sidebar')).toBeInViewport();
});
