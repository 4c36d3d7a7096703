/** What every viewer is to the bench: it shows what is in memory, tells when it stands there, and can be scrolled. */
export interface Viewer {
  /** Fetches what it starts from, and whatever code it needs. */
  load(name: string): Promise<void>;
  show(root: HTMLElement): void;
  /** Whether the first screen is there, as far as the viewer itself is concerned. */
  isShown(root: HTMLElement): boolean;
  /** The element that is scrolled. */
  scroller(root: HTMLElement): Element;
  clear(root: HTMLElement): void;
}

export const text = async (path: string): Promise<string> => (await fetch(path)).text();

export function provide(viewer: Viewer): void {
  Object.assign(window, { viewer });
}
