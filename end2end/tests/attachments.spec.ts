import { type Page } from '@playwright/test';
import { faults, sideways } from './faults';
import { answer, ask, expect, live, test } from './world';

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const picture = (name: string) => ({ name, mimeType: 'image/png', buffer: PIXEL });
const text = (name: string, content: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });

const attached = (page: Page) => page.getByRole('list', { name: 'Attached files' });
const sent = (page: Page) => page.locator('.message.user').last().getByRole('list', { name: 'Files with this message' });

type Picked = { name: string; mimeType: string; buffer: Buffer };

async function pick(page: Page, files: Picked[]): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles(files);
}

/** Lets go of a file over the page, or pastes it, as the browser tells it to the page. */
async function bring(page: Page, how: 'drop' | 'paste', file: Picked): Promise<void> {
  const data = await page.evaluateHandle(
    ({ name, type, bytes }) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], name, { type }));
      return data;
    },
    { name: file.name, type: file.mimeType, bytes: [...file.buffer] },
  );
  if (how === 'drop') {
    for (const type of ['dragover', 'drop']) await page.dispatchEvent('.messages, .empty-state', type, { dataTransfer: data });
  } else {
    await page.getByLabel('Your message').evaluate(
      (field, data) => field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })),
      data,
    );
  }
}

test('what can go along is said to a finger and to whoever listens', async ({ chat, isMobile }) => {
  const limits = /Text up to .* at most \d+ files/;
  await expect(chat.getByRole('button', { name: 'Attach files' })).toHaveAccessibleDescription(limits);
  await pick(chat, [text('notes.txt', 'the notes')]);
  await expect(chat.locator('.files-limits')).toHaveText(limits);
  await expect(chat.locator('.files-limits')).toBeVisible({ visible: isMobile });
});

test('files are picked, dropped and pasted, go along, and can be opened', async ({ chat }) => {
  await pick(chat, [text('notes.txt', 'the notes'), picture('picked.png')]);
  await expect(attached(chat).getByRole('listitem')).toHaveCount(2);
  await bring(chat, 'drop', picture('dropped.png'));
  await bring(chat, 'paste', picture('pasted.png'));
  await expect(attached(chat).getByRole('listitem')).toHaveCount(4);
  await attached(chat).getByRole('button', { name: 'Remove dropped.png' }).click();
  await expect(attached(chat).getByRole('link')).toHaveText([/notes\.txt/, /picked\.png/, /pasted\.png/]);
  await ask(chat, '[[say seen]]');
  await expect(answer(chat)).toContainText('seen');
  await expect(attached(chat)).toHaveCount(0);
  await expect(sent(chat).getByRole('link')).toHaveText([/notes\.txt/, /picked\.png/, /pasted\.png/]);
  // The picture is really there.
  const width = sent(chat).locator('img').first();
  await expect.poll(() => width.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
  const download = chat.waitForEvent('download');
  await sent(chat).getByRole('link', { name: 'notes.txt' }).click();
  expect((await download).suggestedFilename()).toBe('notes.txt');
});

test('what is attached survives a reload, and stands for itself', async ({ chat }) => {
  await pick(chat, [text('alone.txt', '[[say read it]]')]);
  await expect(attached(chat).getByRole('link')).toHaveText([/alone\.txt/]);
  await chat.reload();
  await live(chat);
  await expect(attached(chat).getByRole('link')).toHaveText([/alone\.txt/]);
  await chat.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(sent(chat).getByRole('link')).toHaveText([/alone\.txt/]);
  await expect(answer(chat)).toContainText('read it');
});

test('what may not be attached says so in place and holds nothing up', async ({ chat }) => {
  await pick(chat, [
    { name: 'big.png', mimeType: 'image/png', buffer: Buffer.alloc(6 << 20) },
    { name: 'program', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) },
    text('fine.txt', 'fine'),
  ]);
  const alerts = attached(chat).getByRole('alert');
  await expect(alerts).toHaveText([/big\.png is too large.*5 MB/, /program is neither a text/]);
  await expect(attached(chat).getByRole('link')).toHaveText([/fine\.txt/]);
  await expect(chat.getByRole('status').filter({ hasText: 'One file attached' })).toHaveCount(1);
  await ask(chat, '[[say sent]]');
  await expect(answer(chat)).toContainText('sent');
  await expect(sent(chat).getByRole('link')).toHaveText([/fine\.txt/]);
  await expect(attached(chat)).toHaveCount(0);
});

test('a reader at the end stays there when files make the composer grow', async ({ chat }) => {
  await ask(chat, '[[count 600]]');
  await expect(answer(chat)).toContainText('tokens/s', { timeout: 20_000 });
  const list = chat.locator('.messages');
  const below = () => list.evaluate((list) => Math.round(list.scrollHeight - list.scrollTop - list.clientHeight));
  await expect.poll(below).toBeLessThanOrEqual(1);
  const height = await list.evaluate((list) => list.clientHeight);
  await pick(chat, ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => text(`${name.repeat(30)}.txt`, 'x')));
  await expect(attached(chat).getByRole('link')).toHaveCount(6);
  await expect.poll(() => list.evaluate((list) => list.clientHeight)).toBeLessThan(height - 80);
  await expect.poll(below).toBeLessThanOrEqual(1);
  // Whoever reads further up is left there.
  await list.evaluate((list) => list.scrollTo(0, 100));
  await attached(chat).getByRole('button', { name: /^Remove a/ }).click();
  await expect(attached(chat).getByRole('link')).toHaveCount(5);
  expect(await list.evaluate((list) => list.scrollTop)).toBe(100);
});

test('a mention of a file that is not there is said at the message', async ({ chat }) => {
  await ask(chat, '[[say hello]] @nope.txt and @Override');
  await expect(sent(chat).getByRole('listitem')).toHaveText(['nope.txt did not go along. There is no such file in the project that may be read.']);
});

test('a model that refused a picture answers later questions, and only a new picture is refused', async ({ chat }) => {
  await pick(chat, [picture('pic.png')]);
  await expect(attached(chat).getByRole('link')).toHaveCount(1);
  await ask(chat, '[[blind]] [[say seen]]');
  await expect(answer(chat).getByRole('alert')).toContainText('does not take images');
  await ask(chat, '[[blind]] [[say words]]');
  await expect(answer(chat).locator('.markdown')).toContainText('words');
});

test('what waits says which files it has', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await pick(chat, [text('later.txt', 'later'), picture('later.png')]);
  await expect(attached(chat).getByRole('link')).toHaveCount(2);
  await ask(chat, '[[say the next]]');
  const waiting = chat.getByRole('list', { name: 'Messages that wait' });
  await expect(waiting.getByRole('img', { name: 'With later.txt, later.png' })).toHaveText('2');
  await expect(attached(chat)).toHaveCount(0);
  await waiting.getByRole('button', { name: 'Send this waiting message now' }).click();
  await expect(answer(chat)).toContainText('the next');
  await expect(sent(chat).getByRole('link')).toHaveText([/later\.txt/, /later\.png/]);
});

test('what is sent again keeps its files, and each can be left out', async ({ chat }) => {
  await pick(chat, [text('one.txt', 'one'), text('two.txt', 'two')]);
  await expect(attached(chat).getByRole('link')).toHaveCount(2);
  await ask(chat, '[[say first]]');
  await expect(answer(chat)).toContainText('first');
  await chat.getByRole('button', { name: 'Edit and send again' }).click();
  const again = chat.getByRole('list', { name: 'Files that go along again' });
  await again.getByRole('button', { name: 'Leave one.txt out' }).click();
  await chat.getByLabel('Your message in other words').fill('[[say second]]');
  await chat.getByRole('button', { name: 'Send as a new branch' }).click();
  await expect(answer(chat)).toContainText('second');
  await expect(sent(chat).getByRole('link')).toHaveText([/two\.txt/]);
});

test('the meter says how full the context is', async ({ chat }) => {
  const meter = chat.getByRole('img', { name: /^Context:/ });
  await expect(meter).toHaveCount(0);
  await chat.getByLabel('Your message').fill('x'.repeat(4_000));
  await expect(meter).toHaveAccessibleName(/About 1,000 of 262,144 tokens \(1 %\)/);
  await chat.getByLabel('Your message').fill('');
  await ask(chat, '[[count 20]]');
  await expect(answer(chat)).toContainText('tokens/s');
  // Counted by the model server, so nothing is "about".
  await expect(meter).toHaveAccessibleName(/^Context: [\d,]+ of 262,144 tokens/);
});

test('axe finds nothing serious with files, and nothing scrolls sideways', async ({ chat }) => {
  await pick(chat, [text(`${'long name '.repeat(12)}.txt`, 'x'), picture('a.png'), text('empty.txt', '')]);
  await expect(attached(chat).getByRole('alert')).toHaveCount(1);
  await expect(attached(chat).getByRole('link')).toHaveCount(2);
  expect(await faults(chat)).toEqual([]);
  expect(await sideways(chat)).toEqual([]);
});

test('files can be hit with a finger', { tag: '@phone' }, async ({ chat }) => {
  await pick(chat, [text('notes.txt', 'the notes'), picture('picked.png')]);
  await expect(attached(chat).getByRole('link')).toHaveCount(2);
  await ask(chat, '[[say seen]]');
  await expect(sent(chat).getByRole('link')).toHaveCount(2);
  await pick(chat, [text('more.txt', 'more')]);
  for (const list of [attached(chat), sent(chat)]) {
    for (const link of await list.getByRole('link').all()) {
      expect((await link.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    }
  }
});
