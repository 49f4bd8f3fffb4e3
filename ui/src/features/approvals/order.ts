/** In which order requests are shown. */
import type { Approval, Item } from '../../ipc/bindings';

/**
 * Requests in the order in which the model made the calls. They come in whatever order their previews were ready; those
 * of subagents, whose rows are elsewhere, stay as they came, after the rest.
 */
export function inCallOrder(session: string, approvals: readonly Approval[], items: readonly Item[]) {
  if (approvals.length < 2) return approvals;
  const places = new Map<string, number>();
  const wanted = new Set(approvals.filter((one) => one.session === session).map(({ call_id }) => call_id));
  // The calls that wait are near the end, however long the session is.
  for (let at = items.length - 1; at >= 0 && places.size < wanted.size; at--) {
    const body = items[at]?.body;
    if (body?.kind === 'tool' && wanted.has(body.call_id) && !places.has(body.call_id)) places.set(body.call_id, at);
    if (body?.kind === 'human') break;
  }
  const place = (one: Approval) => (one.session === session ? places.get(one.call_id) : undefined) ?? Infinity;
  return approvals.toSorted((a, b) => {
    const [first, second] = [place(a), place(b)];
    return first === second ? 0 : first - second;
  });
}
