import { addProject, answer, ask, BooCode, expect, live, test } from './world';

// No model server is configured or found, so BooCode runs its own small model: a real one, with real answers.
test('a first question is answered without account, key or network', async ({ page }) => {
  test.setTimeout(180_000);
  const boocode = new BooCode([]);
  try {
    await boocode.start();
    await page.goto(boocode.link);
    await addProject(page, boocode.repository('first-project'));
    await expect(page.getByLabel('Model')).toContainText(/smollm2/i, { timeout: 60_000 });
    await ask(page, 'What is a compiler? Answer in two sentences.');
    await expect(answer(page).locator('.markdown')).toContainText(/\w+ \w+ \w+/, { timeout: 60_000 });

    await boocode.kill();
    await boocode.start();
    await expect(answer(page)).toContainText('tokens/s', { timeout: 120_000 });
    await live(page);
    await expect(page.locator('.message')).toHaveCount(2);
  } finally {
    await boocode.stop();
  }
});
