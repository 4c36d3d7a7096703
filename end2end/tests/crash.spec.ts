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

test('a question sent while the server is away is kept and sent once', async ({ chat, boocode }) => {
  await boocode.kill();
  await chat.getByLabel('Your message').fill('[[say still here]]');
  await chat.getByLabel('Your message').press('Control+Enter');
  await expect(chat.locator('.notice.error')).toContainText(/cannot be reached/);
  await expect(chat.getByLabel('Your message')).toHaveValue('[[say still here]]');
  await boocode.start();
  await live(chat);
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
    wire.silence();
    const before = await answer(page).textContent();
    // Five seconds of silence, and one for the page to notice; the rest is the machine's.
    await expect(answer(page)).not.toHaveText(before!, { timeout: 10_000 });
    await expect(answer(page)).toContainText(numbers(900), { timeout: 20_000 });
    await live(page);
  } finally {
    wire.close();
    await boocode.stop();
  }
});
