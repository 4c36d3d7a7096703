import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join, resolve } from 'node:path';

export const OTHERS = ['floor', 'pierre', 'monaco', 'codemirror'] as const;

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf', '.woff2': 'font/woff2' };
const HERE = resolve(import.meta.dirname);
const FONT = resolve(HERE, '../../../style/public/fonts/geist-mono.woff2');

/** Puts each viewer with what it needs of `packages` into a file for the browser. */
export function bundle(packages: string, out: string): void {
  const entries = [...OTHERS, 'pierre-worker', 'monaco-worker'].map((name) => join(HERE, `${name}.ts`));
  const options = ['--bundle', '--splitting', '--format=esm', '--minify', '--loader:.ttf=file', '--log-level=error', `--outdir=${out}`];
  const env = { ...process.env, NODE_PATH: join(packages, 'node_modules') };
  execFileSync(join(packages, 'node_modules/.bin/esbuild'), [...entries, ...options], { env, stdio: 'inherit' });
}

/** One page a viewer, of the size that BooCode's own view has, and what they show. */
export class Site {
  private server!: Server;
  url = '';
  size = { width: 0, height: 0 };
  readonly data: Record<string, string> = {};

  constructor(private readonly out: string) {}

  async open(): Promise<void> {
    this.server = createServer((request, response) => {
      const path = new URL(request.url!, 'http://x').pathname;
      const [, folder, name] = path.split('/');
      if (folder === 'data') return void response.end(this.data[name]);
      if (folder === 'view') {
        response.setHeader('content-type', 'text/html; charset=utf-8');
        return void response.end(this.page(name));
      }
      const file = path === '/font' ? FONT : join(this.out, path);
      if (!existsSync(file)) return void response.writeHead(404).end();
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
      createReadStream(file).pipe(response);
    });
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    this.url = `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private page(name: string): string {
    const { width, height } = this.size;
    const style = existsSync(join(this.out, `${name}.css`)) ? `<link rel="stylesheet" href="/${name}.css">` : '';
    return `<!doctype html><meta charset="utf-8">${style}<style>
      @font-face { font-family: "Geist Mono"; src: url(/font); }
      body { margin: 0; font: 12px "Geist Mono", monospace; }
      #root { position: relative; width: ${width}px; height: ${height}px; overflow: hidden; }
      .scroll { height: 100%; overflow: auto; }
      .size { position: relative; }
      .rows { position: absolute; inset: 0 0 auto; line-height: 20px; will-change: transform; }
      .row { height: 20px; white-space: pre; contain: layout style; }
    </style><div id="root"></div><script type="module" src="/${name}.js"></script>`;
  }
}
