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

/** Whether a server on this machine hands what it is asked on to another. */
export function isHandedOn({ hands_on }: { hands_on: string[] }, model: string): boolean {
  return hands_on.some((end) => model.endsWith(end));
}

/** Where a provider's requests go, and those to `model` of it where that is known. */
export function whereTo(t: Messages, provider: ProviderView, model?: string): string {
  const { host, local, runs_itself } = provider;
  if (!local) return t.local.goesTo(host);
  if (isHandedOn(provider, model ?? '')) return t.local.handedOnAt(host);
  return runs_itself ? t.local.staysAt(host) : t.local.goesToHere(host);
}

/** What people call a model. The tour's scripts are told apart by the language that they speak alone. */
export function modelWord(t: Messages, { provider, name }: ModelRef): string {
  if (provider !== 'tour') return name;
  const { languages } = t.settings;
  return `${t.chat.scripted} · ${name.startsWith('zh') ? languages['zh-CN'] : languages.en}`;
}
