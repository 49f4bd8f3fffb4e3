import { describe, expect, it } from 'vitest';
import { terminalLines } from './ansi';

const text = (output: string) => terminalLines(output).map((line) => line.map((run) => run.text).join(''));

describe('terminal output', () => {
  it('turns colours into classes, over line ends too', () => {
    expect(terminalLines('\x1b[1;32mok\x1b[0m done\n\x1b[31ma\nb\x1b[39m c')).toEqual([
      [
        { text: 'ok', look: 'fg-green bold' },
        { text: ' done', look: '' },
      ],
      [{ text: 'a', look: 'fg-red' }],
      [
        { text: 'b', look: 'fg-red' },
        { text: ' c', look: '' },
      ],
    ]);
  });

  it('brings many colours down to eight', () => {
    const look = (code: string) => terminalLines(`\x1b[${code}mx`)[0]?.[0]?.look;
    expect(look('38;5;196')).toBe('fg-red');
    expect(look('38;2;10;200;30')).toBe('fg-green');
    expect(look('48;5;4;1')).toBe('bg-blue bold');
    expect(look('38;5;240')).toBe('fg-black');
    expect(look('38:2:0:0:255')).toBe('fg-blue');
  });

  it('drops every other sequence', () => {
    expect(
      text('\x1b[2J\x1b[1;1Ha\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\x1b(Bd\x1b[?25le\x9b2Kf\x1bP1$r\x1b\\g\x1b'),
    ).toEqual(['abcdefg']);
  });

  it('overwrites as a terminal does', () => {
    expect(text('10%\r50%\r100%\nabc\b\bx\r\n')).toEqual(['100%', 'ax']);
    expect(text('bell\x07 and\x00 nul\n')).toEqual(['bell and nul']);
  });

  it('is quick with an endless open sequence', () => {
    expect(text(`\x1b]${'x'.repeat(200_000)}`)).toEqual([]);
    expect(text('\x1b['.repeat(50_000))).toEqual([]);
  });
});
