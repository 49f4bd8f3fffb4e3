import { describe, expect, it } from 'vitest';
import { outputEnd, terminalLines } from './ansi';

const text = (output: string) => terminalLines(output).map((line) => line.map((run) => run.text).join(''));
const look = (code: string) => {
  const { text: _, ...rest } = terminalLines(`\x1b[${code}mx`)[0]?.[0] ?? { text: '', look: 'none' };
  return rest;
};

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

  it('knows the sixteen colours by name, however they are said', () => {
    expect(['36', '96', '45', '105', '38;5;6', '38;5;14', '48;5;5', '48:5:13'].map((code) => look(code).look)).toEqual([
      'fg-cyan',
      'fg-bright-cyan',
      'bg-magenta',
      'bg-bright-magenta',
      'fg-cyan',
      'fg-bright-cyan',
      'bg-magenta',
      'bg-bright-magenta',
    ]);
  });

  it('keeps the 256 and the true colours', () => {
    expect(look('38;5;196')).toEqual({ look: 'fg-own', colour: '#ff0000' });
    expect(look('38;5;67')).toEqual({ look: 'fg-own', colour: '#5f87af' });
    expect(look('48;5;240')).toEqual({ look: 'bg-own', ground: '#585858' });
    expect(look('38;2;10;200;30;1')).toEqual({ look: 'fg-own bold', colour: '#0ac81e' });
    expect(look('38:2:0:0:255')).toEqual({ look: 'fg-own', colour: '#0000ff' });
    expect(look('48:2::9:8:7;3')).toEqual({ look: 'bg-own italic', ground: '#090807' });
  });

  it('makes no colour of what is none', () => {
    expect(look('38;2;999;0;7')).toEqual({ look: 'fg-own', colour: '#ff0007' });
    expect([look('38;5;256'), look('38;5'), look('38'), look('98'), look('108'), look('5;8')]).toEqual(
      Array(6).fill({ look: '' }),
    );
  });

  it('switches each thing on and off', () => {
    expect(look('1;2;3;4;7;9').look).toBe('bold dim italic underline strike inverse');
    expect(look('1;2;3;4;7;9;22;23;24;27;29').look).toBe('');
    expect(look('4:3').look).toBe('underline');
    expect(look('4;4:0').look).toBe('');
    expect(look('31;44;39;49').look).toBe('');
    expect(look('31;1;;3').look).toBe('italic');
    // The colour of a line under text is no colour of the text, nor are its numbers codes.
    expect(look('58;5;1').look).toBe('');
    expect(look('58:2::1:3:4').look).toBe('');
  });

  it('drops every other sequence', () => {
    expect(
      text('\x1b[2J\x1b[1;1Ha\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\x1b(Bd\x1b[?25le\x9b3Af\x1bP1$r\x1b\\g\x1b'),
    ).toEqual(['abcdefg']);
    expect(look('>4;2').look).toBe('');
    expect(text('\x1b]52;c;cm0gLXJm\x07a\x1b[?1049hb\x1b[5nc\x1b[31;1Hd')).toEqual(['abcd']);
  });

  it('draws a line anew as a terminal does', () => {
    expect(text('10%\r50%\r100%\nabc\b\bx\r\n')).toEqual(['100%', 'axc']);
    expect(text('loading: 50%\rdone\x1b[K\n')).toEqual(['done']);
    expect(text('loading\x1b[2K\x1b[1Gdone\n[####]\x1b[0Gok')).toEqual(['done', 'ok###]']);
    expect(text('abcdef\b\b\x1b[1Kx')).toEqual(['    xf']);
    expect(text('abc\x1b[2Kd')).toEqual(['   d']);
    expect(terminalLines('\x1b[31mabc\r\x1b[32mx')).toEqual([
      [
        { text: 'x', look: 'fg-green' },
        { text: 'bc', look: 'fg-red' },
      ],
    ]);
  });

  it('keeps a bar that waits to be drawn anew', () => {
    expect(text('[==>  ] 40%\r')).toEqual(['[==>  ] 40%']);
  });

  it('draws no control character', () => {
    expect(text('bell\x07 and\x00 nul\n')).toEqual(['bell and nul']);
    expect(text('漢🙂é\b\bx')).toEqual(['漢xé']);
  });

  it('is quick with what has no end', () => {
    expect(text(`\x1b]${'x'.repeat(200_000)}`)).toEqual([]);
    expect(text('\x1b['.repeat(50_000))).toEqual([]);
    expect(text(`${'ab'.repeat(50_000)}${'\r\x1b[1mx'.repeat(50_000)}`)[0]?.slice(0, 3)).toBe('xba');
    expect(text('\r'.repeat(100_000) + 'x')).toEqual(['x']);
    expect(text(`${'ab'.repeat(20_000)}${'\x1b[2Kx'.repeat(20_000)}`)[0]?.trim()).toBe('x');
    expect(text('\x1b[999999999Gx\x1b[999999999K')).toEqual(['x']);
  });

  it('is looked at from the beginning of a line where its beginning is cut', () => {
    expect(outputEnd('short', 10)).toBe('short');
    expect(outputEnd('\x1b[31mfirst line\nnext', 14)).toBe('next');
    expect(outputEnd('10%\r20%\r30%', 6)).toBe('30%');
    expect(outputEnd('x'.repeat(20), 6)).toBe('xxxxxx');
  });
});
