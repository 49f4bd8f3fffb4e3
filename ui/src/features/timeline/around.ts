import type { Checkpoint } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';

export interface Around {
  earlier: Checkpoint | null;
  later: Checkpoint | null;
}

export const NOWHERE: Around = { earlier: null, later: null };

/** So many rows are looked at to either side: where a turn ends and the next begins are two rows of one place. */
const NEAR = 6;

/** The places right before and behind another. */
export async function around(client: UiClient, session: string, { row, seq }: Checkpoint): Promise<Around> {
  const ask = (from: string | null, before: string | null) =>
    client.timeline({ session, list: 'places', from, before, limit: NEAR });
  const [before, behind] = (await Promise.all([ask(null, row), ask(row, null)])).map((page) => page.checkpoints);
  // It is there no more: the session was taken back.
  if (!before || !behind || behind[0]?.row !== row) return NOWHERE;
  const later = behind.find((place) => place.seq !== seq)?.seq;
  return {
    earlier: before.findLast((place) => place.seq !== seq) ?? null,
    later: behind.findLast((place) => place.seq === later) ?? null,
  };
}
