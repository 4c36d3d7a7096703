import { type Browser, type Page } from '@playwright/test';
import { sideways } from './faults';
import { focused, menu } from './panes';
import { BooCode, expect, freePort, list, live, logIn, test, Wire } from './world';

/** Settings as a page, once the browser's half of it is there. */
async function openSettings(page: Page, boocode: BooCode, section = 'models'): Promise<void> {
  await page.goto(`${boocode.url}/settings/${section}`);
  await alive(page);
}

/** What the server sent is replaced by what is alive; only the former carries its data. */
async function alive(page: Page): Promise<void> {
  await expect(page.locator('.settings')).toHaveCount(1);
  await expect(page.locator('.settings[data-alive]')).toBeVisible();
}

const row = (page: Page, name: string) => page.locator('.settings-server').filter({ hasText: name });

async function fill(page: Page, name: string, url: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Address', { exact: true }).fill(url);
}

const signedIn = async (browser: Browser, boocode: BooCode): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  await logIn(page, boocode);
  return page;
};

test('a server added in Settings is offered in a chat that is open, and is gone when removed', async ({
  chat,
  boocode,
  model,
  context,
}, info) => {
  const name = `added-${info.project.name}-${info.retry}`;
  // The same server under another spelling is refused, so this is another one in front of it.
  const wire = new Wire(Number(new URL(model).port));
  await wire.open();
  try {
    const page = await context.newPage();
    await openSettings(page, boocode);
    await fill(page, name, wire.url);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByRole('status').filter({ hasText: `${name} was added` })).toBeVisible();
    await expect(row(page, name)).toContainText(/llama-swap/i);
    await expect(row(page, name)).toContainText('set here');
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('');

    const option = chat.locator(`option[value="${name}/small"]`);
    await chat.getByLabel('Model', { exact: true }).focus();
    await expect(option).toBeAttached();
    await chat.getByLabel('Model', { exact: true }).selectOption(`${name}/small`);
    await chat.getByLabel('Your message').fill('[[say from the new server]]');
    await chat.getByLabel('Your message').press('Control+Enter');
    await expect(chat.locator('.message.assistant').last()).toContainText('from the new server');

    await row(page, name).getByText('Remove…').click();
    // The chat is given a title meanwhile, and the page looks again every ten seconds.
    await expect(row(page, name)).toContainText('Nothing waits for it', { timeout: 25_000 });
    await row(page, name).getByRole('button', { name: `Remove ${name}`, exact: true }).click();
    await expect(row(page, name)).toHaveCount(0);
    // Two servers make a long list, which is searched from then on.
    await chat.getByRole('button', { name: /^Model/ }).click();
    const models = chat.getByRole('listbox', { name: 'Model' });
    await expect(models).toContainText('small');
    await expect(models).not.toContainText(`${name} (`);
  } finally {
    wire.close();
  }
});

test('a test asks the address and says what it found; faults stand at their fields', async ({
  page,
  boocode,
  model,
}) => {
  await logIn(page, boocode);
  await openSettings(page, boocode);
  const said = page.locator('form .notice');
  await fill(page, '', model);
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(said).toContainText(/llama-swap/i);
  await fill(page, 'dead', `http://127.0.0.1:${await freePort()}`);
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(said).toContainText(/connection refused/i);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('dead');

  await fill(page, 'local', 'ftp://nowhere');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.locator('#server-url-error')).toContainText('not a web address');
  await expect(page.getByLabel('Address', { exact: true })).toHaveValue('ftp://nowhere');
  await fill(page, 'local', 'http://127.0.0.1:1');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.locator('#server-name-error')).toContainText('already');
  // What a flag names is shown with its source, and cannot be removed here.
  await expect(row(page, 'local')).toContainText('set by the flag --model-server');
  await expect(row(page, 'local').getByText('Remove…')).toHaveCount(0);
});

test('a browser that is signed out says so within seconds', async ({ page, boocode, browser }) => {
  await logIn(page, boocode);
  const other = await signedIn(browser, boocode);
  await live(other);
  await openSettings(page, boocode, 'browsers');
  const open = page.locator('.settings-rows .row').filter({ hasNotText: 'This browser' });
  const before = await open.count();
  expect(before).toBeGreaterThan(0);
  // The one that came last is the first of the others.
  await open.first().getByRole('button', { name: /Sign out/ }).click();
  await expect(open).toHaveCount(before - 1);
  await expect(other.getByText('You are signed out')).toBeVisible({ timeout: 8_000 });
  await other.getByRole('link', { name: 'Log in again' }).click();
  await expect(other.getByLabel('Link or token')).toBeVisible();
  await page.reload();
  await expect(page.getByText('This browser')).toBeVisible();
});

test('a pairing code signs one more browser in, once', async ({ page, browser, model }) => {
  const port = await freePort();
  const wire = new Wire(port);
  await wire.open();
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, '--public-url', wire.url], port);
  try {
    await boocode.start();
    await page.goto(boocode.link);
    await page.goto(`${wire.url}/settings/phone`);
    await alive(page);
    await expect(page.getByText('A phone cannot reach this address')).toBeVisible();
    await page.getByRole('button', { name: 'Make a code' }).click();
    const link = (await page.locator('.settings-link code').textContent())!;
    expect(link).toContain(`${wire.url}/login?token=`);
    await expect(page.getByRole('timer')).toContainText(/[45]:\d\d more/);

    const phone = await (await browser.newContext()).newPage();
    await phone.goto(link);
    await expect(phone.getByLabel('Folder of the project')).toBeVisible();
    await expect(page.getByText('This code was used')).toBeVisible();
    const thief = await (await browser.newContext()).newPage();
    await thief.goto(link);
    await expect(thief.getByRole('alert')).toContainText('used already');

    await page.getByRole('button', { name: 'Make a new code' }).click();
    await expect(page.locator('.settings-link code')).not.toHaveText(link);
  } finally {
    wire.close();
    await boocode.stop();
  }
});

test('what a phone scans is a code for its camera, in the dark too', async ({ page, model }, info) => {
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, '--public-url', 'https://code.example.org', '--trusted-proxy', '127.0.0.1'], await freePort());
  try {
    await page.emulateMedia({ colorScheme: 'dark' });
    await boocode.start();
    const token = new URL(boocode.link).search;
    await page.goto(`${boocode.url}/login${token}`);
    await openSettings(page, boocode, 'phone');
    await expect(page.getByText('The code leads to https://code.example.org.')).toBeVisible();
    await page.getByRole('button', { name: 'Make a code' }).click();
    const picture = page.getByRole('img', { name: 'The link as a QR code' });
    await expect(picture).toBeVisible();
    await expect(page.locator('.settings-link code')).toContainText('https://code.example.org/login?token=');
    const box = (await picture.boundingBox())!;
    expect(box.width).toBeGreaterThanOrEqual(160);
    expect(Math.abs(box.width - box.height)).toBeLessThan(1);
    await page.screenshot({ path: info.outputPath('qr.png') });

    // As a camera sees it: squares of seven in three corners, on white all around.
    const seen = await picture.evaluate(async (svg: SVGSVGElement) => {
      const size = svg.viewBox.baseVal.width;
      const copy = svg.cloneNode(true) as SVGSVGElement;
      copy.setAttribute('width', String(size));
      copy.setAttribute('height', String(size));
      const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size });
      const pen = canvas.getContext('2d')!;
      pen.fillStyle = copy.querySelector('rect')!.getAttribute('fill')!;
      pen.fillRect(0, 0, size, size);
      pen.fillStyle = copy.querySelector('path')!.getAttribute('fill')!;
      pen.fill(new Path2D(copy.querySelector('path')!.getAttribute('d')!));
      const { data } = pen.getImageData(0, 0, size, size);
      const row = (y: number) => Array.from({ length: size }, (_, x) => (data[(y * size + x) * 4] < 128 ? '#' : '.')).join('');
      return Array.from({ length: size }, (_, y) => row(y));
    });
    const margin = seen.findIndex((row) => row.includes('#'));
    expect(margin).toBeGreaterThanOrEqual(2);
    const modules = seen.length - 2 * margin;
    expect((modules - 17) % 4).toBe(0);
    const finder = ['#######', '#.....#', '#.###.#', '#.###.#', '#.###.#', '#.....#', '#######'];
    const corner = (x: number, y: number) => finder.map((_, row) => seen[margin + y + row].slice(margin + x, margin + x + 7));
    for (const [x, y] of [[0, 0], [modules - 7, 0], [0, modules - 7]]) expect(corner(x, y)).toEqual(finder);
    expect(corner(modules - 7, modules - 7)).not.toEqual(finder);
  } finally {
    await boocode.stop();
  }
});

test('the theme is chosen by hand and stays', async ({ page, boocode }) => {
  await logIn(page, boocode);
  await openSettings(page, boocode, 'appearance');
  await page.getByText('Dark', { exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await alive(page);
  await page.getByText('System', { exact: true }).click();
  await expect(page.locator('html')).not.toHaveAttribute('data-theme');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`one key turns what the system made ${colorScheme}, and what is painted around the page`, async ({ chat }) => {
    await chat.emulateMedia({ colorScheme });
    await chat.reload();
    await live(chat);
    const canvas = () => chat.evaluate(() => getComputedStyle(document.body).backgroundColor);
    // What a phone takes: the one for the scheme that is in force.
    const around = () =>
      chat.evaluate(() => {
        const all = [...document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')];
        const probe = document.createElement('i');
        probe.style.color = all.find(({ media }) => matchMedia(media).matches)!.content;
        document.body.append(probe);
        const { color } = getComputedStyle(probe);
        probe.remove();
        return color;
      });
    const before = await canvas();
    expect(await around()).toBe(before);
    for (const expected of [colorScheme === 'dark' ? 'light' : 'dark', colorScheme]) {
      await chat.getByLabel('Your message').fill('/theme');
      await chat.getByLabel('Your message').press('Control+Enter');
      await expect(chat.locator('html')).toHaveAttribute('data-theme', expected);
      expect(await around()).toBe(await canvas());
      expect((await canvas()) === before).toBe(expected === colorScheme);
    }
  });
}

test('the default model and the lane of a server are chosen here', async ({ chat, boocode, model, browser }, info) => {
  const name = `lane-${info.project.name}-${info.retry}`;
  const wire = new Wire(Number(new URL(model).port));
  await wire.open();
  try {
    await openSettings(chat, boocode);
    await fill(chat, name, wire.url);
    await chat.getByText('Lane, key and models').click();
    await chat.getByLabel('Lane', { exact: true }).selectOption('cloud');
    await chat.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(row(chat, name)).toContainText('cloud');
    const choice = chat.getByRole('region', { name: 'Default model' });
    await choice.getByLabel('Model').selectOption(`${name}/small`);
    await choice.getByRole('button', { name: 'Save' }).click();
    await expect(choice).toContainText(`Used now: ${name}/small`);

    // A browser that chose nothing yet begins with it.
    const other = await signedIn(browser, boocode);
    await live(other);
    await list(other);
    await other.getByRole('button', { name: /^New chat in/ }).first().click();
    await expect(other).toHaveURL(/\/chat\//);
    await expect(focused(other).locator('.pane-body:not([hidden]) .composer [name=model]')).toHaveValue(`${name}/small`);
    await other.context().close();

    await choice.getByLabel('Model').selectOption('');
    await choice.getByRole('button', { name: 'Save' }).click();
    await expect(choice).toContainText('Used now: local/');
    await row(chat, name).getByText('Remove…').click();
    await expect(row(chat, name)).toContainText('Nothing waits for it', { timeout: 25_000 });
    await row(chat, name).getByRole('button', { name: `Remove ${name}`, exact: true }).click();
    await expect(row(chat, name)).toHaveCount(0);
  } finally {
    wire.close();
  }
});

test('sections are reached from the sidebar and from each other', async ({ chat, boocode }) => {
  const menu = chat.getByRole('button', { name: 'Projects and chats' });
  if (await menu.isVisible()) await menu.click();
  await chat.getByRole('link', { name: 'Settings', exact: true }).click();
  await expect(chat).toHaveURL(`${boocode.url}/settings/models`);
  await alive(chat);
  for (const [title, text] of [
    ['Notifications', 'From the browser'],
    ['Browsers', 'This browser'],
    ['Pair a phone', 'Make a code'],
    ['About', 'Data directory'],
    ['Models', 'Add a model server'],
  ]) {
    await chat.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: title }).click();
    await expect(chat.locator('.settings-body').getByRole('heading', { level: 2 })).toHaveText(title);
    await expect(chat.locator('.settings-body')).toContainText(text);
    expect(await sideways(chat), title).toEqual([]);
  }
});

test('the browser finds what it needs to install the app', async ({ page, boocode }) => {
  await logIn(page, boocode);
  const session = await page.context().newCDPSession(page);
  const manifest = await session.send('Page.getAppManifest');
  expect(manifest.errors).toEqual([]);
  expect(JSON.parse(manifest.data!)).toMatchObject({ name: 'BooCode', display: 'standalone' });
  const faults = await session.send('Page.getInstallabilityErrors');
  // A page that is not private browsing's would have none; a test's context is.
  expect(faults.installabilityErrors.map((fault) => fault.errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('settings can be read and used', async ({ page, boocode, model }, info) => {
    await logIn(page, boocode);
    await page.goto(`${boocode.url}/settings`);
    await expect(page.locator('.settings-body').getByRole('heading', { level: 2 })).toHaveText('Models');
    await expect(row(page, 'local')).toContainText('set by the flag --model-server');

    const name = `plain-${info.project.name}-${info.retry}`;
    await fill(page, name, 'ftp://nowhere');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect(page.locator('#server-url-error')).toContainText('not a web address');
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue(name);
    await fill(page, name, model);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect(page.locator('form .notice')).toContainText(/llama-swap/i);

    const wire = new Wire(Number(new URL(model).port));
    await wire.open();
    try {
      await fill(page, name, wire.url);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await expect(row(page, name)).toContainText('set here');
      await row(page, name).getByText('Remove…').click();
      await row(page, name).getByRole('button', { name: `Remove ${name}`, exact: true }).click();
      await expect(row(page, name)).toHaveCount(0);
    } finally {
      wire.close();
    }

    await page.getByRole('link', { name: 'Browsers' }).click();
    await expect(page.getByText('This browser')).toBeVisible();
    await page.getByRole('link', { name: 'Pair a phone' }).click();
    await page.getByRole('button', { name: 'Make a code' }).click();
    await expect(page.locator('.settings-link code')).toContainText('/login?token=');
    await page.getByRole('link', { name: 'Appearance' }).click();
    await page.getByRole('button', { name: 'Dark' }).click();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    await page.getByRole('button', { name: 'System' }).click();
    await expect(page.locator('html')).not.toHaveAttribute('data-theme');
  });
});

test('Settings in a pane come back with their section', async ({ chat }) => {
  await menu(focused(chat), 'New in this pane', /Settings/);
  await focused(chat).getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Browsers' }).click();
  await expect(focused(chat).getByRole('heading', { name: 'Browsers' })).toBeVisible();
  await chat.reload();
  await live(chat);
  await expect(focused(chat).getByRole('heading', { name: 'Browsers' })).toBeVisible();
});

test('Settings that were opened while the server was away come alive when it is back', async ({ page, boocode }) => {
  const code = '**/pkg/split_settings.wasm';
  await page.route(code, (route) => route.abort('connectionrefused'));
  await logIn(page, boocode);
  await live(page);
  await list(page);
  await page.getByRole('navigation', { name: 'Projects and chats' }).getByRole('link', { name: 'Settings', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText(/cannot be reached/);
  await page.unroute(code);
  await boocode.kill();
  await boocode.start();
  await alive(page);
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('a browser that comes to the list takes no place but its own', { tag: '@desk' }, async ({ browser, boocode }) => {
  const page = await signedIn(browser, boocode);
  await signedIn(browser, boocode);
  await openSettings(page, boocode, 'browsers');
  const rows = page.locator('.settings-body .row');
  await expect(rows.first()).toContainText('This browser');
  const before = await rows.count();
  await rows.nth(1).getByRole('button').focus();
  await signedIn(browser, boocode);
  await expect(rows).toHaveCount(before + 1, { timeout: 25_000 });
  await expect(rows.first()).toContainText('This browser');
  await expect(rows.nth(2).getByRole('button')).toBeFocused();
});
