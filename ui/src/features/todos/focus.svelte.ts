/** What has the keys keeps them while rows change places: one that is moved in the page would lose them. */
export function keepFocus(order: () => unknown): void {
  let held: Element | null = null;
  $effect.pre(() => {
    order();
    held = document.activeElement;
  });
  $effect(() => {
    order();
    if (document.activeElement === document.body && held instanceof HTMLElement && held.isConnected) held.focus();
  });
}
