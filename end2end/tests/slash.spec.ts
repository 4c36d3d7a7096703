import { sideways } from './faults';
import { expect, test } from './world';

test('an entry of the slash menu tells what it does and when to use it', async ({ chat }) => {
  const field = chat.getByLabel('Your message');
  await field.fill('/');
  const entry = chat.getByRole('option', { name: '/new' });
  const more = entry.locator('.option-more');
  await expect(entry).toHaveAttribute('data-active', '');
  await expect(more).toBeHidden();
  // Whoever listens hears it without opening it.
  await expect(entry).toHaveAccessibleDescription(/empty chat in a new tab.*When the subject changes/);

  await field.press('ArrowRight');
  await expect(more).toBeVisible();
  await expect(more).toContainText('When the subject changes');
  await expect(entry).toHaveAccessibleName(/^\/new/);
  await expect(entry).not.toHaveAccessibleName(/When the subject changes/);
  await field.press('ArrowLeft');
  await expect(more).toBeHidden();

  await field.press('ArrowRight');
  await field.press('ArrowDown');
  await expect(more).toBeHidden();
  await field.press('Escape');
  await expect(chat.locator('.suggestions')).toHaveCount(0);
  // What is left alone are the arrows in an ordinary text.
  await field.fill('ab');
  await field.press('ArrowLeft');
  await field.press('c');
  await expect(field).toHaveValue('acb');
});

test('a finger or a mouse opens the same, and chooses nothing', async ({ chat, isMobile }) => {
  const field = chat.getByLabel('Your message');
  await field.fill('/');
  const entry = chat.getByRole('option', { name: '/theme' });
  const tell = entry.locator('.option-tell');
  if (isMobile) {
    const box = (await tell.boundingBox())!;
    expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
    await tell.tap();
  } else {
    await tell.click();
  }
  await expect(entry.locator('.option-more')).toBeVisible();
  await expect(field).toHaveValue('/');
  await expect(chat.locator('html')).not.toHaveAttribute('data-theme', /./);
  expect(await sideways(chat)).toEqual([]);
  await entry.locator('.menu-label').click();
  await expect(field).toHaveValue('');
  await expect(chat.locator('html')).toHaveAttribute('data-theme', /./);
});

test('with another key held, Enter and Tab are for the field', async ({ chat }) => {
  const field = chat.getByLabel('Your message');
  await field.fill('/theme');
  await expect(chat.getByRole('option', { name: '/theme' })).toBeVisible();
  await field.press('Shift+Enter');
  await expect(field).toHaveValue('/theme\n');
  await expect(chat.locator('html')).not.toHaveAttribute('data-theme', /./);
  await field.fill('/theme');
  await expect(chat.getByRole('option', { name: '/theme' })).toBeVisible();
  await field.press('Shift+Tab');
  await expect(field).not.toBeFocused();
  await expect(field).toHaveValue('/theme');
  await expect(chat.locator('html')).not.toHaveAttribute('data-theme', /./);
});
