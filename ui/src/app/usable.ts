import type { ProviderView } from '../ipc/bindings';

/** Whether a model of this provider could answer as things stand. A server that wants no key has to have answered, or
 *  to be the person's own. */
export function isUsable(provider: ProviderView, answering: ReadonlySet<string>): boolean {
  const { family, key, key_optional, custom, id } = provider;
  if (family === 'tour') return false;
  if (key.source !== 'missing' && key.source !== 'locked') return true;
  return key_optional && (custom || answering.has(id));
}
