import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Its field has the focus and scrolls it with the arrow keys. Axe knows that of a combobox, which a text of several
 *  lines cannot be. */
const isScrolledByItsField = (rule: string, target: string) =>
  rule === 'scrollable-region-focusable' && target.startsWith('#suggestions-');

/** What keeps people out: what axe calls serious or critical. */
export async function faults(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return grave.flatMap(({ id, nodes }) =>
    nodes
      .filter(({ target }) => !isScrolledByItsField(id, String(target)))
      .map((node) => `${id}: ${node.target} ${node.failureSummary}`),
  );
}

export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}
