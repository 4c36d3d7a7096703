import { faults, sideways } from './faults';
import { focused, menu, splitRight } from './panes';
import { answer, ask, expect, list, live, logIn, test } from './world';

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test('axe finds nothing serious in a workspace', async ({ chat, boocode }) => {
      await ask(chat, '[[markdown]]');
      await expect(answer(chat)).toContainText('tokens/s');
      await splitRight(chat);
      await expect(chat.locator('.pane')).toHaveCount(2);
      expect(await faults(chat)).toEqual([]);
      await chat.keyboard.press('Control+k');
      await expect(chat.getByRole('dialog', { name: 'Command palette' })).toBeVisible();
      expect(await faults(chat)).toEqual([]);
      await chat.keyboard.press('Escape');
      await chat.keyboard.press('Control+/');
      await expect(chat.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
      expect(await faults(chat)).toEqual([]);
      await chat.keyboard.press('Escape');
      // What opens over a workspace.
      const pane = chat.locator('.pane[data-focused]');
      await pane.getByLabel('Your message').fill('/');
      await expect(chat.locator('.suggestions')).toBeVisible();
      expect(await faults(chat)).toEqual([]);
      await pane.getByLabel('Your message').fill('');
      for (const menu of ['New in this pane', 'Split this pane', 'More']) {
        const button = pane.getByRole('button', { name: menu, exact: true });
        // On a phone the first has what the second has elsewhere.
        if (!(await button.isVisible())) continue;
        await button.click();
        await expect(chat.getByRole('menu', { name: menu, exact: true })).toBeVisible();
        expect(await faults(chat), menu).toEqual([]);
        await chat.keyboard.press('Escape');
      }
      await list(chat);
      expect(await faults(chat), 'the list').toEqual([]);
      await chat.goto(boocode.url);
      expect(await faults(chat)).toEqual([]);
    });

    test('axe finds nothing serious in a name, in a session with nothing open, and in a refusal', async ({ chat, boocode }, info) => {
      await menu(focused(chat), 'More', /Rename this chat/);
      await expect(chat.getByLabel('Title')).toBeVisible();
      expect(await faults(chat), 'a name').toEqual([]);
      await chat.keyboard.press('Escape');
      await chat.keyboard.press('Alt+w');
      await expect(chat.getByRole('heading', { name: 'Nothing is open here' })).toBeVisible();
      expect(await faults(chat), 'nothing open').toEqual([]);
      await chat.goto(boocode.url);
      await live(chat);
      for (const [path, refusal] of [['/nowhere/at/all', /./], [boocode.folder(`bare-${info.testId}-${info.retry}`), /git/]] as const) {
        await chat.getByLabel('Folder of the project').fill(path);
        await chat.getByRole('button', { name: 'Add project' }).click();
        await expect(chat.locator('#path-error')).toContainText(refusal);
        expect(await faults(chat), path).toEqual([]);
        expect(await sideways(chat), path).toEqual([]);
      }
    });

    test('nothing moves for one who wants it still', async ({ chat }) => {
      await chat.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await ask(chat, '[[hang after 3]]');
      await expect(answer(chat)).toContainText('Writing…');
      await list(chat);
      await expect(chat.locator('#sidebar .nav-item .dot.running')).toBeVisible();
      const moving = () =>
        chat.evaluate(() => {
          const isEndless = (one: Animation) => one.effect!.getComputedTiming().iterations === Infinity;
          const isSlow = (one: Animation) => Number(one.effect!.getComputedTiming().duration) > 1;
          return document.getAnimations().filter((one) => isEndless(one) || isSlow(one)).length;
        });
      expect(await moving()).toBe(0);
      // The control: for everybody else the dot at work pulses.
      await chat.emulateMedia({ colorScheme, reducedMotion: 'no-preference' });
      await expect.poll(moving).toBeGreaterThan(0);
      await chat.keyboard.press('Escape');
      await chat.getByRole('button', { name: 'Stop', exact: true }).click();
    });

    test('axe finds nothing serious in Settings, and nothing scrolls sideways', async ({ chat: page, boocode }) => {
      for (const section of ['models', 'agents', 'projects', 'worktrees', 'appearance', 'notifications', 'browsers', 'phone', 'about']) {
        await page.goto(`${boocode.url}/settings/${section}`);
        await live(page);
        await expect(page.locator('.settings[data-alive]')).toBeVisible();
        expect(await faults(page), section).toEqual([]);
        expect(await sideways(page), section).toEqual([]);
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
        expect(await sideways(page), lost).toEqual([]);
      }
    });
  });
}
