import type { Locator } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, battle, choose, launcher, openLauncher, openProject, output, row, still, test, view } from './battles';
import { git } from './coders';
import { faults, sideways } from './faults';
import { expect, live } from './world';

test('the launcher says at the field what cannot be', async ({ page, boocode }, info) => {
  await openLauncher(page, boocode, `refusals-${info.testId}`);
  const form = launcher(page);
  const launch = form.getByRole('button', { name: 'Launch' });
  // There is no battle of one: the last two cannot be removed.
  await expect(form.getByRole('button', { name: 'Remove A' })).toBeDisabled();
  await choose(form, 'Agent', [['native', 'local/small'], ['native', 'local/small']]);
  await expect(form.getByRole('alert')).toHaveText('B is the same as A. Choose another model or agent.');
  await expect(launch).toBeDisabled();
  await form.getByLabel('Model of B').selectOption('local/large');
  await expect(form.locator('.field-error')).toBeHidden();
  // Nothing is asked of anybody without a prompt.
  await launch.click();
  const prompt = form.getByLabel('Prompt');
  await expect(prompt).toBeFocused();
  expect(await prompt.evaluate((field: HTMLTextAreaElement) => field.validity.valueMissing)).toBe(true);
  // What only the server knows comes back to its field, with everything still in the form.
  await prompt.fill('   ');
  await launch.click();
  await expect(form.locator('.field').filter({ has: page.getByLabel('Prompt') }).getByRole('alert')).toHaveText('Write something first.');
  await expect(prompt).toHaveAttribute('aria-invalid', 'true');
  await expect(form.getByLabel('Model of B')).toHaveValue('local/large');
  await prompt.fill('Do it');
  await form.getByText('Terms').click();
  await form.getByLabel('Minutes for each contestant').fill('300');
  await form.getByText('Terms').click();
  await launch.click();
  // Also what the browser itself finds wrong.
  await expect(form.getByLabel('Minutes for each contestant')).toBeFocused();
  await form.evaluate((root: HTMLElement) => root.querySelector('form')!.setAttribute('novalidate', ''));
  await form.getByText('Terms').click();
  await launch.click();
  // It is not folded away.
  await expect(form.getByRole('alert')).toHaveText('A contestant may take between 10 seconds and 120 minutes.');
  await expect(form.getByRole('alert')).toBeVisible();
  // What was refused of one is not said of whoever comes into its place.
  await form.getByLabel('Minutes for each contestant').fill('30');
  await form.getByRole('button', { name: 'Add a contestant' }).click();
  await form.getByLabel('Model of C').selectOption('local/count');
  await form.getByLabel('Model of B').evaluate((field: HTMLSelectElement) => {
    field.selectedOptions[0].value = 'local/nothing';
  });
  await launch.click();
  await expect(form.getByRole('alert')).toContainText('Contestant B: The model local/nothing is not offered');
  await form.getByRole('button', { name: 'Remove B' }).click();
  await expect(form.getByLabel('Model of B')).toHaveValue('local/count');
  await expect(form.locator('.field-error')).toBeHidden();
  for (let count = 2; count < 6; count += 1) await form.getByRole('button', { name: 'Add a contestant' }).click();
  await expect(form.getByRole('button', { name: 'Add a contestant' })).toBeDisabled();
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('launcher.png') });
});

// `small` mends what the check asks for, `large` takes its time, `count` would never end.
const PROMPT =
  'Mend the file. [[on small]][[count 400]][[shell echo good >> main.txt]][[say It is good now.]]' +
  '[[on large]][[shell echo new > new.txt; sleep 4]][[say A bad idea.]]' +
  '[[on count]][[shell echo half > half.txt; sleep 600]]';

test('a battle of three agents is watched, stopped, resumed, judged and adopted', async ({ page, boocode }, info) => {
  test.setTimeout(240_000);
  const project = await openLauncher(page, boocode, `battle-${info.testId}`);
  const form = launcher(page);
  await choose(form, 'Agent', [['native', 'local/small'], ['qwen', 'local/large'], ['goose', 'local/count']]);
  await form.getByLabel('Prompt').fill(PROMPT);
  await form.getByText('Terms').click();
  await form.getByLabel('Check of each result').fill('grep -q good main.txt');
  await form.getByLabel('Judge').selectOption('local/judge');
  await expect(form).toContainText('3 contestants on local models run one after the other, in this order.');
  await form.getByRole('button', { name: 'Launch' }).click();
  await expect(page).toHaveURL(/\/battle\//);

  // Outputs come as they are written.
  await expect(output(page, 'A')).toContainText('10 11 12', { timeout: 30_000 });
  await expect(row(page, 1)).toContainText('after A');
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('running.png') });
  await expect(output(page, 'A')).toContainText('It is good now.', { timeout: 30_000 });

  // In the middle of the second one's command nobody is there any more.
  await expect(output(page, 'B')).toContainText('sleep 4', { timeout: 60_000 });
  await boocode.kill();
  await boocode.start();
  await live(page);
  await expect(output(page, 'B')).toContainText('A bad idea.', { timeout: 60_000 });
  await expect(output(page, 'B').locator('.attempt.interrupted')).toHaveCount(1);
  await expect(row(page, 0)).toContainText('Done');

  await expect(output(page, 'C')).toContainText('sleep 600', { timeout: 60_000 });
  await act(page, 'C', /Stop this one/);
  await expect(row(page, 2)).toContainText('It was stopped.', { timeout: 30_000 });
  const head = battle(page).locator('.arena-head');
  await expect(head).toContainText('A wins over the other in both orders; 6 of 6 judgements agree.', { timeout: 60_000 });
  await expect(row(page, 0)).toContainText('check passes, it failed before');
  await expect(row(page, 1)).toContainText('check fails, it failed before too');
  await expect(head).toContainText('Completed');
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('finished.png') });

  // Against the base, and one against another.
  await view(page, 'Changes').click();
  const diff = battle(page).locator('.diff');
  await expect(diff).toContainText('good');
  await battle(page).getByRole('combobox', { name: 'To', exact: true }).selectOption({ label: 'B · Qwen Code · large' });
  await expect(diff).toContainText('new.txt');
  await battle(page).getByRole('combobox', { name: 'From', exact: true }).selectOption({ label: 'A · BooCode · small' });
  await expect(diff).toContainText('main.txt');
  await expect(diff).toContainText('new.txt');
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('changes.png') });

  await view(page, 'Analysis').click();
  await expect(battle(page).locator('.arena-matrix .won')).toHaveText(/^3/);
  await battle(page).getByText('All 6 judgements').click();
  await expect(battle(page).locator('.arena-judgements')).toContainText('By what they say of themselves.');
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('analysis.png') });

  await view(page, 'Cross-examination').click();
  const asking = battle(page).locator('.arena-examinations');
  await asking.getByLabel('Ask somebody else about the results').fill('Which one is shorter?');
  await asking.getByLabel('Model', { exact: true }).selectOption('local/echo');
  await asking.getByRole('button', { name: 'Ask', exact: true }).click();
  await expect(asking.locator('.arena-examined')).toContainText('what A changed', { timeout: 30_000 });
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('examination.png') });

  await view(page, 'Figures').click();
  await expect(battle(page).locator('.arena-figure').first()).toContainText('Duration');
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('figures.png') });

  // A person has the last word, and takes it back.
  await act(page, 'B', /Choose as the winner/);
  await expect(head).toContainText('You chose B. The judge named A.');
  await act(page, 'B', /Clear my choice/);
  await expect(head).toContainText('A wins over the other');

  // On paper, which is narrow, it is all there, whichever part was looked at, and nothing to press.
  const screen = page.viewportSize()!;
  await page.setViewportSize({ width: 720, height: screen.height });
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await expect(battle(page).locator('.arena-outputs')).toContainText('It is good now.');
  await expect(battle(page).locator('.arena-row').first()).toBeVisible();
  await expect(output(page, 'A').locator('.arena-output-body')).toHaveCSS('max-height', 'none');
  await expect(battle(page).locator('.arena-matrix .won')).toBeVisible();
  await expect(battle(page).locator('.arena-examined')).toContainText('what A changed');
  await expect(battle(page).locator('.arena-figures')).toContainText('Generating');
  await expect(view(page, 'Figures')).toBeHidden();
  await expect(battle(page).getByRole('button', { name: 'More of this battle' })).toBeHidden();
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: null });
  await page.setViewportSize(screen);
  await expect(battle(page).locator('.arena-figure').first()).toBeVisible();
  await expect(battle(page).locator('.arena-outputs')).toHaveCount(0);

  // Without a script it reads the same, and as a whole.
  await still(page, async (reader) => {
    await expect(reader.locator('.arena-head')).toContainText('A wins over the other in both orders');
    await expect(reader.locator('.arena-head')).toContainText('The project itself fails the check');
    await expect(reader.locator('.arena-row')).toHaveCount(3);
    await expect(reader.locator('.arena-outputs')).toContainText('It is good now.');
    await expect(reader.locator('.arena-outputs')).toContainText('A bad idea.');
    const rest = reader.locator('.arena-rest');
    await expect(rest.locator('.arena-patch').first()).toContainText('+good');
    await expect(rest.getByRole('link', { name: 'The whole change of A as a patch' })).toBeVisible();
    await expect(rest.locator('.arena-matrix .won')).toBeVisible();
    await rest.getByText('All 6 judgements').click();
    await expect(rest.locator('.arena-judgements')).toContainText('By what they say of themselves.');
    await expect(rest.locator('.arena-examined')).toContainText('what A changed');
    await expect(rest.locator('.arena-figures')).toContainText('Generating');
    expect(await sideways(reader)).toEqual([]);
    await reader.screenshot({ path: info.outputPath('still.png'), fullPage: true });
  });

  const waits = page.waitForEvent('download');
  await battle(page).getByRole('button', { name: 'More of this battle' }).click();
  await page.getByRole('menuitem', { name: /Export as one HTML file/ }).click();
  const exported = await waits;
  expect(exported.suggestedFilename()).toMatch(/^\d{4}-\d\d-\d\d-coding-\w{8}\.html$/);
  expect(readFileSync(await exported.path(), 'utf8')).toContain('A wins over the other in both orders');

  await act(page, 'A', /Adopt/);
  await page.getByRole('button', { name: 'Apply to my files' }).click();
  await expect(page.getByText('Applied to 1 file.')).toBeVisible();
  expect(readFileSync(join(project, 'main.txt'), 'utf8')).toBe('one\ngood\n');
  expect(git(project, 'status', '--porcelain').trim()).toBe('M main.txt');
});

test('what is said on a line of a result goes to a Coder in its worktree', async ({ page, boocode }, info) => {
  await openLauncher(page, boocode, `feedback-${info.testId}`);
  const form = launcher(page);
  await choose(form, 'Agent', [['native', 'local/small'], ['native', 'local/large']]);
  await form.getByLabel('Prompt').fill('[[shell echo two >> main.txt]][[say Done so.]]');
  await form.getByText('Terms').click();
  await form.getByLabel('Compare the results when all are over').uncheck();
  await form.getByRole('button', { name: 'Launch' }).click();
  await expect(battle(page).locator('.arena-head')).toContainText('Completed', { timeout: 30_000 });
  await act(page, 'B', /Show its changes/);
  await expect(battle(page).locator('.diff')).toContainText('two');
  await page.getByRole('grid', { name: 'Changed lines' }).focus();
  await page.keyboard.press('n');
  await expect(page.locator('.diff-rows .current')).toContainText('two');
  await page.keyboard.press('c');
  await page.getByRole('textbox', { name: /^Comment on main.txt/ }).fill('Why not three?');
  await page.getByRole('button', { name: 'Add comment' }).click();
  await page.getByRole('button', { name: 'Send comments' }).click();
  const coder = page.getByRole('region', { name: 'Coder' });
  await expect(coder.getByLabel('Your message')).toHaveValue(/main\.txt:2[\s\S]*Why not three\?/);
  await expect(coder.getByRole('region', { name: 'Changes' })).toContainText('1 file changed, +1 −0');
});

test('what is launched by key has the keyboard, from a launcher and from a dialog', { tag: '@desk' }, async ({ page, boocode }, info) => {
  await openLauncher(page, boocode, `by-key-${info.testId}`);
  const roster: [string, string][] = [['Debugger', 'local/small'], ['Architect', 'local/small']];
  const launched = async (form: Locator) => {
    await form.getByText('Q&A').click();
    await choose(form, 'Persona', roster);
    await form.getByLabel('Prompt').fill('[[say so]]');
    await form.getByRole('button', { name: 'Launch' }).press('Enter');
    await expect(page).toHaveURL(/\/battle\//);
    await expect(battle(page).filter({ visible: true })).toBeVisible();
    await expect(page.locator('.pane[data-focused]:focus, .pane[data-focused] :focus')).toHaveCount(1);
  };
  await launched(launcher(page));
  await page.keyboard.press('Alt+n');
  await expect(page).toHaveURL(/\/chat\//);
  const field = page.locator('.pane-body:not([hidden])').getByLabel('Your message');
  await field.fill('/arena');
  await field.press('Control+Enter');
  await launched(page.getByRole('dialog', { name: 'New battle' }));
});

test('three personas answer what was typed in a chat', async ({ chat: page }, info) => {
  // Who say the same are not compared.
  const prompt = '[[count 40]][[on small]][[say Because.]][[on large]][[say Because of that.]][[on echo]][[say Because so.]]';
  await page.getByLabel('Your message').fill(prompt);
  await page.getByRole('button', { name: 'Arena', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'New battle' });
  await expect(form.getByLabel('Prompt')).toHaveValue(prompt);
  await form.getByText('Q&A').click();
  await choose(form, 'Persona', [['Debugger', 'local/small'], ['Architect', 'local/large'], ['Explainer', 'local/echo']]);
  await form.getByText('Terms').click();
  await form.getByLabel('Judge').selectOption('local/biased-judge');
  expect(await faults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Launch' }).click();
  await expect(page).toHaveURL(/\/battle\//);
  for (const letter of ['A', 'B', 'C']) {
    await expect(output(page, letter)).toContainText('Because', { timeout: 30_000 });
  }
  const head = battle(page).locator('.arena-head');
  await expect(head).toContainText('No winner: 3 of 3 pairs are unsettled; 0 of 18 judgements agree.', { timeout: 60_000 });
  await expect(view(page, 'Changes')).toHaveCount(0);
  expect(await faults(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('unsettled.png') });
});

test('on a phone a contestant has the screen to itself, and leads back @phone', async ({ page, boocode }, info) => {
  await openProject(page, boocode, `alone-${info.testId}`);
  await page.getByLabel('Your message').fill('/arena [[markdown]]');
  await page.getByLabel('Your message').press('Control+Enter');
  const form = page.getByRole('dialog', { name: 'New battle' });
  await form.getByText('Q&A').click();
  await choose(form, 'Persona', [['Debugger', 'local/small'], ['Architect', 'local/small']]);
  await form.getByRole('button', { name: 'Launch' }).click();
  await expect(row(page, 0)).toContainText('Done', { timeout: 30_000 });
  await page.getByRole('button', { name: 'Show B alone' }).click();
  await expect(output(page, 'B')).toBeVisible();
  await expect(row(page, 0)).toBeHidden();
  await expect(view(page, 'Output')).toBeHidden();
  expect(await faults(page)).toEqual([]);
  expect(await sideways(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('alone.png') });
  await page.getByRole('button', { name: 'Back to all contestants' }).click();
  await expect(row(page, 0)).toBeVisible();
  await expect(output(page, 'A')).toBeVisible();
});
