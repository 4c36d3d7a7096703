import { type BrowserContext, type Page } from '@playwright/test';
import { faults, sideways } from './faults';
import { type BooCode, expect, live, logIn, test } from './world';

/** Long enough to look elsewhere before it ends. */
const SLOWLY = '[[rate 20]][[count 30]]';

/** Breaks off after a while. */
const BREAKS = '[[rate 20]][[count 40]][[cut after 30]]';
const BROKEN = /connection to the model server .* broke/;

const toast = (page: Page) => page.locator('.toast');
/** The chat in front; others stay alive behind it. */
const front = (page: Page) => page.locator('.pane-body:not([hidden])');
const answer = (page: Page) => front(page).locator('.message.assistant').last();
const chatPath = (page: Page) => new URL(page.url()).pathname;

async function ask(page: Page, text: string): Promise<void> {
  const composer = front(page).getByLabel('Your message');
  await composer.fill(text);
  await composer.press('Control+Enter');
  await expect(composer).toHaveValue('');
}

/** Another chat comes to the front; the page does not go away meanwhile. */
async function newChat(page: Page): Promise<void> {
  const before = page.url();
  await page.keyboard.press('Alt+n');
  await expect(page).not.toHaveURL(before);
  await expect(answer(page)).toHaveCount(0);
}

/** Asks in the chat that is in front, then puts another one there. Where the first one is. */
async function askElsewhere(page: Page, text: string): Promise<string> {
  await ask(page, text);
  await expect(answer(page)).toBeVisible();
  const path = chatPath(page);
  await newChat(page);
  return path;
}

async function openSettings(page: Page, boocode: BooCode): Promise<void> {
  await page.goto(`${boocode.url}/settings/notifications`);
  await expect(page.locator('.settings[data-alive]')).toBeVisible();
  await live(page);
}

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const toggle = (page: Page, where: string, kind: string) => part(page, where).getByRole('switch', { name: kind });

type Shown = { title: string; body: string; tag: string };
declare global {
  interface Window {
    shown: (Shown & { onclick?: () => void; close: () => void })[];
    away: boolean;
  }
}

/** Puts a notification that only remembers in the place of the browser's, and lets a test look away. */
async function pretend(context: BrowserContext, how: 'default' | 'granted' | 'denied' | 'throws' | 'missing'): Promise<void> {
  await context.addInitScript((how) => {
    window.shown = [];
    window.away = false;
    Object.defineProperty(document, 'hidden', { get: () => window.away });
    Object.defineProperty(document, 'visibilityState', { get: () => (window.away ? 'hidden' : 'visible') });
    document.hasFocus = () => !window.away;
    if (how === 'missing') {
      delete (window as { Notification?: unknown }).Notification;
      return;
    }
    class Pretended {
      static permission = how === 'throws' ? 'granted' : (localStorage.getItem('pretended') ?? how);
      static async requestPermission() {
        Pretended.permission = 'granted';
        localStorage.setItem('pretended', 'granted');
        return 'granted';
      }
      onclick?: () => void;
      body: string;
      tag: string;
      constructor(
        public title: string,
        options: { body: string; tag: string },
      ) {
        if (how === 'throws') throw new TypeError('Illegal constructor');
        this.body = options.body;
        this.tag = options.tag;
        window.shown.push(this);
      }
      close() {}
    }
    Object.assign(window, { Notification: Pretended });
  }, how);
}

async function look(page: Page, away: boolean): Promise<void> {
  await page.evaluate((away) => {
    window.away = away;
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    if (!away) window.dispatchEvent(new Event('focus'));
  }, away);
}

/** What the browser told, without tests. */
const told = (page: Page) =>
  page.evaluate(() => window.shown.filter(({ title }) => title !== 'BooCode').map(({ title, body, tag }) => ({ title, body, tag })));

test('an answer that is done elsewhere is told with a way there, and one in front is not', async ({ chat }) => {
  await ask(chat, '[[say in front]]');
  await expect(answer(chat)).toContainText('in front');
  await expect(answer(chat)).toContainText('tokens/s');
  const path = await askElsewhere(chat, SLOWLY);
  // What was in front came first, so by now it would have been told.
  await expect(toast(chat)).toHaveCount(1);
  await expect(toast(chat)).toContainText('The answer is ready.');
  await expect(toast(chat)).toHaveRole('status');
  await toast(chat).getByRole('button', { name: 'Open' }).click();
  await expect(chat).toHaveURL(new RegExp(`${path}$`));
  await expect(answer(chat)).toContainText('29 30');
  await expect(toast(chat)).toHaveCount(0);
});

test('a failure stays until it is dismissed, or its chat is looked at', async ({ chat }) => {
  await askElsewhere(chat, BREAKS);
  await expect(toast(chat)).toContainText(BROKEN);
  await chat.clock.install();
  await chat.clock.runFor(60_000);
  await expect(toast(chat)).toContainText(BROKEN);
  await toast(chat).getByRole('button', { name: 'Dismiss' }).click();
  await expect(toast(chat)).toHaveCount(0);
  await chat.clock.resume();

  const path = await askElsewhere(chat, BREAKS);
  await expect(toast(chat)).toContainText(BROKEN);
  await chat.evaluate(() => history.back());
  await expect(chat).toHaveURL(new RegExp(`${path}$`));
  await expect(toast(chat)).toHaveCount(0);
});

test('a failure that keeps messages waiting asks for the person', async ({ chat }) => {
  await ask(chat, BREAKS);
  await expect(answer(chat)).toBeVisible();
  await ask(chat, 'and then this');
  await newChat(chat);
  await expect(toast(chat)).toContainText(/Waits for you with 1 unsent message\. .* broke/);
  await expect(toast(chat)).toHaveCount(1);
});

test('a turn that was stopped is not told', async ({ chat }) => {
  await ask(chat, '[[rate 20]][[count 400]]');
  await expect(answer(chat)).toContainText('1 2');
  await front(chat).getByRole('button', { name: 'Stop' }).click();
  await newChat(chat);
  // The control: what is told comes after it.
  await askElsewhere(chat, SLOWLY);
  await expect(toast(chat)).toHaveCount(1);
});

test('what is switched off is not told, in this browser', async ({ chat, boocode }) => {
  const start = chat.url();
  await openSettings(chat, boocode);
  await toggle(chat, 'In the page', 'Done').uncheck();
  await chat.reload();
  await expect(toggle(chat, 'In the page', 'Done')).not.toBeChecked();
  await expect(toggle(chat, 'In the page', 'Failed')).toBeChecked();
  await chat.goto(start);
  await live(chat);
  await askElsewhere(chat, SLOWLY);
  // The control: what is still switched on comes later, alone.
  await askElsewhere(chat, BREAKS);
  await expect(toast(chat)).toContainText(BROKEN);
  await expect(toast(chat)).toHaveCount(1);
});

test('what happened before the page was opened is not told', async ({ chat }) => {
  await ask(chat, '[[say earlier]]');
  await expect(answer(chat)).toContainText('tokens/s');
  await newChat(chat);
  await chat.reload();
  await live(chat);
  await askElsewhere(chat, SLOWLY);
  await expect(toast(chat)).toHaveCount(1);
});

test('the browser tells one who is away, after it was allowed in Settings', async ({ chat, boocode, context }) => {
  await pretend(context, 'default');
  const start = chat.url();
  await openSettings(chat, boocode);
  const browser = part(chat, 'From the browser');
  await expect(browser).toContainText('has to allow it first');
  await expect(toggle(chat, 'From the browser', 'Done')).toBeDisabled();
  await expect(toggle(chat, 'From the browser', 'Done')).not.toBeChecked();
  await browser.getByRole('button', { name: 'Allow notifications' }).click();
  for (const kind of ['Done', 'Failed', 'Needs an answer']) {
    await expect(toggle(chat, 'From the browser', kind)).toBeChecked();
  }
  expect(await chat.evaluate(() => window.shown.length)).toBe(1);

  await chat.goto(start);
  await live(chat);
  // Here, the page alone tells.
  await askElsewhere(chat, SLOWLY);
  await expect(toast(chat)).toHaveCount(1);
  expect(await told(chat)).toEqual([]);
  await toast(chat).getByRole('button', { name: 'Dismiss' }).click();

  // Away, the browser does, and for what is in front too.
  await ask(chat, SLOWLY);
  const path = chatPath(chat);
  await look(chat, true);
  await expect.poll(() => told(chat)).toEqual([
    { title: expect.any(String), body: 'The answer is ready.', tag: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  ]);
  await expect(chat).toHaveTitle(/^\(1\) /);
  await chat.evaluate(() => (document.querySelector('a.brand') as HTMLElement).click());
  await expect(chat).toHaveURL(`${boocode.url}/`);
  await chat.evaluate(() => window.shown.at(-1)!.onclick!());
  await expect(chat).toHaveURL(new RegExp(`${path}$`));
  await look(chat, false);
  await expect(chat).not.toHaveTitle(/^\(/);
  await expect(toast(chat)).toHaveCount(0);
});

test('of several pages one tells, and it stays awake for that', async ({ chat, boocode, context }) => {
  await pretend(context, 'granted');
  const path = chatPath(chat);
  await openSettings(chat, boocode);
  await toggle(chat, 'From the browser', 'Done').check();
  const other = await context.newPage();
  await other.goto(boocode.url);
  await live(other);
  await look(other, true);
  await chat.goto(boocode.url + path);
  await live(chat);
  await ask(chat, '[[rate 10]][[count 160]]');
  await look(chat, true);
  // Longer than a page that nobody looks at stays connected.
  await expect.poll(() => told(chat), { timeout: 30_000 }).toHaveLength(1);
  expect(await told(other)).toEqual([]);
  await expect(other.locator('.connection')).not.toHaveAttribute('data-state', 'live');
});

test('what ended while nobody looked is told once to one who comes back', async ({ chat, boocode, context, browser }) => {
  test.setTimeout(90_000);
  await pretend(context, 'default');
  await chat.reload();
  await live(chat);
  const twin = await context.newPage();
  await twin.goto(chat.url());
  await live(twin);
  // Longer than a page that nobody looks at stays connected.
  const path = await askElsewhere(chat, '[[rate 10]][[count 400]][[cut after 160]]');
  await newChat(twin);
  for (const page of [chat, twin]) await look(page, true);
  for (const page of [chat, twin]) await expect(page.locator('.connection')).not.toHaveAttribute('data-state', 'live', { timeout: 20_000 });
  const elsewhere = await browser.newContext();
  const other = await elsewhere.newPage();
  await logIn(other, boocode);
  await other.goto(boocode.url + path);
  await expect(answer(other)).toContainText(BROKEN, { timeout: 30_000 });
  await elsewhere.close();

  await look(chat, false);
  await expect(toast(chat)).toContainText(BROKEN);
  await expect(toast(chat)).toHaveCount(1);
  expect(await told(chat)).toEqual([]);
  await toast(chat).getByRole('button', { name: 'Open' }).click();
  await expect(chat).toHaveURL(new RegExp(`${path}$`));

  // Another page of the same browser says nothing of it. The control: what is told comes after it, alone.
  await look(twin, false);
  await live(twin);
  await askElsewhere(twin, SLOWLY);
  await expect(toast(twin)).toContainText('The answer is ready.');
  await expect(toast(twin)).toHaveCount(1);
});

test('what the browser refuses to show is said in the page', async ({ chat, boocode, context }) => {
  await pretend(context, 'throws');
  const start = chat.url();
  await openSettings(chat, boocode);
  await toggle(chat, 'From the browser', 'Done').check();
  await toggle(chat, 'In the page', 'Done').uncheck();
  await chat.goto(start);
  await live(chat);
  await ask(chat, SLOWLY);
  await look(chat, true);
  await expect(toast(chat)).toContainText('The answer is ready.');
});

test('where the browser does not tell, Settings says why', async ({ chat, boocode, browser }) => {
  const words = {
    denied: 'blocks notifications from BooCode',
    missing: 'offers no notifications to pages',
    throws: 'does not show those of an open page',
  };
  const storageState = await chat.context().storageState();
  for (const [how, said] of Object.entries(words)) {
    const context = await browser.newContext({ storageState });
    await pretend(context, how as keyof typeof words);
    const page = await context.newPage();
    await openSettings(page, boocode);
    if (how === 'throws') await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(part(page, 'From the browser')).toContainText(said);
    await expect(toggle(page, 'From the browser', 'Done')).toBeDisabled();
    // The page itself tells nevertheless.
    if (how !== 'throws') await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(toast(page)).toContainText('This is how you are told.');
    await expect(part(page, 'Try it')).toContainText('Sent in the page.');
    await context.close();
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious in the section, ${colorScheme}`, async ({ chat, boocode }) => {
    await chat.emulateMedia({ colorScheme });
    await openSettings(chat, boocode);
    await chat.getByRole('button', { name: 'Send a test' }).click();
    await expect(toast(chat)).toBeVisible();
    expect(await faults(chat)).toEqual([]);
    expect(await sideways(chat)).toEqual([]);
  });
}
