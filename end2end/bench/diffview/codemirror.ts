/** CodeMirror's unified merge view. It takes two texts, so the files of a patch follow each other in them. */
import { javascript } from '@codemirror/lang-javascript';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { provide, text } from './viewer';

let sides = ['', ''];
let view: EditorView | undefined;

provide({
  async load(name) {
    sides = await Promise.all([text(`/data/${name}.old`), text(`/data/${name}.new`)]);
  },
  show(root) {
    const [original, doc] = sides;
    const extensions = [
      lineNumbers(),
      javascript({ typescript: true }),
      EditorState.readOnly.of(true),
      EditorView.theme({ '&': { height: '100%' } }),
      unifiedMergeView({ original, mergeControls: false, collapseUnchanged: {} }),
    ];
    view = new EditorView({ parent: root, state: EditorState.create({ doc, extensions }) });
  },
  isShown: (root) => root.querySelectorAll('.cm-line').length > 10 && !!root.querySelector('.cm-deletedChunk'),
  scroller: () => view!.scrollDOM,
  clear(root) {
    view?.destroy();
    root.textContent = '';
  },
});
