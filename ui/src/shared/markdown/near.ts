/** Tells what is near the part of a list that a person sees. */

/** What is this far from what is seen is still near, as a share of the height that is seen. */
const MARGIN = '150% 0px';

type Tell = (isNear: boolean) => void;

const listeners = new Map<Element, Tell>();
/** Those that were told to be near because words in them were chosen. */
const chosen = new Set<Element>();
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
  if (isChosen(element)) {
    chosen.add(element);
    tell(true);
  }
  return () => {
    listeners.delete(element);
    chosen.delete(element);
    held.unobserve(element);
  };
}

/** Whether a person has chosen words in an element, or works in it. */
export function isHeld(element: Element): boolean {
  return element.contains(document.activeElement) || isChosen(element);
}

function isChosen(element: Element): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.getRangeAt(0).intersectsNode(element);
}

/** What is chosen is copied: all of it has to be there, however far it reaches. */
document.addEventListener('selectionchange', () => {
  if (document.getSelection()?.isCollapsed !== false) return lookAgain();
  for (const [element, tell] of listeners) {
    if (!isChosen(element)) continue;
    chosen.add(element);
    tell(true);
  }
});

/** Where what was chosen is no longer: who begins to observe is told once how things stand. */
function lookAgain(): void {
  for (const element of chosen) {
    if (!listeners.has(element)) continue;
    const observer = observers.get(scroller(element));
    observer?.unobserve(element);
    observer?.observe(element);
  }
  chosen.clear();
}

function scroller(element: Element): Element | Document {
  for (let one = element.parentElement; one; one = one.parentElement) {
    const { overflowY } = getComputedStyle(one);
    if (overflowY === 'auto' || overflowY === 'scroll') return one;
  }
  return document;
}
