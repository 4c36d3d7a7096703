import { type Page } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CART, DRAWN, LOGO, looksWell, openShop, PAGE, report, run, slash, test } from './flows';
import { expect, live } from './world';

test('a drawing from the project shows itself and does nothing', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `drawing-${info.testId}`);
  await slash(page, `/code-review Look. ${DRAWN}`);
  await report(page).getByRole('link', { name: 'logo.svg:2' }).first().click({ timeout: 90_000 });
  const evidence = page.getByRole('region', { name: 'Evidence' });
  await evidence.getByText('Drawn', { exact: true }).click();
  const frame = evidence.locator('iframe');
  await expect(frame).toHaveAttribute('sandbox', '');
  const drawn = frame.contentFrame();
  await expect(drawn.locator('circle')).toBeAttached();
  await expect(drawn.locator('#ran')).toHaveCount(0);
  const answer = await page.request.get(new URL((await frame.getAttribute('src'))!, page.url()).href);
  expect(answer.headers()['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
  // The control: the same file runs its script where nothing keeps it from that.
  const control = await page.context().newPage();
  await control.route('**/control.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body: LOGO }));
  await control.goto('http://control.test/control.svg');
  await expect(control.locator('#ran')).toHaveCount(1);
  await control.close();
});


test('a page from the project shows itself and runs nothing', async ({ page, boocode }, info) => {
  test.setTimeout(120_000);
  await openShop(page, boocode, `page-${info.testId}`);
  await slash(page, '/code-review Look. [[finding till.html:2 <p id="words">Till</p>]]');
  await report(page).getByRole('link', { name: 'till.html:2' }).first().click({ timeout: 90_000 });
  const evidence = page.getByRole('region', { name: 'Evidence' });
  await evidence.getByText('Drawn', { exact: true }).click();
  const drawn = evidence.locator('iframe').contentFrame();
  await expect(drawn.locator('#words')).toHaveText('Till');
  await expect(drawn.locator('#ran')).toHaveCount(0);
  // Nor does it where nobody frames it.
  const src = await evidence.locator('iframe').getAttribute('src');
  const alone = await page.context().newPage();
  await alone.goto(new URL(src!, page.url()).href);
  await expect(alone.locator('#words')).toHaveText('Till');
  await expect(alone.locator('#ran')).toHaveCount(0);
  expect(await alone.evaluate(() => window.origin)).toBe('null');
  await alone.close();
  // The control: the same file runs its script where nothing keeps it from that.
  const control = await page.context().newPage();
  await control.route('**/control.html', (route) => route.fulfill({ contentType: 'text/html', body: PAGE }));
  await control.goto('http://control.test/control.html');
  await expect(control.locator('html#ran')).toHaveCount(1);
  await control.close();
});

test('a report and the change that it is about are read beside other work', async ({ page, boocode, isMobile }, info) => {
  test.setTimeout(180_000);
  const project = await openShop(page, boocode, `beside-${info.testId}`);
  writeFileSync(join(project, 'src/cart.rs'), CART.replace('0..=prices', '0..prices'));
  await slash(page, `/code-review Look. [[finding src/cart.rs:3-4 for i in 0..prices.len() {]]`);
  await expect(report(page)).toBeVisible({ timeout: 90_000 });
  const address = page.url();
  await run(page).getByRole('button', { name: 'Open beside' }).click();
  const beside = page.getByRole('region', { name: 'Report by itself' });
  await expect(beside).toContainText('Confidence: High');
  await expect(page).toHaveURL(/\/report$/);
  if (!isMobile) await expect(report(page)).toBeVisible();
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('beside.png') });
  // It is a page of its own, and reads without scripts.
  const still = await browser(page);
  await still.goto(page.url());
  await expect(still.getByRole('region', { name: 'Report by itself' })).toContainText('Confidence: High');
  await still.context().close();

  await page.goto(address);
  await live(page);
  await run(page).getByRole('link', { name: 'The change that it looks at' }).click();
  const change = page.getByRole('region', { name: 'The change', exact: true });
  await expect(change.getByRole('grid', { name: 'Changed lines' })).toContainText('0..prices');
  await expect(page).toHaveURL(/\/diff$/);
  await looksWell(page);
  await page.screenshot({ path: info.outputPath('change.png') });
});

async function browser(page: Page): Promise<Page> {
  const state = await page.context().storageState();
  const still = await page.context().browser()!.newContext({ javaScriptEnabled: false, storageState: state });
  return still.newPage();
}
