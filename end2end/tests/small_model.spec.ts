import { addProject, answer, ask, BooCode, expect, live, test } from './world';

// No model server is configured or found, so BooCode runs its own small model: a real one, with real answers.
test('a first question is answered without account, key or network', async ({ page }) => {
  test.setTimeout(300_000);
  const boocode = new BooCode([]);
  try {
    await boocode.start();
    await page.goto(boocode.link);
    await addProject(page, boocode.repository('first-project'));
    await expect(page.getByLabel('Model')).toContainText(/smollm2/i, { timeout: 60_000 });
    // Long enough to be in the middle of it.
    await ask(page, 'Write a long story about a compiler, in at least thirty sentences.');
    await expect(answer(page).locator('.markdown')).toContainText(/(\w+\W+){6}/, { timeout: 60_000 });
    await expect(answer(page)).toContainText('Writing…');

    await boocode.kill();
    const before = (await answer(page).locator('.markdown').innerText()).trim();
    await boocode.start();
    // What was written is kept and marked, but for the last moment of it; the next attempt brings a whole answer.
    const lost = answer(page).locator('.attempt.interrupted .markdown');
    await expect(lost).toBeVisible({ timeout: 60_000 });
    const kept = (await lost.innerText()).trim();
    // A small model writes some 300 letters a second, and a busy machine is later than it means to be.
    expect(kept.length).toBeGreaterThan(Math.max(20, before.length - 160));
    expect(before.startsWith(kept.slice(0, Math.min(kept.length, before.length) - 8))).toBe(true);
    await expect(answer(page)).toContainText('tokens/s', { timeout: 150_000 });
    await expect(answer(page).locator('.attempt').last()).not.toHaveClass(/interrupted/);
    await live(page);
    await expect(page.locator('.message')).toHaveCount(2);
  } finally {
    await boocode.stop();
  }
});
