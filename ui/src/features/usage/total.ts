import type { UsageTotal } from '../../ipc/bindings';
import type { Messages } from '../../shared/i18n/en';
import type { Formats } from '../../shared/i18n/formats';

/** What calls cost, and what of it nobody knows. */
export function costOf(t: Messages, f: Formats, { cost, unpriced, calls }: UsageTotal): string {
  if (calls > 0 && unpriced === calls) return t.usage.unknown;
  const known = f.cost(cost);
  return unpriced > 0 ? t.usage.andUnknown(known, unpriced) : known;
}

/** The same in the room of a chip. */
export function shortCostOf(t: Messages, f: Formats, { cost, unpriced, calls }: UsageTotal): string {
  if (calls > 0 && unpriced === calls) return t.usage.unknown;
  return unpriced > 0 ? t.usage.atLeast(f.cost(cost)) : f.cost(cost);
}

/** How much of what was read came from the provider's cache; nothing where none did. */
export function cachedShare({ input_tokens, cache_read_tokens }: UsageTotal): number | null {
  return cache_read_tokens > 0 && input_tokens > 0 ? Math.min(1, cache_read_tokens / input_tokens) : null;
}
