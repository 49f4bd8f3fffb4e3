import type { UiClient } from '../../ipc/client';
import type { Snapshot, UsageTotal } from '../../ipc/bindings';

/** Milliseconds between two looks while calls come in. */
const PAUSE = 1_000;

/**
 * What changes when a call was made for a session: its own, those of its subagents, and its name. A call that came to
 * nothing leaves no tokens, but a row or another state.
 */
export function spendingMark({ session, agents, items, items_before }: Snapshot): string {
  const tokens = agents.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0);
  return `${session.id} ${session.status} ${tokens} ${items_before + items.length} ${session.title}`;
}

/** What a session cost with all that worked for it, as its budget counts it. */
export class Spending {
  total = $state.raw<UsageTotal | null>(null);
  private session: string | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readAt = 0;
  private reads = 0;

  constructor(private readonly client: Pick<UiClient, 'sessionUsage'>) {}

  /** Looks again: at once for another session, else when the last look is old enough. */
  follow(session: string | null): void {
    if (session !== this.session) {
      this.session = session;
      this.total = null;
      this.readAt = 0;
    }
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (session === null) return;
    const wait = Math.max(0, this.readAt + PAUSE - Date.now());
    this.timer = setTimeout(() => void this.read(session), wait);
  }

  private async read(session: string): Promise<void> {
    this.timer = null;
    this.readAt = Date.now();
    const number = (this.reads += 1);
    try {
      const { total } = await this.client.sessionUsage(session);
      // An earlier answer that comes late is outdated.
      if (session === this.session && number === this.reads) this.total = total;
    } catch {
      // The next call asks again; what is shown is what was known.
    }
  }
}
