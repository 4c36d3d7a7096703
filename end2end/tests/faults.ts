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
  const found = await look(page);
  // A toast may have begun to fade in during the look.
  return found.length ? look(page) : found;
}

async function look(page: Page): Promise<string[]> {
  await settle(page);
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return grave.flatMap(({ id, nodes }) =>
    nodes
      .filter(({ target }) => !isScrolledByArrows(id, String(target)))
      .map((node) => `${id}: ${node.target} ${node.failureSummary}`),
  );
}

/** Whatever fills a page or a part of it. The frame cuts off what is too wide, so nothing of that shows at the root. */
const BOXES = ':root, .app, .main, .page, .pane-body, .messages, .settings-host, .arena, .arena-launcher, .orchestrator, .orchestrator-launcher, dialog';
/** These scroll by themselves, and are meant to. */
const SCROLLING = 'pre, table, .pane-tabs, .pane-bar, .tabs, .diff-scroll';

/** What is wider than its place, or lies out of reach behind the edge of the screen. */
export function sideways(page: Page): Promise<string[]> {
  return page.evaluate(
    ([boxes, scrolling]) => {
      const seen = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)].filter((one) => one.checkVisibility({ visibilityProperty: true }));
      const name = (one: HTMLElement) => `${one.tagName.toLowerCase()}.${one.className} ${one.getAttribute('aria-label') ?? one.textContent!.slice(0, 40)}`;
      const wide = seen(boxes).filter((one) => one.scrollWidth > one.clientWidth + 1);
      const controls = seen('a[href], button, input, select, textarea, summary').filter((one) => !one.closest(scrolling));
      const outside = controls.filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1);
      return [...wide.map((one) => `${name(one)}: ${one.scrollWidth} in ${one.clientWidth}`), ...outside.map((one) => `${name(one)}: outside`)];
    },
    [BOXES, SCROLLING] as const,
  );
}
