import { sideways } from './faults';
import { answer, ask, expect, logIn, test } from './world';
import type { Page } from '@playwright/test';

const queue = (page: Page) => page.getByRole('list', { name: 'Messages that wait' });
const waiting = (page: Page, text: string) => queue(page).getByRole('listitem').filter({ hasText: text });
const sendNow = (page: Page, text: string) =>
  waiting(page, text).getByRole('button', { name: 'Send this waiting message now' });

test('a waiting message takes the place of the running turn, whose text stays', async ({ chat }) => {
  await ask(chat, '[[count 3000]]');
  await expect(answer(chat)).toContainText('10 11 12');
  await ask(chat, '[[say the second]]');
  await ask(chat, '[[say the third]]');
  await sendNow(chat, 'the third').click();

  const answers = chat.locator('.message.assistant');
  await expect(answers).toHaveCount(3);
  await expect(answers.nth(0)).toContainText('Stopped');
  await expect(answers.nth(0)).toContainText('10 11 12');
  await expect(answers.nth(1)).toContainText('the third');
  // The rest follows in order, by itself.
  await expect(answers.nth(2)).toContainText('the second');
  await expect(queue(chat)).toBeHidden();
  await chat.reload();
  await expect(chat.locator('.message.user')).toContainText(['count 3000', 'the third', 'the second']);
});

test('of a held queue one is sent and the rest follows it', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await ask(chat, '[[say the second]]');
  await ask(chat, '[[hang after 2]]');
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(queue(chat)).toContainText('The queue is held');
  await sendNow(chat, 'hang after 2').click();
  await expect(chat.locator('.message.user')).toContainText(['hang after 3', 'hang after 2']);
  await expect(queue(chat)).not.toContainText('The queue is held');
  await expect(waiting(chat, 'the second')).toHaveCount(1);
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(answer(chat)).toContainText('Stopped');
});

test('what is being edited is not sent as it was', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await ask(chat, '[[say the old]]');
  const edit = queue(chat).getByRole('button', { name: 'Edit this waiting message' });
  const box = queue(chat).getByLabel('The waiting message');
  await edit.click();
  await expect(box).toBeFocused();
  await box.fill('[[say the new]]');
  await expect(queue(chat).getByRole('button', { name: 'Send this waiting message now' })).toHaveCount(0);
  await queue(chat).getByRole('button', { name: 'Save' }).click();
  await expect(waiting(chat, 'the new')).toHaveCount(1);
  await expect(edit).toBeFocused();
  await edit.click();
  await box.press('Escape');
  await expect(box).toHaveCount(0);
  await expect(edit).toBeFocused();
  await sendNow(chat, 'the new').click();
  await expect(answer(chat)).toContainText('the new');
  await expect(chat.getByLabel('Your message')).toHaveValue('');
});

test('saving one waiting message leaves the edit of another', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await ask(chat, '[[say the second]]');
  await ask(chat, '[[say the third]]');
  const rows = queue(chat).getByRole('listitem');
  for (const row of [0, 1]) await rows.nth(row).getByRole('button', { name: 'Edit this waiting message' }).click();
  await rows.nth(1).getByLabel('The waiting message').fill('[[say unsaved]]');
  await rows.nth(0).getByLabel('The waiting message').fill('[[say saved]]');
  await rows.nth(0).getByRole('button', { name: 'Save' }).click();
  await expect(rows.nth(0)).toContainText('saved');
  await expect(rows.nth(1).getByLabel('The waiting message')).toHaveValue('[[say unsaved]]');
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(answer(chat)).toContainText('Stopped');
});

test('while the queue is held, sending says that it adds to it', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await ask(chat, '[[say the second]]');
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  const reason = queue(chat).getByText('The queue is held');
  await expect(reason).toBeVisible();
  const isCut = await reason.evaluate((text) => text.scrollWidth > text.clientWidth);
  expect(isCut).toBe(false);
  await expect(chat.getByRole('button', { name: 'Send', exact: true })).toHaveCount(0);
  await chat.getByLabel('Your message').fill('[[say the third]]');
  await chat.getByRole('button', { name: 'Add to the waiting messages' }).click();
  await expect(waiting(chat, 'the third')).toHaveCount(1);
  await chat.getByRole('button', { name: 'Go on' }).click();
  await expect(answer(chat)).toContainText('the third');
  await expect(chat.getByRole('button', { name: 'Send', exact: true })).toBeVisible();
});

test('its buttons can be hit with a finger @phone', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await ask(chat, '[[say the second]]');
  for (const button of await waiting(chat, 'the second').getByRole('button').all()) {
    const box = (await button.boundingBox())!;
    expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
  }
  expect(await sideways(chat)).toEqual([]);
  await sendNow(chat, 'the second').click();
  await expect(answer(chat)).toContainText('the second');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a waiting message is sent now', async ({ page, boocode }, info) => {
    await logIn(page, boocode);
    await page.getByLabel('Folder of the project').fill(boocode.repository(`queue-${info.testId}`));
    await page.getByRole('button', { name: 'Add project' }).click();
    for (const text of ['[[hang after 3]]', '[[say the second]]', '[[say the third]]']) {
      await page.getByLabel('Your message').fill(text);
      await page.locator('.composer-actions .primary').click();
    }
    await sendNow(page, 'the third').click();
    await expect(async () => {
      await page.reload();
      await expect(page.locator('.message.user')).toContainText(['hang after 3', 'the third', 'the second'], {
        timeout: 500,
      });
    }).toPass();
  });
});
