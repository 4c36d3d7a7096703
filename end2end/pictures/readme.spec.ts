import type { Page } from '@playwright/test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { battle, choose, launch, launcher, output } from '../tests/battles';
import { git } from '../tests/coders';
import { report } from '../tests/flows';
import { focused, menu, panes } from '../tests/panes';
import { answer, ask, BooCode, enter, expect, live, scripted, test } from '../tests/world';

const DOCS = join(import.meta.dirname, '../../docs');

const CACHE = `impl Cache {
    fn insert(&mut self, key: Key, value: Value) {
        while self.entries.len() > self.limit {
            self.evict_oldest();
        }
        self.entries.insert(key, value);
    }
}
`;

// What is said stands in the file that goes along, so that the question reads as a person's.
const SAID = `[[say The eviction is off by one. \`insert\` makes room **before** the new entry is counted, so the cache holds one entry more than its limit, and what was read last can be what goes.

\`\`\`rust
fn insert(&mut self, key: Key, value: Value) {
    self.entries.insert(key, value);
    while self.entries.len() > self.limit {
        self.evict_oldest();
    }
}
\`\`\`

Two things follow from the order:

- the limit holds after every insert, not only before the next one
- a value that was just written is never the one that is evicted

The test \`keeps_what_was_read_last\` fails with the old order and passes with this one.]]`;

const PROMPT =
  'Give the client a retry with a limit, and say why it waits as it does. ' +
  "[[on small]][[shell printf 'fn wait(attempt: u32) {}\\n' > retry.rs]][[say I added \`retry.rs\`: at most **8 tries**, 250 ms more each time. A good limit keeps a server that is down from being asked for ever.]]" +
  "[[on large]][[shell printf 'fn wait(attempt: u32) {}\\n' > retry.rs; printf 'mod retry;\\n' > client.rs]][[say Waits double from 100 ms up to 6.4 s, with *jitter*, so that clients do not all come back at once. That is a good deal kinder to the server, and good to test: the clock is an argument.]]" +
  "[[on count]][[shell printf 'loop {}\\n' > retry.rs]][[say It tries again until it works. This is a bad idea where nobody looks.]]";

const QUESTION =
  '/code-review Does the cache keep to its limit? ' +
  '[[finding src/cache.rs:3 while self.entries.len() > self.limit {]][[finding src/cache.rs:40 self.evict_all();]]';

async function inBoth(page: Page, name: string): Promise<void> {
  for (const [colorScheme, ending] of [['light', ''], ['dark', '-dark']] as const) {
    await page.emulateMedia({ colorScheme });
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(DOCS, `${name}${ending}.png`), animations: 'disabled' });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

test('the pictures of the README', async ({ page, browser }) => {
  const model = await scripted(100, '--models', 'small,large,count,judge,analyst');
  const boocode = new BooCode(['--no-model', '--model-server', `local=${model.url}`, '--flow-backend', 'native', '--flow-model', 'local/analyst']);
  try {
    await boocode.start();
    const project = boocode.repository('lighthouse');
    mkdirSync(join(project, 'src'));
    writeFileSync(join(project, 'src/cache.rs'), CACHE);
    git(project, 'add', '.');
    git(project, 'commit', '-qm', 'first');
    await enter(page, boocode, project);

    await page.getByLabel('Persona').selectOption('Debugger');
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chooser).setFiles([{ name: 'cache.rs', mimeType: 'text/plain', buffer: Buffer.from(`${CACHE}${SAID}`) }]);
    await expect(page.getByText('cache.rs')).toBeVisible();
    await ask(page, 'Why does the cache drop the entry that was read last? The code is attached.');
    await expect(answer(page)).toContainText('passes with this one.', { timeout: 30_000 });
    await expect(answer(page)).toContainText('tokens/s');
    const chat = page.url();

    await menu(focused(page), 'Split this pane', /Arena/);
    await expect(panes(page)).toHaveCount(2);
    const form = launcher(page);
    await choose(form, 'Agent', [['native', 'local/small'], ['native', 'local/large'], ['native', 'local/count']]);
    await form.getByLabel('Prompt').fill(PROMPT);
    await form.getByText('Terms').click();
    await form.getByLabel('Check of each result').fill("! grep -qs 'loop {}' retry.rs");
    await form.getByLabel('Judge').selectOption('local/judge');
    await launch(page, form);
    await expect(battle(page).locator('.arena-head')).toContainText('wins over', { timeout: 60_000 });
    await expect(output(page, 'A')).toContainText('8 tries');
    await inBoth(page, 'workspace');

    await focused(page).getByRole('button', { name: /^Maximi[sz]e/ }).click();
    await inBoth(page, 'battle');
    await focused(page).getByRole('button', { name: /^(Restore|Show all)/ }).click();

    await page.goto(chat);
    await live(page);
    await page.getByLabel('Your message').first().fill(QUESTION);
    await page.getByLabel('Your message').first().press('Control+Enter');
    await expect(page).toHaveURL(/\/run\//);
    await expect(report(page)).toBeVisible({ timeout: 90_000 });
    await focused(page).getByRole('button', { name: /^Maximi[sz]e/ }).click();
    await inBoth(page, 'report');

    const phone = await browser.newContext({
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
      storageState: await page.context().storageState(),
    });
    const small = await phone.newPage();
    await small.goto(chat);
    await live(small);
    await expect(answer(small)).toContainText('tokens/s');
    await small.screenshot({ path: join(DOCS, 'phone.png'), animations: 'disabled' });
    await phone.close();
  } finally {
    await boocode.stop();
    model.stop();
  }
});
