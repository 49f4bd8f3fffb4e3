/** What the components use and jsdom does not have. */
import { configure } from '@testing-library/svelte';
import { beforeEach } from 'vitest';
import { i18n } from '../shared/i18n/i18n.svelte';

window.matchMedia ??= (query: string) =>
  ({ matches: false, media: query, addEventListener: () => undefined, removeEventListener: () => undefined }) as never;

window.ResizeObserver ??= class {
  observe() {
    return undefined;
  }
  unobserve() {
    return undefined;
  }
  disconnect() {
    return undefined;
  }
};

Element.prototype.scrollIntoView ??= () => undefined;

// What comes at all comes in this time, on a machine that is busy too.
configure({ asyncUtilTimeout: 5_000 });

beforeEach(() => {
  // What the test before this one is about to store is stored now, and gone with the rest.
  window.dispatchEvent(new Event('pagehide'));
  localStorage.clear();
  i18n.use('en', 'en');
});
