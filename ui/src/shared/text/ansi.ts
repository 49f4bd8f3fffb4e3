/**
 * Terminal output as coloured lines. Colours and weights become class names; every other escape sequence is dropped, a
 * carriage return begins its line anew and a backspace takes one character back, as a terminal would show it.
 */

export interface Run {
  text: string;
  /** Class names from a fixed list, separated by blanks. */
  look: string;
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const STEPS = [0, 95, 135, 175, 215, 255];

interface Look {
  colour: string;
  ground: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const PLAIN: Look = { colour: '', ground: '', bold: false, dim: false, italic: false, underline: false };

// One escape sequence: CSI with its parameters, OSC up to its end, or a two-character one.
const ESCAPE =
  // eslint-disable-next-line no-control-regex -- escape sequences are what is read
  /\x1b\[([\d;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)|\x1b[ -/]*[0-~]?|\x9b[\d;]*[@-~]?/y;

/** The lines of `output`, without their line feeds. */
export function terminalLines(output: string): Run[][] {
  const lines: Run[][] = [];
  let look = PLAIN;
  for (const line of output.split('\n')) {
    const read = readLine(line.endsWith('\r') ? line.slice(0, -1) : line, look);
    look = read.look;
    lines.push(read.runs);
  }
  if (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

function readLine(line: string, start: Look): { runs: Run[]; look: Look } {
  let runs: Run[] = [];
  let look = start;
  let at = 0;
  while (at < line.length) {
    const code = line.charCodeAt(at);
    if (code === 0x1b || code === 0x9b) {
      ESCAPE.lastIndex = at;
      const match = ESCAPE.exec(line);
      if (match?.[2] === 'm') look = selected(look, match[1] ?? '');
      at += Math.max(1, match?.[0].length ?? 1);
    } else if (code === 0x0d) {
      runs = [];
      at++;
    } else if (code === 0x08) {
      takeBack(runs);
      at++;
    } else {
      const end = textEnd(line, at);
      const text = line.slice(at, end);
      if (code >= 0x20 || code === 0x09) push(runs, text, classes(look));
      at = end;
    }
  }
  return { runs, look };
}

/** Where the run of ordinary text from `at` ends; a lone control character is a run of its own. */
function textEnd(line: string, at: number): number {
  let end = at;
  while (end < line.length && (line.charCodeAt(end) >= 0x20 || line[end] === '\t') && line.charCodeAt(end) !== 0x9b)
    end++;
  return Math.max(end, at + 1);
}

function push(runs: Run[], text: string, look: string): void {
  const last = runs.at(-1);
  if (last?.look === look) last.text += text;
  else runs.push({ text, look });
}

function takeBack(runs: Run[]): void {
  const last = runs.at(-1);
  if (!last) return;
  last.text = last.text.slice(0, -1);
  if (!last.text) runs.pop();
}

/** The look after a "select graphic rendition" sequence. */
function selected(look: Look, parameters: string): Look {
  let next = { ...look };
  const codes = (parameters || '0').split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { name, used } = extended(codes.slice(at + 1));
      if (code === 38) next.colour = name;
      else next.ground = name;
      at += used;
    } else {
      next = code === 0 ? { ...PLAIN } : applied(next, code);
    }
  }
  return next;
}

function applied(look: Look, code: number): Look {
  const name = (base: number) => NAMES[code - base] ?? '';
  if (code === 1) return { ...look, bold: true };
  if (code === 2) return { ...look, dim: true };
  if (code === 3) return { ...look, italic: true };
  if (code === 4) return { ...look, underline: true };
  if (code === 22) return { ...look, bold: false, dim: false };
  if (code === 23) return { ...look, italic: false };
  if (code === 24) return { ...look, underline: false };
  if (code >= 30 && code <= 37) return { ...look, colour: name(30) };
  if (code === 39) return { ...look, colour: '' };
  if (code >= 40 && code <= 47) return { ...look, ground: name(40) };
  if (code === 49) return { ...look, ground: '' };
  if (code >= 90 && code <= 97) return { ...look, colour: name(90) };
  if (code >= 100 && code <= 107) return { ...look, ground: name(100) };
  return look;
}

/** 256 colours and true colours fall to the nearest of our eight. */
function extended(rest: number[]): { name: string; used: number } {
  const [kind, a = 0, b = 0, c = 0] = rest;
  if (kind === 2) return { name: nearest(a, b, c), used: 4 };
  if (kind !== 5) return { name: '', used: 0 };
  if (a < 16) return { name: NAMES[a % 8] ?? '', used: 2 };
  if (a >= 232) return { name: a < 244 ? 'black' : 'white', used: 2 };
  const cube = a - 16;
  const step = (value: number) => STEPS[value % 6] ?? 0;
  return { name: nearest(step(Math.floor(cube / 36)), step(Math.floor(cube / 6)), step(cube)), used: 2 };
}

function nearest(r: number, g: number, b: number): string {
  const middle = (Math.max(r, g, b) + Math.min(r, g, b)) / 2;
  const bit = (value: number, weight: number) => (value > middle ? weight : 0);
  if (Math.max(r, g, b) - Math.min(r, g, b) < 48) return middle < 128 ? 'black' : 'white';
  return NAMES[bit(r, 1) + bit(g, 2) + bit(b, 4)] ?? '';
}

function classes(look: Look): string {
  const names = [look.colour && `fg-${look.colour}`, look.ground && `bg-${look.ground}`];
  for (const flag of ['bold', 'dim', 'italic', 'underline'] as const) if (look[flag]) names.push(flag);
  return names.filter(Boolean).join(' ');
}
