import { type Page } from '@playwright/test';
import { faults, sideways } from './faults';
import { expect, logIn, test, Wire } from './world';

const KEY = 'sk-typed-in-a-browser-0123456789';
const row = (page: Page, name: string) => page.locator('.settings-server').filter({ hasText: name });

test('a key is entered, never shown again, replaced and removed', async ({ page, boocode, model }, info) => {
  const name = `keyed-${info.project.name}`;
  const wire = new Wire(Number(new URL(model).port));
  await wire.open();
  // Everything that the browser is told.
  const heard: string[] = [];
  page.on('response', async (answer) => heard.push(await answer.text().catch(() => '')));
  try {
    await logIn(page, boocode);
    await page.goto(`${boocode.url}/settings/models`);
    await expect(page.locator('.settings[data-alive]')).toBeVisible();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Address', { exact: true }).fill(wire.url);
    await page.getByText('Lane, key and models').click();
    const field = page.getByLabel('Key', { exact: true });
    await expect(field).toHaveAttribute('type', 'password');
    await field.fill('two words');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.locator('#server-key-error')).toContainText('without spaces');
    await field.fill(KEY);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(row(page, name)).toContainText('key set');
    await expect(field).toHaveValue('');

    await row(page, name).getByText('Key…').click();
    await row(page, name).getByLabel(`New key of ${name}`).fill(`${KEY}-2`);
    expect(await faults(page)).toEqual([]);
    expect(await sideways(page)).toEqual([]);
    await page.screenshot({ path: info.outputPath('key.png') });
    await row(page, name).getByRole('button', { name: 'Replace' }).click();
    await expect(row(page, name).getByLabel(`New key of ${name}`)).toBeHidden();
    await expect(row(page, name).getByLabel(`New key of ${name}`)).toHaveValue('');
    await page.reload();
    await expect(page.locator('.settings[data-alive]')).toBeVisible();
    await expect(row(page, name)).toContainText('key set');
    expect(await page.content()).not.toContain(KEY);

    await row(page, name).getByText('Key…').click();
    await row(page, name).getByRole('button', { name: `Remove the key of ${name}` }).click();
    await expect(row(page, name)).not.toContainText('key set');
    expect(heard.some((text) => text.includes(name))).toBe(true);
    expect(heard.filter((text) => text.includes(KEY))).toEqual([]);

    await row(page, name).getByText('Remove…').click();
    await row(page, name).getByRole('button', { name: `Remove ${name}`, exact: true }).click();
    await expect(row(page, name)).toHaveCount(0);
  } finally {
    wire.close();
  }
});
