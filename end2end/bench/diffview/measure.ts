import { type Browser, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** What was seen of one viewer with one change. */
export interface Seen {
  /** Main-thread CPU from what is in memory to the first screen, in ms. */
  cpu: number;
  /** Main-thread CPU of one step of scrolling, in ms. */
  step: number;
  /** Steps after which some of the screen had nothing on it. */
  blank: number;
  /** Elements and texts. */
  nodes: number;
  /** The longest task, in ms of the clock. */
  longest: number;
}

/** From this on the page shows it; before, it is left alone. */
const QUIET_MS = 400;
export const STEPS = 60;
/** A notch of a wheel. */
export const STEP_PX = 100;

/** Time that the main thread of a process was on a processor, in ms, as the kernel counts it. */
function onProcessor(pid: number): number {
  const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  return Number(text.split(' ')[0]) / 1e6;
}

/** The process that runs a page: the one that gets busy when the page does. */
export async function processOf(browser: Browser, page: Page): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  const before = new Map(renderers.map((pid) => [pid, onProcessor(pid)]));
  await page.evaluate(() => {
    const until = performance.now() + 120;
    while (performance.now() < until);
  });
  const spent = (pid: number) => onProcessor(pid) - before.get(pid)!;
  return renderers.sort((one, other) => spent(other) - spent(one))[0];
}

/** Tells of the page's long tasks from now on. */
export async function watchTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const longest = { ms: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration);
    }).observe({ type: 'longtask' });
    Object.assign(window, { longest });
  });
}

export const longestTask = (page: Page): Promise<number> => page.evaluate(() => (window as any).longest.ms);

/**
 * CPU of the main thread from the moment that `act` is run in the page until the frame after the one in which `isDone`
 * holds. Nothing is asked of the page meanwhile.
 */
export async function cpuOf(page: Page, pid: number, act: string, isDone: string, limitMs = 120_000): Promise<number> {
  const done = page.waitForEvent('console', { predicate: (message) => message.text() === 'done', timeout: limitMs });
  // As text: the policy of a page forbids it to make functions of texts itself.
  await page.evaluate(`setTimeout(() => {
    ${act};
    const next = (then) => requestAnimationFrame(then);
    const look = () => (${isDone}) ? next(() => next(() => console.log('done'))) : next(look);
    next(look);
  }, ${QUIET_MS})`);
  await sleep(QUIET_MS / 2);
  const before = onProcessor(pid);
  await done;
  return onProcessor(pid) - before;
}

export const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
