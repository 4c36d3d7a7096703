/** Monaco's diff editor. It takes two texts, so the files of a patch follow each other in them. */
import * as monaco from 'monaco-editor/editor/editor.api.js';
import 'monaco-editor/languages/definitions/typescript/register.js';
import { provide, text } from './viewer';

Object.assign(window, { MonacoEnvironment: { getWorker: () => new Worker('/monaco-worker.js', { type: 'module' }) } });

let sides = ['', ''];
let editor: monaco.editor.IStandaloneDiffEditor | undefined;
let isCompared = false;

provide({
  async load(name) {
    sides = await Promise.all([text(`/data/${name}.old`), text(`/data/${name}.new`)]);
  },
  show(root) {
    isCompared = false;
    editor = monaco.editor.createDiffEditor(root, { renderSideBySide: false, readOnly: true, maxComputationTime: 0, maxFileSize: 0 });
    editor.onDidUpdateDiff(() => (isCompared = true));
    const [original, modified] = sides.map((side) => monaco.editor.createModel(side, 'typescript'));
    editor.setModel({ original, modified });
  },
  isShown: (root) => isCompared && root.querySelectorAll('.modified .view-line').length > 10,
  // It scrolls by itself, not by an element.
  scroller: () => ({
    get scrollTop() {
      return editor!.getModifiedEditor().getScrollTop();
    },
    set scrollTop(top: number) {
      editor!.getModifiedEditor().setScrollTop(top);
    },
  }) as unknown as Element,
  clear(root) {
    const model = editor?.getModel();
    editor?.dispose();
    model?.original.dispose();
    model?.modified.dispose();
    root.textContent = '';
  },
});
