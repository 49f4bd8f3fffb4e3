/** What goes along with the message that is being written: files that are kept by the core, and things that it names. */
import type { Attachment, AttachmentKind, Mention, ModelSight, NewAttachment } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';

export interface Pending {
  id: number;
  name: string;
  size: number;
  kind: AttachmentKind;
  /** What it is kept under; `null` while it is being kept. */
  blob: string | null;
  /** An address of its picture, for the chip. */
  picture: string | null;
}

export interface Named {
  /** As it stands in the message, behind its `@`. */
  name: string;
  mention: Mention;
}

/** What of it survives a restart: files that the core keeps, and what is named. */
export interface Kept {
  files: { name: string; size: number; kind: AttachmentKind; blob: string }[];
  names: Named[];
}

const KINDS: readonly AttachmentKind[] = ['image', 'pdf', 'text', 'other'];
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whatever of it is as it was written. */
export function soundKept(value: unknown): Kept {
  if (!isRecord(value)) return { files: [], names: [] };
  const list = (given: unknown) => (Array.isArray(given) ? given.filter(isRecord) : []);
  return {
    files: list(value.files).flatMap(({ name, size, kind, blob }) => {
      const known = KINDS.find((one) => one === kind);
      return typeof name === 'string' && typeof size === 'number' && known && typeof blob === 'string'
        ? [{ name, size, kind: known, blob }]
        : [];
    }),
    names: list(value.names).flatMap(({ name, mention }) =>
      typeof name === 'string' && isRecord(mention) ? [{ name, mention: mention as Mention }] : [],
    ),
  };
}

/** Larger files are refused by the core as well; they need not be read first. */
const MOST_BYTES = 20 * 1024 * 1024;
/** Pictures whose bytes were looked at and that are small enough to be drawn in a chip. */
const DRAWN_BYTES = 4 * 1024 * 1024;

export class Along {
  files = $state.raw<Pending[]>([]);
  names: Named[] = [];
  private made = 0;

  constructor(
    private readonly client: UiClient,
    private readonly onRefused: (message: string) => void,
    private readonly tooLarge: (name: string) => string,
    /** What a file without a name is called. */
    private readonly unnamed: string,
    private readonly onChange: () => void = () => undefined,
  ) {}

  /** What stood with a message that was sent, to go along once more. */
  static with(client: UiClient, attachments: readonly Attachment[], onChange?: () => void): Along {
    const made = new Along(client, () => undefined, String, '', onChange);
    made.carry(attachments);
    return made;
  }

  get isKeeping(): boolean {
    return this.files.some((file) => file.blob === null);
  }

  async attach(files: Iterable<File>): Promise<void> {
    const refused = await Promise.all([...files].map((file) => this.keep(file)));
    const reasons = refused.flatMap((reason) => reason ?? []);
    if (reasons.length > 0) this.onRefused(reasons.join('\n'));
  }

  /** Gives back why not, where it is refused. */
  private async keep(file: File): Promise<string | null> {
    if (file.size > MOST_BYTES) return this.tooLarge(file.name);
    const id = ++this.made;
    const name = file.name || this.unnamed;
    this.files = [...this.files, { id, name, size: file.size, kind: 'other', blob: null, picture: null }];
    try {
      const kept = await this.client.keepAttachment(name, await encoded(file));
      const isDrawn = kept.kind === 'image' && file.size <= DRAWN_BYTES;
      const picture = isDrawn ? URL.createObjectURL(new Blob([file], { type: kept.mime })) : null;
      this.change(id, { name: kept.name, kind: kept.kind, blob: kept.blob, picture });
      return null;
    } catch (thrown) {
      this.remove(id);
      return asError(thrown).message;
    }
  }

  private change(id: number, change: Partial<Pending>): void {
    this.files = this.files.map((file) => (file.id === id ? { ...file, ...change } : file));
    this.onChange();
  }

  kept(): Kept {
    const files = this.files.flatMap(({ name, size, kind, blob }) =>
      blob === null ? [] : [{ name, size, kind, blob }],
    );
    return { files, names: this.names };
  }

  /** Has again what was kept before the page went. */
  restore({ files, names }: Kept): void {
    this.files = files.map((file) => ({ ...file, id: ++this.made, picture: null }));
    this.names = names;
  }

  remove(id: number): void {
    const gone = this.files.find((file) => file.id === id);
    if (gone?.picture) URL.revokeObjectURL(gone.picture);
    this.files = this.files.filter((file) => file.id !== id);
    this.onChange();
  }

  name(named: Named): void {
    this.names = [...this.names.filter((one) => one.name !== named.name), named];
    this.onChange();
  }

  /** Takes what stood with a message that is said anew. A session that it names goes along as it was then. */
  carry(attachments: readonly Attachment[]): void {
    for (const { name, size, kind, blob } of attachments) {
      const isPath = kind === 'mention' && name.startsWith('/');
      if (isPath) {
        const mention: Mention = { mention: 'path', path: name.replace(/\/$/, '') };
        for (const typed of [name, name.slice(1)]) this.name({ name: typed, mention });
      } else if (kind !== 'mention' || blob !== null) {
        const shown = kind === 'mention' ? 'text' : kind;
        this.files = [...this.files, { id: ++this.made, name, size, kind: shown, blob, picture: null }];
      }
    }
    this.onChange();
  }

  /** Takes everything for a message with this text; what the text does not name any more stays behind. */
  take(text: string): { attachments: NewAttachment[]; mentions: Mention[]; back: () => void } {
    const { files, names } = this;
    this.files = [];
    this.names = [];
    this.onChange();
    return {
      attachments: files.flatMap(({ name, blob }) => (blob === null ? [] : [{ name, blob }])),
      mentions: unique(names.filter(({ name }) => isNamed(text, name)).map(({ mention }) => mention)),
      back: () => {
        this.files = [...files, ...this.files];
        this.names = [...names, ...this.names];
        this.onChange();
      },
    };
  }
}

/** What may stand right behind a name: marks of a sentence, in either script, or a line of the file. */
const BEHIND = /^(?:$|\s|[，。；：！？、」）]|:\d|[.,;:!?'")\]}]+(?:$|\s))/;

/** Whether the text has `@name` in it, and not only as the beginning of another name. */
export function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(`@${name}`); at >= 0; at = text.indexOf(`@${name}`, at + 1))
    if (BEHIND.test(text.slice(at + 1 + name.length))) return true;
  return false;
}

const unique = (mentions: readonly Mention[]): Mention[] => [
  ...new Map(mentions.map((one) => [JSON.stringify(one), one])).values(),
];

/** Whether the model is shown it as it is; what it cannot look at is named to it in words. */
export function isSeen(kind: AttachmentKind, sight: ModelSight | null): boolean {
  if (sight === null) return true;
  return kind === 'image' ? sight.images : kind === 'pdf' ? sight.documents : true;
}

/** The bytes in base64. */
function encoded(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject({ code: 'invalid', message: `${file.name}: ${reader.error?.message ?? ''}` });
    reader.onload = () => {
      const address = typeof reader.result === 'string' ? reader.result : '';
      resolve(address.slice(address.indexOf(',') + 1));
    };
    reader.readAsDataURL(file);
  });
}
