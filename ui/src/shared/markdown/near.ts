/** Tells what is near the part of a list that a person sees. */

/** What is this far from what is seen is still near, as a share of the height that is seen. */
const MARGIN = '150% 0px';

type Tell = (isNear: boolean) => void;

const listeners = new Map<Element, Tell>();
const observers = new WeakMap<Element | Document, IntersectionObserver>();

/**
 * Tells whether an element is near, now and each time that changes, until the returned function is called. Where the
 * engine cannot say, everything is near.
 */
export function whileNear(element: Element, tell: Tell): () => void {
  if (!('IntersectionObserver' in globalThis)) return () => undefined;
  const root = scroller(element);
  let observer = observers.get(root);
  if (!observer) {
    observer = new IntersectionObserver(
      (entries) => entries.forEach(({ target, isIntersecting }) => listeners.get(target)?.(isIntersecting)),
      { root, rootMargin: MARGIN },
    );
    observers.set(root, observer);
  }
  const held = observer;
  listeners.set(element, tell);
  held.observe(element);
  if (isChosen(element)) tell(true);
  return () => {
    listeners.delete(element);
    held.unobserve(element);
  };
}

/** Whether a person has chosen words in an element, or works in it. */
export function isHeld(element: Element): boolean {
  return element.contains(document.activeElement) || isChosen(element);
}

function isChosen(element: Element): boolean {
  const chosen = document.getSelection();
  return chosen !== null && !chosen.isCollapsed && chosen.getRangeAt(0).intersectsNode(element);
}

/** What is chosen is copied: all of it has to be there, however far it reaches. */
document.addEventListener('selectionchange', () => {
  if (document.getSelection()?.isCollapsed !== false) return;
  for (const [element, tell] of listeners) if (isChosen(element)) tell(true);
});

function scroller(element: Element): Element | Document {
  for (let one = element.parentElement; one; one = one.parentElement) {
    const { overflowY } = getComputedStyle(one);
    if (overflowY === 'auto' || overflowY === 'scroll') return one;
  }
  return document;
}
