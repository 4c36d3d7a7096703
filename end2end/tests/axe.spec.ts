import { faults, scrollsSideways } from './faults';
import { answer, ask, expect, live, logIn, test } from './world';

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('axe finds nothing serious in a workspace', async ({ chat, boocode }) => {
      await ask(chat, '[[markdown]]');
      await expect(answer(chat)).toContainText('tokens/s');
      await chat.locator('.pane[data-focused]').getByRole('button', { name: 'Split this pane' }).click();
      await chat.getByRole('menuitem', { name: /Chat/ }).first().click();
      await expect(chat.locator('.pane')).toHaveCount(2);
      expect(await faults(chat)).toEqual([]);
      await chat.keyboard.press('Control+k');
      await expect(chat.getByRole('dialog', { name: 'Command palette' })).toBeVisible();
      expect(await faults(chat)).toEqual([]);
      await chat.keyboard.press('Escape');
      await chat.keyboard.press('Control+/');
      await expect(chat.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
      expect(await faults(chat)).toEqual([]);
      await chat.goto(boocode.url);
      expect(await faults(chat)).toEqual([]);
    });

    test('axe finds nothing serious in Settings, and nothing scrolls sideways', async ({ page, boocode }) => {
      await logIn(page, boocode);
      for (const section of ['models', 'agents', 'worktrees', 'appearance', 'notifications', 'browsers', 'phone', 'about']) {
        await page.goto(`${boocode.url}/settings/${section}`);
        await live(page);
        await expect(page.locator('.settings[data-alive]')).toBeVisible();
        expect(await faults(page), section).toEqual([]);
        expect(await scrollsSideways(page), section).toBe(false);
      }
    });

    test('axe finds nothing serious outside the workspace', async ({ page, boocode }) => {
      await page.goto(boocode.url);
      await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
      expect(await faults(page)).toEqual([]);
      await logIn(page, boocode);
      for (const lost of ['/nowhere', '/chat/00000000-0000-0000-0000-000000000000']) {
        await page.goto(boocode.url + lost);
        await expect(page.getByRole('link', { name: 'To the start page' })).toBeVisible();
        expect(await faults(page), lost).toEqual([]);
        expect(await scrollsSideways(page), lost).toBe(false);
      }
    });
  });
}
