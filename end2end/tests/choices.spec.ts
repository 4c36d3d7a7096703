import type { Page } from '@playwright/test';
import { openCoder } from './coders';
import { expect, list, live, test } from './world';

const pane = (page: Page) => page.getByRole('region', { name: 'Coder' });
const asks = (page: Page) => pane(page).getByLabel('Ask before changes');
const carry = (page: Page) => pane(page).getByLabel('With my uncommitted changes');
const persona = (page: Page) => pane(page).getByLabel('Persona');
const model = (page: Page) => pane(page).getByLabel('Model');

async function lookAtSettings(page: Page): Promise<void> {
  const at = page.url();
  await list(page);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await expect(page.getByText('Which model servers are asked')).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(at);
}

test('what is chosen for the next turn is there after a look elsewhere, a reload, and in another tab', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `choices-${info.testId}`);
  await expect(asks(page)).not.toBeChecked();
  await asks(page).check();
  await carry(page).check();
  await persona(page).selectOption('Debugger');
  const chosen = (await model(page).locator('option:not([disabled])').nth(1).textContent())!.trim();
  await model(page).selectOption({ label: chosen });
  const there = async () => {
    await expect(asks(page)).toBeChecked();
    await expect(carry(page)).toBeChecked();
    await expect(persona(page)).toHaveValue('Debugger');
    await expect(model(page).locator('option:checked')).toHaveText(chosen);
  };
  await there();
  await lookAtSettings(page);
  await there();
  await page.reload();
  await live(page);
  await there();

  // Another page of this browser shows the same, also when it is taken back there.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await live(other);
  await expect(asks(other)).toBeChecked();
  await carry(other).uncheck();
  await expect(carry(page)).not.toBeChecked();
  await expect(asks(page)).toBeChecked();
});

test('a message takes the choices along, and the chat goes on with them', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `chosen-${info.testId}`);
  await asks(page).check();
  await pane(page).getByLabel('Your message').fill('[[say done]]');
  await pane(page).getByLabel('Your message').press('Control+Enter');
  await expect(page.locator('.message.assistant').last()).toContainText('done');
  // Nothing is left to be kept: what counts from now on is what was sent, by whomever.
  const kept = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('chosen:')));
  await expect.poll(kept).toEqual([]);
  await page.reload();
  await live(page);
  await expect(asks(page)).toBeChecked();
  await asks(page).uncheck();
  await lookAtSettings(page);
  await expect(asks(page)).not.toBeChecked();
});

test('a tick that comes before the page is alive counts', async ({ page, boocode }, info) => {
  await openCoder(page, boocode, `early-${info.testId}`);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await page.route('**/pkg/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.reload({ waitUntil: 'commit' });
  await asks(page).check();
  letGo();
  await live(page);
  await expect(asks(page)).toBeChecked();
  await page.unroute('**/pkg/*.wasm');
  await page.reload();
  await live(page);
  await expect(asks(page)).toBeChecked();
});
