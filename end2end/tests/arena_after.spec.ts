import { act, battle, choose, launch, launcher, openLauncher, openProject, output, row, still, test, view } from './battles';
import { openCoder } from './coders';
import { faults, sideways } from './faults';
import { focused, menu } from './panes';
import { expect, live, logIn } from './world';

test('who is tried again has both tries to look at, also after a reload', async ({ page, boocode }, info) => {
  await openLauncher(page, boocode, `again-${info.testId}`);
  const form = launcher(page);
  await choose(form, 'Agent', [['native', 'local/small'], ['native', 'local/large']]);
  await form.getByLabel('Prompt').fill('[[shell date +first-%N > made.txt; cat made.txt]][[say Made it.]]');
  await form.getByText('Terms').click();
  await form.getByLabel('Compare the results when all are over').uncheck();
  await launch(page, form);
  const head = battle(page).locator('.arena-head');
  await expect(head).toContainText('Completed', { timeout: 30_000 });
  await act(page, 'A', /Choose as the winner/);
  await expect(head).toContainText('You chose A.');
  const first = await output(page, 'A').textContent();

  await act(page, 'A', /Try again/);
  const tries = output(page, 'A').getByLabel('Which try is shown');
  await expect(tries).toBeVisible({ timeout: 30_000 });
  await expect(head).toContainText('Completed', { timeout: 30_000 });
  // What was chosen was chosen for what it made then.
  await expect(head).not.toContainText('You chose A.');
  await page.reload();
  await live(page);
  await tries.selectOption({ label: 'Try 1' });
  await expect(output(page, 'A')).toContainText('Made it.');
  const made = /first-\d+/.exec(first!)![0];
  await output(page, 'A').locator('summary').first().click();
  await expect(output(page, 'A')).toContainText(made);
  await view(page, 'Changes').click();
  await expect(battle(page).locator('.diff')).toContainText(made);
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('earlier.png') });
  await battle(page).getByLabel('Which try is shown').selectOption({ label: 'Try 2 (newest)' });
  await expect(battle(page).locator('.diff')).toContainText('first-');
  await expect(battle(page).locator('.diff')).not.toContainText(made);
});

test('a judge that fails says why, and another one is asked', async ({ page, boocode }, info) => {
  await openLauncher(page, boocode, `mumbling-${info.testId}`);
  const form = launcher(page);
  await form.getByText('Q&A').click();
  await choose(form, 'Persona', [['Debugger', 'local/small'], ['Architect', 'local/large']]);
  await form.getByLabel('Prompt').fill('[[on small]][[say A good one.]][[on large]][[say A bad one.]]');
  await form.getByText('Terms').click();
  await form.getByLabel('Judge').selectOption('local/mumbling-judge');
  await launch(page, form);
  const head = battle(page).locator('.arena-head');
  const why = 'No verdict: The judge did not answer in the form that was asked for, twice.';
  await expect(head).toContainText(why, { timeout: 60_000 });
  await expect(head).toContainText('Completed');
  await still(page, async (reader) => {
    await expect(reader.locator('.arena-head')).toContainText(why);
  });
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('no-verdict.png') });

  await head.getByRole('button', { name: 'Compare again…' }).click();
  const analysis = battle(page).locator('.arena-analysis');
  await analysis.getByLabel('Judge').selectOption('local/judge');
  await expect(analysis).toContainText('8 calls');
  await analysis.getByRole('button', { name: 'Compare the results' }).click();
  await expect(head).toContainText('A wins over the other in both orders; 6 of 6 judgements agree.', { timeout: 60_000 });
  await expect(analysis.locator('.arena-one-analysis')).toHaveCount(2);

  // One that fails later takes nothing away.
  await analysis.getByLabel('Judge').selectOption('local/mumbling-judge');
  await analysis.getByRole('button', { name: 'Compare the results' }).click();
  await expect(head).toContainText('Analysis 3 brought no verdict', { timeout: 60_000 });
  await expect(head).toContainText('A wins over the other');
  await expect(row(page, 0).getByText('Winner', { exact: true })).toBeAttached();
});

test('what a person chooses is seen at once in another browser, and found in the history', async ({ page, boocode, browser }, info) => {
  const word = `w${info.testId.replace(/[^a-z0-9]/gi, '')}`;
  await openLauncher(page, boocode, `history-${info.testId}`);
  const form = launcher(page);
  await form.getByText('Q&A').click();
  await choose(form, 'Persona', [['Debugger', 'local/small'], ['Architect', 'local/large']]);
  await form.getByLabel('Prompt').fill(`${word} [[say So.]]`);
  await form.getByText('Terms').click();
  await form.getByLabel('Compare the results when all are over').uncheck();
  await launch(page, form);
  await expect(battle(page).locator('.arena-head')).toContainText('Completed', { timeout: 30_000 });

  const context = await browser.newContext({ viewport: page.viewportSize()! });
  const other = await context.newPage();
  await logIn(other, boocode);
  await other.goto(page.url());
  await live(other);
  await act(page, 'B', /Choose as the winner/);
  await expect(battle(other).locator('.arena-head')).toContainText('You chose B.');
  await expect(row(other, 1).getByText('Winner', { exact: true })).toBeAttached();
  await act(other, 'B', /Clear my choice/);
  await expect(battle(page).locator('.arena-head')).not.toContainText('You chose B.');
  await act(other, 'A', /Choose as the winner/);
  await expect(battle(page).locator('.arena-head')).toContainText('You chose A.');
  await context.close();

  const entries = page.locator('.entry');
  const found = async (query: string, count: number) => {
    await page.goto(`${boocode.url}/history?q=${word}&${query}`);
    await expect(page.getByRole('heading', { level: 1, name: 'History' })).toBeAttached();
    await expect(entries).toHaveCount(count);
  };
  await found('kind=battle', 1);
  await found('type=qa', 1);
  await found('type=coding', 0);
  await found('contestant=architect', 1);
  await found('contestant=goose', 0);
  await found('winner=debugger', 1);
  await found('winner=architect', 0);
  await found('state=done&winner=debugger', 1);
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('history.png') });
  // What is filtered is chosen in the form too, and the entry leads to the battle.
  await expect(page.getByLabel('Winner')).toHaveValue('debugger');
  await entries.getByRole('heading').getByRole('link').click();
  await expect(battle(page).locator('.arena-head')).toContainText('You chose A.');
});

test('the Arena opens from a Coder, from the split menu and from the palette', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `ways-${info.testId}`);
  const coder = page.getByRole('region', { name: 'Coder' });
  await coder.getByLabel('Your message').fill('Sort the list');
  await coder.getByRole('button', { name: 'Arena', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'New battle' });
  await expect(dialog.getByLabel('Prompt')).toHaveValue('Sort the list');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.keyboard.press('Control+k');
  await page.getByLabel('Find an action, a session, a chat, a battle or a run').fill('arena');
  await page.keyboard.press('Enter');
  await expect(dialog.or(launcher(page))).toBeVisible();
});

test('the split menu has a new Arena @desk', async ({ page, boocode }, info) => {
  await openProject(page, boocode, `split-${info.testId}`);
  await menu(focused(page), 'Split this pane', /Arena/);
  await expect(launcher(page)).toBeVisible();
  await expect(page.locator('.pane')).toHaveCount(2);
});
