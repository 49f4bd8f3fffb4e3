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

/** How large the words are drawn, in percent. Remembered on this machine only. */
export const TEXT_SIZES = ['90', '100', '110', '125', '140'] as const;
export type TextSize = (typeof TEXT_SIZES)[number];

const SIZE_KEY = 'bosun.textSize';

export function textSize(): TextSize {
  const kept = localStorage.getItem(SIZE_KEY);
  return TEXT_SIZES.find((size) => size === kept) ?? '100';
}

/** Told by the window when words are drawn larger or smaller. */
export const TEXT_RESIZED = 'bosun-text-resized';

/** How large words are drawn beside their ordinary size. */
export const textScale = (): number => Number(document.documentElement.style.getPropertyValue('--text-scale')) || 1;

export function applyTextSize(size: TextSize): void {
  document.documentElement.style.setProperty('--text-scale', String(Number(size) / 100));
  window.dispatchEvent(new Event(TEXT_RESIZED));
  try {
    localStorage.setItem(SIZE_KEY, size);
  } catch {
    // Storage is full or switched off: the size then lasts for this run.
  }
}
