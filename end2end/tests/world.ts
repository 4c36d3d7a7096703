import { test as base, expect, type Page } from '@playwright/test';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What a program says on a line of its own once it is ready. */
async function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  for await (const line of lines) {
    const match = line.match(pattern);
    if (match) {
      child.stdout!.resume();
      return match[1];
    }
  }
  throw new Error(`ended before it said ${pattern}`);
}

export function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the browser tests with cargo xtask test`);
  return value;
}

/** BooCode on a data directory and a port of its own, which stay the same when it is killed and started again. */
export class BooCode {
  private child?: ChildProcess;
  link = '';
  /** A request that makes the server panic may still look well in the page. */
  readonly panics: string[] = [];
  readonly home = mkdtempSync(join(tmpdir(), 'boocode-e2e-'));

  constructor(
    private readonly args: string[],
    public port = 0,
    private readonly env: NodeJS.ProcessEnv = {},
  ) {
    // As root, Postgres runs as somebody else, who must be able to pass through.
    chmodSync(this.home, 0o711);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ['serve', '--port', String(this.port), '--data-dir', join(this.home, 'data')];
    args.push('--allowed-root', this.home, '--no-discover', ...this.args);
    this.child = spawn(need('BOOCODE_BIN'), args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: this.home, DATABASE_URL: undefined, XDG_RUNTIME_DIR: undefined, ...this.env },
    });
    this.child.stderr!.on('data', (piece: Buffer) => {
      process.stderr.write(piece);
      if (piece.includes('panicked at')) this.panics.push(piece.toString());
    });
    this.link = await firstMatch(this.child, /ready: (\S+)/);
    // Any free port at first, and the same one ever after.
    this.port ||= Number(new URL(this.link).port);
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async stop(): Promise<void> {
    if (this.isRunning()) await this.ownsItsWorktrees();
    await this.end('SIGTERM');
    expect(this.panics).toEqual([]);
    rmSync(this.home, { recursive: true, force: true });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    if (!child || !this.isRunning()) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  private isRunning(): boolean {
    return !!this.child && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** A link that logs one more browser in. */
  freshLink(): string {
    const env = { ...process.env, DATABASE_URL: undefined, XDG_RUNTIME_DIR: undefined };
    return execFileSync(need('BOOCODE_BIN'), ['link', '--data-dir', join(this.home, 'data')], { encoding: 'utf8', env }).trim();
  }

  /** Whatever lies on the disk is told in Settings: no worktree is without an owner. */
  private async ownsItsWorktrees(): Promise<void> {
    const { search } = new URL(this.freshLink());
    // The link leads to where the world reaches it, which is not always here.
    const { headers } = await fetch(`${this.url}/login${search}`, { redirect: 'manual' });
    const cookie = headers.get('set-cookie')!.split(';')[0];
    const look = async () => {
      const answer = await fetch(`${this.url}/api/show_settings`, {
        method: 'POST',
        headers: { cookie, origin: this.url, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body: 'section=worktrees',
      });
      const { worktrees, strays } = (await answer.json()).worktrees;
      const told = (state: string) => worktrees.filter((one: { state: string }) => one.state === state).length;
      const there = (folder: string) => readdirSync(join(this.home, 'data', folder)).length;
      return [there('worktrees') - told('ready'), there('trash') - told('discarded') - strays.length];
    };
    await expect.poll(look, { message: 'worktrees without an owner, and in the trash' }).toEqual([0, 0]);
  }

  repository(name: string): string {
    const path = join(this.home, name);
    mkdirSync(path);
    execFileSync('git', ['init', '-q', path]);
    return path;
  }

  folder(name: string): string {
    const path = join(this.home, name);
    mkdirSync(path);
    return path;
  }
}

/** The scripted model server; what it says is steered from the question. */
export async function scripted(tokensPerSecond = 100, ...args: string[]): Promise<{ url: string; stop: () => void }> {
  const child = spawn(need('SCRIPTED_BIN'), ['--port', '0', '--tokens-per-second', String(tokensPerSecond), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await firstMatch(child, /listening (\S+)/);
  return { url, stop: () => child.kill('SIGKILL') };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A wire that can go dead without anybody hanging up, as when a laptop leaves the network. */
export class Wire {
  private readonly sockets = new Set<Socket>();
  private server!: Server;
  url = '';

  constructor(private readonly target: number) {}

  async open(): Promise<void> {
    this.server = createServer((near) => {
      const far = connect(this.target, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ]) {
        this.sockets.add(socket);
        socket.on('error', () => {});
        socket.on('data', (bytes) => other.write(bytes));
        socket.on('end', () => other.end());
        socket.on('close', () => this.sockets.delete(socket));
      }
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  /** What is open falls silent; what is opened later works. */
  silence(): void {
    for (const socket of this.sockets) {
      socket.removeAllListeners('data');
      socket.removeAllListeners('end');
      socket.pause();
    }
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

type Fixtures = { chat: Page };
type WorkerFixtures = { model: string; boocode: BooCode };

export const test = base.extend<Fixtures, WorkerFixtures>({
  /** The address of a scripted model server. */
  model: [
    async ({}, use) => {
      const model = await scripted();
      await use(model.url);
      model.stop();
    },
    { scope: 'worker' },
  ],

  boocode: [
    async ({ model }, use) => {
      const boocode = new BooCode(['--no-model', '--model-server', `local=${model}`]);
      await boocode.start();
      await use(boocode);
      await boocode.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],

  /** A page that is logged in and shows a new, empty chat. Errors in its console fail the test. */
  chat: async ({ page, boocode }, use, info) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      const expected = /net::ERR_|Failed to load resource/.test(message.text());
      if (message.type() === 'error' && !expected) errors.push(message.text());
    });
    await enter(page, boocode, boocode.repository(`project-${info.testId}-${info.retry}`));
    await use(page);
    expect(errors).toEqual([]);
  },
});

/** A link works once, so each page gets a fresh one. */
export async function logIn(page: Page, boocode: BooCode): Promise<void> {
  await page.goto(boocode.freshLink());
}

/** Shows the first chat of a new project, by one page: what leads there by hand has tests of its own. */
export async function enter(page: Page, boocode: BooCode, path: string): Promise<void> {
  await page.request.get(boocode.freshLink());
  const added = await page.request.post(`${boocode.url}/api/add_project`, {
    form: { path },
    headers: { origin: boocode.url, accept: 'text/html' },
    maxRedirects: 0,
  });
  await page.goto(new URL(added.headers().location, boocode.url).href);
  await expect(page).toHaveURL(/\/chat\//);
  await live(page);
}

export async function addProject(page: Page, path: string): Promise<void> {
  await page.getByLabel('Folder of the project').fill(path);
  await page.getByRole('button', { name: 'Add project' }).click();
  await expect(page).toHaveURL(/\/chat\//);
  await live(page);
}

/** The page has come alive and hears the server. */
export async function live(page: Page): Promise<void> {
  await expect(page.locator('.connection')).toHaveAttribute('data-state', 'live');
}

/** On a phone the list of projects and chats is a drawer. */
export async function list(page: Page): Promise<void> {
  const toggle = page.locator('.drawer-toggle').filter({ visible: true });
  if (await toggle.count()) await toggle.click();
}

export async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Your message').fill(text);
  await page.getByLabel('Your message').press('Control+Enter');
  await expect(page.getByLabel('Your message')).toHaveValue('');
}

export const answer = (page: Page) => page.locator('.message.assistant').last();

/** The numbers from 1 on, as `[[count N]]` says them. */
export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1).join(' ');

export { expect };
