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

/** Whether what is sent there can be read on its way: over plain HTTP to another machine. */
export function isPlain(url: string): boolean {
  const found = parsed(url);
  if (found?.protocol !== 'http:') return false;
  const { hostname } = found;
  const isHere = hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]';
  return !isHere && !/^127\.\d+\.\d+\.\d+$/.test(hostname);
}
