/** @pierre/diffs with its workers. */
import { CodeView, parsePatchFiles } from '@pierre/diffs';
import { getOrCreateWorkerPoolSingleton } from '@pierre/diffs/worker';
import { provide, text } from './viewer';

const theme = 'pierre-light' as const;
const pool = getOrCreateWorkerPoolSingleton({
  poolOptions: { workerFactory: () => new Worker('/pierre-worker.js', { type: 'module' }), poolSize: 2 },
  highlighterOptions: { theme, langs: ['typescript'] },
});

let patch = '';
let view: CodeView | undefined;

provide({
  async load(name) {
    await pool.initialize(['typescript']);
    patch = await text(`/data/${name}.patch`);
  },
  show(root) {
    root.style.overflow = 'auto';
    view = new CodeView({ theme, diffStyle: 'unified' }, pool);
    view.setup(root);
    const files = parsePatchFiles(patch).flatMap((parsed) => parsed.files);
    view.setItems(files.map((fileDiff, id) => ({ id: `${id}`, type: 'diff' as const, fileDiff })));
    view.render(true);
  },
  isShown(root) {
    const lines = [...root.querySelectorAll('*')].flatMap((element) => [...(element.shadowRoot?.querySelectorAll('[data-line]') ?? [])]);
    return lines.length > 10;
  },
  scroller: (root) => root,
  clear(root) {
    view?.cleanUp();
    root.textContent = '';
  },
});
