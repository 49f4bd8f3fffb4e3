/** The recorded host of a page, chosen by its address: `?recorded=mock&theme=dark&lang=zh-CN&tab=agents`. */
import type { Language, Theme } from '../bindings';
import type { UiClient } from '../client';
import { isQuiet, recordedClient } from '../recorded';
import { applyTextSize, applyTheme, type TextSize } from '../../app/theme';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { clock } from '../../shared/clock.svelte';
import { NOW } from './builders';
import { world } from './worlds';

export function recordedFromAddress(): UiClient {
  const query = new URLSearchParams(location.search);
  const made = world(query.get('recorded') ?? 'mock');
  made.settings = {
    ...made.settings,
    theme: (query.get('theme') as Theme | null) ?? 'system',
    language: (query.get('lang') as Language | null) ?? 'system',
  };
  const tab = query.get('tab');
  if (tab) localStorage.setItem('bosun.layout.p-harbour', JSON.stringify({ tab }));
  clock.read = () => NOW;
  const { client, host } = recordedClient(made);
  /** Draws the page as it stands in another look, as the settings would. */
  const recordedLook = (theme: Theme, lang: Language, text: TextSize = '100') => {
    applyTextSize(text);
    applyTheme(theme);
    i18n.use(lang, lang);
  };
  Object.assign(window, { recordedHost: host, recordedIsQuiet: isQuiet, recordedLook });
  return client;
}
