import type { Checkpoint } from '../../ipc/bindings';

export interface Turn {
  turn: number;
  /** Newest first. */
  places: Checkpoint[];
}

/** The newest turn first, and in it the newest place. */
export function byTurn(checkpoints: readonly Checkpoint[]): Turn[] {
  const turns: Turn[] = [];
  for (const place of checkpoints.toReversed()) {
    const last = turns.at(-1);
    if (last?.turn === place.turn) last.places.push(place);
    else turns.push({ turn: place.turn, places: [place] });
  }
  return turns;
}
