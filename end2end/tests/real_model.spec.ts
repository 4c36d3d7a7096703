import { type Browser, devices, type Page } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, battle, choose, launch, launcher, openLauncher, output, row, test, view } from './battles';
import { git } from './coders';
import { faults, sideways } from './faults';
import { report, run, slash } from './flows';
import { addProject, BooCode, expect, live, logIn } from './world';

// No model server is configured or found, so BooCode runs its own small model: a real one, a weak one, and slow. Two of
// them at once take many times as long, so these follow each other, and each is looked at from the desk and from a phone
// at the same time.
test.describe.configure({ mode: 'default' });

test('a real model answers as three personas, and is stopped, resumed, judged, examined and overridden', { tag: '@desk' }, async ({
  page,
  browser,
}, info) => {
  test.setTimeout(1_500_000);
  const boocode = new BooCode([]);
  try {
    await boocode.start();
    await openLauncher(page, boocode, `real-${info.testId}`);
    const form = launcher(page);
    await form.getByText('Q&A').click();
    // There is one model, so they differ by their personas.
    await expect(form.getByLabel('Persona of B')).not.toHaveValue('');
    await expect(form.getByText(/is the same as/)).toHaveCount(0);
    const model = (await form.getByLabel('Model of A').locator('option', { hasText: /smollm2/i }).first().getAttribute('value'))!;
    await choose(form, 'Persona', [['Debugger', model], ['Architect', model], ['Explainer', model]]);
    await form.getByLabel('Prompt').fill('Tell a story about a compiler in five sentences.');
    await form.getByText('Terms').click();
    await form.getByLabel('Compare the results when all are over').uncheck();
    await launch(page, form);
    const phone = await phoneOn(browser, boocode, page);

    // Watched, through kill -9.
    await expect(output(page, 'A').locator('.markdown')).toContainText(/\w+ \w+ \w+/, { timeout: 90_000 });
    await boocode.kill();
    await boocode.start();
    for (const each of [page, phone]) {
      await live(each);
      await expect(row(each, 1)).toContainText('Done', { timeout: 240_000 });
    }

    // It may be done before anybody comes to stop it; then it is tried again, and stopped in that.
    await expect(async () => {
      await phone.keyboard.press('Escape');
      if ((await row(phone, 2).textContent())?.includes('Done')) await act(phone, 'C', /Try again/);
      await expect(row(phone, 2)).toContainText('Running', { timeout: 60_000 });
      await battle(phone).getByRole('button', { name: 'What can be done with C' }).click();
      await phone.getByRole('menuitem', { name: /Stop this one/ }).click({ timeout: 5_000 });
      await expect(row(phone, 2)).toContainText('It was stopped.', { timeout: 15_000 });
    }).toPass({ timeout: 240_000 });
    const head = (each: Page) => battle(each).locator('.arena-head');
    for (const each of [page, phone]) await expect(head(each)).toContainText('Completed');
    for (const [place, letter] of ['A', 'B'].entries()) {
      await expect(row(page, place)).toContainText('tokens/s');
      await expect(output(page, letter).locator('.markdown').last()).toContainText(/\w+ \w+ \w+/);
    }

    // Whatever it says, every judgement is made and counted, and in the form that was asked for.
    await view(page, 'Analysis').click();
    const analysis = battle(page).locator('.arena-analysis');
    await expect(analysis).toContainText(/\d+ calls/);
    await analysis.getByRole('button', { name: 'Compare the results' }).click();
    await expect(head(page)).toContainText('Comparing');
    await expect(head(page)).toContainText(/(wins over|No winner).*of \d+ judgements agree\./, { timeout: 900_000 });
    await view(phone, 'Analysis').click();
    for (const each of [page, phone]) {
      await expect(battle(each).locator('.arena-matrix')).toBeVisible();
      expect(await sideways(each)).toEqual([]);
    }
    await phone.screenshot({ path: info.outputPath('analysis.png') });

    await view(phone, 'Cross-examination').click();
    const asking = battle(phone).locator('.arena-examinations');
    await asking.getByLabel('Ask somebody else about the results').fill('Which one is shorter? One word.');
    await asking.getByLabel('Model', { exact: true }).selectOption(model);
    await asking.getByRole('button', { name: 'Ask', exact: true }).click();
    await expect(asking.locator('.arena-examined .markdown')).toContainText(/\w+/, { timeout: 120_000 });

    await act(page, 'B', /Choose as the winner/);
    for (const each of [page, phone]) {
      await expect(head(each)).toContainText('You chose B.');
      expect(await faults(each)).toEqual([]);
    }
    await page.screenshot({ path: info.outputPath('overridden.png') });
  } finally {
    await boocode.stop();
  }
});

test('research on the small real model ends honestly', { tag: '@desk' }, async ({ page, browser }, info) => {
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
    const phone = await phoneOn(browser, boocode, page);
    // However weak the model is: it comes to an end, and says what it is worth.
    for (const each of [page, phone]) {
      const title = run(each).locator('.orchestrator-title');
      await expect(title).toContainText(/Done|Failed/, { timeout: 900_000 });
      await expect(report(each)).toBeVisible({ timeout: 30_000 });
      const head = report(each).getByRole('region', { name: 'Summary', exact: true });
      await expect(head).toContainText(/Confidence: (High|Medium|Low|none was given)/);
      await expect(head).toContainText('No web was available');
      if ((await title.textContent())!.includes('Failed')) await expect(run(each).locator('.notice.error').first()).toBeVisible();
      expect(await sideways(each)).toEqual([]);
    }
    await page.screenshot({ path: info.outputPath('honest.png') });
    await phone.screenshot({ path: info.outputPath('honest-phone.png') });
  } finally {
    await boocode.stop();
  }
});

async function commit(project: string): Promise<void> {
  writeFileSync(join(project, 'README.md'), '# First\n');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
}

/** A phone that shows what `page` shows. */
async function phoneOn(browser: Browser, boocode: BooCode, page: Page): Promise<Page> {
  const context = await browser.newContext({ ...devices['Pixel 7'], viewport: { width: 390, height: 844 } });
  const phone = await context.newPage();
  await logIn(phone, boocode);
  await phone.goto(page.url());
  await live(phone);
  return phone;
}
