/** What threw in the page goes to the log: nobody looks into its console. */
import { asError } from './error';

/** Takes what is to be written. */
type Write = (place: string, message: string, stack: string) => Promise<unknown>;

/** So many are handed on within a span. The core counts as well: this only keeps a loop from filling the way there. */
const MOST = 20;
const SPAN_MS = 60_000;
/** More letters of a text than the log takes. */
const LONGEST = 8_000;

let write: Write | null = null;
let [since, count] = [-Infinity, 0];

/** From now on faults are handed to this one; gives what ends that. */
export function faultsTo(given: Write): () => void {
  write = given;
  [since, count] = [-Infinity, 0];
  return () => {
    if (write === given) write = null;
  };
}

const messageOf = (thrown: unknown): string => {
  const { message } = asError(thrown);
  return thrown instanceof Error && thrown.name ? `${thrown.name}: ${message}` : message;
};

const stackOf = (thrown: unknown): string =>
  thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : '';

/** The same for a person who hands it on: where it happened, what was said, and the way there. */
export function details(place: string, thrown: unknown): string {
  const [message, stack] = [messageOf(thrown), stackOf(thrown)];
  // Some engines begin the stack with the message, others do not.
  const lines = stack.startsWith(message) ? [stack] : [message, stack];
  return [`Bosun · ${place}`, ...lines].filter(Boolean).join('\n');
}

/** Tells the log of something that threw at a place of the page. */
export function report(place: string, thrown: unknown): void {
  // Whoever develops sees it, and the browser tests fail by it.
  console.error(place, thrown);
  const now = performance.now();
  if (now - since >= SPAN_MS) [since, count] = [now, 0];
  if (!write || count >= MOST) return;
  count++;
  // Where nothing can be written there is nobody else to tell.
  void write(place, messageOf(thrown).slice(0, LONGEST), stackOf(thrown).slice(0, LONGEST)).catch(() => undefined);
}
