/** The least that any viewer has to do: the rows in sight as plain text, and some around them. */
import { provide, text } from './viewer';

const ROW_PX = 20;
/** As many as BooCode's own view has. */
const AROUND = 30;
const CHUNK_ROWS = 200;

let chunks: string[] = [];
let rows = 0;
const split = new Map<number, string[]>();

function line(row: number): string {
  const chunk = Math.floor(row / CHUNK_ROWS);
  let lines = split.get(chunk);
  if (!lines) split.set(chunk, (lines = chunks[chunk].split('\n')));
  return lines[row % CHUNK_ROWS];
}

function draw(scroll: HTMLElement, inner: HTMLElement, drawn: { first: number; last: number }): void {
  const top = scroll.scrollTop;
  const seen = { first: Math.floor(top / ROW_PX), last: Math.min(rows - 1, Math.ceil((top + scroll.clientHeight) / ROW_PX)) };
  if (drawn.first <= Math.max(0, seen.first - 10) && drawn.last >= Math.min(rows - 1, seen.last + 10)) return;
  const first = Math.max(0, seen.first - AROUND);
  const last = Math.min(rows - 1, seen.last + AROUND);
  if (first > drawn.last || last < drawn.first) {
    inner.textContent = '';
    drawn.first = first;
    drawn.last = first - 1;
  }
  const make = (row: number) => {
    const element = document.createElement('div');
    element.className = 'row';
    element.textContent = line(row);
    return element;
  };
  for (; drawn.first < first; drawn.first++) inner.firstChild!.remove();
  for (; drawn.last > last; drawn.last--) inner.lastChild!.remove();
  while (drawn.first > first) inner.prepend(make(--drawn.first));
  while (drawn.last < last) inner.append(make(++drawn.last));
  inner.style.transform = `translateY(${first * ROW_PX}px)`;
}

provide({
  async load(name) {
    chunks = JSON.parse(await text(`/data/${name}.rows.json`));
    rows = (chunks.length - 1) * CHUNK_ROWS + chunks.at(-1)!.split('\n').length;
  },
  show(root) {
    const [scroll, size, inner] = ['scroll', 'size', 'rows'].map((name) => {
      const element = document.createElement('div');
      element.className = name;
      return element;
    });
    size.style.height = `${rows * ROW_PX}px`;
    size.append(inner);
    scroll.append(size);
    root.append(scroll);
    const drawn = { first: 0, last: -1 };
    draw(scroll, inner, drawn);
    let isAsked = false;
    scroll.addEventListener('scroll', () => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(() => {
        isAsked = false;
        draw(scroll, inner, drawn);
      });
    });
  },
  isShown: (root) => root.querySelectorAll('.row').length > 10,
  scroller: (root) => root.querySelector('.scroll')!,
  clear(root) {
    split.clear();
    root.textContent = '';
  },
});
