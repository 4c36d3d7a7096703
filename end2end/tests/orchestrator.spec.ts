import { type Page } from '@playwright/test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './coders';
import { faults, scrollsSideways } from './faults';
import { focused, menu } from './panes';
import { addProject, BooCode, expect, live, logIn, scripted, test as base } from './world';

/** Flows are worked on by our own agent, with a model that answers in form. */
const test = base.extend<object, { model: string; boocode: BooCode }>({
  model: [
    async ({}, use) => {
      const model = await scripted(100, '--models', 'small,analyst');
      await use(model.url);
      model.stop();
    },
    { scope: 'worker' },
  ],

  boocode: [
    async ({ model }, use) => {
      const flows = ['--flow-backend', 'native', '--flow-model', 'local/analyst'];
      const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`, ...flows]);
      await boocode.start();
      await use(boocode);
      await boocode.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

// Line 3 reads one price too many, and the drawing would like to run.
const CART = 'pub fn total(prices: &[i64]) -> i64 {\n    let mut total = 0;\n    for i in 0..=prices.len() {\n        total += prices[i];\n    }\n    total\n}\n';
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg">\n<circle r="40" cx="50" cy="50"/>\n<script>document.documentElement.id = "ran"</script>\n</svg>\n';
const TRUE = '[[finding src/cart.rs:3 for i in 0..=prices.len() {]]';
const INVENTED = '[[finding src/cart.rs:40 drop(prices);]]';
const DRAWN = '[[finding logo.svg:2 <circle r="40" cx="50" cy="50"/>]]';

async function openShop(page: Page, boocode: BooCode, name: string): Promise<string> {
  await logIn(page, boocode);
  const project = boocode.repository(name);
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, 'src/cart.rs'), CART);
  writeFileSync(join(project, 'logo.svg'), LOGO);
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  await addProject(page, project);
  return project;
}

const composer = (page: Page) => page.getByLabel('Your message');
const run = (page: Page) => page.locator('section.orchestrator:visible');
const report = (page: Page) => run(page).getByRole('article', { name: 'Report' });
const step = (page: Page, label: string) => run(page).locator('.step').filter({ has: page.getByText(label, { exact: true }) });

async function slash(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Control+Enter');
  await expect(page).toHaveURL(/\/run\//);
}

async function looksWell(page: Page): Promise<void> {
  expect(await faults(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
}

test('the launcher offers every flow and says at the field what cannot be', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `launcher-${info.testId}`);
  await composer(page).fill('Is the cart right?');
  await page.getByRole('button', { name: 'Orchestrator', exact: true }).click();
  const form = page.getByRole('dialog');
  await expect(form.getByRole('radio', { name: /Read-only|Draft/ })).toHaveCount(22);
  // What was typed is what is asked.
  await expect(form.getByLabel('What should the reviewers look at in particular?')).toHaveValue('Is the cart right?');
  const launch = form.getByRole('button', { name: /^Launch/ });
  await expect(launch).toHaveText('Launch 4 agents');
  await form.getByText('Large', { exact: true }).click();
  await expect(launch).toHaveText('Launch 12 to 16 agents');
  await expect(form).toContainText('native works, with local/analyst.');

  await form.getByLabel('More about Code review').click();
  await expect(form.getByText('Before you merge a change')).toBeVisible();
  await form.getByLabel('Target').fill('../elsewhere');
  await expect(form.getByRole('alert').filter({ hasText: /./ })).toHaveText("../elsewhere is not a path in the project's folder.");
  await expect(launch).toBeDisabled();
  await form.getByLabel('Target').fill('src');
  await expect(launch).toBeEnabled();

  await form.getByRole('radio', { name: /^Runbook/ }).check();
  const trigger = form.getByLabel('What happens? Name the alert, the message or the symptom.');
  await trigger.fill('');
  await trigger.blur();
  await expect(form.getByRole('alert').filter({ hasText: /./ })).toContainText('Runbook needs a trigger.');
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('launcher.png') });
  // What only the server knows comes back to the form, with everything still in it.
  await form.getByRole('radio', { name: /^Code review/ }).check();
  await form.getByLabel('Target').fill('nowhere');
  await launch.click();
  await expect(form.locator('.notice.error')).toContainText('nowhere');
  await expect(form.getByLabel('Target')).toHaveValue('nowhere');
});

test('a new Orchestrator opens from the menu and from the palette', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `new-${info.testId}`);
  await menu(focused(page), 'New in this pane', /New Orchestrator/);
  await expect(page.getByRole('region', { name: 'New run' })).toBeVisible();
  await expect(page).toHaveURL(/\/orchestrator$/);
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('pane.png') });
  await page.keyboard.press('Control+k');
  await page.getByLabel('Find an action, a session or a chat').fill('launch a flow');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'New run' })).toBeVisible();
});

test('the slash menu has the flows that only read, and asks for the question that is missing', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `slash-${info.testId}`);
  await composer(page).fill('/');
  await expect(page.getByRole('group', { name: 'Orchestrator' }).getByRole('option')).toHaveCount(11);
  await expect(page.getByRole('option', { name: /\/runbook/ })).toHaveCount(0);
  await composer(page).fill('/research');
  await composer(page).press('Enter');
  await expect(composer(page)).toHaveValue('/research ');
  await composer(page).press('Control+Enter');
  await expect(page.getByText('Research needs a focus. What do you want to know?')).toBeVisible();
  await expect(composer(page)).toHaveValue('/research ');
});

test('a code review streams, survives kill -9, and its evidence is checked', async ({ page, boocode, browser, isMobile }, info) => {
  test.setTimeout(180_000);
  await openShop(page, boocode, `review-${info.testId}`);
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

  // Without a script it reads the same, the evidence too.
  const still = await browser.newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() });
  const reader = await still.newPage();
  await reader.goto(address);
  await expect(report(reader)).toContainText('Confidence: High');
  await expect(reader.locator('.step')).toHaveCount(5);
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

  await run(page).getByRole('button', { name: 'Send to a chat' }).click();
  await expect(page).toHaveURL(/\/chat\//);
  await expect(composer(page).last()).toHaveValue(/^# Code review \(small band\)/);
  if (isMobile) await page.screenshot({ path: info.outputPath('sent.png') });
});

test('a drawing from the project shows itself and does nothing', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `drawing-${info.testId}`);
  await slash(page, `/code-review Look. ${DRAWN}`);
  await report(page).getByRole('link', { name: 'logo.svg:2' }).first().click({ timeout: 90_000 });
  const evidence = page.getByRole('region', { name: 'Evidence' });
  await evidence.getByText('Drawn', { exact: true }).click();
  const frame = evidence.locator('iframe');
  await expect(frame).toHaveAttribute('sandbox', '');
  const drawn = frame.contentFrame();
  await expect(drawn.locator('circle')).toBeAttached();
  await expect(drawn.locator('#ran')).toHaveCount(0);
  const answer = await page.request.get(new URL((await frame.getAttribute('src'))!, page.url()).href);
  expect(answer.headers()['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
  // The control: the same file runs its script where nothing keeps it from that.
  const control = await page.context().newPage();
  await control.route('**/control.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body: LOGO }));
  await control.goto('http://control.test/control.svg');
  await expect(control.locator('#ran')).toHaveCount(1);
  await control.close();
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
