import { type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { action, ask, changes, comment, git, openCoder, tools } from './coders';
import { faults, sideways } from './faults';
import { answer, BooCode, expect, logIn, test } from './world';

/** A call of the agent's own tool that runs a command. */
function shell(agent: string, command: string): string {
  const calls: Record<string, string> = {
    qwen: `run_shell_command ${JSON.stringify({ command, is_background: false })}`,
    goose: `shell ${JSON.stringify({ command })}`,
    native: `run ${JSON.stringify({ command })}`,
  };
  return `[[tool ${calls[agent]}]]`;
}

const row = (page: Page, agent: string) =>
  page.locator('.settings-rows .row').filter({ has: page.getByText(agent, { exact: true }) });

async function install(page: Page, agent: string): Promise<void> {
  await expect(row(page, agent)).toContainText('Not installed');
  await expect(row(page, agent).locator('code')).toContainText('npm install --ignore-scripts --prefix');
  await action(page, `Install ${agent}`).click();
  await expect(row(page, agent)).toContainText('Being installed…');
  await expect(row(page, agent)).toContainText('Ready, version', { timeout: 180_000 });
}

/** A task, its diff, a comment on a line of it, and the agent's second turn with that. */
async function work(page: Page, boocode: BooCode, agent: string, name: string): Promise<string> {
  const project = await openCoder(page, boocode, name);
  await page.getByLabel('Agent').selectOption(agent);
  await ask(page, `${shell(agent, 'sed -i s/one/two/ main.rs')}[[say first turn]]`);
  await expect(answer(page)).toContainText('first turn', { timeout: 90_000 });
  await expect(tools(page)).toHaveCount(1);
  await expect(tools(page)).toContainText(/main\.rs|sed|shell/i);
  await expect(changes(page)).toContainText('1 file changed, +1 −1');
  expect(readFileSync(join(project, 'main.rs'), 'utf8')).toContain('one');

  await action(page, 'Review').click();
  await expect(page.locator('.diff')).toContainText('println!("two");');
  const feedback = await comment(page, 'Why not three?');
  await ask(page, `${feedback}\n${shell(agent, 'sed -i s/two/three/ main.rs')}[[say second turn]]`);
  await expect(answer(page)).toContainText('second turn', { timeout: 90_000 });
  await expect(page.locator('.message.user').last()).toContainText('Why not three?');
  // It goes on from its session.
  await expect(answer(page)).not.toContainText('began anew');
  await expect(changes(page)).toContainText('1 file changed, +1 −1');
  return project;
}

test('on a fresh machine agents are installed by a button, work, and what they did is applied or not', async ({
  page,
  model,
}, info) => {
  test.setTimeout(10 * 60_000);
  page.setDefaultTimeout(30_000);
  // What was downloaded before may be used, as on anybody's machine.
  const env = { BOOCODE_TOOLS_DIR: undefined, XDG_CACHE_HOME: undefined, npm_config_cache: join(homedir(), '.npm') };
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`], 0, env);
  try {
    await boocode.start();
    await logIn(page, boocode);
    await page.goto(`${boocode.url}/settings/agents`);
    await expect(page.locator('.settings[data-alive]')).toBeVisible();
    await expect(row(page, 'BooCode')).toContainText('Ready, version');
    await page.screenshot({ path: info.outputPath('fresh.png') });
    for (const agent of ['Qwen Code', 'Goose']) await install(page, agent);
    expect(await faults(page)).toEqual([]);
    expect(await sideways(page)).toEqual([]);

    const applied = await work(page, boocode, 'qwen', 'with-qwen');
    await action(page, 'Apply…').click();
    await action(page, 'Apply to my files').click();
    await expect(page.getByText('Applied to 1 file.')).toBeVisible();
    expect(readFileSync(join(applied, 'main.rs'), 'utf8')).toContain('three');

    const discarded = await work(page, boocode, 'goose', 'with-goose');
    await action(page, 'Discard…').click();
    await action(page, 'Discard').click();
    await expect(changes(page)).toContainText('in the trash');
    expect(git(discarded, 'status', '--porcelain')).toBe('');

    const kept = await work(page, boocode, 'native', 'with-native');
    await page.screenshot({ path: info.outputPath('native.png') });
    await page.reload();
    // Whoever neither applies nor discards keeps it.
    await expect(changes(page)).toContainText('1 file changed, +1 −1');
    expect(git(kept, 'status', '--porcelain')).toBe('');
  } finally {
    await boocode.stop();
  }
});
