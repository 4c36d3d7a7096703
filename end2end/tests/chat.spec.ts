import { sideways } from './faults';
import { answer, ask, expect, live, logIn, numbers, test } from './world';

test('a question is answered in the page and is there after a reload', async ({ chat }) => {
  await ask(chat, '[[count 60]]');
  await expect(answer(chat)).toContainText('5 6 7');
  await expect(answer(chat)).toContainText(numbers(60));
  await expect(answer(chat)).toContainText('tokens/s');
  await chat.reload();
  await expect(answer(chat)).toContainText(numbers(60));
  await expect(chat.locator('.message')).toHaveCount(2);
});

test('an answer that was cut off at a limit says so, also after a reload', async ({ chat }) => {
  await ask(chat, '[[limit 9]] [[count 60]]');
  await expect(answer(chat)).toContainText('Cut off');
  await expect(answer(chat)).toContainText('5 6 7');
  await chat.reload();
  await live(chat);
  await expect(answer(chat)).toContainText('Cut off');
  await ask(chat, '[[count 5]]');
  await expect(answer(chat)).toContainText(numbers(5));
  await expect(answer(chat)).toContainText('tokens/s');
  await expect(answer(chat)).not.toContainText('Cut off');
});

test('an answer can be stopped and what came stays', async ({ chat }) => {
  await ask(chat, '[[count 3000]]');
  await expect(answer(chat)).toContainText('10 11 12');
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(answer(chat)).toContainText('Stopped');
  await expect(answer(chat)).toContainText('10 11 12');
  await expect(chat.getByRole('button', { name: 'Stop', exact: true })).toBeHidden();
});

test('what is asked meanwhile waits, can be changed, and is let go after a stop', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await ask(chat, '[[say the second]]');
  await ask(chat, '[[say the third]]');
  const queue = chat.getByRole('list', { name: 'Messages that wait' });
  await expect(queue.getByRole('listitem')).toHaveCount(2);
  await queue.getByRole('button', { name: 'Remove this waiting message' }).first().click();
  await expect(queue.getByRole('listitem')).toHaveCount(1);
  await queue.getByRole('button', { name: 'Edit this waiting message' }).click();
  await queue.getByLabel('The waiting message').fill('[[say something else]]');
  await queue.getByRole('button', { name: 'Save' }).click();
  await expect(queue).toContainText('something else');
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await chat.getByRole('button', { name: 'Go on' }).click();
  await expect(answer(chat)).toContainText('something else');
  await expect(chat.locator('.message.user')).toHaveCount(2);
});

test('a failure is said in place and can be retried', async ({ chat }) => {
  await ask(chat, '[[truncate after 5 times 1]] [[say all of it]]');
  await expect(answer(chat).getByRole('alert')).toContainText('cut off');
  await answer(chat).getByRole('alert').getByRole('button', { name: 'Retry' }).click();
  await expect(answer(chat)).toContainText('all of it');
  await expect(answer(chat).getByRole('alert')).toHaveCount(0);
});

test('editing makes a branch and the old one stays reachable', async ({ chat }) => {
  await ask(chat, '[[say first answer]]');
  await expect(answer(chat)).toContainText('first answer');
  await chat.getByRole('button', { name: 'Edit and send again' }).click();
  await chat.getByLabel('Your message in other words').fill('[[say second answer]]');
  await chat.getByRole('button', { name: 'Send as a new branch' }).click();
  await expect(answer(chat)).toContainText('second answer');
  const versions = chat.locator('.message.user').getByRole('group', { name: 'Versions of this message' });
  await expect(versions).toContainText('2/2');
  await versions.getByRole('button', { name: 'Previous version' }).click();
  await expect(answer(chat)).toContainText('first answer');
  await expect(chat.locator('.message.user').getByRole('group')).toContainText('1/2');
});

test('editing begins in the box, Escape puts it aside, and Cancel gives it up', async ({ chat }) => {
  await ask(chat, '[[count 400]]');
  await expect(answer(chat)).toContainText('tokens/s', { timeout: 20_000 });
  const pencil = chat.getByRole('button', { name: 'Edit and send again' });
  // The end of the answer is looked at, and the question is far above.
  await pencil.focus();
  await chat.locator('.messages').evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await pencil.press('Enter');
  const box = chat.getByLabel('Your message in other words');
  await expect(box).toBeFocused();
  await expect(box).toBeInViewport({ ratio: 1 });
  await expect(chat.getByRole('button', { name: 'Send as a new branch' })).toBeInViewport({ ratio: 1 });
  await box.fill('other words');
  await box.press('Escape');
  await expect(box).toHaveCount(0);
  await expect(pencil).toBeFocused();
  await pencil.press('Enter');
  await expect(box).toHaveValue('other words');
  await chat.getByRole('button', { name: 'Cancel' }).click();
  await expect(pencil).toBeFocused();
  await pencil.press('Enter');
  await expect(box).toHaveValue('[[count 400]]');
});

test('there is no answer to copy before its first word, and one way to retry a failed one', async ({ chat }) => {
  const copy = chat.getByRole('button', { name: 'Copy this answer' });
  await ask(chat, '[[hang]]');
  await expect(answer(chat)).toContainText('Waiting for the first word');
  await expect(copy).toHaveCount(0);
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await ask(chat, '[[truncate after 5]]');
  await expect(answer(chat).getByRole('alert')).toContainText('cut off');
  await expect(copy).toHaveCount(1);
  await expect(answer(chat).getByRole('button', { name: 'Retry' })).toHaveCount(1);
});

test('a draft survives a reload', async ({ chat }) => {
  await chat.getByLabel('Your message').fill('half a thought');
  await chat.reload();
  await live(chat);
  await expect(chat.getByLabel('Your message')).toHaveValue('half a thought');
});

test('loading is shown as loading, reasoning as reasoning', async ({ chat }) => {
  await ask(chat, '[[loading 1500]] [[reasoning let me see]] [[say here it is]]');
  await expect(answer(chat)).toContainText(/loading/i);
  await expect(answer(chat)).toContainText('here it is');
  await expect(answer(chat).locator('details.reasoning')).toContainText('let me see');
  await expect(answer(chat).locator('.markdown')).not.toContainText('let me see');
});

test('the title comes by itself and can be changed', async ({ chat }) => {
  await ask(chat, '[[say hello]]');
  await expect(chat.getByRole('heading', { level: 1 })).not.toHaveText('New chat');
  await chat.locator('.pane[data-focused]').getByRole('button', { name: 'More' }).click();
  await chat.getByRole('menuitem', { name: 'Rename this chat' }).click();
  await chat.getByRole('textbox', { name: 'Title' }).fill('Greetings');
  await chat.getByRole('button', { name: 'Rename', exact: true }).click();
  await expect(chat.getByRole('heading', { level: 1 })).toHaveText('Greetings');
  await expect(chat).toHaveTitle(/Greetings/);
});

test('markdown becomes elements, and nothing that a model says runs or loads', async ({ chat }) => {
  const foreign: string[] = [];
  const own = new URL(chat.url()).host;
  chat.on('request', (request) => {
    if (new URL(request.url()).host !== own) foreign.push(request.url());
  });
  await ask(chat, '[[markdown]]');
  await expect(answer(chat).locator('.markdown pre code').first()).toBeVisible();
  await expect(answer(chat).locator('table')).toBeVisible();
  await expect(answer(chat)).toContainText('tokens/s');
  await expect(answer(chat).locator('script, img, iframe, [style], [onclick], [onerror]')).toHaveCount(0);
  for (const link of await answer(chat).locator('.markdown a').all()) {
    expect(await link.getAttribute('href')).toMatch(/^https?:/);
    expect(await link.getAttribute('rel')).toContain('noopener');
  }
  expect(foreign).toEqual([]);
});

test('code is copied with its button', async ({ chat, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await ask(chat, '[[markdown]]');
  await expect(answer(chat)).toContainText('tokens/s');
  const block = answer(chat).locator('.markdown pre').first();
  const code = await block.locator('code').textContent();
  await answer(chat).getByRole('button', { name: /copy.*code/i }).first().click();
  expect(await chat.evaluate(() => navigator.clipboard.readText())).toBe(code);
});

test('code has its colours once it is written, and after a reload', async ({ chat }) => {
  await ask(chat, '[[say ```rust\nlet a = "ü"; // b\n```\n\n1. ```klingon\n   let a\n   ```]]');
  for (const page of ['as it was written', 'as it is loaded']) {
    const code = answer(chat).locator('.code-block code');
    await expect(code.first().locator('.k'), page).toHaveText('let');
    await expect(code.first().locator('.s'), page).toHaveText('"ü"');
    await expect(code.first(), page).toHaveText('let a = "ü"; // b');
    await expect(code.last().locator('span'), page).toHaveCount(0);
    await chat.reload();
    await live(chat);
  }
});

test('two pages show the same, live', async ({ chat, context }) => {
  const other = await context.newPage();
  await other.goto(chat.url());
  await live(other);
  await ask(chat, '[[count 80]]');
  await expect(answer(other)).toContainText(numbers(80));
  await expect(answer(chat)).toContainText(numbers(80));
});

test('bad folders are refused in words and the text stays', async ({ page, boocode }, info) => {
  await logIn(page, boocode);
  const field = page.getByLabel('Folder of the project');
  for (const [path, words] of [
    ['/nonexistent/folder', /exist|allowed|outside|within/i],
    ['relative/path', /absolute|full/i],
    ['/etc', /allowed|outside|within/i],
  ] as const) {
    await field.fill(path);
    await page.getByRole('button', { name: 'Add project' }).click();
    await expect(page.locator('.field-error')).toContainText(words);
    await expect(field).toHaveValue(path);
  }
  await field.fill(boocode.folder(`plain-${info.testId}`));
  await page.getByRole('button', { name: 'Add project' }).click();
  await page.getByRole('button', { name: 'Make it a git repository and add it' }).click();
  await expect(page).toHaveURL(/\/chat\//);
});

test('nothing scrolls sideways', async ({ chat }) => {
  await ask(chat, '[[markdown]]');
  await expect(answer(chat)).toContainText('tokens/s');
  expect(await sideways(chat)).toEqual([]);
});

test('what a plain form was refused is said once', async ({ page, boocode, browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await logIn(plain, boocode);
  await plain.getByLabel('Folder of the project').fill('relative/path');
  await plain.getByRole('button', { name: 'Add project' }).click();
  await expect(plain.locator('.field-error')).toContainText(/full path/);
  const refused = plain.url();
  expect(refused).toContain('__err=');
  await context.close();

  await logIn(page, boocode);
  await live(page);
  // As from a form of the page itself.
  await page.evaluate((place) => location.assign(place), refused);
  await expect(page).toHaveURL(`${boocode.url}/`);
  await live(page);
  await expect(page.locator('.field-error')).toContainText(/full path/);
  // A form that comes later has nothing to do with it.
  await page.evaluate(() => (document.querySelector('a[href^="/settings"]') as HTMLElement).click());
  await expect(page.locator('.settings')).toBeVisible();
  await page.evaluate(() => (document.querySelector('a.brand') as HTMLElement).click());
  await expect(page.getByLabel('Folder of the project')).toBeVisible();
  await expect(page.locator('.field-error')).toBeEmpty();
});

test('a page whose data cannot be read says so', async ({ page, boocode }) => {
  await logIn(page, boocode);
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.route(`${boocode.url}/`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('id="first">{', 'id="first">');
    await route.fulfill({ response: answer, body });
  });
  await page.goto(boocode.url);
  await expect(page.getByRole('alert').filter({ hasText: 'This page could not be read. Reload it.' })).toBeVisible();
  expect(errors).toContain('This page could not be read. Reload it.');
});

test('a file that is dropped beside a chat leaves the page where it is', async ({ chat }) => {
  const left = await chat.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['x'], 'stray.txt', { type: 'text/plain' }));
    const words = new DataTransfer();
    words.setData('text/plain', 'words');
    const isLeft = (type: string, dataTransfer: DataTransfer) =>
      document.querySelector('.sidebar')!.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    return { over: isLeft('dragover', data), drop: isLeft('drop', data), words: isLeft('drop', words) };
  });
  // What is no file is the browser's, as ever.
  expect(left).toEqual({ over: false, drop: false, words: true });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a folder that is refused stays in its field', async ({ page, boocode }) => {
    await logIn(page, boocode);
    const field = page.getByLabel('Folder of the project');
    for (const [path, words] of [
      ['/nonexistent/"folder" & more', /no folder/],
      ['relative/path', /full path/],
    ] as const) {
      await field.fill(path);
      await page.getByRole('button', { name: 'Add project' }).click();
      await expect(page.locator('.field-error')).toContainText(words);
      await expect(field).toHaveValue(path);
    }
  });

  test('a long chat shows its end, and nothing that needs scripts is offered', async ({ page, boocode }, info) => {
    await logIn(page, boocode);
    await page.getByLabel('Folder of the project').fill(boocode.repository(`long-${info.testId}`));
    await page.getByRole('button', { name: 'Add project' }).click();
    for (const text of [`${'tall\n'.repeat(60)}[[say heard]]`, '[[say at the end]]']) {
      await page.getByLabel('Your message').fill(text);
      await page.locator('.composer-actions .primary').click();
      await expect(async () => {
        await page.reload();
        await expect(answer(page)).toContainText('tokens/s', { timeout: 500 });
      }).toPass();
    }
    await expect(answer(page)).toBeInViewport();
    await expect(page.locator('button[type=button]').filter({ visible: true })).toHaveCount(0);
    await expect(page.locator('.connection')).toBeHidden();
  });

  test('a chat can be read, asked and stopped', async ({ page, boocode }, info) => {
    await logIn(page, boocode);
    await page.getByLabel('Folder of the project').fill(boocode.repository(`plain-${info.testId}`));
    await page.getByRole('button', { name: 'Add project' }).click();
    await expect(page).toHaveURL(/\/chat\//);
    await page.getByLabel('Your message').fill('[[say plain text]]');
    await page.locator('.composer-actions .primary').click();
    await expect(async () => {
      await page.reload();
      await expect(answer(page)).toContainText('tokens/s', { timeout: 500 });
    }).toPass();
    await expect(answer(page)).toContainText('plain text');

    await page.getByLabel('Your message').fill('[[hang after 3]]');
    await page.locator('.composer-actions .primary').click();
    await expect(page.locator('.message')).toHaveCount(4);
    await expect(answer(page)).not.toContainText('Stopped');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(async () => {
      await page.reload();
      await expect(answer(page)).toContainText('Stopped', { timeout: 500 });
    }).toPass();
    await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeHidden();
  });
});

test('a link to a chat that does not exist says so', async ({ page, boocode }) => {
  await logIn(page, boocode);
  const missing = await page.goto(`${boocode.url}/chat/00000000-0000-0000-0000-000000000000`);
  expect(missing?.status()).toBe(404);
  await expect(page.getByRole('main')).toContainText(/does not exist/);
});

test('another chat opens without a reload', async ({ chat, boocode }, info) => {
  await ask(chat, '[[say in the first chat]]');
  await expect(answer(chat)).toContainText('in the first chat');
  const first = chat.url();
  await chat.evaluate(() => ((window as { marked?: boolean }).marked = true));
  // A narrow page keeps its list in a drawer.
  const menu = chat.getByRole('button', { name: 'Projects and chats' });
  if (await menu.isVisible()) await menu.click();
  const project = chat.locator('nav section').filter({ hasText: `project-${info.testId}` });
  await project.getByRole('button', { name: /New chat/ }).click();
  await expect(chat).not.toHaveURL(first);
  await expect(chat.locator('.message:visible')).toHaveCount(0);
  await chat.goBack();
  await expect(answer(chat)).toContainText('in the first chat');
  expect(await chat.evaluate(() => (window as { marked?: boolean }).marked)).toBe(true);
});

test('what is too wide for its place is found', async ({ chat }) => {
  expect(await sideways(chat)).toEqual([]);
  await chat.locator('.pane-body:not([hidden])').first().evaluate((body) => (body.style.width = '200vw'));
  // The frame cuts it off, so that the root does not tell.
  expect(await chat.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)).toBe(false);
  expect(await sideways(chat)).not.toEqual([]);
});
