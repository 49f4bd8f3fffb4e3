/** Which addresses may be opened, and what a person has to see before one is. The core checks again. */
import { decodeHost } from '../text/lookalikes';

export interface Address {
  /** As the browser's own parser understands it. */
  url: string;
  /** Where it leads, in ASCII; empty for mail. */
  host: string;
  /** The host as it would be drawn, where that differs. */
  decoded: string | null;
  scheme: 'http' | 'https' | 'mailto';
}

/** `null` for everything but http, https and mailto. */
export function address(href: string): Address | null {
  // Controls and blanks inside a scheme are dropped by parsers; an honest address has none.
  // eslint-disable-next-line no-control-regex -- controls are what is looked for
  if (/[\u0000-\u0020\u007f-\u009f]/.test(href.trim())) return null;
  if (!/^(?:https?:\/\/|mailto:)/i.test(href.trim())) return null;
  let url: URL;
  try {
    url = new URL(href.trim());
  } catch {
    return null;
  }
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'mailto') return null;
  const host = scheme === 'mailto' ? '' : url.host;
  const decoded = decodeHost(host);
  return { url: url.href, host, decoded: decoded === host ? null : decoded, scheme };
}
