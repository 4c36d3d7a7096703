import type { Page } from '@playwright/test';
import { focused, menu } from './panes';
import { answer, ask, expect, live, test } from './world';

const composer = (page: Page) => page.getByLabel('Your message');
const battle = (page: Page) => page.getByRole('dialog', { name: 'New battle' });

async function find(page: Page, action: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find an action, a session, a chat, a battle or a run' }).fill(action);
  await page.keyboard.press('Enter');
}

test('a battle that is not launched leaves its prompt in the composer, and what was added to it', async ({ chat }) => {
  await composer(chat).fill('/arena mend the build');
  await composer(chat).press('Control+Enter');
  await expect(battle(chat).getByLabel('Prompt')).toHaveValue('mend the build');
  await battle(chat).getByLabel('Prompt').fill('mend the build and the tests');
  await chat.keyboard.press('Escape');
  await expect(battle(chat)).toBeHidden();
  await expect(composer(chat)).toHaveValue('/arena mend the build');
  // Without words of its own it goes on where it was.
  await composer(chat).fill('');
  await find(chat, 'launch a battle');
  await expect(battle(chat).getByLabel('Prompt')).toHaveValue('mend the build and the tests');
});

test('a battle that is launched takes its command out of the composer', async ({ chat }) => {
  await composer(chat).fill('/arena [[say hello]]');
  await composer(chat).press('Control+Enter');
  await battle(chat).getByRole('radio', { name: 'Q&A' }).click();
  await expect(battle(chat).getByRole('button', { name: 'Launch', exact: true })).toBeEnabled();
  await chat.route('**/api/launch_battle', (route) => route.abort('connectionrefused'));
  await battle(chat).getByLabel('Prompt').press('Control+Enter');
  await expect(battle(chat).getByRole('alert').filter({ hasText: 'cannot be reached' })).toBeVisible();
  await expect(composer(chat)).toHaveValue('/arena [[say hello]]');
  await chat.unroute('**/api/launch_battle');
  await battle(chat).getByLabel('Prompt').press('Control+Enter');
  await expect(chat).toHaveURL(/\/battle\//);
  await expect(battle(chat)).toBeHidden();
  await chat.goBack();
  await expect(composer(chat)).toHaveValue('');
  await find(chat, 'launch a battle');
  await expect(battle(chat).getByLabel('Prompt')).toHaveValue('');
});

test('the palette takes what is written here to the launcher', async ({ chat }) => {
  await composer(chat).fill('compare the two');
  await find(chat, 'launch a flow');
  const flow = chat.getByRole('dialog', { name: 'New run' });
  await expect(flow.locator('.orchestrator-focus')).toHaveValue('compare the two');
  await chat.keyboard.press('Escape');
  await expect(composer(chat)).toHaveValue('compare the two');
});

test('a launcher in its pane keeps what is typed and chosen', async ({ chat }) => {
  await menu(focused(chat), 'New in this pane', /New Arena/);
  const prompt = chat.locator('.arena-prompt');
  await prompt.fill('who does it best?');
  await menu(focused(chat), 'New in this pane', /New Orchestrator/);
  const focus = chat.locator('.orchestrator-focus');
  await chat.getByRole('radio', { name: /^Research/ }).check();
  await focus.fill('why is it slow?');
  await chat.getByLabel('Target').fill('src');
  await chat.reload();
  await live(chat);
  await expect(focus).toHaveValue('why is it slow?');
  await expect(chat.getByLabel('Target')).toHaveValue('src');
  await expect(chat.getByRole('radio', { name: /^Research/ })).toBeChecked();
  await chat.goBack();
  await expect(prompt).toHaveValue('who does it best?');
});

test('a message that is written anew is sent by key, and kept until then', async ({ chat }) => {
  await ask(chat, '[[say first]]');
  await expect(answer(chat)).toContainText('first');
  const edit = chat.getByRole('button', { name: 'Edit and send again' });
  const field = chat.getByLabel('Your message in other words');
  await edit.click();
  await field.fill('[[say second]]');
  await chat.reload();
  await live(chat);
  await expect(field).toHaveValue('[[say second]]');
  // Put aside it stays, given up it does not.
  await field.press('Escape');
  await expect(field).toHaveCount(0);
  await edit.click();
  await expect(field).toHaveValue('[[say second]]');
  await chat.getByRole('button', { name: 'Cancel' }).click();
  await edit.click();
  await expect(field).toHaveValue('[[say first]]');
  await field.fill('[[say third]]');
  await field.press('Control+Enter');
  await expect(answer(chat)).toContainText('third');
  await chat.reload();
  await live(chat);
  await expect(field).toHaveCount(0);
  await chat.getByRole('button', { name: 'Previous version' }).first().click();
  await expect(answer(chat)).toContainText('first');
  await expect(field).toHaveCount(0);
});

test('a waiting message is saved by key, and its edit kept until then', async ({ chat }) => {
  await ask(chat, '[[hang after 3]]');
  await expect(chat.locator('.message.assistant')).toHaveCount(1);
  await ask(chat, '[[say the old]]');
  const queue = chat.getByRole('list', { name: 'Messages that wait' });
  const field = queue.getByLabel('The waiting message');
  await queue.getByRole('button', { name: 'Edit this waiting message' }).click();
  await field.fill('[[say the new]]');
  await chat.reload();
  await live(chat);
  await expect(field).toHaveValue('[[say the new]]');
  await field.press('Control+Enter');
  await expect(field).toHaveCount(0);
  await expect(queue).toContainText('the new');
  await chat.reload();
  await live(chat);
  await expect(field).toHaveCount(0);
  await chat.getByRole('button', { name: 'Stop', exact: true }).click();
});
