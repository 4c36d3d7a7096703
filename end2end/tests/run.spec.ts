import { type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { composer, DRAWN, INVENTED, looksWell, openShop, report, run, slash, step, test, TRUE } from './flows';
import { type BooCode, expect, live } from './world';

test('a code review streams, survives kill -9, and its evidence is checked', async ({ page, boocode, browser, isMobile }, info) => {
  test.setTimeout(180_000);
  const project = await openShop(page, boocode, `review-${info.testId}`);
  await slash(page, `/code-review Is it right? ${TRUE} ${INVENTED} ${DRAWN} [[look]]`);
  await expect(run(page).getByRole('heading', { level: 1 })).toHaveText('Code review');
  await expect(run(page)).toContainText('4 agents');
  await expect(run(page)).toContainText('small band');

  // One agent's words as they come, in the middle of which nobody is there any more.
  await step(page, 'Correctness').locator('summary').first().click();
  await expect(step(page, 'Correctness').locator('.step-said')).toContainText('What stands in line 3', { timeout: 30_000 });
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('running.png') });
  await boocode.kill();
  await boocode.start();
  await live(page);

  await expect(report(page)).toBeVisible({ timeout: 90_000 });
  await expect(step(page, 'Report')).toContainText('Done');
  // What an agent said is still open, and that of another comes when it is opened.
  await expect(step(page, 'Correctness').locator('.step-said')).toContainText('What stands in line 3');
  await step(page, 'Structure').locator('summary').first().click();
  await expect(step(page, 'Structure').locator('.step-said')).toContainText('What stands in line 3');
  const head = report(page).getByRole('region', { name: 'Summary', exact: true });
  await expect(head).toContainText('Confidence: High');
  await expect(head).toContainText(/checks? of the evidence failed/);
  // Validation stands above the recommendation.
  const titles = await report(page).locator('h2').allTextContents();
  expect(titles.indexOf('Validation')).toBeLessThan(titles.indexOf('Recommendation'));
  expect(titles[0]).toBe('Summary');
  // What was invented is no link, and flagged where it stands.
  const invented = report(page).locator('.finding').filter({ hasText: 'line 40' }).first();
  await expect(invented.locator('.citation-place.broken').first()).toContainText('src/cart.rs:40');
  await expect(invented.locator('.flags').first()).toContainText('src/cart.rs has 7 lines, and line 40 is cited.');
  await expect(invented.getByRole('link', { name: 'src/cart.rs:40' })).toHaveCount(0);
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('report.png') });
  const address = page.url();

  // A true one opens the file at that line, as it was.
  await report(page).getByRole('link', { name: 'src/cart.rs:3' }).first().click();
  const evidence = page.getByRole('region', { name: 'Evidence' });
  await expect(evidence.getByRole('heading', { name: 'src/cart.rs:3' })).toBeVisible();
  await expect(evidence.locator('[data-cited]')).toHaveText('    for i in 0..=prices.len() {');
  await expect(page).toHaveURL(/\/cited\/\d+$/);
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('evidence.png') });

  // The run stands in the history, and is found by its flow and band.
  await page.goto(`${boocode.url}/history?kind=run&flow=code-review&band=small`);
  await expect(page.locator('.entry').filter({ hasText: 'Code review: Is it right?' }).first()).toContainText('4 agents');
  await page.goto(`${boocode.url}/history?flow=research`);
  await expect(page.locator('.entry')).toHaveCount(0);
  // By how it ended, and by its project.
  const listed = page.locator('.entry').filter({ hasText: 'Code review: Is it right?' });
  await page.goto(`${boocode.url}/history?kind=run&state=failed`);
  await expect(listed).toHaveCount(0);
  await page.goto(`${boocode.url}/history?kind=run`);
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Project', { exact: true }).selectOption({ label: project.split('/').pop() });
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page).toHaveURL(/project=/);
  await expect(listed).toHaveCount(1);

  // Without a script it reads the same, the evidence too.
  const still = await browser.newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() });
  const reader = await still.newPage();
  await reader.goto(address);
  await expect(report(reader)).toContainText('Confidence: High');
  await expect(reader.locator('.step')).toHaveCount(5);
  const words = reader.locator('.step').first().locator('summary').first();
  await words.click();
  const answered = await reader.getByRole('link', { name: 'What it answered' }).first().getAttribute('href');
  expect(await (await reader.request.get(new URL(answered!, address).href)).text()).toContain('"findings"');
  await reader.screenshot({ path: info.outputPath('still.png') });
  const cited = await report(reader).getByRole('link', { name: 'src/cart.rs:3' }).first().getAttribute('href');
  await reader.goto(new URL(cited!, address).href);
  await expect(reader.locator('[data-cited]')).toHaveText('    for i in 0..=prices.len() {');
  await still.close();

  await page.goto(address);
  await live(page);
  // Nothing was lost on the way from the server's page to the live one.
  await expect(report(page)).toContainText('Confidence: High');
  const saved = page.waitForEvent('download');
  await run(page).getByRole('link', { name: 'Save' }).click();
  expect((await saved).suggestedFilename()).toBe('code-review.md');
  expect(readFileSync(await (await saved).path(), 'utf8')).toContain('**Confidence: High**');
  const exported = page.waitForEvent('download');
  await run(page).getByRole('link', { name: 'Export as HTML' }).click();
  const html = readFileSync(await (await exported).path(), 'utf8');
  expect((await exported).suggestedFilename()).toMatch(/^code-review-\w{8}\.html$/);
  expect(html).toContain('Confidence: High');
  expect(html).toContain("default-src 'none'");
  expect(html).not.toMatch(/<script|src=|href="http/);

  // Copied as it is saved.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await run(page).getByRole('button', { name: 'Copy the report' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('**Confidence: High**');

  // On paper it is all there, and nothing to press.
  await page.emulateMedia({ media: 'print' });
  await expect(report(page).getByRole('heading', { name: 'What is good' })).toBeVisible();
  await expect(run(page).getByRole('button', { name: 'Send to a chat' })).toBeHidden();
  await page.emulateMedia({ media: null });

  await run(page).getByRole('button', { name: 'Send to a chat' }).click();
  await expect(page).toHaveURL(/\/chat\//);
  await expect(composer(page).last()).toHaveValue(/^# Code review \(small band\)/);
  if (isMobile) await page.screenshot({ path: info.outputPath('sent.png') });
});

test('a run is cancelled, and asked again in another band', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `cancel-${info.testId}`);
  await slash(page, `/security-review Look. ${TRUE}`);
  await run(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(run(page).locator('.orchestrator-title')).toContainText('Cancelled', { timeout: 30_000 });
  const before = page.url();
  await run(page).getByRole('button', { name: 'More of this run' }).click();
  await page.getByRole('menuitem', { name: /Run again, medium band/ }).click();
  await expect(page).not.toHaveURL(before);
  await expect(run(page)).toContainText('medium band');
  await expect(run(page)).toContainText('4 agents');
});

test('what agents tried to change is told at their steps', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `tried-${info.testId}`);
  await composer(page).fill('');
  const launched = await page.request.post(`${boocode.url}/api/runs`, {
    headers: { origin: boocode.url },
    data: {
      session: await session(page, boocode),
      flow: 'issue-triage',
      model: 'local/small',
      focus: '[[tool write {"path": "owned.txt", "content": "x"}]][[tool run {"command": "rm -f src/cart.rs || true"}]][[say {}]]',
    },
  });
  expect(launched.status()).toBe(201);
  await page.goto(`${boocode.url}/run/${(await launched.json()).id}`);
  await live(page);
  await expect(step(page, 'Triage')).toContainText('2 attempts to change something, refused', { timeout: 60_000 });
  await page.reload();
  await expect(step(page, 'Triage')).toContainText('2 attempts to change something, refused');
});

test('runs that share a model say how many are ahead', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `queue-${info.testId}`);
  const asked = await session(page, boocode);
  const launch = async (focus: string) => {
    const data = { session: asked, flow: 'issue-triage', model: 'local/small', focus };
    const launched = await page.request.post(`${boocode.url}/api/runs`, { headers: { origin: boocode.url }, data });
    return (await launched.json()).id as string;
  };
  const first = await launch('[[rate 20]][[count 4000]]');
  const waiting = [];
  for (let n = 0; n < 3; n++) waiting.push(await launch('[[say {}]]'));
  const last = await launch('[[say {}]]');
  await page.goto(`${boocode.url}/run/${last}`);
  await live(page);
  await expect(run(page)).toContainText(/Queued, [3-9]\d* ahead/, { timeout: 30_000 });
  await expect(run(page).locator('.orchestrator-words')).toContainText('1 queued');
  await looksWell(page);
  for (const id of [first, ...waiting, last]) {
    await page.request.post(`${boocode.url}/api/runs/${id}/cancel`, { headers: { origin: boocode.url }, data: {} });
  }
});

test('a report that cannot be had is asked for again', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `again-${info.testId}`);
  let refusals = 0;
  await page.route('**/api/run_report', async (route) => {
    if (refusals++ === 0) await route.fulfill({ status: 500, body: 'broken' });
    else await route.continue();
  });
  await slash(page, `/issue-triage It panics. ${TRUE}`);
  await run(page).getByRole('button', { name: 'Try again' }).click({ timeout: 90_000 });
  await expect(report(page)).toContainText('Confidence: High');
});

async function session(page: Page, boocode: BooCode): Promise<string> {
  const answer = await page.request.post(`${boocode.url}/api/page_snapshot`, {
    headers: { origin: boocode.url, accept: 'application/json' },
    form: { path: new URL(page.url()).pathname },
  });
  return (await answer.json()).state.session.id;
}
