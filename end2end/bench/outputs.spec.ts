import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProject, output } from '../tests/battles';
import { BooCode, expect, live, need, scripted, test as base } from '../tests/world';

/** Six outputs that stream at once, and what that costs the page. */

const LOOK_MS = 10_000;
const MODELS = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
// As fast as a good local model writes, with everything that answers are made of.
const PROMPT = '[[rate 60]][[markdown]][[tokens 6000]]';

const test = base.extend<object, { boocode: BooCode }>({
  boocode: [
    async ({}, use) => {
      const model = await scripted(100, '--models', MODELS.join(','));
      const file = join(mkdtempSync(join(tmpdir(), 'boocode-bench-')), 'boocode.toml');
      // A cloud, so that all of them run at once.
      writeFileSync(file, `[[model_server]]\nname = "cloud"\nurl = "${model.url}"\nlane = "cloud"\nparallel = 6\n`);
      const boocode = new BooCode(['--no-model', '--config', file]);
      await boocode.start();
      await use(boocode);
      await boocode.stop();
      model.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

test('outputs', async ({ page, boocode }) => {
  await openProject(page, boocode, 'outputs');
  await page.evaluate(watch);
  await page.waitForTimeout(1_000);
  await page.evaluate(take);
  await page.waitForTimeout(LOOK_MS);
  const idle = await page.evaluate(take);

  const session = await page.evaluate(async () => {
    const body = new URLSearchParams({ path: location.pathname });
    const answer = await fetch('/api/page_snapshot', { method: 'POST', body, headers: { accept: 'application/json' } });
    return (await answer.json()).state.session.id as string;
  });
  const launched = await page.request.post(`${boocode.url}/api/battles`, {
    data: {
      session,
      type: 'qa',
      prompt: PROMPT,
      contestants: MODELS.map((name) => ({ model: `cloud/${name}` })),
      judge: 'none',
    },
    headers: { origin: boocode.url },
  });
  expect(launched.status()).toBe(201);
  await page.goto(`${boocode.url}/battle/${(await launched.json()).id}`);
  await live(page);
  for (const letter of 'ABCDEF') await expect(output(page, letter)).toContainText('A heading', { timeout: 30_000 });
  await page.evaluate(watch);
  await page.waitForTimeout(1_000);
  const lengths = () => page.evaluate(() => [...document.querySelectorAll('.arena-output-body')].map((it) => it.textContent!.length));
  const before = await lengths();
  await page.evaluate(take);
  await page.waitForTimeout(LOOK_MS);
  const six = await page.evaluate(take);
  const grown = (await lengths()).map((length, n) => length - before[n]);
  writeFileSync(need('BENCH_OUT'), JSON.stringify({ idle, six, grown }));
  await page.request.post(`${boocode.url}/api/battles/${(await launched.json()).id}/stop`, { data: {}, headers: { origin: boocode.url } });
});

/** Notes when each frame comes, and each task that blocks the page for longer than somebody notices. */
function watch(): void {
  const seen = { frames: [] as number[], tasks: [] as number[], last: performance.now() };
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => seen.tasks.push(entry.duration))).observe({ type: 'longtask' });
  const frame = (now: number) => {
    seen.frames.push(now - seen.last);
    seen.last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  Object.assign(window, { seen });
}

/** What was noted since the last time. */
function take(): { frames: number[]; tasks: number[] } {
  const seen = (window as any).seen;
  const { frames, tasks } = seen;
  [seen.frames, seen.tasks] = [[], []];
  return { frames, tasks };
}
