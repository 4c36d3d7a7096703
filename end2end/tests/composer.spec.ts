import { type Page } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faults, sideways } from './faults';
import { addProject, answer, ask, BooCode, expect, live, numbers, scripted, test } from './world';

const field = (page: Page) => page.getByLabel('Your message');
const suggestions = (page: Page) => page.locator('.suggestions .option');
const caret = (page: Page) => field(page).evaluate((field: HTMLTextAreaElement) => field.selectionStart);

async function put(page: Page, text: string): Promise<void> {
  const at = text.indexOf('|');
  await field(page).fill(text.replace('|', ''));
  await field(page).evaluate((field: HTMLTextAreaElement, at) => field.setSelectionRange(at, at), at);
  // As any key does that moves the cursor.
  await field(page).press('Shift');
}

test('a command typed in full is what Enter does', async ({ chat }) => {
  await field(chat).fill('/settings');
  await expect(suggestions(chat).first()).toContainText('/settings');
  await field(chat).press('Enter');
  await expect(chat).toHaveURL(/\/settings$/);
  await expect(chat.locator('html')).not.toHaveAttribute('data-theme', /./);
});

test('a command leaves what is written behind it, or takes it along', async ({ chat }) => {
  await put(chat, '/the| and what I was about to say');
  await expect(suggestions(chat).first()).toContainText('/theme');
  await field(chat).press('Enter');
  await expect(chat.locator('html')).toHaveAttribute('data-theme', /./);
  await expect(field(chat)).toHaveValue('and what I was about to say');
  await put(chat, '/are| mend the build');
  await field(chat).press('Enter');
  const launcher = chat.getByRole('dialog', { name: 'New battle' });
  await expect(launcher.getByLabel('Prompt')).toHaveValue('mend the build');
});

test('a command alone is done and not sent', async ({ chat }) => {
  const first = chat.url();
  await field(chat).fill('/new');
  await field(chat).press('Control+Enter');
  await expect(chat).not.toHaveURL(first);
  await expect(chat.locator('.pane-tab')).toHaveCount(2);
  await chat.goto(first);
  await live(chat);
  await expect(field(chat)).toHaveValue('');
  await expect(chat.locator('.message')).toHaveCount(0);
  // The control: what only begins so is a message.
  await ask(chat, '/new [[say heard]]');
  await expect(answer(chat)).toContainText('heard');
});

test('a mention in the middle of a text leaves the cursor behind it', async ({ chat, boocode }, info) => {
  writeFileSync(join(boocode.home, `project-${info.testId}-${info.retry}`, 'lighthouse.md'), 'A tower with a light.');
  await put(chat, 'Is @lightho| tall?');
  await expect(suggestions(chat).filter({ hasText: 'lighthouse.md' })).toBeVisible();
  await field(chat).press('Enter');
  await expect(field(chat)).toHaveValue('Is @lighthouse.md tall?');
  await expect.poll(() => caret(chat)).toBe('Is @lighthouse.md '.length);
  await field(chat).press('x');
  await expect(field(chat)).toHaveValue('Is @lighthouse.md xtall?');
});

test('a list that was closed stays closed when its files are found late', async ({ chat, boocode }, info) => {
  writeFileSync(join(boocode.home, `project-${info.testId}-${info.retry}`, 'lighthouse.md'), 'A tower with a light.');
  await put(chat, '@light|');
  await expect(suggestions(chat).filter({ hasText: 'lighthouse.md' })).toBeVisible();
  let letGo = () => {};
  const held = new Promise<void>((go) => (letGo = go));
  await chat.route('**/api/find_files*', async (route) => {
    await held;
    await route.continue();
  });
  const asked = chat.waitForRequest('**/api/find_files*');
  await field(chat).press('h');
  await asked;
  await field(chat).press('Escape');
  await expect(suggestions(chat)).toHaveCount(0);
  const found = chat.waitForResponse('**/api/find_files*');
  letGo();
  await (await found).finished();
  await chat.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
  await expect(suggestions(chat)).toHaveCount(0);
  // The control: what is asked next is answered.
  await field(chat).press('o');
  await expect(suggestions(chat).filter({ hasText: 'lighthouse.md' })).toBeVisible();
});

test('suggestions are told to whoever listens', async ({ chat }) => {
  const pointed = () =>
    field(chat).evaluate((field) => {
      const option = document.getElementById(field.getAttribute('aria-activedescendant') ?? '');
      const list = document.getElementById(field.getAttribute('aria-controls') ?? '');
      return [list?.role, option?.role, option?.querySelector('.menu-label')?.textContent];
    });
  await expect(field(chat)).toHaveAttribute('aria-autocomplete', 'list');
  expect(await pointed()).toEqual([undefined, undefined, undefined]);
  await field(chat).fill('/ren');
  await expect.poll(pointed).toEqual(['listbox', 'option', '/rename']);
  await field(chat).fill('/');
  await field(chat).press('ArrowDown');
  await expect.poll(pointed).toEqual(['listbox', 'option', '/rename']);
  await expect(chat.getByRole('status').filter({ hasText: /\d+ suggestions, arrow keys choose one/ })).toHaveCount(1);
  await field(chat).press('Escape');
  await expect.poll(pointed).toEqual([undefined, undefined, undefined]);
});

test('what its buttons are for is shown to the keyboard too', { tag: '@desk' }, async ({ chat }) => {
  await field(chat).focus();
  await chat.keyboard.press('Tab');
  await expect(chat.getByRole('button', { name: 'Attach files' })).toBeFocused();
  const tip = chat.locator('.tooltip');
  await expect(tip).toContainText('Attach files.');
  // What grows under a pointer that rests does not take it away.
  await chat.mouse.move(5, 5);
  await chat.mouse.move(700, 300);
  await expect(tip).toBeHidden();
  await chat.keyboard.press('Shift+Tab');
  await chat.keyboard.press('Tab');
  await expect(tip).toBeVisible();
  await chat.evaluate(() => {
    const under = document.elementFromPoint(700, 300)!;
    under.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse', screenX: 700, screenY: 300, clientX: 700, clientY: 300 }));
    under.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse', screenX: 700, screenY: 300, clientX: 700, clientY: 300 }));
  });
  // Longer than a tooltip outlives what it belonged to.
  await chat.waitForTimeout(300);
  await expect(tip).toBeVisible();
});

test('a phone has icons with names, each as large as a finger', { tag: '@phone' }, async ({ chat }, info) => {
  const check = async (names: string[]) => {
    const row = chat.locator('.composer-row:visible');
    for (const name of names) {
      const part = row.getByLabel(name, { exact: true });
      const box = (await part.boundingBox())!;
      expect(Math.min(box.width, box.height), name).toBeGreaterThanOrEqual(44);
    }
    // All in one row, and no words in it.
    const tops = await row.locator(':is(.icon-button, .picker):visible').evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    expect(new Set(tops).size).toBe(1);
    expect(tops.length).toBe(names.length);
    expect(await sideways(chat)).toEqual([]);
  };
  await check(['Attach files', 'Persona', 'Model', 'Orchestrator', 'Arena', 'Send']);
  await ask(chat, '[[hang after 3]]');
  await expect(answer(chat)).toContainText('Writing…');
  await check(['Attach files', 'Persona', 'Model', 'Orchestrator', 'Arena', 'Stop', 'Send when this is done']);
  await chat.screenshot({ path: info.outputPath('row.png') });
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
  await chat.getByRole('button', { name: 'New in this pane' }).click();
  await chat.getByRole('menuitem', { name: /New task/ }).click();
  await expect(chat.getByRole('region', { name: 'Coder' })).toBeVisible();
  await check(['Attach files', 'Agent', 'Persona', 'Model', 'Orchestrator', 'Arena', 'Send']);
});

test('it stays above a keyboard that lies over the page', { tag: '@phone' }, async ({ chat, context }) => {
  const page = await context.newPage();
  await page.addInitScript(() => {
    const seen = Object.assign(new EventTarget(), { height: innerHeight, width: innerWidth, scale: 1, onresize: null as (() => void) | null });
    Object.defineProperty(window, 'visualViewport', { value: seen });
  });
  await page.goto(chat.url());
  await live(page);
  const bottom = async () => {
    const box = (await page.locator('.composer').boundingBox())!;
    return box.y + box.height;
  };
  const see = (height: number, scale = 1) =>
    page.evaluate(({ height, scale }) => {
      Object.assign(window.visualViewport!, { height, scale });
      window.visualViewport!.onresize!(new Event('resize'));
    }, { height, scale });
  expect(await bottom()).toBeGreaterThan(700);
  await see(500);
  await expect.poll(bottom).toBeLessThanOrEqual(500);
  await see(844);
  await expect.poll(bottom).toBeGreaterThan(700);
  // Who zooms in sees less, and covers nothing.
  await see(422, 2);
  expect(await bottom()).toBeGreaterThan(700);
});

test('it grows with its text, also where a field does not do so by itself', async ({ chat }) => {
  const heights = async (page: Page) => {
    const height = async () => (await field(page).boundingBox())!.height;
    await field(page).fill('one line');
    const one = await height();
    await field(page).fill('line\n'.repeat(6));
    const six = await height();
    await field(page).fill('line\n'.repeat(200));
    return [one, six, await height()];
  };
  const check = ([one, six, many]: number[]) => {
    expect(six).toBeGreaterThan(one + 80);
    expect(many).toBeGreaterThanOrEqual(six);
    expect(many).toBeLessThan(400);
  };
  const own = await heights(chat);
  check(own);
  // This browser can do it. So it is told not to, and gets the rules for those that cannot.
  const unsized = await chat.evaluate(() => {
    const isFallback = (rule: CSSRule): rule is CSSSupportsRule =>
      rule instanceof CSSSupportsRule && rule.conditionText.startsWith('not (field-sizing');
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter(isFallback);
    const sheet = new CSSStyleSheet();
    sheet.insertRule('.composer-input { field-sizing: fixed !important }');
    document.adoptedStyleSheets = [sheet];
    (window as unknown as { fallback: () => void }).fallback = () => {
      for (const rule of rules.flatMap((rule) => [...rule.cssRules])) sheet.insertRule(rule.cssText);
    };
    return rules.length;
  });
  expect(unsized).toBe(1);
  // The control: without them it stays as it is.
  const [one, six] = await heights(chat);
  expect(six).toBe(one);
  await chat.evaluate(() => (window as unknown as { fallback: () => void }).fallback());
  const other = await heights(chat);
  check(other);
  // Within a part of a line.
  expect(Math.abs(other[1] - own[1])).toBeLessThan(8);
});

test('two pages of a browser on one chat share what stands at its composer', async ({ chat, context }) => {
  const other = await context.newPage();
  await other.goto(chat.url());
  await live(other);
  const attached = (page: Page) => page.getByRole('list', { name: 'Attached files' }).getByRole('link');
  const pick = async (page: Page, name: string) => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chooser).setFiles([{ name, mimeType: 'text/plain', buffer: Buffer.from(name) }]);
  };
  await pick(chat, 'first.txt');
  await expect(attached(other)).toHaveText([/first/]);
  await pick(other, 'second.txt');
  await expect(attached(chat)).toHaveText([/first/, /second/]);
  await field(chat).fill('half a thought');
  await expect(field(other)).toHaveValue('half a thought');
  // A page that is busy hears late of what was typed meanwhile, and neither shows nor keeps what is old by then.
  await other.evaluate(() => {
    const key = Object.keys(localStorage).find((key) => localStorage.getItem(key) === 'half a thought')!;
    window.dispatchEvent(new StorageEvent('storage', { key, newValue: 'half a' }));
  });
  await field(chat).pressSequentially(' and more');
  await expect(field(other)).toHaveValue('half a thought and more');
  await expect(field(chat)).toHaveValue('half a thought and more');
  await other.getByRole('button', { name: 'Remove first.txt' }).click();
  await expect(attached(chat)).toHaveText([/second/]);
  await chat.reload();
  await live(chat);
  await expect(attached(chat)).toHaveText([/second/]);
  await ask(chat, '[[say both]]');
  await expect(answer(other)).toContainText('both');
  await expect(attached(other)).toHaveCount(0);
  await expect(field(other)).toHaveValue('');
});

test('a long list of models is searched', async ({ page }, info) => {
  const names = Array.from({ length: 40 }, (_, n) => `model-${n + 1}`);
  const model = await scripted(100, '--models', ['small', ...names, 'echo'].join(','));
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model.url}`]);
  try {
    await boocode.start();
    await page.goto(boocode.link);
    await addProject(page, boocode.repository('many-models'));
    const button = page.getByRole('button', { name: /^Model/ });
    await button.click();
    const search = page.getByRole('combobox', { name: 'Search: Model' });
    await expect(search).toBeFocused();
    expect(await faults(page)).toEqual([]);
    await page.screenshot({ path: info.outputPath('models.png') });
    await search.fill('model-37');
    await expect(page.getByRole('listbox', { name: 'Model' }).getByRole('option')).toHaveCount(1);
    await search.press('Enter');
    await expect(button).toHaveAccessibleName('Model model-37');
    await ask(page, '[[say from the thirty-seventh]]');
    await expect(answer(page)).toContainText('from the thirty-seventh');
    await expect(answer(page).locator('.message-author')).toHaveText('model-37');
    expect(await sideways(page)).toEqual([]);
  } finally {
    await boocode.stop();
    model.stop();
  }
});

test('each tab keeps a draft of its own', async ({ chat }) => {
  await field(chat).fill('of the first');
  const first = chat.url();
  await chat.keyboard.press('Alt+n');
  await expect(chat).not.toHaveURL(first);
  const front = chat.locator('.pane-body:not([hidden])').getByLabel('Your message');
  await expect(front).toHaveValue('');
  await front.fill('of the second');
  await chat.keyboard.press('Alt+PageUp');
  await expect(chat).toHaveURL(first);
  await expect(front).toHaveValue('of the first');
  await chat.reload();
  await live(chat);
  await expect(front).toHaveValue('of the first');
  await chat.keyboard.press('Alt+PageDown');
  await expect(front).toHaveValue('of the second');
});

test('an answer is copied as it was written, without its reasoning', async ({ chat, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await ask(chat, '[[reasoning let me see]] [[count 40]]');
  await expect(answer(chat)).toContainText('tokens/s');
  await answer(chat).getByRole('button', { name: 'Copy this answer' }).click();
  await expect(answer(chat).getByRole('status').filter({ hasText: 'Copied' })).toHaveCount(1);
  expect((await chat.evaluate(() => navigator.clipboard.readText())).trim()).toBe(numbers(40));
});

test('of an answer without end as much is shown as can be read, and all of it is there', async ({ chat, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await ask(chat, '[[rate 0]][[bytes 3000000 chunk 16384]]');
  await expect(answer(chat)).toContainText('tokens/s', { timeout: 30_000 });
  const shown = () => answer(chat).locator('.markdown').evaluate((text) => text.textContent!.length);
  const first = await shown();
  expect(first).toBeLessThan(600_000);
  const more = answer(chat).getByRole('button', { name: 'Show more' });
  await expect(answer(chat)).toContainText(/\d+ KB more are kept/);
  await more.click();
  await expect.poll(shown).toBeGreaterThan(first + 400_000);
  await chat.reload();
  await live(chat);
  await expect(more).toBeVisible();
  // Once all of it has come again.
  const copied = async () => {
    await answer(chat).getByRole('button', { name: 'Copy this answer' }).click();
    return chat.evaluate(async () => (await navigator.clipboard.readText()).length);
  };
  await expect.poll(copied, { timeout: 30_000 }).toBeGreaterThanOrEqual(3_000_000);
});

test('Enter takes the file that is still looked for, and none of an earlier question', async ({ chat, boocode }, info) => {
  const project = join(boocode.home, `project-${info.testId}-${info.retry}`);
  for (const name of ['alpha.md', 'alphabet.md']) writeFileSync(join(project, name), 'Letters.');
  for (let n = 0; n < 40; n++) writeFileSync(join(project, `many-${n}.txt`), '');
  await field(chat).pressSequentially('@alpha');
  await expect(suggestions(chat).first()).toContainText('alpha.md');
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await chat.route('**/api/find_files', async (route) => {
    await held;
    await route.continue();
  });
  await field(chat).pressSequentially('b');
  await field(chat).press('Enter');
  await field(chat).press('Tab');
  await expect(field(chat)).toHaveValue('@alphab');
  await expect(field(chat)).toBeFocused();
  letGo();
  await expect(field(chat)).toHaveValue('@alphabet.md ');
  await expect(suggestions(chat)).toHaveCount(0);
  await chat.unroute('**/api/find_files');

  // What nothing is called is said, and Enter is a new line then.
  await field(chat).fill('');
  await field(chat).pressSequentially('@nowhere');
  await expect(suggestions(chat)).toHaveText([/No file/]);
  await field(chat).press('Enter');
  await expect(field(chat)).toHaveValue('@nowhere\n');
  // What cannot be asked leaves nothing of before.
  await field(chat).fill('');
  await field(chat).pressSequentially('@alpha');
  await expect(suggestions(chat).first()).toContainText('alpha.md');
  await chat.route('**/api/find_files', (route) => route.abort('connectionrefused'));
  await field(chat).pressSequentially('b');
  await expect(suggestions(chat)).toHaveCount(0);
  await chat.unroute('**/api/find_files');
  await field(chat).fill('');
  await field(chat).pressSequentially('@many-');
  await expect(suggestions(chat).last()).toContainText('10 more');
});

test('the Enter that ends a composed word takes no suggestion', async ({ chat }) => {
  await field(chat).fill('/settings');
  await expect(suggestions(chat).first()).toContainText('/settings');
  await field(chat).dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true });
  await field(chat).dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true });
  await expect(field(chat)).toHaveValue('/settings');
  await expect(suggestions(chat).first()).toContainText('/settings');
  await field(chat).press('Enter');
  await expect(chat).toHaveURL(/\/settings$/);
});
