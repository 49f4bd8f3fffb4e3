/** What the recorded host answers about the list of sessions and about queues. */
import { wordsOf } from '../../shared/text/words';
import type { ExportFormat, ExportPreview, QueuedMessage, SearchHit, SnippetPart } from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import { NOW } from './builders';
import type { Host } from './host';

type Lists = Pick<
  UiClient,
  | 'previewExport'
  | 'exportSession'
  | 'renameSession'
  | 'pinSession'
  | 'archiveSession'
  | 'deleteSession'
  | 'restoreSession'
  | 'listDeleted'
  | 'searchSessions'
>;

export const lists = (host: Host, act: Act): Lists => ({
  renameSession: (session, title) => act('renameSession', { session, title }, () => host.update(session, { title })),
  pinSession: (session, pinned) => act('pinSession', { session, pinned }, () => host.update(session, { pinned })),
  archiveSession: (session, archived) =>
    act('archiveSession', { session, archived }, () => host.update(session, { archived })),
  deleteSession: (session) => act('deleteSession', session, () => host.update(session, { deleted_at: NOW })),
  restoreSession: (session) => act('restoreSession', session, () => host.update(session, { deleted_at: null })),
  listDeleted: () => later(() => host.deleted()),
  previewExport: (session, format) => later(() => preview(host, session, format)),
  exportSession: async (session, format) => {
    await act('exportSession', { session, format });
    return `~/${session}.${{ markdown: 'md', json: 'json', html: 'html' }[format]}`;
  },
  searchSessions: ({ text, limit }) => later(() => found(host, text).slice(0, limit)),
});

/** The session's own words, as a file would begin; what looks like a key is out of it. */
function preview(host: Host, id: string, format: ExportFormat): ExportPreview {
  const { session, items } = host.snapshot(id);
  const bodies = items.flatMap(({ body }) => (body.kind === 'human' || body.kind === 'ai' ? [body] : []));
  const rows = bodies.filter(({ text }) => text !== '').map(({ kind, text }) => ({ kind, text }));
  const words = rows.map(({ kind, text }) => `## ${kind === 'human' ? 'You' : 'Agent'}\n\n${text}\n`).join('\n');
  const text =
    format === 'json'
      ? JSON.stringify({ session: { id: session.id, title: session.title }, items: rows }, null, 2)
      : `# ${session.title}\n\nMODEL_KEY=[redacted]\n\n${words}`;
  return { text, cut: false, bytes: new TextEncoder().encode(text).length, redacted: 1 };
}

/** So much stands around the first word that was found, in characters. */
const BEFORE = 24;
const BEHIND = 140;

/** Messages with all of the words in them, and some text around the first; what a subagent said leads to its session. */
function found(host: Host, typed: string): SearchHit[] {
  const words = wordsOf(typed);
  if (words.length === 0) return [];
  return host.summaries().flatMap((one) => {
    const session = one.parent === null ? one : host.snapshot(one.parent).session;
    return host.snapshot(one.id).items.flatMap(({ id, at, body }): SearchHit[] => {
      const said = body.kind === 'human' || body.kind === 'ai' ? body.text : '';
      const places = words.map((word) => said.toLowerCase().indexOf(word));
      const from = Math.max(0, Math.min(...places) - BEFORE);
      const snippet = marked(said.slice(from, Math.min(...places) + BEHIND), words);
      return places.includes(-1) ? [] : [{ session, found_in: one.id, item: id, at, snippet }];
    });
  });
}

function marked(text: string, words: string[]): SnippetPart[] {
  const plain = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text
    .split(new RegExp(`(${plain})`, 'i'))
    .map((part, at) => ({ text: part, hit: at % 2 === 1 }))
    .filter((part) => part.text !== '');
}

type Queues = Pick<UiClient, 'unqueueMessage' | 'editQueued' | 'moveQueued' | 'sendQueuedNow' | 'steerQueued'>;

export function queues(host: Host, act: Act): Queues {
  const queueOf = (session: string) => host.snapshot(session).queue;
  const put = (session: string, queue: QueuedMessage[]) => host.emit(session, { type: 'queue_replaced', queue });
  const take = (session: string, id: string) => {
    const taken = queueOf(session).find((one) => one.id === id);
    const left = queueOf(session).filter((one) => one.id !== id);
    put(session, left);
    return taken;
  };
  const say = (session: string, said: QueuedMessage | undefined, isSteered: boolean) =>
    host.say(session, said?.text ?? '', said?.attachments ?? [], isSteered);
  const changed = (session: string, id: string, text: string) =>
    queueOf(session).map((one) => (one.id === id ? { ...one, text } : one));
  return {
    unqueueMessage: (session, id) => act('unqueueMessage', id, () => void take(session, id)),
    editQueued: (session, id, text) => act('editQueued', { id, text }, () => put(session, changed(session, id, text))),
    moveQueued: (session, id, to) =>
      act('moveQueued', { id, to }, () => {
        const moved = queueOf(session).filter((one) => one.id === id);
        const rest = queueOf(session).filter((one) => one.id !== id);
        put(session, rest.toSpliced(to, 0, ...moved));
      }),
    sendQueuedNow: (session, id) =>
      act('sendQueuedNow', id, () => {
        say(session, take(session, id), false);
        host.update(session, { status: 'running' });
      }),
    steerQueued: (session, id) => act('steerQueued', id, () => say(session, take(session, id), true)),
  };
}
