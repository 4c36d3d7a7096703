import type { Locator, Page } from '@playwright/test';

export const panes = (page: Page) => page.locator('.pane');
export const focused = (page: Page) => page.locator('.pane[data-focused]');
export const tabs = (pane: Locator) => pane.locator('.pane-tab');

/** A phone has both ways to something new in one menu. */
export async function menu(pane: Locator, button: string, item: RegExp, which = 0): Promise<void> {
  const isSplit = button === 'Split this pane';
  if (isSplit && !(await pane.getByRole('button', { name: button }).isVisible())) {
    return menu(pane, 'New in this pane', new RegExp(`^${item.source}`), which);
  }
  await pane.getByRole('button', { name: button }).click();
  await pane.page().getByRole('menuitem', { name: item }).nth(which).click();
}

export const splitRight = (page: Page) => menu(focused(page), 'Split this pane', /Chat/);
export const splitDown = (page: Page) => menu(focused(page), 'Split this pane', /Chat/, 1);
export const newTab = (page: Page) => menu(focused(page), 'New in this pane', /New chat/);
