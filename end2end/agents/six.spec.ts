import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { battle, choose, launcher, openLauncher, output, row, view } from '../tests/battles';
import { faults, scrollsSideways } from '../tests/faults';
import { BooCode, expect, test } from '../tests/world';

const SIX = ['qwen', 'goose', 'claude', 'codex', 'opencode', 'gemini'];
const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F'];

/** A cloud server, so that two of them work at once. */
async function withEveryProtocol(model: string): Promise<BooCode> {
  const boocode = new BooCode(['--no-model']);
  const folder = join(boocode.home, '.config', 'boocode');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'boocode.toml'),
    `[[model_server]]\nname = "cloud"\nurl = "${model}"\nlane = "cloud"\nparallel = 2\n` +
      'speaks = ["messages", "responses", "gemini"]\n',
  );
  await boocode.start();
  return boocode;
}

test('all six agents fight one battle', async ({ page, model }, info) => {
  page.setDefaultTimeout(30_000);
  const boocode = await withEveryProtocol(model);
  try {
    await openLauncher(page, boocode, 'six');
    const form = launcher(page);
    await choose(form, 'Agent', SIX.map((agent) => [agent, 'cloud/small']));
    // Each at its own moment: nobody would be asked about those who made the same.
    await form.getByLabel('Prompt').fill('Mend it. [[shell date +mended-%s-%N >> main.txt]][[say It is mended.]]');
    await form.getByText('Terms').click();
    await form.getByLabel('Check of each result').fill('grep -q mended main.txt');
    await form.getByLabel('Judge').selectOption('cloud/judge');
    expect(await faults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.screenshot({ path: info.outputPath('roster.png'), fullPage: true });
    await form.getByRole('button', { name: 'Launch' }).click();
    await expect(page).toHaveURL(/\/battle\//);
    for (const [place, letter] of LETTERS.entries()) {
      await expect(output(page, letter)).toContainText('It is mended.', { timeout: 240_000 });
      await expect(row(page, place)).toContainText('check passes, it failed before', { timeout: 60_000 });
    }
    const head = battle(page).locator('.arena-head');
    await expect(head).toContainText('Completed', { timeout: 240_000 });
    await expect(head).toContainText('No winner: 15 pairs are equal; 30 of 30 judgements agree.');
    expect(await faults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await page.screenshot({ path: info.outputPath('finished.png'), fullPage: true });
    await view(page, 'Changes').click();
    await expect(battle(page).locator('.diff')).toContainText('mended');
    expect(await scrollsSideways(page)).toBe(false);
  } finally {
    await boocode.stop();
  }
});
