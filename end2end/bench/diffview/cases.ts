import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A change of so many files, each with so many lines of which every `every`-th is another afterwards. */
export interface Case {
  name: string;
  files: number;
  lines: number;
  every: number;
}

/** About a hundred lines of a patch a file, as in most changes; and one long file of nothing but changes. */
export const CASES: Case[] = [
  { name: '1k', files: 10, lines: 72, every: 3 },
  { name: '10k', files: 100, lines: 72, every: 3 },
  { name: '100k', files: 1_000, lines: 72, every: 3 },
  { name: 'one-10k', files: 1, lines: 10_000, every: 1 },
];
/** What every viewer has shown before, so that its code is there. */
export const TINY: Case = { name: 'tiny', files: 1, lines: 12, every: 3 };
export const MILLION: Case = { name: '1m', files: 1_000, lines: 720, every: 3 };

const path = (file: number) => `src/part${file % 40}/module${file}.ts`;

function line(file: number, n: number, isNew: boolean): string {
  const name = isNew ? `total${file}` : `sum${file}`;
  switch (n % 6) {
    case 0:
      return `export function step${n}(input: number[], limit = ${isNew ? n + 1 : n}): number {`;
    case 1:
      return `  const ${name} = input.filter((value) => value < limit).reduce((a, b) => a + b, 0);`;
    case 2:
      return `  // Whoever asks for more than there is gets "${isNew ? 'nothing' : 'an error'}", and is told so.`;
    case 3:
      return `  if (${name} > ${n}) return Math.max(${name}, ${isNew ? 'limit' : '0'});`;
    case 4:
      return `  return [${n}, 'text', \`value \${input.length}\`].length + ${isNew ? name : 'limit'};`;
    default:
      return isNew ? `} // ${n}` : '}';
  }
}

function content(change: Case, file: number, isNew: boolean): string {
  const lines = Array.from({ length: change.lines }, (_, n) => line(file, n, isNew && n % change.every === 0));
  return `${lines.join('\n')}\n`;
}

export function write(change: Case, folder: string, isNew: boolean): void {
  for (let file = 0; file < change.files; file++) {
    const at = join(folder, path(file));
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content(change, file, isNew));
  }
}

/** The same for everybody: the patch as git writes it, both sides as one text each, and its rows as plain text. */
export function data(change: Case, tree: string): Record<string, string> {
  const patch = execFileSync('git', ['-C', tree, 'diff', '--no-color'], { encoding: 'utf8', maxBuffer: 1 << 30 });
  const side = (isNew: boolean) =>
    Array.from({ length: change.files }, (_, file) => content(change, file, isNew)).join('');
  return {
    [`${change.name}.patch`]: patch,
    [`${change.name}.old`]: side(false),
    [`${change.name}.new`]: side(true),
    [`${change.name}.rows.json`]: JSON.stringify(chunks(patch)),
  };
}

const CHUNK_ROWS = 200;

/** A row for the name of each file, for each hunk and for each line. */
function chunks(patch: string): string[] {
  const rows = patch.split('\n').filter((row) => !/^(index |--- |\+\+\+ |$)/.test(row));
  const all: string[] = [];
  for (let at = 0; at < rows.length; at += CHUNK_ROWS) all.push(rows.slice(at, at + CHUNK_ROWS).join('\n'));
  return all;
}
