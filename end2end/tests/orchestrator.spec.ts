import { composer, looksWell, openShop, run, slash, step, test, TRUE } from './flows';
import { focused, menu, panes } from './panes';
import { expect, live } from './world';

test('the launcher offers every flow and says at the field what cannot be', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `launcher-${info.testId}`);
  await composer(page).fill('Is the cart right?');
  await page.getByRole('button', { name: 'Orchestrator', exact: true }).click();
  const form = page.getByRole('dialog');
  await expect(form.getByRole('radio', { name: /Read-only|Draft/ })).toHaveCount(22);
  // What was typed is what is asked.
  await expect(form.getByLabel('What should the reviewers look at in particular?')).toHaveValue('Is the cart right?');
  const launch = form.getByRole('button', { name: /^Launch/ });
  await expect(launch).toHaveText('Launch 4 agents');
  await form.getByText('Large', { exact: true }).click();
  await expect(launch).toHaveText('Launch 12 to 16 agents');
  await expect(form).toContainText('native works, with local/analyst.');

  await form.getByLabel('More about Code review').click();
  await expect(form.getByText('Before you merge a change')).toBeVisible();
  await form.getByLabel('Target').fill('../elsewhere');
  await expect(form.getByRole('alert').filter({ hasText: /./ })).toHaveText("../elsewhere is not a path in the project's folder.");
  await expect(launch).toBeDisabled();
  await form.getByLabel('Target').fill('src');
  await expect(launch).toBeEnabled();

  await form.getByRole('radio', { name: /^Runbook/ }).check();
  const trigger = form.getByLabel('What happens? Name the alert, the message or the symptom.');
  await trigger.fill('');
  await trigger.blur();
  await expect(form.getByRole('alert').filter({ hasText: /./ })).toContainText('Runbook needs a trigger.');
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('launcher.png') });
  // What only the server knows comes back to the form, with everything still in it.
  await form.getByRole('radio', { name: /^Code review/ }).check();
  await form.getByLabel('Target').fill('nowhere');
  await launch.click();
  await expect(form.locator('.notice.error')).toContainText('nowhere');
  await expect(form.getByLabel('Target')).toHaveValue('nowhere');
});

test('a new Orchestrator opens from the menu and from the palette', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `new-${info.testId}`);
  await menu(focused(page), 'New in this pane', /New Orchestrator/);
  await expect(page.locator('.orchestrator-launcher')).toBeVisible();
  await expect(page).toHaveURL(/\/orchestrator$/);
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('pane.png') });
  await page.keyboard.press('Control+k');
  await page.getByLabel('Find an action, a session, a chat, a battle or a run').fill('launch a flow');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'New run' })).toBeVisible();
});

test('a new Orchestrator opens beside from the split menu @desk', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `split-${info.testId}`);
  await menu(focused(page), 'Split this pane', /Orchestrator/);
  await expect(panes(page)).toHaveCount(2);
  await expect(focused(page).getByRole('region', { name: 'New run' })).toBeVisible();
});

test('what is launched elsewhere leaves a half-filled form alone, and a fast run says its limits', async ({ page, boocode, isMobile }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `form-${info.testId}`);
  const chat = page.url();
  await menu(focused(page), 'New in this pane', /New Orchestrator/);
  const form = page.locator('.orchestrator-launcher');
  const asked = form.getByLabel('What should the reviewers look at in particular?');
  await asked.fill('Half a thought');
  const launcher = page.url();
  // A command in the chat beside it has a tab of its own.
  await page.goto(chat);
  await live(page);
  await slash(page, `/issue-triage It panics. ${TRUE}`);
  await expect(run(page).getByRole('heading', { level: 1 })).toHaveText('Issue triage');
  await page.goto(launcher);
  await live(page);
  await expect(form).toBeVisible();
  // What is launched in it takes its place.
  await form.getByRole('radio', { name: 'Medium', exact: true }).press('Space');
  await form.getByText('Fast: each worker looks less deep').click();
  await asked.fill(`Look. ${TRUE}`);
  await form.getByRole('button', { name: /^Launch/ }).click();
  await expect(page).toHaveURL(/\/run\//);
  await expect(form).toBeHidden();
  await expect(run(page).locator('.orchestrator-title')).toContainText('fast');
  await expect(run(page).locator('.orchestrator-title')).toContainText('medium band');
  await expect(step(page, 'Correctness')).toContainText('fast: has to answer after 8 steps or 20 calls');
  if (!isMobile) await expect(focused(page).locator('.pane-tab')).toHaveCount(3);
});

test('what is launched by key has the keyboard @desk', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `by-key-${info.testId}`);
  const within = page.locator('.pane[data-focused]:focus, .pane[data-focused] :focus');
  await menu(focused(page), 'New in this pane', /New Orchestrator/);
  const form = page.locator('.orchestrator-launcher');
  await form.getByLabel('What should the reviewers look at in particular?').fill(`Look. ${TRUE}`);
  await form.getByRole('button', { name: /^Launch/ }).press('Enter');
  await expect(page).toHaveURL(/\/run\//);
  await expect(run(page)).toBeVisible();
  await expect(within).toHaveCount(1);

  await page.keyboard.press('Alt+n');
  await expect(page).toHaveURL(/\/chat\//);
  await page.locator('.pane-body:not([hidden])').getByLabel('Your message').fill(`/issue-triage It panics. ${TRUE}`);
  await page.keyboard.press('Control+Enter');
  await expect(run(page).getByRole('heading', { level: 1 })).toHaveText('Issue triage');
  await expect(within).toHaveCount(1);
});

test('a command in a Coder launches a flow too', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `coder-${info.testId}`);
  await menu(focused(page), 'New in this pane', /New task/);
  const field = page.getByRole('region', { name: 'Coder' }).getByLabel('Your message');
  await field.fill('/');
  await expect(page.getByRole('group', { name: 'Orchestrator' }).getByRole('option')).toHaveCount(11);
  await field.fill(`/security-review Look. ${TRUE}`);
  await field.press('Control+Enter');
  await expect(page).toHaveURL(/\/run\//);
  await expect(run(page).getByRole('heading', { level: 1 })).toHaveText('Security review');
});

test('without scripts the launcher sends the band that was chosen', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `plain-${info.testId}`);
  await menu(focused(page), 'New in this pane', /New Orchestrator/);
  await expect(page).toHaveURL(/\/orchestrator$/);
  // What would make the page alive does not come.
  await page.route(/\/pkg\/.*\.(js|wasm)/, (route) => route.abort());
  await page.reload();
  await page.getByRole('radio', { name: 'Large', exact: true }).press('Space');
  await page.getByRole('button', { name: /^Launch/ }).click();
  await expect(page).toHaveURL(/\/run\//);
  await expect(page.locator('.orchestrator-title')).toContainText('large band');
});

test('the slash menu has the flows that only read, and asks for the question that is missing', async ({ page, boocode }, info) => {
  await openShop(page, boocode, `slash-${info.testId}`);
  await composer(page).fill('/');
  await expect(page.getByRole('group', { name: 'Orchestrator' }).getByRole('option')).toHaveCount(11);
  await expect(page.getByRole('option', { name: /\/runbook/ })).toHaveCount(0);
  await composer(page).fill('/research');
  await composer(page).press('Enter');
  await expect(composer(page)).toHaveValue('/research ');
  await composer(page).press('Control+Enter');
  await expect(page.getByText('Research needs a focus. What do you want to know?')).toBeVisible();
  await expect(composer(page)).toHaveValue('/research ');
});

