import type { Theme } from '../ipc/bindings';

const dark = window.matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme = 'system';

function draw(): void {
  const theme = chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen;
  document.documentElement.dataset.theme = theme;
}

dark.addEventListener('change', draw);

/** Draws the window in a theme; `system` follows the system while it is chosen. */
export function applyTheme(theme: Theme): void {
  chosen = theme;
  draw();
}
