/** What a person moves a pane with. */
const MOVEMENTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
/** What a pane shows may have to be fetched first; after so long it is not waited for. */
const LATEST_MS = 3000;

/**
 * Puts a pane where it was left, as soon as enough of it is there and unless a person moves it before; from then on tells
 * where it is. In pixels from its top. Gives the end of it.
 */
export function keepTop(pane: HTMLElement, top: number, onTop: (top: number) => void): () => void {
  let isThere = false;
  const settle = () => {
    if (isThere) return;
    pane.scrollTop = top;
    isThere = Math.abs(pane.scrollTop - top) < 1;
  };
  const arrive = () => (isThere = true);
  const scrolled = () => isThere && onTop(pane.scrollTop);
  const changes = new MutationObserver(settle);
  changes.observe(pane, { childList: true, subtree: true });
  const timer = setTimeout(arrive, LATEST_MS);
  for (const name of MOVEMENTS) pane.addEventListener(name, arrive, { passive: true });
  pane.addEventListener('scroll', scrolled, { passive: true });
  settle();
  return () => {
    changes.disconnect();
    clearTimeout(timer);
    for (const name of MOVEMENTS) pane.removeEventListener(name, arrive);
    pane.removeEventListener('scroll', scrolled);
  };
}
