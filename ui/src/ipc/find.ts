import type { UiClient } from './client';
import { inWindow, tauriClient } from './tauri';

/** The host of this page: the desktop window; in development and in tests also a recorded one (`?recorded=NAME`). */
export async function findClient(): Promise<UiClient> {
  if (inWindow()) return tauriClient();
  if (__RECORDED__) {
    const { recordedFromAddress } = await import('./recorded/page');
    return recordedFromAddress();
  }
  return nowhere();
}

/** A page that was opened outside the window can only say so. */
function nowhere(): UiClient {
  const start = async () => {
    const { i18n } = await import('../shared/i18n/i18n.svelte');
    throw { code: 'internal', message: i18n.t.app.notInWindow };
  };
  return { start, uiReady: async () => undefined } as unknown as UiClient;
}
