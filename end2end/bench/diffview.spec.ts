import { type Browser, type Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BooCode, expect, live, logIn, need, test } from '../tests/world';
import { CASES, type Case, data, MILLION, TINY, write } from './diffview/cases';
import { cpuOf, longestTask, median, processOf, type Seen, STEP_PX, STEPS, watchTasks } from './diffview/measure';
import { bundle, OTHERS, Site } from './diffview/site';

/** From what is in memory to the first screen of a diff, and what a step of scrolling costs: main-thread CPU. */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' });

/** A step, and another in the frame after it; then it says so. */
const scroll = (scroller: string) => `
  const scroller = ${scroller};
  let left = ${STEPS};
  window.isScrolled = false;
  const step = () => {
    if (left-- === 0) return void (window.isScrolled = true);
    scroller.scrollTop += ${STEP_PX};
    requestAnimationFrame(step);
  };
  step()`;

/** The same with a look at each frame: what has rows, as far as it is in sight, has no hole. */
const looks = (scroller: string, isBlank: string) => `new Promise((told) => {
  const scroller = ${scroller};
  let [left, blank] = [${STEPS}, 0];
  const step = () => {
    if (left-- === 0) return told(blank);
    scroller.scrollTop += ${STEP_PX};
    // The frame that was asked for by the scrolling comes first.
    requestAnimationFrame(() => requestAnimationFrame(() => { if (${isBlank}) blank++; step(); }));
  };
  step();
})`;

/** Whether a line across the middle of the screen meets a row at its top, in its middle and at its bottom. */
const misses = (scroller: string, row: string) => `(() => {
  const at = ${scroller}.getBoundingClientRect();
  const hit = (part) => document.elementFromPoint(at.left + at.width / 2, at.top + at.height * part)?.closest('${row}');
  return [0.05, 0.5, 0.95].some((part) => !hit(part));
})()`;

const count = (root: string) => `(() => {
  const count = (node) => [...node.childNodes].reduce((sum, child) => sum + 1 + count(child), node.shadowRoot ? count(node.shadowRoot) : 0);
  return count(${root});
})()`;

const OURS = {
  scroller: `document.querySelector('.diff-scroll')`,
  isShown: `document.querySelectorAll('.diff-rows .ln').length > 10 && !document.querySelector('.diff-rows .waiting')`,
  row: '.diff-row:not(.waiting), .diff-stuck',
};

/** A Coder whose agent changed these files. */
async function coder(page: Page, boocode: BooCode, change: Case): Promise<{ chat: string; tree: string }> {
  const project = boocode.repository(change.name);
  write(change, project, false);
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  const call = (endpoint: string, form: Record<string, string>) =>
    page.request.post(`${boocode.url}/api/${endpoint}`, { form, headers: { accept: 'application/json', origin: boocode.url } });
  const snapshot = async (path: string) => (await (await call('page_snapshot', { path })).json()).state;
  await call('add_project', { path: project });
  const session = (await snapshot('/')).workspace.sessions.at(-1).id;
  const opened = await call('open_new', { session, kind: 'coder', target: '{"tab":{"pane":null}}' });
  const path: string = await opened.json();
  const chat = path.split('/').pop()!;
  const ask = { chat, message: randomUUID(), text: '[[say ready]]', model: 'local/small', 'coder[backend]': 'native' };
  expect((await call('ask', ask)).ok()).toBe(true);
  const worktree = async () => {
    const found = (await snapshot(path)).session.chats[chat];
    const isSettled = Object.values<any>(found.tasks).every(({ status }) => status.settled !== undefined);
    return isSettled ? found.worktree?.id : undefined;
  };
  await expect.poll(worktree, { timeout: 60_000 }).toBeTruthy();
  const tree = join(boocode.home, 'data/worktrees', await worktree(), 'tree');
  write(change, tree, true);
  return { chat: path, tree };
}

/** A page in which the view has been open once, on something small, and which now has the change beside the work. */
async function ours(browser: Browser, boocode: BooCode, tiny: string, chat: string): Promise<Page> {
  // What is measured is asked in the page itself.
  const page = await browser.newPage({ bypassCSP: true });
  await logIn(page, boocode);
  await page.goto(boocode.url + tiny);
  await live(page);
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.waitForFunction(`(() => ${OURS.isShown})()`);
  await page.getByRole('button', { name: 'Back to the work' }).click();
  await page.locator(`a[href="${chat}"]`).first().click();
  await expect(page.getByRole('button', { name: 'Review', exact: true })).toBeEnabled({ timeout: 60_000 });
  return page;
}

async function measureOurs(browser: Browser, boocode: BooCode, tiny: string, chat: string): Promise<Seen> {
  const page = await ours(browser, boocode, tiny, chat);
  const pid = await processOf(browser, page);
  await watchTasks(page);
  const press = `[...document.querySelectorAll('button')].find((button) => button.textContent.trim() === 'Review').click()`;
  const cpu = await cpuOf(page, pid, press, OURS.isShown);
  // Coloured and marked, not only there.
  expect(await page.locator('.diff-rows .t .k').count()).toBeGreaterThan(5);
  expect(await page.locator('.diff-rows .t .m').count()).toBeGreaterThan(5);
  const nodes: number = await page.evaluate(count(`document.querySelector('.diff')`));
  const step = (await cpuOf(page, pid, scroll(OURS.scroller), 'window.isScrolled')) / STEPS;
  const blank: number = await page.evaluate(looks(OURS.scroller, misses(OURS.scroller, OURS.row)));
  const seen = { cpu, step, blank, nodes, longest: await longestTask(page) };
  await page.close();
  return seen;
}

async function measureOther(browser: Browser, site: Site, viewer: string, change: Case): Promise<Seen> {
  const page = await browser.newPage();
  try {
    return await measureAt(page, browser, site, viewer, change);
  } finally {
    await page.close();
  }
}

async function measureAt(page: Page, browser: Browser, site: Site, viewer: string, change: Case): Promise<Seen> {
  await page.goto(`${site.url}/view/${viewer}`);
  await page.waitForFunction(() => 'viewer' in window);
  const root = `document.getElementById('root')`;
  const isShown = `viewer.isShown(${root})`;
  const load = (name: string) => page.evaluate((name) => (window as any).viewer.load(name), name);
  await load(TINY.name);
  await page.evaluate(`viewer.show(${root})`);
  await page.waitForFunction(isShown);
  await page.evaluate(`viewer.clear(${root})`);
  await load(change.name);
  const pid = await processOf(browser, page);
  await watchTasks(page);
  const cpu = await cpuOf(page, pid, `viewer.show(${root})`, isShown);
  const nodes: number = await page.evaluate(count(root));
  const step = (await cpuOf(page, pid, scroll(`viewer.scroller(${root})`), 'window.isScrolled')) / STEPS;
  // Only the floor's rows are known by their name.
  const isBlank = viewer === 'floor' ? misses(`viewer.scroller(${root})`, '.row') : 'false';
  const blank: number = await page.evaluate(looks(`viewer.scroller(${root})`, isBlank));
  return { cpu, step, blank, nodes, longest: await longestTask(page) };
}

/** The middle of each figure; but of what was blank and of the longest tasks the most, because once is too often. */
function middle(all: Seen[]): Seen {
  const of = (key: keyof Seen) => median(all.map((seen) => seen[key]));
  const most = (key: keyof Seen) => Math.max(...all.map((seen) => seen[key]));
  return { cpu: of('cpu'), step: of('step'), blank: most('blank'), nodes: of('nodes'), longest: most('longest') };
}

test('diffview', async ({ browser, boocode, page }) => {
  test.setTimeout(60 * 60_000);
  await logIn(page, boocode);
  const site = new Site(mkdtempSync(join(tmpdir(), 'boocode-diffview-')));
  bundle(need('BENCH_PACKAGES'), site['out']);
  await site.open();
  const chats: Record<string, string> = {};
  for (const change of [TINY, ...CASES, MILLION]) {
    const { chat, tree } = await coder(page, boocode, change);
    chats[change.name] = chat;
    if (change !== MILLION) Object.assign(site.data, data(change, tree));
  }
  // Everybody gets the room that BooCode's own view has for its rows.
  const first = await ours(browser, boocode, chats[TINY.name], chats['1k']);
  await first.getByRole('button', { name: 'Review', exact: true }).click();
  await first.waitForFunction(`(() => ${OURS.isShown})()`);
  site.size = await first.evaluate(`({ width: ${OURS.scroller}.clientWidth, height: ${OURS.scroller}.clientHeight })`);
  await first.close();

  const figures: Record<string, Record<string, Seen>> = {};
  for (const change of CASES) {
    const all: Record<string, Seen[]> = {};
    // A viewer of others that does not show the change in time says so once, and the rest is measured without it.
    const gaveUp = new Set<string>();
    // By turns, so that a busy moment of the machine hits everybody.
    for (let round = 0; round < ROUNDS; round++) {
      (all.ours ??= []).push(await measureOurs(browser, boocode, chats[TINY.name], chats[change.name]));
      for (const viewer of OTHERS.filter((name) => !gaveUp.has(name))) {
        try {
          (all[viewer] ??= []).push(await measureOther(browser, site, viewer, change));
        } catch (error) {
          if (viewer === 'floor') throw error;
          console.log(`${change.name} ${viewer} gave up: ${error}`);
          gaveUp.add(viewer);
          delete all[viewer];
        }
      }
    }
    figures[change.name] = Object.fromEntries(Object.entries(all).map(([name, seen]) => [name, middle(seen)]));
    console.log(change.name, JSON.stringify(figures[change.name]));
  }
  figures[MILLION.name] = { ours: await measureOurs(browser, boocode, chats[TINY.name], chats[MILLION.name]) };
  site.close();
  writeFileSync(need('BENCH_OUT'), JSON.stringify(figures));
});
