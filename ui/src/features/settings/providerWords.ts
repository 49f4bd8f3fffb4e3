import type { ModelRef, ProviderView } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';

/** Where a provider's key comes from, in two or three words. */
export function sourceWord(t: Messages, { key, key_optional, family }: ProviderView): string {
  const words = t.providers.keySources;
  if (key.source === 'environment') return words.environment(key.variable);
  // A cloud wants no key, but somebody to be.
  const isCloud = family === 'bedrock' || family === 'vertex';
  return key.source === 'missing' && key_optional && !isCloud ? words.none : words[key.source];
}

/** Where a provider's requests go. */
export function whereTo(t: Messages, { host, local }: ProviderView): string {
  return local ? t.local.staysAt(host) : t.local.goesTo(host);
}

/** What people call a model. The tour's scripts are told apart by the language that they speak alone. */
export function modelWord(t: Messages, { provider, name }: ModelRef): string {
  if (provider !== 'tour') return name;
  const { languages } = t.settings;
  return `${t.chat.scripted} · ${name.startsWith('zh') ? languages['zh-CN'] : languages.en}`;
}
