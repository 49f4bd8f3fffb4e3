/**
 * What hides or misleads in anything that a call would do: characters that are not seen, and letters that pass for others
 * (security.md, A02 to A07). The arguments are what is run, so they are looked at whole, not only as far as a preview shows
 * them.
 */
import type { Approval } from '../../ipc/bindings';
import { lookalikes, strangeWords, type Suspect } from '../../shared/text/lookalikes';
import { firstHidden, visible } from '../../shared/text/visibleText';
import { isArgs } from './schema';

export interface Hidden {
  /** The argument, as `issues[1].title`; empty for a command, and for arguments that are one text. */
  place: string;
  line: number;
  mark: string;
}

export interface Finds {
  hidden: Hidden[];
  suspects: Suspect[];
  /** Not all of it was looked at: it is too long. */
  isWhole: boolean;
}

/** Letters, and values, that are looked at. */
const MOST_TEXT = 500_000;
const LONGEST_WORD = 4_000;
const MOST_VALUES = 20_000;
const DEEPEST = 40;

/** What names something is a name also where blanks are in it. */
const NAMES = /^(?:file_?)?(?:path|name|url|uri|host|folder|directory)$/i;

/** Chinese and Japanese are written without blanks. */
const TEXT = /[ \n\t\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

export function whatHides({ preview, args, scripts }: Approval): Finds {
  const look = new Look();
  if (preview.preview === 'command') {
    for (const text of [preview.command, preview.folder, ...scripts]) look.exact(text, '');
  } else look.value(args, '', '', 0);
  return look.finds();
}

class Look {
  private readonly hidden: Hidden[] = [];
  private readonly suspects = new Map<string, Suspect>();
  private text = MOST_TEXT;
  private values = MOST_VALUES;
  private isWhole = true;

  finds(): Finds {
    return { hidden: this.hidden, suspects: [...this.suspects.values()], isWhole: this.isWhole };
  }

  value(value: unknown, place: string, name: string, depth: number): void {
    if (--this.values < 0 || depth > DEEPEST) return void (this.isWhole = false);
    if (typeof value === 'string') {
      // A word alone is a name or an address; the rest is text, in which there are languages.
      if (value.length <= LONGEST_WORD && (NAMES.test(name) || !TEXT.test(value))) this.exact(value, place);
      else this.prose(value, place);
    } else if (Array.isArray(value)) {
      this.each(value.entries(), depth, (at) => `${place}[${at}]`, name);
    } else if (isArgs(value)) {
      this.each(Object.entries(value), depth, (one) => (place ? `${place}.${one}` : String(one)));
    }
  }

  private each(
    values: Iterable<[string | number, unknown]>,
    depth: number,
    placed: (at: string | number) => string,
    name?: string,
  ): void {
    for (const [at, one] of values) {
      if (this.values <= 0) return void (this.isWhole = false);
      const place = placed(at);
      if (typeof at === 'string') this.exact(at, place);
      this.value(one, place, name ?? String(at), depth + 1);
    }
  }

  /** Of which every sign counts: a command, a name, an address. */
  exact(given: string, place: string): void {
    const text = this.taken(given);
    let line = 1;
    for (const segment of visible(text)) {
      if (segment.kind === 'mark') {
        this.hides(place, line, segment.label);
        break;
      }
      line += segment.text.split('\n').length - 1;
    }
    this.suspect(lookalikes(text));
  }

  private prose(given: string, place: string): void {
    const text = this.taken(given);
    const first = firstHidden(text);
    if (first) this.hides(place, text.slice(0, first.at).split('\n').length, first.mark);
    this.suspect(strangeWords(text));
  }

  private hides(place: string, line: number, mark: string): void {
    this.hidden.push({ place, line, mark });
  }

  private suspect(found: readonly Suspect[]): void {
    for (const one of found) this.suspects.set(one.word, one);
  }

  /** As much of a text as is left to look at. */
  private taken(given: string): string {
    if (given.length > this.text) this.isWhole = false;
    const text = given.slice(0, this.text);
    this.text -= text.length;
    return text;
  }
}
