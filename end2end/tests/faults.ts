import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Arrow keys scroll it: those of its field, which as a text of several lines cannot be the combobox that axe knows, or
 *  those of a menu, of which one item has the focus at a time. */
const isScrolledByArrows = (rule: string, target: string) =>
  rule === 'scrollable-region-focusable' && /^#(suggestions|split|add)-/.test(target);

/** What fades in is not yet as anybody reads it. Animations of what is out of sight stand still, so none is waited for. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(() => {
    const isEnding = (one: Animation) => one.effect?.getComputedTiming().endTime !== Infinity;
    document.getAnimations().filter(isEnding).forEach((one) => one.finish());
  });
}

/** What keeps people out: what axe calls serious or critical. */
export async function faults(page: Page): Promise<string[]> {
  await settle(page);
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return grave.flatMap(({ id, nodes }) =>
    nodes
      .filter(({ target }) => !isScrolledByArrows(id, String(target)))
      .map((node) => `${id}: ${node.target} ${node.failureSummary}`),
  );
}

export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}
