import type { Locator, Page } from '@playwright/test';

export const panes = (page: Page) => page.locator('.pane');
export const focused = (page: Page) => page.locator('.pane[data-focused]');
export const tabs = (pane: Locator) => pane.locator('.pane-tab');

export async function menu(pane: Locator, button: string, item: RegExp, which = 0): Promise<void> {
  const opener = pane.getByRole('button', { name: button });
  if (button !== 'Split this pane') {
    await opener.click();
    return pane.page().getByRole('menuitem', { name: item }).nth(which).click();
  }
  // A phone has both ways to something new in one menu.
  await ((await opener.isVisible()) ? opener : pane.getByRole('button', { name: 'New in this pane' })).click();
  const group = pane.page().getByRole('group', { name: ['Split right', 'Split down'][which] });
  await group.getByRole('menuitem', { name: item }).click();
}

export const splitRight = (page: Page) => menu(focused(page), 'Split this pane', /Chat/);
export const splitDown = (page: Page) => menu(focused(page), 'Split this pane', /Chat/, 1);
export const newTab = (page: Page) => menu(focused(page), 'New in this pane', /New chat/);
