/** What the recorded host answers about attachments, and about what a message can name. */
import { score } from '../../shared/text/rank';
import type { Attachment, AttachmentKind, MentionHit, SendMessage } from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import type { Host } from './host';

type Attachments = Pick<
  UiClient,
  'keepAttachment' | 'loadAttachment' | 'modelSight' | 'findMentions' | 'holdsKey' | 'steerTurn'
>;

/** A red dot of 8 by 8 pixels. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mM4oaGBFTEMLQkAgl1GARdiiXUAAAAASUVORK5CYII=';

const KINDS: Record<string, [AttachmentKind, string]> = {
  png: ['image', 'image/png'],
  jpg: ['image', 'image/jpeg'],
  pdf: ['pdf', 'application/pdf'],
  md: ['text', 'text/plain'],
  txt: ['text', 'text/plain'],
  log: ['text', 'text/plain'],
};

/** An attachment by its name, kept under a hash that says it. */
export function attachment(name: string, size = 2048): Attachment {
  const [kind, mime] = KINDS[name.split('.').at(-1) ?? ''] ?? ['other', 'application/octet-stream'];
  return { name, mime, kind, size, blob: `kept-${name}` };
}

export const mentioned = (name: string): Attachment => ({
  name,
  mime: 'text/plain',
  kind: 'mention',
  size: 900,
  blob: `named-${name}`,
});

const FILES = [
  'src/auth/clock.rs',
  'src/auth/session.rs',
  'src/auth/refresh.rs',
  'tests/refresh.rs',
  'CHANGELOG.md',
  'README.md',
  'Cargo.toml',
];
const FOLDERS = ['src/', 'src/auth/', 'tests/'];
const MEMORIES = ['/memories/AGENTS.md', '/memories/project/clocks.md'];

/** What stands with a message once it was sent. */
export const along = (message: SendMessage): Attachment[] => [
  ...(message.attachments ?? []).map(({ name }) => attachment(name)),
  ...(message.mentions ?? []).map((one) => mentioned(one.mention === 'path' ? one.path : `session ${one.session}`)),
];

export const attachments = (host: Host, act: Act): Attachments => ({
  keepAttachment: async (name, data) => {
    await act('keepAttachment', { name });
    const made = attachment(name, Math.round((data.length * 3) / 4));
    if (made.kind === 'other') throw { code: 'invalid', message: '', problem: { problem: 'not_attachable', name } };
    return made;
  },
  loadAttachment: (_session, blob) =>
    later(() => {
      const known = attachment(blob.replace(/^\w+-/, ''));
      const isImage = known.kind === 'image';
      return {
        mime: isImage ? 'image/png' : 'text/plain',
        text: isImage || known.kind === 'pdf' ? null : `# ${known.name}\nThe first line of it.\n`,
        image: isImage ? PICTURE : null,
      };
    }),
  modelSight: (model) =>
    later(() => ({ images: model.name !== 'claude-haiku', documents: model.name !== 'claude-haiku' })),
  findMentions: ({ project, text, limit }) =>
    later(() => {
      const at =
        (kind: MentionHit['kind']) =>
        (path: string): MentionHit => ({
          kind,
          name: path,
          detail: path.slice(0, Math.max(0, path.replace(/\/$/, '').lastIndexOf('/'))) || '/',
          mention: { mention: 'path', path: path.startsWith('/') ? path : `/${path.replace(/\/$/, '')}` },
        });
      const sessions = host.summaries().filter((one) => one.project === project && one.parent === null);
      const all = [
        ...FILES.map(at('file')),
        ...FOLDERS.map(at('folder')),
        ...MEMORIES.map(at('memory')),
        ...sessions.map(({ id, title }): MentionHit => ({
          kind: 'session',
          name: title,
          detail: '2026-11-20',
          mention: { mention: 'session', session: id },
        })),
      ];
      return all
        .flatMap((hit) => {
          const found = score(text, hit.name);
          return found === null ? [] : [{ hit, found }];
        })
        .sort((a, b) => b.found - a.found)
        .slice(0, limit)
        .map(({ hit }) => hit);
    }),
  // The core knows many more.
  holdsKey: (text, blobs) => later(() => /\bsk-[\w-]{9,}/.test(text) || blobs.some((blob) => /keys/.test(blob))),
  steerTurn: (message) =>
    act('steerTurn', message, () => host.say(message.session, message.text, along(message), true)),
});
