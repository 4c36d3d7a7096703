import { createServer, connect, type Socket } from 'node:net';
import { openShop, report, run, slash, testAt, TRUE } from './flows';
import { expect, live } from './world';

const test = testAt(0);

/** So many findings of each agent make a report of more than a megabyte. */
const MANY = TRUE.repeat(700);

/** Passes on what a server says, and of a page only the beginning until it is let go. */
async function narrow(port: number, bytes: number): Promise<{ port: number; release: () => void; close: () => void }> {
  const sockets = new Set<Socket>();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    // How much more of what is being said may pass; all of it where it is no page.
    let room = Infinity;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    const own = `127.0.0.1:${(server.address() as { port: number }).port}`;
    near.on('data', (piece) => far.write(piece.toString('latin1').replaceAll(own, `127.0.0.1:${port}`), 'latin1'));
    far.on('data', async (piece: Buffer) => {
      if (/^HTTP\/1.1 200[^]*content-type: text\/html/i.test(piece.toString('latin1'))) room = bytes;
      const now = piece.subarray(0, Math.min(room, piece.length));
      room -= now.length;
      near.write(now);
      if (now.length === piece.length) return;
      far.pause();
      await released;
      near.write(piece.subarray(now.length));
      room = Infinity;
      far.resume();
    });
    far.on('end', () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as { port: number }).port, release, close };
}

test('the page of a long report shows its first screen before the rest is there', async ({ page, boocode, browser }, info) => {
  test.setTimeout(180_000);
  await openShop(page, boocode, `long-${info.testId}`);
  await slash(page, `/investigate It panics. ${MANY}`);
  await expect(report(page)).toBeVisible({ timeout: 90_000 });
  const address = new URL(page.url());
  const whole = await (await page.request.get(address.href)).text();
  expect(whole.length).toBeGreaterThan(1024 * 1024);

  // As a browser reads it from a wire on which only a twentieth of it has come.
  const wire = await narrow(boocode.port, Math.floor(whole.length / 20));
  const context = await browser.newContext({
    storageState: await page.context().storageState(),
    extraHTTPHeaders: { 'accept-encoding': 'identity' },
    viewport: page.viewportSize(),
    javaScriptEnabled: false,
  });
  try {
    const reader = await context.newPage();
    const loaded = reader.goto(`http://127.0.0.1:${wire.port}${address.pathname}`);
    const head = reader.locator('.report-head');
    await expect(head).toContainText('Confidence: High', { timeout: 30_000 });
    await expect(head).toBeVisible();
    await reader.screenshot({ path: info.outputPath('first.png') });
    expect(await reader.evaluate(() => document.readyState)).toBe('loading');
    wire.release();
    await loaded;
    await expect(reader.locator('.finding').last()).toBeAttached();
  } finally {
    wire.close();
    await context.close();
  }

  // Too long for a message, and that is said.
  await run(page).getByRole('button', { name: 'Send to a chat' }).click();
  await expect(page.getByText(/The report has \d+ KB, and a message at most 256 KB/)).toBeVisible();
  await live(page);
});
