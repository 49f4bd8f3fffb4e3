/** What an address says of the host behind it, as the core reads it. */

function parsed(url: string): URL | null {
  const text = url.trim();
  const found = URL.canParse(text) ? new URL(text) : null;
  return found && (found.protocol === 'https:' || found.protocol === 'http:') ? found : null;
}

/** What keys are bound to: the host, with its port unless that is the usual one of `https`; null for what is no address. */
export function hostOf(url: string): string | null {
  const found = parsed(url);
  if (!found) return null;
  const { protocol, hostname, port } = found;
  if (protocol === 'https:') return port ? `${hostname}:${port}` : hostname;
  return `${hostname}:${port || '80'}`;
}

/** What a server that listens everywhere is reached at from here, and the loopback address. */
const HERE = new Set(['[::1]', '[::]', '0.0.0.0', '[::ffff:0:0]']);

/** Whether what is sent there can be read on its way: over plain HTTP to another machine. */
export function isPlain(url: string): boolean {
  const found = parsed(url);
  if (found?.protocol !== 'http:') return false;
  const { hostname } = found;
  const name = hostname.replace(/\.$/, '');
  const isHere = name === 'localhost' || name.endsWith('.localhost') || HERE.has(name);
  // `[::ffff:127.0.0.1]` too, as it is written once it was read.
  return !isHere && !/^127\.\d+\.\d+\.\d+$|^\[::ffff:7f[\da-f]{2}:/.test(name);
}
