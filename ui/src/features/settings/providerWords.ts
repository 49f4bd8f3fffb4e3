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

type Server = Pick<ProviderView, 'family' | 'hands_on' | 'handed_on' | 'runs' | 'runs_itself'>;

/**
 * Who runs `model` at a server on this machine: the server, another to whom it hands requests on, or nobody knows. What the
 * server says of a model, by its whole name, counts before what the name ends with, as in `crates/providers/src/config.rs`.
 */
function runBy({ family, hands_on, handed_on, runs }: Server, model: string): 'itself' | 'another' | 'unknown' {
  if (runs.includes(model)) return 'itself';
  if (handed_on.includes(model)) return 'another';
  const name = model.toLowerCase();
  if (hands_on.some((end) => name.endsWith(end))) return 'another';
  return family === 'ollama' ? 'itself' : 'unknown';
}

/** Whether a server on this machine hands what it is asked on to another. */
export function isHandedOn(server: Server, model: string): boolean {
  return runBy(server, model) === 'another';
}

/** Where a provider's requests go: those to `model`, or those to its models at large. */
export function whereTo(t: Messages, provider: ProviderView, model?: string): string {
  const { host, local, runs_itself } = provider;
  if (!local) return t.local.goesTo(host);
  const by = model === undefined && runs_itself ? 'itself' : runBy(provider, model ?? '');
  if (by === 'another') return t.local.handedOnAt(host);
  return by === 'itself' ? t.local.staysAt(host) : t.local.goesToHere(host);
}

/** What people call a model. The tour's scripts are told apart by the language that they speak alone. */
export function modelWord(t: Messages, { provider, name }: ModelRef): string {
  if (provider !== 'tour') return name;
  const { languages } = t.settings;
  return `${t.chat.scripted} · ${name.startsWith('zh') ? languages['zh-CN'] : languages.en}`;
}
