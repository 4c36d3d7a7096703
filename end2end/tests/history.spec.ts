import type { Page, TestInfo } from '@playwright/test';
import { faults, sideways } from './faults';
import { answer, ask, type BooCode, expect, logIn, test } from './world';

/** A word that only this test says. */
const own = (info: TestInfo) => `w${info.testId.replace(/[^a-z0-9]/gi, '')}${info.retry}`;
const entries = (page: Page) => page.locator('.entry');
const field = (page: Page) => page.getByRole('searchbox', { name: 'Search in titles, questions and answers' });

/** From the page that is open, as a person goes there. */
async function toHistory(page: Page): Promise<void> {
  const menu = page.getByLabel('Projects and chats').and(page.locator('.drawer-toggle')).first();
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('link', { name: 'History' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'History' })).toBeAttached();
}

async function search(page: Page, words: string): Promise<void> {
  await field(page).fill(words);
  await field(page).press('Enter');
  await expect(page).toHaveURL(new RegExp(`/history\\?q=${words.replaceAll(' ', '\\+')}`));
}

async function filter(page: Page, choose: () => Promise<unknown>): Promise<void> {
  await page.getByText('Filters', { exact: true }).click();
  await choose();
  await page.getByRole('button', { name: 'Apply' }).click();
}

test('what was said is found and opened, and going back keeps the search', async ({ chat }, info) => {
  const word = own(info);
  await ask(chat, `Where is src/${word}.rs? [[count 12]]`);
  await expect(answer(chat)).toContainText('tokens/s');
  const address = chat.url();
  const modules: string[] = [];
  await toHistory(chat);
  chat.on('request', (request) => {
    if (request.url().endsWith('.wasm')) modules.push(request.url());
  });

  await search(chat, `${word} 11`);
  await expect(entries(chat)).toHaveCount(1);
  await expect(entries(chat).locator('mark').first()).toBeVisible();
  await expect(entries(chat).locator('time')).toHaveText(/just now|ago|minute/);
  await expect(entries(chat)).toContainText('2 messages');
  expect(modules, 'a page that stands still needs no module').toEqual([]);

  await entries(chat).getByRole('heading').getByRole('link').click();
  await expect(chat).toHaveURL(address);
  await expect(answer(chat)).toContainText('11 12');
  await chat.goBack();
  await expect(chat).toHaveURL(new RegExp(`q=${word}\\+11$`));
  await expect(field(chat)).toHaveValue(`${word} 11`);
  await expect(entries(chat)).toHaveCount(1);

  await search(chat, `${word} unsaid`);
  await expect(entries(chat)).toHaveCount(0);
  await expect(chat.getByText('Nothing matches')).toBeVisible();
});

test('conditions stand in the address, and each can be let go of', async ({ chat }, info) => {
  const word = own(info);
  await ask(chat, `${word} [[truncate after 5]]`);
  await expect(answer(chat).getByRole('alert')).toBeVisible();
  await toHistory(chat);
  await search(chat, word);
  await filter(chat, async () => {
    await chat.getByLabel('State').selectOption('Failed');
    await chat.getByLabel('Project', { exact: true }).selectOption({ label: `project-${info.testId}-${info.retry}` });
    await chat.getByLabel('Show', { exact: true }).selectOption('Chats');
  });
  // What nobody filled in does not stand there.
  await expect(chat).toHaveURL(/\?q=\w+&kind=chat&state=failed&project=[^&]+$|\?q=\w+&kind=chat&project=[^&]+&state=failed$/);
  await expect(entries(chat)).toHaveCount(1);
  await expect(entries(chat)).toContainText('Failed');
  await chat.reload();
  await expect(entries(chat)).toHaveCount(1);

  await filter(chat, () => chat.getByLabel('State').selectOption('Done'));
  await expect(chat.getByText('Nothing matches')).toBeVisible();
  await chat.locator('.loosen').getByRole('link', { name: 'Without Done' }).click();
  await expect(entries(chat)).toHaveCount(1);
  await chat.getByRole('link', { name: 'Without Chats' }).click();
  await expect(chat).not.toHaveURL(/kind=/);
  await entries(chat).getByRole('link', { name: 'Session 1' }).click();
  await expect(chat).toHaveURL(/\/history\?session=[^&]+$/);
  await expect(entries(chat)).toHaveCount(1);
});

test('a value that is not understood is said at its field and left out', async ({ chat, boocode }) => {
  await chat.goto(`${boocode.url}/history?state=asleep&from=tomorrow&kind=chat`);
  await expect(chat.getByLabel('State')).toHaveAccessibleDescription(/“asleep” is not a state/);
  await expect(chat.getByLabel('First day')).toHaveAccessibleDescription(/“tomorrow” is not a day/);
  await expect(entries(chat).first()).toBeVisible();
});

test('a session is listed and opens', async ({ chat }, info) => {
  await toHistory(chat);
  await filter(chat, async () => {
    await chat.getByLabel('Show', { exact: true }).selectOption('Sessions');
    await chat.getByLabel('Project', { exact: true }).selectOption({ label: `project-${info.testId}-${info.retry}` });
  });
  await expect(entries(chat)).toHaveCount(1);
  await entries(chat).getByRole('heading').getByRole('link', { name: /Session 1/ }).click();
  await expect(chat).toHaveURL(/\/session\//);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('axe finds nothing serious, and nothing scrolls sideways', async ({ chat }, info) => {
      const word = own(info);
      await ask(chat, `${word} ${'unbroken'.repeat(40)} [[say ${word} and ${'x'.repeat(300)}]]`);
      await expect(answer(chat)).toContainText('tokens/s');
      await toHistory(chat);
      const check = async () => {
        expect(await faults(chat)).toEqual([]);
        expect(await sideways(chat)).toEqual([]);
      };
      await check();
      await search(chat, word);
      await expect(entries(chat)).toHaveCount(1);
      await chat.getByText('Filters', { exact: true }).click();
      await check();
      if (info.project.name === 'phone') {
        const small = await chat.evaluate(() => {
          const pressed = 'main :is(button, a.button, a.chip, summary, select, input)';
          const parts = [...document.querySelectorAll<HTMLElement>(pressed)].filter((part) => part.checkVisibility());
          const short = parts.filter((part) => part.getBoundingClientRect().height < 43.5);
          return short.map((part) => part.className + ' ' + part.textContent);
        });
        expect(small).toEqual([]);
      }
      await search(chat, 'unsaid');
      await expect(chat.getByText('Nothing matches')).toBeVisible();
      await check();
    });
  });
}

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  async function projectWithChat(page: Page, boocode: BooCode, info: TestInfo): Promise<void> {
    await logIn(page, boocode);
    await page.getByLabel('Folder of the project').fill(boocode.repository(`plain-${info.testId}-${info.retry}`));
    await page.getByRole('button', { name: 'Add project' }).click();
    await expect(page).toHaveURL(/\/chat\//);
  }

  test('the history is reached, searched and filtered', async ({ page, boocode }, info) => {
    const word = own(info);
    await projectWithChat(page, boocode, info);
    await page.getByLabel('Your message').fill(`${word} [[say plain]]`);
    await page.locator('.composer-actions .primary').click();
    await toHistory(page);
    await search(page, word);
    await expect(entries(page)).toHaveCount(1);
    await expect(entries(page).locator('time')).toHaveText(/\d{4}, \d\d:\d\d UTC/);
    await filter(page, () => page.getByLabel('First day').fill('2099-01-01'));
    await expect(page.getByText('Nothing matches')).toBeVisible();
    await page.goBack();
    await entries(page).getByRole('heading').getByRole('link').click();
    await expect(page.locator('.message.user')).toContainText(word);
    await toHistory(page);
    // The frame's own links and forms work here too.
    const menu = page.locator('.drawer-toggle');
    if (await menu.isVisible()) await menu.click();
    const project = page.locator('nav section').filter({ hasText: `plain-${info.testId}-${info.retry}` });
    await project.getByRole('button', { name: /New chat/ }).click();
    await expect(page).toHaveURL(/\/chat\//);
  });
});
