import { type Page } from '@playwright/test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { action, ask, changes, comment, git, openCoder, tools } from './coders';
import { faults } from './faults';
import { focused, tabs } from './panes';
import { answer, expect, live, logIn, test } from './world';

const edit = (from: string, to: string) =>
  `[[tool edit ${JSON.stringify({ path: 'main.rs', old: from, new: to })}]]`;

test('a task is done in a worktree, reviewed, commented on and applied', async ({ page, boocode }, info) => {
  const project = await openCoder(page, boocode, `coder-${info.testId}`);
  await ask(page, `${edit('one', 'two')}[[say changed it]]`);
  await expect(answer(page)).toContainText('changed it');
  await expect(tools(page)).toHaveCount(1);
  await expect(tools(page)).toContainText('Edit main.rs');
  await tools(page).locator('summary').click();
  await expect(tools(page).getByLabel('Output')).toContainText('Replaced 1 in main.rs');
  await expect(changes(page)).toContainText('1 file changed, +1 −1');
  expect(readFileSync(join(project, 'main.rs'), 'utf8')).toContain('one');

  await action(page, 'Review').click();
  const diff = page.locator('.diff');
  await expect(diff).toContainText('println!("two");');
  await expect(diff).toContainText('println!("one");');
  expect(await faults(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('review.png') });
  expect(await comment(page, 'Why not three?')).toContain('Why not three?');
  await expect(diff).toHaveCount(0);

  // It goes on in the same worktree.
  await ask(page, `${edit('two', 'three')}[[say again]]`);
  await expect(answer(page)).toContainText('again');
  await page.reload();
  await live(page);
  await expect(changes(page)).toContainText('1 file changed, +1 −1');
  await expect(tools(page)).toContainText('Edit main.rs');

  await action(page, 'Apply…').click();
  await page.getByLabel('Name of the branch').fill('agent/three');
  await action(page, 'Commit to this branch').click();
  await expect(page.getByText(/Committed as .* on agent\/three/)).toBeVisible();
  expect(git(project, 'show', 'agent/three:main.rs')).toContain('three');
  expect(readFileSync(join(project, 'main.rs'), 'utf8')).toContain('one');
  await action(page, 'Apply…').click();
  await action(page, 'Apply to my files').click();
  await expect(page.getByText('Applied to 1 file.')).toBeVisible();
  expect(readFileSync(join(project, 'main.rs'), 'utf8')).toContain('three');

  // After feedback the same line again, and at last as it was: the project follows.
  for (const [from, to, count] of [['three', 'four', '1 file changed'], ['four', 'one', 'Nothing changed yet']]) {
    await ask(page, `${edit(from, to)}[[say now ${to}]]`);
    await expect(answer(page)).toContainText(`now ${to}`);
    await expect(changes(page)).toContainText(count);
    await action(page, 'Apply…').click();
    await action(page, 'Apply to my files').click();
    await expect.poll(() => readFileSync(join(project, 'main.rs'), 'utf8')).toContain(to);
  }
});

/** How far the form for a comment is from the bottom of the line that it is about. */
const gap = (page: Page) =>
  page.evaluate(() => {
    const line = [...document.querySelectorAll('.diff-rows .ln.del')].find((row) => row.textContent!.includes('"one"'));
    const form = document.querySelector('.diff-editor:not([hidden])');
    if (!line || !form) return Infinity;
    return Math.abs(form.getBoundingClientRect().top - line.getBoundingClientRect().bottom);
  });

test('comments are kept until they are sent, and the other side is chosen', async ({ page, boocode }, info) => {
  const project = await openCoder(page, boocode, `comments-${info.testId}`);
  const first = { command: `echo alpha > a.txt; printf '%0400d\\n' 1 2 > b.txt` };
  await ask(page, `[[tool run ${JSON.stringify(first)}]]${edit('one', 'two')}[[say changed it]]`);
  await expect(changes(page)).toContainText('3 files changed');
  await action(page, 'Review').click();
  const diff = page.locator('.diff');
  await expect(diff).toContainText('println!("two");');
  await page.getByRole('grid', { name: 'Changed lines' }).focus();
  for (const line of ['alpha', '0000', 'println!("one");']) {
    await page.keyboard.press('n');
    await expect(page.locator('.diff-rows .current')).toContainText(line);
  }
  await page.keyboard.press('c');
  const editor = page.getByRole('textbox', { name: /^Comment on main.rs/ });
  await editor.fill('Say three');
  await action(page, 'Add comment').click();
  await page.keyboard.press('c');
  await editor.fill('Say three, or f');

  // Neither a look at the work nor a reload takes what was written.
  await action(page, 'Back to the work').click();
  await expect(diff).toHaveCount(0);
  await action(page, 'Review').click();
  await expect(editor).toHaveValue('Say three, or f');
  await page.reload();
  await live(page);
  await action(page, 'Review').click();
  await expect(page.getByRole('region', { name: 'Comments to be sent' })).toContainText('Say three');
  await expect(editor).toHaveValue('Say three, or f');
  await expect(editor).toBeFocused();
  // Under its line, which is not where it was while lines were not broken.
  await expect.poll(() => gap(page)).toBeLessThan(12);
  // A phone breaks them by itself.
  const breaking = page.getByRole('button', { name: 'Break long lines' });
  if (await breaking.isVisible()) await breaking.click();
  await expect(diff).not.toHaveAttribute('data-columns', '0');
  await expect.poll(() => gap(page)).toBeLessThan(12);
  await expect(editor).toHaveValue('Say three, or f');
  await editor.fill('Say three, or four');
  await action(page, 'Save comment').click();
  await action(page, 'Send comments').click();
  const field = page.getByRole('region', { name: 'Coder' }).getByLabel('Your message');
  await expect(field).toHaveValue(/Say three, or four/);
  await field.fill('');
  await action(page, 'Review').click();
  await expect(diff).toContainText('println!("two");');
  await expect(page.getByRole('region', { name: 'Comments to be sent' })).toHaveCount(0);

  // Against the files as they are now, there is what the person did meanwhile too.
  writeFileSync(join(project, 'mine.txt'), 'mine\n');
  await page.getByLabel('Compared with').focus();
  await page.getByLabel('Compared with').selectOption('Against your files now');
  await expect(diff).toContainText('mine.txt');
  await expect(diff).toContainText('4 files changed');
  await page.screenshot({ path: info.outputPath('sides.png') });
  expect(await faults(page)).toEqual([]);
  // The keyboard stays where it chose.
  await expect(page.getByLabel('Compared with')).toBeFocused();
  await page.getByLabel('Compared with').selectOption('Against where it began');
  await expect(diff).toContainText('3 files changed');
});

test('what an agent changed is seen while it is still at work', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `meanwhile-${info.testId}`);
  const command = 'sleep 2; echo x > new.txt; sleep 25';
  await ask(page, `[[tool run ${JSON.stringify({ command })}]][[say done]]`);
  await expect(tools(page)).toContainText('sleep 25');
  await expect(changes(page)).toContainText('1 file changed', { timeout: 20_000 });
  // It is: and it does not keep the model from others.
  await page.getByRole('region', { name: 'Coder' }).getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(answer(page)).toContainText('Stopped');
});

test('what cannot be part of the changes is told', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `left-out-${info.testId}`);
  const command = 'mkfifo pipe; git init -q inner; echo x > inner/file';
  await ask(page, `[[tool run ${JSON.stringify({ command })}]][[say made]]`);
  await expect(changes(page)).toContainText('1 file changed');
  await changes(page).locator('summary').click();
  await expect(changes(page).locator('.left-out')).toContainText('pipe: a pipe, a socket or a device');
  await page.screenshot({ path: info.outputPath('left-out.png') });
  await action(page, 'Review').click();
  await expect(page.locator('.diff .left-out')).toContainText('inner/.git');
  expect(await faults(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('left-out-review.png') });
});

test('a conflict is said and nothing is lost', async ({ page, boocode }, info) => {
  const project = await openCoder(page, boocode, `conflict-${info.testId}`);
  await ask(page, `${edit('one', 'two')}[[say done]]`);
  await expect(changes(page)).toContainText('1 file changed');
  writeFileSync(join(project, 'main.rs'), 'fn main() {\n    println!("mine");\n}\n');
  await action(page, 'Apply…').click();
  await action(page, 'Apply to my files').click();
  const dialog = page.getByRole('dialog', { name: 'Apply the changes' });
  await expect(dialog.locator('.notice.error')).toContainText('main.rs');
  expect(readFileSync(join(project, 'main.rs'), 'utf8')).toContain('mine');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(changes(page)).toContainText('1 file changed');
});

test('an agent asks, and what is refused is not done', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `asks-${info.testId}`);
  await page.getByLabel('Ask before changes').check();
  await ask(page, `${edit('one', 'two')}[[say so be it]]`);
  const question = page.getByRole('alertdialog', { name: 'The agent asks' });
  await expect(question).toContainText('Edit main.rs');
  expect(await faults(page)).toEqual([]);
  await question.getByRole('button', { name: 'Refuse' }).click();
  await expect(answer(page)).toContainText('so be it');
  await expect(question).toHaveCount(0);
  await expect(changes(page)).toContainText('Nothing changed yet');
  await ask(page, `${edit('one', 'two')}[[say thanks]]`);
  await question.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(answer(page)).toContainText('thanks');
  await expect(changes(page)).toContainText('1 file changed');
});

test('a worktree is discarded and restored', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `discard-${info.testId}`);
  await ask(page, `${edit('one', 'two')}[[say done]]`);
  await expect(changes(page)).toContainText('1 file changed');
  await action(page, 'Discard…').click();
  await action(page, 'Discard').click();
  await expect(changes(page)).toContainText('in the trash');
  await action(page, 'Restore').click();
  await expect(changes(page)).toContainText('1 file changed');
});

test('kill -9 while a command runs: the turn is done again and nothing of it is left', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `kill-${info.testId}`);
  await ask(page, '[[tool run {"command":"sleep 4; echo woke"}]][[say woken]]');
  await expect(tools(page)).toContainText('sleep 4');
  await boocode.kill();
  await boocode.start();
  await expect(answer(page)).toContainText('woken', { timeout: 30_000 });
  await live(page);
});

test('Settings tells what worktrees take, and empties the trash', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `disk-${info.testId}`);
  await ask(page, `${edit('one', 'two')}[[say done]]`);
  await expect(changes(page)).toContainText('1 file changed');
  await page.goto(`${boocode.url}/settings/worktrees`);
  const row = page.locator('.row', { hasText: `disk-${info.testId}` });
  await expect(row).toContainText('in use');
  await expect(row).toContainText(/KB|MB/);
  await row.getByRole('button', { name: /^Discard/ }).click();
  await expect(row).toContainText('in the trash');
  await page.getByRole('button', { name: /for good$/ }).click();
  await expect(row).toHaveCount(0);
  expect(await faults(page)).toEqual([]);
});

test('Settings lists the agents with what keeps them inside', async ({ page, boocode }) => {
  await logIn(page, boocode);
  await page.goto(`${boocode.url}/settings/agents`);
  await expect(page.locator('.settings-body')).toContainText('BooCode');
  for (const agent of ['Qwen Code', 'Goose']) {
    await expect(page.locator('.row', { hasText: agent })).toContainText('Ready, version');
  }
  await expect(page.locator('.settings-note')).toContainText(/The wall on this machine is/);
  expect(await faults(page)).toEqual([]);
});

test('a task that the page did not carry opens as one', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `later-${info.testId}`);
  await ask(page, '[[say here]]');
  await expect(answer(page)).toContainText('here');
  const [chat, task] = [tabs(focused(page)).first(), tabs(focused(page)).last()];
  await chat.getByRole('link').click();
  await expect(page.getByRole('region', { name: 'Chat', exact: true })).toBeVisible();
  await page.reload();
  await live(page);
  // Its answer comes late, as from far away.
  await page.route('**/api/page_snapshot', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  await task.getByRole('link').click();
  const coder = page.getByRole('region', { name: 'Coder' });
  await expect(coder).toBeVisible();
  await expect(coder.getByLabel('Agent', { exact: true })).toBeVisible();
  await expect(coder.locator('.message.assistant')).toContainText('here');
});

test('a wall that falls short is told where work is asked for', async ({ page, boocode }, info) => {
  const gap = 'The wall is reduced: an agent can still connect to every TCP port';
  const note = page.getByRole('region', { name: 'Coder' }).getByRole('note');
  await openCoder(page, boocode, `gap-${info.testId}`);
  await expect(page.getByLabel('Agent', { exact: true }).getByRole('option', { name: /Goose/ })).toBeAttached();
  await expect(note).toHaveCount(0);
  await page.route('**/api/backends', async (route) => {
    const response = await route.fetch();
    const offers: object[] = await response.json();
    await route.fulfill({ response, json: offers.map((offer) => ({ ...offer, gap })) });
  });
  await page.reload();
  await expect(note).toHaveText(gap);
});

test('a task is stopped, others wait for it, and what it did stays', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `stop-${info.testId}`);
  await ask(page, `${edit('one', 'two')}[[tool run {"command":"sleep 300"}]][[say never]]`);
  await expect(tools(page).last()).toContainText('sleep 300');
  await ask(page, '[[say after it]]');
  const queue = page.getByRole('list', { name: 'Messages that wait' });
  await expect(queue).toContainText('after it');
  await action(page, 'Stop').click();
  await expect(queue).toContainText('The queue is held');
  await expect(tools(page).last()).toContainText('cut off');
  await action(page, 'Send this waiting message now').click();
  await expect(answer(page)).toContainText('after it');
  await expect(changes(page)).toContainText('1 file changed, +1 −1');
  await boocode.kill();
  await boocode.start();
  await live(page);
  await expect(changes(page)).toContainText('1 file changed, +1 −1');
});
