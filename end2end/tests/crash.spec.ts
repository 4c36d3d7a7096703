import type { Route } from '@playwright/test';
import { addProject, answer, ask, BooCode, expect, freePort, live, numbers, test, Wire } from './world';

test('kill -9 in the middle of an answer: the page mends itself and the turn is finished', async ({ chat, boocode }) => {
  await ask(chat, '[[count 250]]');
  await expect(answer(chat)).toContainText('20 21 22');
  await boocode.kill();
  await boocode.start();
  // The lost attempt stays readable, marked; the next one brings the whole answer.
  await expect(answer(chat).locator('.attempt.interrupted')).toContainText('1 2 3', { timeout: 20_000 });
  await expect(answer(chat).locator('.attempt').last()).toContainText(numbers(250), { timeout: 20_000 });
  await live(chat);
  await chat.reload();
  await expect(answer(chat).locator('.attempt').last()).toContainText(numbers(250));
  await expect(chat.locator('.message')).toHaveCount(2);
});

test('what the page heard and nobody kept is taken back after a crash, and that is said', async ({ chat, boocode }) => {
  await ask(chat, '[[count 400]][[hang after 30]]');
  await expect(answer(chat)).toContainText('10 11 12');
  // By then all that was written is kept.
  await chat.waitForTimeout(2_000);
  // The next connection brings words that are on no disk, as one does whose server dies before it has written them.
  const unkept = async (route: Route) => {
    const [, stream, offset] = /watch=([^:,]+):(\d+)/.exec(decodeURIComponent(route.request().url()))!;
    const delta = JSON.stringify({ stream, offset: Number(offset), text: ' and nobody kept this' });
    await route.fulfill({ contentType: 'text/event-stream', body: `event: delta\ndata: ${delta}\n\nevent: beat\ndata: {}\n\n` });
  };
  await chat.route('**/api/feed?*', unkept, { times: 1 });
  await boocode.kill();
  await expect(answer(chat)).toContainText('nobody kept this');
  await boocode.start();
  const lost = answer(chat).locator('.attempt.interrupted');
  await expect(lost).toContainText('The last few characters were taken back after a restart.', { timeout: 20_000 });
  await expect(lost).toContainText('10 11 12');
  await expect(answer(chat)).not.toContainText('nobody kept this');
  await live(chat);
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(answer(chat)).toContainText('Stopped');
});

test('nothing is counted while nobody can tell how it goes on', async ({ chat, boocode }) => {
  await ask(chat, '[[hang after 3]]');
  const status = answer(chat).locator('.message-status');
  await expect(status).toContainText(/Writing… \d+ s/);
  await boocode.kill();
  await expect(chat.locator('.connection')).not.toHaveAttribute('data-state', 'live');
  const words = await status.textContent();
  // Longer than a second, which it counts otherwise.
  await chat.waitForTimeout(2_500);
  await expect(status).toHaveText(words!);
  await boocode.start();
  await live(chat);
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(answer(chat)).toContainText('Stopped');
});

test('a question sent while the server is away is kept and sent once', async ({ chat, boocode }) => {
  await boocode.kill();
  await chat.getByLabel('Your message').fill('[[say still here]]');
  await chat.getByLabel('Your message').press('Control+Enter');
  await expect(chat.locator('.notice.error')).toContainText(/cannot be reached/);
  await expect(chat.getByLabel('Your message')).toHaveValue('[[say still here]]');
  await boocode.start();
  await live(chat);
  await expect(chat.locator('.notice.error')).toHaveCount(0);
  await expect(chat.getByLabel('Your message')).toHaveValue('[[say still here]]');
  await chat.getByLabel('Your message').press('Control+Enter');
  await expect(answer(chat)).toContainText('still here');
  await expect(chat.locator('.message.user')).toHaveCount(1);
});

test('a question that arrived although the page was told otherwise is there once', async ({ chat }) => {
  const field = chat.getByLabel('Your message');
  // The server hears it, and its answer is lost on the way.
  await chat.route('**/api/ask', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await field.fill('[[say arrived]]');
  await field.press('Control+Enter');
  await expect(answer(chat)).toContainText('arrived');
  await expect(field).toHaveValue('');
  await chat.unroute('**/api/ask');
  await ask(chat, '[[say another]]');
  await expect(answer(chat)).toContainText('another');
  await chat.reload();
  await expect(chat.locator('.message.user')).toContainText(['[[say arrived]]', '[[say another]]']);
});

test('a connection that goes dead without a word is replaced within seconds', async ({ page, model }) => {
  const port = await freePort();
  const wire = new Wire(port);
  await wire.open();
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, '--public-url', wire.url], port);
  try {
    await boocode.start();
    await page.goto(boocode.link);
    await addProject(page, boocode.repository('behind-a-wire'));
    await ask(page, '[[count 900]]');
    await expect(answer(page)).toContainText('10 11 12');
    // As many connections as a browser keeps, none of which it will know to be dead.
    await page.evaluate(() => Promise.all(Array.from({ length: 5 }, () => fetch('/', { cache: 'no-store' }).then((page) => page.text()))));
    // When words come, by the page's own clock.
    await answer(page).evaluate((answer) => {
      const grown = ((window as unknown as { grown: number[] }).grown = [performance.now()]);
      new MutationObserver(() => grown.push(performance.now())).observe(answer.querySelector('.markdown')!, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    wire.silence();
    await expect(answer(page)).toContainText(numbers(900), { timeout: 30_000 });
    await live(page);
    const longest = await page.evaluate(() => {
      const { grown } = window as unknown as { grown: number[] };
      return Math.max(...grown.map((at, n) => at - (grown[n - 1] ?? at)));
    });
    // Four seconds of silence, one for each of the five others that are dead, and a little for a busy machine. That there was
    // a silence shows that the wire was cut.
    expect(longest).toBeGreaterThan(3_000);
    expect(longest).toBeLessThan(11_000);
  } finally {
    wire.close();
    await boocode.stop();
  }
});
