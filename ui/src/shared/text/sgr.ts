/**
 * How terminal text looks: what "select graphic rendition" sequences (SGR) say. The sixteen named colours become class
 * names, so that both themes draw them in their own tones; the other colours of a terminal are kept as they were said,
 * and the style sheet brings them to a lightness that can be read.
 */

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
/** The levels of the 6 × 6 × 6 cube of the 256 colours. */
const LEVELS = [0, 95, 135, 175, 215, 255];

export interface Style {
  /** `''`: the page's own. A name of the sixteen, or `#rrggbb`. */
  colour: string;
  ground: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

export const PLAIN: Style = {
  colour: '',
  ground: '',
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

/** What is switched by a code of its own. Hiding text and blinking are not among them: what was printed is read. */
const SWITCHES: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { colour: '' },
  49: { ground: '' },
};

/** The style after a sequence with these parameters, such as `1;38;5;208`. */
export function selected(style: Style, parameters: string): Style {
  const next = { ...style };
  const codes = (parameters || '0').split(';');
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...parts] = (codes[at] ?? '').split(':').map(Number);
    if (code === 38 || code === 48 || code === 58) {
      // With colons a colour is one code, and with semicolons as many as its kind has.
      const { colour, used } = parts.length > 0 ? inColons(parts) : extended(codes.slice(at + 1, at + 5).map(Number));
      if (code === 38) next.colour = colour;
      else if (code === 48) next.ground = colour;
      at += used;
    } else if (code === 0) {
      Object.assign(next, PLAIN);
    } else if (code === 4 && parts[0] === 0) {
      next.underline = false;
    } else if (Object.hasOwn(SWITCHES, code)) {
      Object.assign(next, SWITCHES[code]);
    } else {
      named(next, code);
    }
  }
  return next;
}

function named(style: Style, code: number): void {
  const ten = Math.floor(code / 10);
  const name = NAMES[code % 10];
  if (!name) return;
  if (ten === 3) style.colour = name;
  if (ten === 4) style.ground = name;
  if (ten === 9) style.colour = `bright-${name}`;
  if (ten === 10) style.ground = `bright-${name}`;
}

/** `2:r:g:b`, `2:space:r:g:b` or `5:index`. */
function inColons(parts: number[]): { colour: string; used: number } {
  const [kind = 0, ...rest] = parts;
  return { colour: extended([kind, ...(kind === 2 ? rest.slice(-3) : rest)]).colour, used: 0 };
}

function extended([kind, a = NaN, b = 0, c = 0]: number[]): { colour: string; used: number } {
  if (kind === 2) return { colour: hex(a, b, c), used: 4 };
  return kind === 5 ? { colour: indexed(a), used: 2 } : { colour: '', used: 0 };
}

/** One of the 256: the sixteen, a cube of colours, and greys. */
function indexed(index: number): string {
  const name = NAMES[index % 8] ?? '';
  if (!(index >= 0 && index < 256)) return '';
  if (index < 16) return index < 8 ? name : `bright-${name}`;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return hex(grey, grey, grey);
  }
  const cube = index - 16;
  const level = (value: number) => LEVELS[value % 6] ?? 0;
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube));
}

function hex(...rgb: number[]): string {
  const byte = (value: number) => Math.min(255, Math.max(0, Math.round(value) || 0));
  return `#${rgb.map((value) => byte(value).toString(16).padStart(2, '0')).join('')}`;
}

/** A style as it is drawn: class names from a fixed list, separated by blanks, and colours that are none of the sixteen. */
export interface Look {
  look: string;
  colour?: string;
  ground?: string;
}

export function lookOf({ colour, ground, ...flags }: Style): Look {
  const isOwn = (one: string) => one.startsWith('#');
  const names = [
    colour && (isOwn(colour) ? 'fg-own' : `fg-${colour}`),
    ground && (isOwn(ground) ? 'bg-own' : `bg-${ground}`),
    ...(['bold', 'dim', 'italic', 'underline', 'strike', 'inverse'] as const).filter((flag) => flags[flag]),
  ].filter(Boolean);
  return {
    look: names.join(' '),
    ...(isOwn(colour) ? { colour } : {}),
    ...(isOwn(ground) ? { ground } : {}),
  };
}
