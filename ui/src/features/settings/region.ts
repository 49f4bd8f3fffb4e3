import type { ProviderView } from '../../ipc/bindings';

const BEDROCK = /^https:\/\/bedrock-runtime\.([a-z0-9-]+)\.amazonaws\.com$/;
const VERTEX = /^https:\/\/(?:([a-z0-9-]+)-)?aiplatform\.googleapis\.com$/;

/** The region that the address of a cloud names; null where it names none, or is of another kind. */
export function regionOf({ family, base_url }: Pick<ProviderView, 'family' | 'base_url'>): string | null {
  const url = base_url.replace(/\/+$/, '');
  if (family === 'bedrock') return BEDROCK.exec(url)?.[1] ?? null;
  const found = family === 'vertex' ? VERTEX.exec(url) : null;
  return found ? (found[1] ?? 'global') : null;
}

/** The address of a cloud in `region`; null for what cannot be the name of one. */
export function addressIn({ family }: Pick<ProviderView, 'family'>, region: string): string | null {
  const name = region.trim().toLowerCase();
  if (!/^[a-z][a-z0-9-]*[a-z0-9]$/.test(name)) return null;
  if (family === 'bedrock') return `https://bedrock-runtime.${name}.amazonaws.com`;
  return name === 'global' ? 'https://aiplatform.googleapis.com' : `https://${name}-aiplatform.googleapis.com`;
}
