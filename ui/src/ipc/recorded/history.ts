/** What the recorded host answers about looking back, going back and undoing. */
import type { Checkpoint, Item, LedgerEntry, RestoredFile, SessionSummary, Snapshot } from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import { checkpoint, diff, snapshot, summary } from './builders';
import { inScope } from './files';
import { refuse, type Host } from './host';

type History = Pick<
  UiClient,
  | 'undoFile'
  | 'undoChanges'
  | 'timeline'
  | 'snapshotAt'
  | 'fileAt'
  | 'forkSession'
  | 'forkBefore'
  | 'placeBefore'
  | 'previewRewind'
  | 'previewRewindFile'
  | 'rewind'
  | 'undoRewind'
>;

/** Rows that a look at an earlier state has at once. */
const WINDOW = 200;

export function history(host: Host, act: Act): History {
  /** What stood there before the last rewind. */
  const before = new Map<string, Snapshot>();
  const rewinds = new Map<string, number>();
  const put = (session: string, made: Snapshot) => {
    rewinds.set(session, (rewinds.get(session) ?? 0) + 1);
    host.emit(session, { type: 'reset', snapshot: made });
  };

  function fork(session: string, seq: number): SessionSummary {
    const { title, project } = host.snapshot(session).session;
    const made = summary(host.newId(), { title, project });
    host.add(snapshot(made, { items: at(host.snapshot(session), seq).items }));
    return made;
  }

  function undo(session: string, path: string): RestoredFile {
    const held = host.snapshot(session);
    const change = held.changes.find((one) => one.path === path);
    if (!change) throw { code: 'invalid', message: '', problem: { problem: 'changed_since', path } };
    host.emit(session, { type: 'file_changed', change: { ...change, change: 'changed', added: 0, removed: 0 } });
    return restored(path);
  }

  return {
    undoFile: async (session, path, scope) => {
      await act('undoFile', { path, scope });
      return undo(session, path);
    },
    undoChanges: async (session, scope) => {
      await act('undoChanges', { session, scope });
      return inScope(host.snapshot(session).changes, scope).map(({ path }) => undo(session, path));
    },
    timeline: ({ session, list, from, before: end, limit }) => {
      host.note('timeline', { list, from, before: end });
      return later(() => {
        refuse(host.world);
        const { items } = host.snapshot(session);
        const places = list === 'places' ? checkpoints(items) : [];
        const calls = list === 'ledger' ? ledger(session, items) : [];
        const total = places.length + calls.length;
        const rows = [...places, ...calls].map(({ row }) => row);
        const start = from === null ? -1 : rows.indexOf(from);
        const stop = end === null ? -1 : rows.indexOf(end);
        const last = start < 0 ? (stop < 0 ? total : stop) : Math.min(start + limit, total);
        const first = start < 0 ? Math.max(0, last - limit) : start;
        return {
          from: first,
          total,
          checkpoints: places.slice(first, last),
          ledger: calls.slice(first, last),
          can_undo_rewind: before.has(session),
          rewinds: rewinds.get(session) ?? 0,
        };
      });
    },
    snapshotAt: (session, seq, before) =>
      later(() => {
        const held = at(host.snapshot(session), seq);
        const end = before === null ? held.items.length : held.items.findIndex(({ id }) => id === before);
        const first = Math.max(0, end - WINDOW);
        return { ...held, items: held.items.slice(first, end), items_before: first };
      }),
    fileAt: (_session, _seq, path) =>
      later(() => {
        refuse(host.world);
        return { path, exists: true, text: `// ${path}, as it was\npub struct Clock;\n`, size: 42 };
      }),
    forkSession: async (session, seq) => {
      await act('forkSession', { session, seq });
      return fork(session, seq);
    },
    forkBefore: async (session, id) => {
      await act('forkBefore', { session, item: id });
      const said = question(host.snapshot(session).items, id);
      const [first] = said;
      if (!first) throw { code: 'not_found', message: '', problem: { problem: 'place_gone' } };
      return { session: fork(session, host.snapshot(session).items.indexOf(first)), said };
    },
    placeBefore: (session, id) =>
      later(() => {
        const { items } = host.snapshot(session);
        const index =
          id === null ? items.findLastIndex((_, at) => isStart(items, at)) : items.findIndex((one) => one.id === id);
        if (index < 0)
          throw { code: 'not_found', message: '', problem: { problem: id === null ? 'nothing_said' : 'place_gone' } };
        if (isStart(items, index)) return index;
        // It was said to a turn under way: behind the last step, or behind the message that began the turn.
        return items.findLastIndex(({ body }, at) => at < index && (body.kind === 'tool' || isStart(items, at))) + 1;
      }),
    previewRewind: (session, seq) =>
      later(() => {
        refuse(host.world);
        const held = host.snapshot(session);
        const files = held.changes.map(({ path }) => ({
          ...restored(path),
          problem: host.world.problems?.[path] ?? null,
        }));
        const unkept = [...(host.world.unkept?.[session] ?? [])];
        const gone = held.items.slice(seq);
        const first = gone.flatMap(({ body }) => (body.kind === 'human' ? [body.text] : []))[0] ?? null;
        const place = checkpoints(held.items).findLast((one) => one.seq === seq);
        if (!place) throw { code: 'not_found', message: '', problem: { problem: 'place_gone' } };
        return { place, rows: gone.length, first, files, unkept };
      }),
    previewRewindFile: (_session, _seq, path) =>
      later(() => {
        refuse(host.world);
        return diff(path, '', 1, ' pub fn fixture() {\n-    let now = 1;\n+    let then = 0;\n }');
      }),
    rewind: (session, seq, what, leave) =>
      act('rewind', { session, seq, what, leave: [...leave] }, () => {
        const held = host.snapshot(session);
        const left = held.changes.filter(({ path }) => leave.includes(path));
        const problem = held.changes
          .filter((change) => !left.includes(change))
          .map(({ path }) => host.world.problems?.[path])
          .find(Boolean);
        if (problem && what !== 'conversation')
          throw { code: 'invalid', message: '', problem: { problem: 'nothing_taken_back', why: [problem] } };
        before.set(session, held);
        const past = at(held, seq);
        put(session, {
          ...(what === 'files' ? held : past),
          changes: what === 'conversation' ? held.changes : left,
          session: { ...held.session, status: 'idle', waiting: 0 },
        });
      }),
    undoRewind: (session) =>
      act('undoRewind', session, () => {
        const held = before.get(session);
        before.delete(session);
        if (held) put(session, held);
      }),
  };
}

const restored = (path: string): RestoredFile => ({ path, change: 'changed', added: 2, removed: 5, problem: null });

/** Whether a turn begins with the row: what was said to it under way does not. */
const isStart = (items: readonly Item[], at: number): boolean =>
  items[at]?.body.kind === 'human' && items[at - 1]?.turn !== items[at]?.turn;

/** What a row answers; of a message of the person's, itself. */
function question(items: readonly Item[], id: string): Item[] {
  const at = items.findIndex((one) => one.id === id);
  const asked = items[at];
  if (asked?.body.kind === 'human') return [asked];
  return items.slice(0, Math.max(0, at)).filter(({ body, turn }) => body.kind === 'human' && turn === asked?.turn);
}

/** Rows are the recorded journal: a row's place is its number, from 1. */
function checkpoints(items: readonly Item[]): Checkpoint[] {
  return items.flatMap(({ id, turn, at, body }, index): Checkpoint[] => {
    const place = { turn, at, item: id };
    if (isStart(items, index) && body.kind === 'human')
      return [checkpoint(index, { ...place, row: `${index}+`, kind: 'turn_start', label: body.text })];
    if (body.kind !== 'tool') return [];
    const files = body.diff ? [body.diff.path] : [];
    const calls = [{ tool: body.name, args: body.args, state: body.state, started_at: body.started_at }];
    const used = { input_tokens: 12_400, output_tokens: 310, cost: 0.042 };
    return [checkpoint(index + 1, { ...place, ...used, label: body.name, files, calls, calls_count: 1 })];
  });
}

function ledger(session: string, items: readonly Item[]): LedgerEntry[] {
  return items.flatMap((item): LedgerEntry[] => {
    const { body } = item;
    if (body.kind !== 'tool') return [];
    const answer = body.decision?.decision;
    return [
      {
        row: item.id,
        session,
        call_id: body.call_id,
        agent: ['main'],
        tool: body.name,
        proposed: body.args,
        ran: answer?.decision === 'edit' ? answer.args : null,
        decision: body.decision,
        state: body.state,
        files: body.diff ? [body.diff.path] : [],
        proposed_at: item.at,
        started_at: body.started_at,
        ended_at: body.ended_at,
        cost: 0.042,
      },
    ];
  });
}

const at = (held: Snapshot, seq: number): Snapshot => ({
  ...held,
  items: held.items.slice(0, seq),
  approvals: [],
  queue: [],
});
