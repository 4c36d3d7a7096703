import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './coders';
import { INVENTED, looksWell, openShop, report, run, slash, step, testAt, TRUE } from './flows';
import { addProject, BooCode, expect, live } from './world';

/** The agents are real programs, on a model that is scripted. */
const test = testAt(60, '--flow-backend', 'qwen', '--flow-model', 'local/analyst');

test('qwen reviews a project with planted faults, and survives kill -9', async ({ page, boocode }, info) => {
  test.setTimeout(300_000);
  await openShop(page, boocode, `qwen-${info.testId}`);
  await slash(page, `/code-review Is it right? ${TRUE} ${INVENTED}`);
  await expect(run(page).locator('.orchestrator-who')).toContainText('qwen');
  // As it says it, and in the middle of that nobody is there any more.
  await step(page, 'Correctness').locator('summary').first().click();
  await expect(step(page, 'Correctness').locator('.step-said')).toContainText('What stands in line 3', { timeout: 90_000 });
  await page.screenshot({ path: info.outputPath('running.png') });
  await boocode.kill();
  await boocode.start();
  await live(page);

  await expect(report(page)).toBeVisible({ timeout: 200_000 });
  await expect(report(page).getByRole('region', { name: 'Summary', exact: true })).toContainText('Confidence: High');
  const invented = report(page).locator('.finding').filter({ hasText: 'line 40' }).first();
  await expect(invented.locator('.citation-place.broken').first()).toContainText('src/cart.rs:40');
  await expect(invented.locator('.flags').first()).toContainText('src/cart.rs has 7 lines, and line 40 is cited.');
  await expect(invented.getByRole('link', { name: 'src/cart.rs:40' })).toHaveCount(0);
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('report.png') });
  await report(page).getByRole('link', { name: 'src/cart.rs:3' }).first().click();
  await expect(page.getByRole('region', { name: 'Evidence' }).locator('[data-cited]')).toHaveText('    for i in 0..=prices.len() {');

  await page.goto(`${boocode.url}/history?kind=run&flow=code-review`);
  await expect(page.locator('.entry').filter({ hasText: 'Code review: Is it right?' }).first()).toContainText('4 agents');
});

// No model server is configured or found, so BooCode runs its own small model: a real one, and a weak one.
test('research on the small real model ends honestly', async ({ page }, info) => {
  test.setTimeout(1_000_000);
  const boocode = new BooCode(['--flow-backend', 'native']);
  try {
    await boocode.start();
    await page.goto(boocode.link);
    const project = boocode.repository('first-project');
    await addProject(page, project);
    await expect(page.getByLabel('Model')).toContainText(/smollm2/i, { timeout: 60_000 });
    // Without a commit there is nothing to look at, and that is said.
    await page.getByLabel('Your message').fill('/research What is a compiler?');
    await page.getByLabel('Your message').press('Control+Enter');
    await expect(page.getByText(/no commit/)).toBeVisible();
    await commit(project);
    await slash(page, '/research What is a compiler?');
    // However weak the model is: it comes to an end, and says what it is worth.
    const title = run(page).locator('.orchestrator-title');
    await expect(title).toContainText(/Done|Failed/, { timeout: 900_000 });
    await expect(report(page)).toBeVisible({ timeout: 30_000 });
    const head = report(page).getByRole('region', { name: 'Summary', exact: true });
    await expect(head).toContainText(/Confidence: (High|Medium|Low|none was given)/);
    await expect(head).toContainText('No web was available');
    if ((await title.textContent())!.includes('Failed')) await expect(run(page).locator('.notice.error').first()).toBeVisible();
    await page.screenshot({ path: info.outputPath('honest.png') });
  } finally {
    await boocode.stop();
  }
});

async function commit(project: string): Promise<void> {
  writeFileSync(join(project, 'README.md'), '# First\n');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
}
