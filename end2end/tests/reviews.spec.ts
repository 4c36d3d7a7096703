import { INVENTED, looksWell, openShop, report, run, slash, step, testAt, TRUE } from './flows';
import { expect, live } from './world';

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
