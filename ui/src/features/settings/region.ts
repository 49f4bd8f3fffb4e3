import type { ProviderView } from '../../ipc/bindings';

const BEDROCK = /^https:\/\/bedrock-runtime\.([a-z0-9-]+)\.amazonaws\.com$/;
const VERTEX = /^https:\/\/(?:([a-z0-9-]+)-)?aiplatform\.googleapis\.com$/;
/** The two places of Vertex AI that span several regions have addresses of another kind. */
const SPANNING = /^https:\/\/aiplatform\.(us|eu)\.rep\.googleapis\.com$/;
/** What an address of Vertex AI goes on with that names who pays: the project, and the place once more. */
const PROJECT = /\/v1\/projects\/([A-Za-z0-9._:-]+)\/locations\/([a-z0-9-]+)(?:\/publishers\/(?:google|anthropic))?$/;

/** A resource, and which of the names of Azure it is asked at: those of Foundry have all three. */
const AZURE = /^https:\/\/([a-z0-9_-]+)\.(openai|services\.ai|cognitiveservices)\.azure\.com\/openai\/v1$/;

/** Stands in the address of Azure for a name that nobody has given yet; no resource can have it. */
const UNNAMED = 'your_resource';

type Address = Pick<ProviderView, 'id' | 'family' | 'base_url'>;

/** Whether a provider has no address yet. */
export const isUnnamed = (provider: Address) => regionOf(provider) === '';

/**
 * The region, or at Azure the resource, that the address of a cloud names; empty where it is still to be named, null where
 * the address is of another kind.
 */
export function regionOf({ id, family, base_url }: Address): string | null {
  const url = base_url.replace(/\/+$/, '');
  if (id === 'azure') {
    const name = AZURE.exec(url)?.[1] ?? null;
    return name === UNNAMED ? '' : name;
  }
  if (family === 'bedrock') return BEDROCK.exec(url)?.[1] ?? null;
  if (family !== 'vertex') return null;
  const [path = '', , again] = PROJECT.exec(url) ?? [];
  const host = url.slice(0, url.length - path.length);
  const found = SPANNING.exec(host) ?? VERTEX.exec(host);
  const place = found ? (found[1] ?? 'global') : null;
  return again === undefined || again === place ? place : null;
}

/** The project that an address of Vertex AI names; empty where it names none. */
export function projectOf({ base_url }: Address): string {
  return PROJECT.exec(base_url.replace(/\/+$/, ''))?.[1] ?? '';
}

/**
 * The address of a cloud in `region`, or of a resource of that name, at the name of Azure that it has now; with the
 * `project` that pays, at Vertex AI. Null for what cannot be the name of one.
 */
export function addressIn({ id, family, base_url }: Address, region: string, project = ''): string | null {
  const name = region.trim().toLowerCase();
  if (id === 'azure') {
    const at = AZURE.exec(base_url.replace(/\/+$/, ''))?.[2] ?? 'openai';
    return /^[a-z0-9][a-z0-9-]*[a-z0-9]$/.test(name) ? `https://${name}.${at}.azure.com/openai/v1` : null;
  }
  if (!/^[a-z][a-z0-9-]*[a-z0-9]$/.test(name)) return null;
  if (family === 'bedrock') return `https://bedrock-runtime.${name}.amazonaws.com`;
  const place = vertexAt(name);
  const payer = project.trim();
  if (!payer) return place;
  const url = `${place}/v1/projects/${payer}/locations/${name}`;
  return PROJECT.test(url) ? url : null;
}

function vertexAt(name: string): string {
  if (name === 'global') return 'https://aiplatform.googleapis.com';
  return name === 'us' || name === 'eu'
    ? `https://aiplatform.${name}.rep.googleapis.com`
    : `https://${name}-aiplatform.googleapis.com`;
}
