/**
 * Terminal output as lines of coloured runs. A line is drawn anew as a terminal does: a carriage return goes to its
 * beginning, a backspace one back, and what is written there or erased takes the place of what stood there. Every other
 * escape sequence is dropped.
 *
 * Our own instead of a library, for the libraries at hand (ansi_up, anser) read colours alone: telling the sequences
 * apart, carriage returns, erasing and colons would stay here, and they give HTML where `VisibleText` needs the runs. A
 * terminal emulator would be right about a screen, which the output of a command without a terminal is not.
 */
import { lookOf, PLAIN, selected, type Look, type Style } from './sgr';

export interface Run extends Look {
  text: string;
}

interface Cell {
  text: string;
  look: Look;
}

const BLANK: Cell = { text: ' ', look: lookOf(PLAIN) };

// One escape sequence: CSI with its parameters, OSC up to its end, or a two-character one.
const ESCAPE =
  // eslint-disable-next-line no-control-regex -- escape sequences are what is read
  /(?:\x1b\[|\x9b)([\d;:?<=>]*)[ -/]*([@-~])?|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)|\x1b[ -/]*[0-~]?/y;

/** The end of `output` that is about so long, begun behind what could be the rest of a line or of a sequence. */
export function outputEnd(output: string, length: number): string {
  if (output.length <= length) return output;
  const end = output.slice(-length);
  const at = end.search(/[\n\r]/);
  return at < 0 ? end : end.slice(at + 1);
}

/** The lines of `output`, without their line feeds. */
export function terminalLines(output: string): Run[][] {
  const lines: Run[][] = [];
  const pen = new Pen();
  for (const line of output.split('\n')) lines.push(pen.line(line));
  if (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** Writes one line after the other; its style goes on over line ends. */
class Pen {
  #style: Style = PLAIN;
  #look: Look = lookOf(PLAIN);
  #cells: (Cell | undefined)[] = [];
  #at = 0;

  line(line: string): Run[] {
    this.#cells = [];
    this.#at = 0;
    for (let at = 0; at < line.length;) at = this.#step(line, at);
    return joined(this.#cells);
  }

  /** Reads what stands at `at`, and says where the next begins. */
  #step(line: string, at: number): number {
    const code = line.codePointAt(at) ?? 0;
    if (code === 0x1b || code === 0x9b) {
      ESCAPE.lastIndex = at;
      const match = ESCAPE.exec(line);
      if (match?.[2]) this.#sequence(match[2], match[1] ?? '');
      return at + Math.max(1, match?.[0].length ?? 1);
    }
    if (code === 0x0d) this.#at = 0;
    else if (code === 0x08) this.#at = Math.max(0, this.#at - 1);
    else if (code >= 0x20 || code === 0x09) this.#write(String.fromCodePoint(code));
    return at + (code > 0xffff ? 2 : 1);
  }

  #sequence(name: string, parameters: string): void {
    if (name === 'm' && /^[\d;:]*$/.test(parameters)) {
      this.#style = selected(this.#style, parameters);
      this.#look = lookOf(this.#style);
    } else if (name === 'K') {
      this.#erase(parameters);
    } else if (name === 'G' && /^[01]?$/.test(parameters)) {
      this.#at = 0;
    }
  }

  /** Behind what was erased: what nothing was written to is a hole. */
  #write(text: string): void {
    this.#cells[this.#at++] = { text, look: this.#look };
  }

  /** From here to the line's end; `1`: up to here; `2`: the whole line. */
  #erase(which: string): void {
    if (which === '' || which === '0') this.#cells.length = Math.min(this.#cells.length, this.#at);
    else if (which === '1') this.#cells.fill(BLANK, 0, this.#at + 1);
    else if (which === '2') this.#cells = [];
  }
}

function joined(cells: (Cell | undefined)[]): Run[] {
  const runs: Run[] = [];
  for (const cell of cells) {
    const { text, look } = cell ?? BLANK;
    const last = runs.at(-1);
    if (last && isSame(last, look)) last.text += text;
    else runs.push({ text, ...look });
  }
  return runs;
}

const isSame = (a: Look, b: Look) => a.look === b.look && a.colour === b.colour && a.ground === b.ground;
