import type { Page } from '@playwright/test';
import { faults, sideways } from './faults';
import { type BooCode, expect, logIn, test } from './world';

/** The page with every part, alive. Errors in its console, a mismatch with the server's rendering too, fail the test. */
async function open(page: Page, boocode: BooCode): Promise<string[]> {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await logIn(page, boocode);
  await page.goto(`${boocode.url}/design`);
  await alive(page);
  return errors;
}

/** A press works from when the page has come alive. */
async function alive(page: Page): Promise<void> {
  await expect(async () => {
    await page.getByRole('tab', { name: 'Diff' }).click();
    await expect(page.getByRole('tab', { name: 'Diff' })).toHaveAttribute('aria-selected', 'true', { timeout: 500 });
  }).toPass();
  await page.getByRole('tab', { name: 'Output' }).click();
}

const focused = (page: Page) => page.locator(':focus');

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('axe finds nothing serious, whatever is open', async ({ page, boocode }) => {
      // It looks at the whole page four times, with a diff in it.
      test.slow();
      const errors = await open(page, boocode);
      expect(await faults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Pane', exact: true }).click();
      await expect(page.getByRole('menu', { name: 'Pane' })).toBeVisible();
      expect(await faults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: /^Model/ }).click();
      await expect(page.getByRole('listbox', { name: 'Model' })).toBeVisible();
      expect(await faults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Failed', exact: true }).click();
      await page.getByRole('button', { name: 'With an action' }).click();
      await page.getByRole('button', { name: 'Add server…' }).click();
      await expect(page.getByRole('dialog', { name: 'Add a model server' })).toBeVisible();
      expect(await faults(page)).toEqual([]);
      expect(errors).toEqual([]);
    });
  });
}

test('nothing scrolls sideways, and fingers find what they press', async ({ page, boocode }, info) => {
  await open(page, boocode);
  expect(await sideways(page)).toEqual([]);
  if (info.project.name !== 'phone') return;
  const small = await page.evaluate(() => {
    const pressed = 'main :is(button, a.button, a.row, a.card, select, label.switch, label.segment, .pane-bar-item)';
    const parts = [...document.querySelectorAll<HTMLElement>(pressed)].filter((part) => part.checkVisibility());
    const short = parts.filter((part) => part.getBoundingClientRect().height < 43.5);
    return short.map((part) => part.className + ' ' + part.textContent);
  });
  expect(small).toEqual([]);
});

test('a menu is steered by keys', async ({ page, boocode }) => {
  await open(page, boocode);
  const button = page.getByRole('button', { name: 'Pane', exact: true });
  const menu = page.getByRole('menu', { name: 'Pane' });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(menu).toBeVisible();
  await expect(button).toHaveAttribute('aria-expanded', 'true');
  await expect(focused(page)).toHaveAccessibleName('Chat');
  await expect(focused(page)).toHaveAccessibleDescription('Ask a model about the project');
  await page.keyboard.press('ArrowDown');
  await expect(focused(page)).toHaveAccessibleName('Coder');
  await page.keyboard.press('End');
  await expect(focused(page)).toHaveAccessibleName('Close pane');
  await page.keyboard.press('ArrowDown');
  await expect(focused(page)).toHaveAccessibleName('Chat');
  await page.keyboard.type('ter');
  await expect(focused(page)).toHaveAccessibleName('Terminal');
  await page.keyboard.press('Enter');
  await expect(menu).toBeHidden();
  await expect(button).toBeFocused();
  await expect(button).toHaveAttribute('aria-expanded', 'false');
  await expect(page.getByText('Chosen: Terminal')).toBeVisible();

  await page.keyboard.press('ArrowUp');
  await expect(focused(page)).toHaveAccessibleName('Close pane');
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect(button).toBeFocused();
});

test('what a menu cannot do says why, and what is on is marked', async ({ page, boocode }) => {
  await open(page, boocode);
  const button = page.getByRole('button', { name: 'Pane', exact: true });
  await button.click();
  const arena = page.getByRole('menuitem', { name: 'Arena' });
  await expect(arena).toHaveAttribute('aria-disabled', 'true');
  await expect(arena).toHaveAccessibleDescription('No second model is reachable');
  await expect(arena).toBeInViewport({ ratio: 1 });
  await arena.click({ force: true });
  await expect(page.getByRole('menu', { name: 'Pane' })).toBeVisible();
  await expect(page.getByText('Chosen: nothing yet')).toBeVisible();
  await page.getByRole('menuitemradio', { name: 'Name' }).click();
  await button.click();
  await expect(page.getByRole('menuitemradio', { name: 'Name' })).toBeChecked();
  // The same button closes it again.
  await page.keyboard.press('Escape');
  await button.click();
  await expect(page.getByRole('menu', { name: 'Pane' })).toBeVisible();
});

test('a menu stays inside the window', async ({ page, boocode }) => {
  await open(page, boocode);
  const button = page.getByRole('button', { name: 'Pane', exact: true });
  for (const block of ['start', 'end'] as const) {
    await button.evaluate((element, block) => element.scrollIntoView({ block }), block);
    await button.click();
    // Once it has come to rest: it moves a little while it appears.
    await page.getByRole('menu', { name: 'Pane' }).evaluate((menu) =>
      Promise.all(menu.getAnimations().map((animation) => animation.finished)));
    const box = (await page.getByRole('menu', { name: 'Pane' }).boundingBox())!;
    const { width, height } = page.viewportSize()!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.y).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(width);
    expect(box.y + box.height).toBeLessThanOrEqual(height);
    await page.keyboard.press('Escape');
  }
});

test('a dialog keeps the focus and gives it back', async ({ page, boocode }) => {
  await open(page, boocode);
  const button = page.getByRole('button', { name: 'Add server…' });
  const dialog = page.getByRole('dialog', { name: 'Add a model server' });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(dialog).toBeVisible();
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  // A list that opens in it closes before it does.
  await dialog.getByRole('button', { name: /^Lane/ }).click();
  await expect(page.getByRole('listbox', { name: 'Lane' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('listbox', { name: 'Lane' })).toBeHidden();
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(button).toBeFocused();
  // Closed, it holds nothing.
  await expect(page.getByLabel('Address')).toHaveCount(1);
});

test('a combobox narrows what is typed and passes over what cannot be chosen', async ({ page, boocode }) => {
  await open(page, boocode);
  const button = page.getByRole('button', { name: /^Model/ });
  await expect(button).toContainText('qwen3.6-35b-a3b');
  await button.focus();
  await page.keyboard.press('ArrowDown');
  const field = page.getByRole('combobox', { name: 'Search: Model' });
  await expect(field).toBeFocused();
  const active = async () => {
    const id = await field.getAttribute('aria-activedescendant');
    return page.locator(`[id="${id}"] .menu-label`).textContent();
  };
  await expect.poll(active).toBe('qwen3.6-35b-a3b');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  // Past the one whose server does not answer.
  await expect.poll(active).toBe('kimi-k2');
  const gone = page.getByRole('option', { name: /gemma/ });
  await expect(gone).toHaveAttribute('aria-disabled', 'true');
  await expect(gone).toContainText('Connection refused');
  await page.keyboard.type('cloud thinks');
  await expect(page.getByRole('listbox', { name: 'Model' }).getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(field).toBeHidden();
  await expect(button).toBeFocused();
  await expect(button).toContainText('deepseek-v3.2');
  await button.click();
  await page.keyboard.type('no such thing');
  await expect(page.getByText('Nothing matches')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(button).toContainText('deepseek-v3.2');
});

test('tabs are one stop, moved along by arrows', async ({ page, boocode }) => {
  await open(page, boocode);
  const tab = (name: string) => page.getByRole('tab', { name });
  await tab('Output').focus();
  await page.keyboard.press('ArrowRight');
  await expect(tab('Diff')).toBeFocused();
  await expect(tab('Diff')).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('tabpanel', { name: 'Diff' })).toContainText('changed');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(tab('Analysis')).toBeFocused();
  await page.keyboard.press('Home');
  await expect(tab('Output')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('tabpanel', { name: 'Output' })).toBeFocused();
});

test('toasts are few, wait for the reader, and go', async ({ page, boocode }) => {
  await open(page, boocode);
  await page.clock.install();
  const toasts = page.locator('.toast');
  for (let n = 0; n < 6; n++) await page.getByRole('button', { name: 'Done', exact: true }).click();
  await expect(toasts).toHaveCount(3);
  await expect(toasts.last()).toContainText('Answer finished 6');
  await page.getByRole('button', { name: 'Failed', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('could not be read');
  await page.getByRole('button', { name: 'With an action' }).click();
  await toasts.getByRole('button', { name: 'Undo' }).click();
  await expect(toasts.last()).toContainText('Pane reopened');
  await expect(toasts.filter({ hasText: 'Pane closed' })).toHaveCount(0);
  // Whoever is about to press is given the time.
  await toasts.last().getByRole('button', { name: 'Dismiss' }).focus();
  await page.clock.runFor(20_000);
  await expect(toasts.last()).toContainText('Pane reopened');
  await page.getByRole('tab', { name: 'Output' }).focus();
  await page.mouse.move(0, 0);
  await page.clock.runFor(20_000);
  // What went wrong stays until somebody has seen it.
  await expect(toasts).toHaveCount(1);
  await page.getByRole('alert').getByRole('button', { name: 'Dismiss' }).click();
  await expect(toasts).toHaveCount(0);
});

test('an icon button shows its name when it is focused or pointed at', async ({ page, boocode }, info) => {
  await open(page, boocode);
  const tip = page.locator('.tooltip');
  // What scrolls beneath a resting pointer counts as pointed at.
  await page.mouse.move(0, 0);
  await page.getByRole('button', { name: 'A link' }).or(page.getByRole('link', { name: 'A link' })).first().focus();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Split right' })).toBeFocused();
  await expect(tip).toBeVisible();
  await expect(tip).toContainText('Split right');
  await page.keyboard.press('Escape');
  await expect(tip).toBeHidden();
  if (info.project.name === 'phone') return;
  await page.getByRole('button', { name: 'Maximise', exact: true }).hover();
  await expect(tip).toHaveText('Maximise');
  await page.getByRole('heading', { level: 1 }).hover();
  await expect(tip).toBeHidden();
});

test('the theme is chosen by hand, and the next page comes with it', async ({ page, boocode }) => {
  await open(page, boocode);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('radio', { name: 'Dark' }).check();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect.poll(ground).not.toBe(light);
  const html = await page.request.get(`${boocode.url}/`).then((answer) => answer.text());
  expect(html).toContain('data-theme="dark"');
  await page.reload();
  await alive(page);
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked();
  const cookie = (await page.context().cookies()).find(({ name }) => name === 'boocode-theme')!;
  expect(cookie).toMatchObject({ value: 'dark', sameSite: 'Lax', httpOnly: false });
  await page.getByRole('radio', { name: 'System' }).check();
  await expect(page.locator('html')).not.toHaveAttribute('data-theme');
});

test('who asks for less motion gets none', async ({ page, boocode }) => {
  await open(page, boocode);
  const moving = () =>
    page.evaluate(() => document.getAnimations().filter((animation) => animation.playState === 'running').length);
  // The control: a bar without an end and a skeleton never come to rest by themselves.
  await expect.poll(moving).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(moving).toBe(0);
});
