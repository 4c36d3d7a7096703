import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faults } from './faults';
import { focused, menu } from './panes';
import { addProject, BooCode, expect, live, logIn, test } from './world';

/** A server with agents of its own, and a login of Claude Code in the home of whoever runs it. */
async function withAgents(model: string): Promise<BooCode> {
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`]);
  const program = join(boocode.folder('mine'), 'agent');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const agent = (name: string, title: string, rest: string) =>
    `[[agent]]\nname = "${name}"\ntitle = "${title}"\n${rest}\n`;
  const folder = join(boocode.home, '.config', 'boocode');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'boocode.toml'),
    agent('mine', 'My Agent', `command = "${program}"\nspeaks = "gemini"`) +
      agent('gone', 'Gone Agent', 'command = "/opt/gone/agent"'),
  );
  mkdirSync(join(boocode.home, '.claude'));
  writeFileSync(join(boocode.home, '.claude', '.credentials.json'), '{}');
  await boocode.start();
  return boocode;
}

test('an agent of the configuration is listed, and says which models are not for it', async ({ page, model }) => {
  const boocode = await withAgents(model);
  try {
    await logIn(page, boocode);
    await addProject(page, boocode.repository('project'));
    await menu(focused(page), 'New in this pane', /New task/);
    const coder = page.getByRole('region', { name: 'Coder' });
    await live(page);
    const models = coder.getByLabel('Model');
    await expect(models.locator('option', { hasText: 'small' })).toBeEnabled();
    await coder.getByLabel('Agent').selectOption('mine');
    const why = "My Agent needs a server that speaks Gemini's generateContent; local does not";
    await expect(models.locator('option', { hasText: why })).toHaveCount(1);
    await expect(models.locator('option', { hasText: 'large' })).toBeDisabled();
    await expect(coder.getByLabel('Agent').locator('option', { hasText: 'Gone Agent' })).toHaveText(
      'Gone Agent (there is no program /opt/gone/agent)',
    );
    // Whoever sends it all the same is told, and loses nothing.
    const field = coder.getByLabel('Your message');
    await field.fill('Do it');
    await field.press('Control+Enter');
    await expect(coder).toContainText(`${why}. Choose another model or another agent.`);
    await expect(field).toHaveValue('Do it');
    expect(await faults(page)).toEqual([]);
  } finally {
    await boocode.stop();
  }
});

test("an agent's own login is used when it is allowed, and no longer", async ({ page, model }, info) => {
  const boocode = await withAgents(model);
  try {
    await logIn(page, boocode);
    await page.goto(`${boocode.url}/settings/agents`);
    await live(page);
    const row = page.locator('.row', { hasText: 'Claude Code' });
    await expect(row).toContainText('Has a login of its own on this machine, ~/.claude/.credentials.json. It is not used.');
    await expect(page.locator('.row', { hasText: 'Codex' })).toContainText('there is no ~/.codex/auth.json');
    await row.getByRole('button', { name: 'Use its login: Claude Code', exact: true }).click();
    await expect(row).toContainText('Works on its own login');
    await page.screenshot({ path: info.outputPath('agents.png') });
    expect(await faults(page)).toEqual([]);

    await page.goto(boocode.url);
    await addProject(page, boocode.repository('project'));
    // A chat has nothing to do with it.
    const chatModels = page.getByLabel('Model');
    await expect(chatModels.locator('option', { hasText: 'small' })).toHaveCount(1);
    await expect(chatModels.locator('optgroup[label^="claude-login"]')).toHaveCount(0);
    await menu(focused(page), 'New in this pane', /New task/);
    const coder = page.getByRole('region', { name: 'Coder' });
    await expect(coder.getByLabel('Model').locator('optgroup[label^="claude-login (cloud"]')).toHaveCount(1);

    await page.goto(`${boocode.url}/settings/agents`);
    await live(page);
    await row.getByRole('button', { name: 'Do not use its login: Claude Code' }).click();
    await expect(row).toContainText('It is not used.');
  } finally {
    await boocode.stop();
  }
});
