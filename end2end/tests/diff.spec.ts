import type { Page } from '@playwright/test';
import { faults, sideways } from './faults';
import { type BooCode, expect, logIn, test } from './world';

const NODES_MAX = 1_500;

/** A sample on the design page, laid out by the browser. Errors in its console fail the test. */
async function open(page: Page, boocode: BooCode, sample = 'files'): Promise<string[]> {
  const isPhone = page.viewportSize()!.width < 500;
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await logIn(page, boocode);
  await page.goto(`${boocode.url}/design?diff=${sample}`);
  await expect(page.locator('.diff-size')).toHaveAttribute('style', /height/);
  // A phone breaks lines, once it knows how many letters fit.
  if (isPhone) await expect(page.locator('.diff')).not.toHaveAttribute('data-columns', '0');
  await page.locator('.diff').scrollIntoViewIfNeeded();
  return errors;
}

const rows = (page: Page) => page.locator('.diff-rows');
const grid = (page: Page) => page.getByRole('grid', { name: 'Changed lines' });
const current = (page: Page) => page.locator('.diff-rows .current');
const line = (page: Page, text: string) => page.locator('.diff-rows .ln', { hasText: text });

async function scroll(page: Page, top: number): Promise<void> {
  await page.locator('.diff-scroll').evaluate((element, top) => {
    element.scrollTop = top;
  }, top);
}

/** Rows that are in sight but have no text yet, and whether rows cover the whole screen. */
async function look(page: Page): Promise<{ waiting: number; covered: boolean; nodes: number }> {
  return page.evaluate(() => {
    const screen = document.querySelector('.diff-scroll')!.getBoundingClientRect();
    const all = [...document.querySelectorAll('.diff-rows > .diff-row')].map((row) => row.getBoundingClientRect());
    const waiting = document.querySelectorAll('.diff-rows > .waiting').length;
    const covered = all.length > 0 && all[0].top <= screen.top + 1 && all.at(-1)!.bottom >= screen.bottom - 32;
    const walker = document.createTreeWalker(document.querySelector('.diff')!, NodeFilter.SHOW_ELEMENT);
    let nodes = 0;
    while (walker.nextNode()) nodes += 1;
    return { waiting, covered, nodes };
  });
}

test('the first rows are read without scripts', async ({ browser, page, boocode }) => {
  await logIn(page, boocode);
  const context = await browser.newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() });
  const plain = await context.newPage();
  await plain.goto(`${boocode.url}/design`);
  await expect(plain.locator('.diff-rows')).toContainText('const LISTED_MAX: usize = 40;');
  await expect(plain.locator('.diff-rows .k').first()).toBeVisible();
  await context.close();
});

for (const sample of ['many', 'long', 'huge']) {
  test(`only what is in sight is in the page: ${sample}`, async ({ page, boocode }) => {
    test.slow();
    const errors = await open(page, boocode, sample);
    const height = await page.locator('.diff-size').evaluate((size) => size.clientHeight);
    for (const part of [0, 0.1, 0.5, 0.77, 1, 0.3]) {
      await scroll(page, Math.floor(height * part));
      await expect(async () => {
        const { waiting, covered, nodes } = await look(page);
        expect({ waiting, covered }).toEqual({ waiting: 0, covered: true });
        expect(nodes).toBeLessThanOrEqual(NODES_MAX);
      }).toPass();
    }
    expect(errors).toEqual([]);
  });
}

test('every step of scrolling shows rows', async ({ page, boocode }) => {
  await open(page, boocode, 'many');
  for (let step = 1; step < 40; step += 1) {
    await scroll(page, step * 230);
    const { covered, nodes } = await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    ).then(() => look(page));
    expect(covered, `at step ${step}`).toBe(true);
    expect(nodes).toBeLessThanOrEqual(NODES_MAX);
  }
});

test('the end of a million lines is reached', async ({ page, boocode }) => {
  test.slow();
  await open(page, boocode, 'huge');
  expect(Number(await grid(page).getAttribute('aria-rowcount'))).toBeGreaterThanOrEqual(1_001_000);
  await grid(page).focus();
  await page.keyboard.press('End');
  await expect(line(page, 'total += value_249;').last()).toBeInViewport();
});

test('what is looked for is found in the whole change', async ({ page, boocode }) => {
  await open(page, boocode, 'many');
  await grid(page).focus();
  await page.keyboard.press('/');
  const field = page.getByRole('textbox', { name: 'Find in the changes' });
  await expect(field).toBeFocused();
  await field.fill('step 7 of file 50');
  await expect(page.locator('.diff-found')).toHaveText('1 of 11');
  await expect(current(page)).toContainText('// Step 7 of file 50:');
  await expect(current(page).locator('mark')).toHaveText('Step 7 of file 50');
  await field.press('Enter');
  await expect(page.locator('.diff-found')).toHaveText('2 of 11');
  await expect(current(page)).toContainText('// Step 7 of file 500:');
  await expect(current(page)).toBeInViewport();
  await field.press('Shift+Enter');
  await expect(page.locator('.diff-found')).toHaveText('1 of 11');
  await field.fill('there is no such thing');
  await expect(page.locator('.diff-found')).toHaveText('Nothing found');
  await field.press('Escape');
  await expect(field).toBeHidden();
  await expect(grid(page)).toBeFocused();
});

test('what is folded opens from both ends', async ({ page, boocode }) => {
  await open(page, boocode);
  await expect(rows(page)).toContainText('Show 19 hidden lines');
  const count = async () => Number(await grid(page).getAttribute('aria-rowcount'));
  const before = await count();
  const fold = page.locator('.diff-rows .fold').first();
  await fold.getByRole('button', { name: 'Show 10 more lines from the bottom' }).click();
  await expect(rows(page)).toContainText('Show 9 hidden lines');
  await expect.poll(count).toBeGreaterThanOrEqual(before + 10);
  await fold.getByRole('button', { name: /hidden lines/ }).click();
  await expect(rows(page)).not.toContainText('Show 9 hidden lines');
  // Nine lines in the place of the row that told of them.
  await expect.poll(count).toBeGreaterThanOrEqual(before + 18);
});

test('both sides are side by side @desk', async ({ page, boocode }) => {
  await open(page, boocode);
  await page.locator('.diff .segment', { hasText: 'Split' }).click();
  await expect(grid(page)).toHaveAttribute('aria-colcount', '4');
  const changed = page.locator('.diff-rows .both').first();
  await expect(changed.locator('code.t').first()).toContainText('#[cfg(feature = "ssr")]');
  await expect(changed.locator('code.t').last()).toContainText('use crate::device;');
  const halves = await changed.locator('code.t').evaluateAll((cells) => cells.map((cell) => cell.clientWidth));
  expect(Math.abs(halves[0] - halves[1])).toBeLessThan(4);
  expect(await page.locator('.diff-scroll').evaluate((scroll) => scroll.scrollWidth <= scroll.clientWidth)).toBe(true);
});

test('a phone has one column and nothing goes beyond it @phone', async ({ page, boocode }) => {
  await open(page, boocode);
  await expect(page.locator('.diff .segmented')).toBeHidden();
  await expect(page.locator('.diff-rows [data-on]').first()).toBeAttached();
  expect(await sideways(page)).toEqual([]);
  const cut = await page.locator('.diff-rows code.t').evaluateAll((cells) =>
    cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
  );
  expect(cut).toEqual([]);
});

test('long lines go on in the next row @desk', async ({ page, boocode }) => {
  await open(page, boocode);
  const before = Number(await grid(page).getAttribute('aria-rowcount'));
  await page.getByRole('button', { name: 'Break long lines' }).click();
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBeGreaterThan(before);
  expect(await page.locator('.diff-scroll').evaluate((scroll) => scroll.scrollWidth <= scroll.clientWidth)).toBe(true);
});

test('keys lead from change to change and from file to file', async ({ page, boocode }) => {
  await open(page, boocode);
  await grid(page).focus();
  await page.keyboard.press('n');
  await expect(current(page)).toContainText('#[cfg(feature = "ssr")]');
  await page.keyboard.press('n');
  await expect(current(page)).toContainText('A cookie has room');
  await page.keyboard.press('p');
  await expect(current(page)).toContainText('#[cfg(feature = "ssr")]');
  await page.keyboard.press('j');
  await expect(current(page)).toContainText('use crate::device;');
  await page.keyboard.press('k');
  await expect(current(page)).toContainText('#[cfg(feature = "ssr")]');
  await page.keyboard.press(']');
  await expect(current(page)).toContainText('app/src/ui/segmented.rs');
  await page.keyboard.press(']');
  await expect(current(page)).toContainText('bin/start.sh');
  await page.keyboard.press('[');
  await expect(current(page)).toContainText('app/src/ui/segmented.rs');
  await expect(current(page)).toBeInViewport();
  await expect(grid(page)).toHaveAttribute('aria-activedescendant', (await current(page).getAttribute('id'))!);
});

test('a file is chosen in the tree', async ({ page, boocode }, info) => {
  await open(page, boocode);
  if (info.project.name === 'phone') await page.getByRole('button', { name: 'Files', exact: true }).click();
  const tree = page.getByRole('navigation', { name: 'Changed files' });
  await tree.getByRole('button', { name: /access\.js/ }).click();
  await expect(page.locator('.diff-rows .file-row.current')).toContainText('src/access.js');
  if (info.project.name === 'phone') {
    await expect(tree).toBeHidden();
    return;
  }
  await expect(tree.getByRole('button', { name: /access\.js/ })).toHaveAttribute('aria-current', 'true');
  await tree.getByRole('button', { name: 'notes' }).click();
  await expect(tree.getByRole('button', { name: /windows\.txt/ })).toHaveCount(0);
});

test('what cannot be seen is shown', async ({ page, boocode }) => {
  await open(page, boocode);
  await grid(page).focus();
  await page.keyboard.press('/');
  await page.getByRole('textbox', { name: 'Find in the changes' }).fill('level !==');
  const tokens = current(page).locator('.u');
  await expect(tokens.first()).toHaveText('U+202E');
  await expect(tokens.first()).toBeVisible();
  // The characters themselves are nowhere in the page.
  const hidden = await rows(page).evaluate((rows) => /[\u202e\u2066\u2069\u200b]/.test(rows.textContent!));
  expect(hidden).toBe(false);
});

test('changes of whitespace alone are left out when they are not wanted', async ({ page, boocode }) => {
  await open(page, boocode);
  const before = Number(await grid(page).getAttribute('aria-rowcount'));
  await page.getByRole('button', { name: 'Hide changes of whitespace' }).click();
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBeLessThan(before);
});

test('code is copied without numbers and signs', async ({ page, boocode, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, boocode);
  await expect(line(page, 'const LISTED_MAX')).toBeVisible();
  await page.evaluate(() => {
    const lines = [...document.querySelectorAll('.diff-rows .ln')];
    const at = (text: string) => lines.find((line) => line.textContent!.includes(text))!.querySelector('code.t')!;
    const range = document.createRange();
    range.setStart(at('use crate::device;'), 0);
    range.setEnd(at('const LISTED_MAX'), at('const LISTED_MAX').childNodes.length);
    getSelection()!.removeAllRanges();
    getSelection()!.addRange(range);
  });
  await page.keyboard.press('Control+c');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.split('\n')).toEqual([
    'use crate::device;',
    '',
    'const YEAR_S: u32 = 365 * 24 * 60 * 60;',
    '/// A cookie has room for this many ids and more; the oldest give way.',
    'const LISTED_MAX: usize = 40;',
  ]);
  await page.getByRole('button', { name: 'Copy the path' }).first().click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('app/src/cookie.rs');
  await page.getByRole('button', { name: 'Copy the patch of this file' }).first().click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toMatch(/^diff --git a\/app\/src\/cookie.rs b\/app\/src\/cookie.rs\n/);
});

test('comments are written, changed, removed and sent', async ({ page, boocode }) => {
  await open(page, boocode);
  await grid(page).focus();
  await page.keyboard.press('n');
  await expect(current(page)).toHaveClass(/del/);
  await page.keyboard.press('c');
  const first = page.getByRole('textbox', { name: 'Comment on app/src/cookie.rs, line 4, before the change' });
  await expect(first).toBeFocused();
  await first.fill('Keep this');
  await first.press('Control+Enter');
  await expect(grid(page)).toBeFocused();
  await expect(page.locator('.diff-rows .noted')).toHaveCount(1);

  await line(page, 'const LISTED_MAX').hover();
  await page.getByRole('button', { name: 'Comment on this line' }).click();
  const second = page.getByRole('textbox', { name: 'Comment on app/src/cookie.rs, line 8' });
  await second.fill('Why forty?');
  await page.getByRole('button', { name: 'Add comment' }).click();
  await expect(page.getByRole('heading', { name: '2 comments' })).toBeVisible();

  await page.getByRole('button', { name: 'Edit the comment on app/src/cookie.rs, line 8' }).click();
  await expect(second).toHaveValue('Why forty?');
  await second.fill('Why forty, and not fifty?');
  await page.getByRole('button', { name: 'Save comment' }).click();
  await page.getByRole('button', { name: 'Remove the comment on app/src/cookie.rs, line 4, before the change' }).click();
  await expect(page.getByRole('heading', { name: '1 comment' })).toBeVisible();
  await page.getByRole('button', { name: 'Send comments' }).click();
  await expect(page.locator('.changes-sent')).toHaveText('app/src/cookie.rs:8 Why forty, and not fifty?');
  await expect(page.getByRole('heading', { name: '1 comment' })).toBeHidden();
});

test('of two sides the one that is pointed at is commented on, and nothing half written goes @desk', async ({ page, boocode }) => {
  await open(page, boocode);
  await page.locator('.diff .segment', { hasText: 'Split' }).click();
  await expect(grid(page)).toHaveAttribute('aria-colcount', '4');
  const sides = page.locator('.diff-rows .both').first().locator('code.t');
  const plus = page.getByRole('button', { name: 'Comment on this line' });
  await sides.first().hover();
  await plus.click();
  const left = page.getByRole('textbox', { name: 'Comment on app/src/cookie.rs, line 4, before the change' });
  await expect(left).toBeFocused();
  await left.fill('Half of i');
  await sides.last().hover();
  await plus.click();
  await expect(page.getByRole('textbox', { name: /^Comment on app\/src\/cookie\.rs, line \d+$/ })).toBeFocused();
  await expect(page.getByRole('region', { name: 'Comments to be sent' })).toContainText('Half of i');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('axe finds nothing serious in a diff', async ({ page, boocode }) => {
      const errors = await open(page, boocode);
      await grid(page).focus();
      await page.keyboard.press('/');
      await page.getByRole('textbox', { name: 'Find in the changes' }).fill('cookie');
      await expect(page.locator('.diff-found')).toContainText('of');
      expect(await faults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('n');
      await expect(current(page)).toHaveClass(/add|del/);
      await page.keyboard.press('c');
      await expect(page.getByRole('button', { name: 'Add comment' })).toBeVisible();
      expect(await faults(page)).toEqual([]);
      expect(errors).toEqual([]);
    });
  });
}
