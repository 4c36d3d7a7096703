import type { Page } from '@playwright/test';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, live, need, scripted, test as base } from '../tests/world';

/** From a key or a click to the painted frame that shows another tab or pane. */

/** More than the eight that stay alive in a pane, and that a page keeps. */
const TABS = 12;
/** So few that all of them stay alive. */
const WARM = 6;
const CHATS = TABS + 2;
const TURNS = 50;
const SWITCHES = 48;
const MODEL = 'local/small';

const test = base.extend<object, { model: string }>({
  model: [
    async ({}, use) => {
      const model = await scripted(0);
      await use(model.url);
      model.stop();
    },
    { scope: 'worker' },
  ],
});

test('switch', async ({ chat }) => {
  // One pane with more tabs than stay alive, and another beside it.
  for (let opened = 1; opened < TABS; opened++) await opens(chat, 'Alt+n');
  await opens(chat, 'Alt+Backslash');
  await opens(chat, 'Alt+n');
  const chats = await chat.locator('.pane-tab > a').evaluateAll((links) => links.map((link) => link.getAttribute('href')!));
  expect(chats).toHaveLength(CHATS);
  for (const path of chats) await fill(chat, path);
  await chat.goto(new URL(chats[0], chat.url()).href);
  await live(chat);
  await chat.evaluate(watch);

  const figures = { reference: [] as number[], tabs: [] as number[], cold: [] as number[], panes: [] as number[] };
  for (let n = 0; n < SWITCHES; n++) figures.reference.push(await chat.evaluate(emptyFrame));

  const go = async (to: string, how: (to: string) => Promise<void>) => {
    await chat.evaluate(expectChat, to);
    await how(to);
    return shown(chat);
  };
  const click = (to: string) => chat.locator(`.pane-tab > a[href="${to}"]`).click();

  // Around and around, so that each comes to the front after more others than stay alive: it is fetched and built.
  for (let n = 0; n < TABS + SWITCHES; n++) {
    const taken = await go(chats[(n + 1) % TABS], n % 2 ? () => chat.keyboard.press('Alt+PageDown') : click);
    if (n >= TABS) figures.cold.push(taken);
  }
  // There and back among a few; the first round fetches.
  const way = [...Array(WARM).keys(), ...[...Array(WARM - 2).keys()].map((n) => WARM - 2 - n)];
  for (let n = 0; n < way.length + SWITCHES; n++) {
    const [from, to] = [way[(n + way.length - 1) % way.length], way[n % way.length]];
    const turn = () => chat.keyboard.press(to > from ? 'Alt+PageDown' : 'Alt+PageUp');
    const taken = await go(chats[to], n > 0 && n % 2 ? turn : click);
    if (n >= way.length) figures.tabs.push(taken);
  }

  // One pane fills the page, so that the other is not painted yet.
  await chat.keyboard.press('Alt+m');
  for (let n = 0; n < 2 + SWITCHES; n++) {
    await chat.evaluate(expectPane, n % 2 ? 0 : 1);
    await chat.keyboard.press(n % 2 ? 'Alt+Shift+ArrowLeft' : 'Alt+Shift+ArrowRight');
    const taken = await shown(chat);
    if (n >= 2) figures.panes.push(taken);
  }
  writeFileSync(need('BENCH_OUT'), JSON.stringify(figures));
});

async function opens(page: Page, keys: string): Promise<void> {
  const tabs = await page.locator('.pane-tab').count();
  await page.keyboard.press(keys);
  await expect(page.locator('.pane-tab')).toHaveCount(tabs + 1);
}

/** A hundred messages, some of them long. The last one names its chat. */
async function fill(page: Page, path: string): Promise<void> {
  const chat = path.split('/').pop()!;
  const call = (endpoint: string, form: Record<string, string>) =>
    page.request.post(new URL(`/api/${endpoint}`, page.url()).href, {
      form,
      headers: { accept: 'application/json', origin: new URL(page.url()).origin },
    });
  for (let turn = 1; turn <= TURNS; turn++) {
    const text =
      turn === TURNS ? `[[say the end of ${chat}]]` : turn % 5 ? `[[say ${'some words of an answer '.repeat(12)}]]` : '[[markdown]]';
    const ask = { chat, message: randomUUID(), text, model: MODEL };
    // The queue is full now and then.
    await expect(async () => expect((await call('ask', ask)).ok()).toBe(true)).toPass({ intervals: [50], timeout: 60_000 });
  }
  await expect(async () => {
    const snapshot = await (await call('page_snapshot', { path })).json();
    const found = snapshot.state.session.chats[chat];
    expect(found.messages).toHaveLength(2 * TURNS);
    expect(found.queue).toHaveLength(0);
    for (const task of Object.values<any>(found.tasks)) expect(task.status).toHaveProperty('settled');
  }).toPass({ intervals: [100], timeout: 60_000 });
}

/** Looks at each frame from now on. The frame after the one in which it stands there tells that that one is painted. */
function watch(): void {
  const watched = { began: 0, taken: Promise.resolve(0) };
  // When the key or the click came in, before anybody acts on it.
  for (const name of ['keydown', 'click']) {
    window.addEventListener(name, (event) => (watched.began ||= event.timeStamp), { capture: true });
  }
  const until = (isShown: () => boolean) => {
    watched.began = 0;
    const limit = performance.now() + 20_000;
    watched.taken = new Promise((resolve, reject) => {
      const look = () => {
        if (performance.now() > limit) reject(new Error('it does not come to the front'));
        else if (watched.began && isShown()) requestAnimationFrame(() => resolve(performance.now() - watched.began));
        else requestAnimationFrame(look);
      };
      look();
    });
  };
  Object.assign(window, { watched, until });
}

function expectChat(path: string): void {
  const end = `the end of ${path.split('/').pop()}`;
  (window as any).until(() => {
    const messages = document.querySelectorAll('.pane[data-focused] .pane-body:not([hidden]) .message');
    return messages.length > 0 && messages[messages.length - 1].textContent!.includes(end);
  });
}

function expectPane(place: number): void {
  (window as any).until(() => document.querySelectorAll('.pane')[place].hasAttribute('data-focused'));
}

const shown = (page: Page): Promise<number> => page.evaluate(() => (window as any).watched.taken);

function emptyFrame(): Promise<number> {
  return new Promise((resolve) => {
    const began = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
  });
}
