import { describe, expect, it, vi } from 'vitest';
import { Lexer, type Token } from 'marked';
import { address } from './address';
import { BlockReader } from './blocks';
import { decodeEntities } from './entities';
import { highlight, languageOf, lines } from './highlight';

const REPLY = `# Title

The **refresh** timer is armed with a *monotonic* delay, see [docs](https://example.org/a).

- one
- two

  still two

- three

1. first

2. second

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`rust
fn main() {

    println!("hi");
}
\`\`\`

> quoted
> text

Setext
------

Last words with [a reference][r] and \`code\`.

[r]: https://example.org/r
`;

const types = (tokens: readonly Token[]) => tokens.map((token) => token.type);

function stream(text: string, size: number) {
  const reader = new BlockReader();
  for (let end = size; end < text.length; end += size) reader.read(text.slice(0, end), false);
  return reader.read(text, true);
}

describe('blocks', () => {
  it('come out the same however the text is cut', () => {
    const whole = Lexer.lex(REPLY);
    for (let size = 1; size < 60; size++) {
      const tokens = stream(REPLY, size).map((block) => block.token);
      expect(types(tokens), `pieces of ${size}`).toEqual(types(whole));
      expect(tokens.map((token) => token.raw).join('')).toBe(REPLY);
    }
  });

  it('resolve references that are defined later', () => {
    const blocks = stream(REPLY, 7);
    expect(JSON.stringify(blocks)).toContain('https://example.org/r');
  });

  it('never touch what is finished', () => {
    const reader = new BlockReader();
    const first = reader.read(REPLY.slice(0, 200), false)[0];
    for (let end = 201; end < REPLY.length; end++) expect(reader.read(REPLY.slice(0, end), false)[0]).toBe(first);
  });

  it('close half-written marks while the text streams', () => {
    const [block] = new BlockReader().read('It is **very impor', false);
    expect(JSON.stringify(block?.token)).toContain('"strong"');
    const [link] = new BlockReader().read('See [the docs](https://exam', false);
    expect(JSON.stringify(link?.token)).not.toContain('https');
  });

  it('lex a number of characters proportional to the text', () => {
    const paragraph = 'Some words that make a sentence, and `code` beside them.\n\n';
    const text = paragraph.repeat(2000);
    const lex = vi.spyOn(Lexer.prototype, 'lex');
    const reader = new BlockReader();
    for (let end = 500; end < text.length; end += 500) reader.read(text.slice(0, end), false);
    const lexed = lex.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0);
    expect(lexed).toBeLessThan(text.length * 6);
  });

  it('know a heading by the line of signs below it, and only there', () => {
    const kinds = (text: string) => types(stream(text, 3).map(({ token }) => token));
    for (const heading of ['One\n===', 'One\ntwo\n  ---  \n', 'One\n-', 'One\n===\n\nThree']) {
      expect(kinds(heading)[0], heading).toBe('heading');
    }
    for (const none of ['One\n\n---', 'One\n+++', 'One\n    ===', 'One\n\nTwo\n\n===', 'One === two']) {
      expect(kinds(none)[0], none).toBe('paragraph');
    }
  });

  it('show maths as code, and take sums of money for none', () => {
    const read = (text: string) => new BlockReader().read(text, true).map(({ token }) => token);
    const [block] = read('$$\na_1 * b_2 * c\n$$\n');
    expect(block).toMatchObject({ type: 'code', text: 'a_1 * b_2 * c', lang: 'latex' });
    expect(read('\\[ x^2 \\]')[0]).toMatchObject({ type: 'code', text: 'x^2' });
    const inline = (text: string) => {
      const [token] = read(text);
      return token && 'tokens' in token ? (token.tokens ?? []).map(({ type, raw }) => `${type} ${raw}`) : [];
    };
    expect(inline('so $a_1 * b_2 * c$ and \\(x*y*z\\) hold')).toEqual([
      'text so ',
      'codespan $a_1 * b_2 * c$',
      'text  and ',
      'codespan \\(x*y*z\\)',
      'text  hold',
    ]);
    for (const text of ['between $5 and $10', 'from $5-$10', 'a $ sign', 'costs $5.'])
      expect(inline(text).join('')).not.toContain('codespan');
  });

  it('take ten megabytes without a block end in pieces', () => {
    const blocks = new BlockReader().read('x'.repeat(10_000_000), true);
    expect(blocks.reduce((sum, block) => sum + block.token.raw.length, 0)).toBe(10_000_000);
  });

  it('begin again when the text is another', () => {
    const reader = new BlockReader();
    reader.read(REPLY, true);
    expect(reader.read('other', true).map((block) => block.token.raw)).toEqual(['other']);
  });
});

describe('addresses', () => {
  it('are opened for http, https and mail only', () => {
    expect(address('https://user@xn--80ak6aa92e.com:8443/a')).toEqual({
      url: 'https://user@xn--80ak6aa92e.com:8443/a',
      host: 'xn--80ak6aa92e.com:8443',
      decoded: 'аррӏе.com:8443',
      scheme: 'https',
    });
    expect(address('HTTP://Example.org')?.host).toBe('example.org');
    expect(address('mailto:a@b.c')?.scheme).toBe('mailto');
    for (const href of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'smb://host/x',
      'vscode://x',
      'tauri://localhost',
      'ipc://x',
      'asset://x',
      'blob:https://x',
      'ms-msdt:/id',
      'ht\ttps://x',
      '//host/x',
      '/relative',
      'https://',
    ]) {
      expect(address(href), href).toBeNull();
    }
  });
});

describe('character references', () => {
  it('become their characters', () => {
    expect(decodeEntities('a &lt;b&gt; &amp;amp; &#65;&#x4e2d; &nope; &constructor; &#0;')).toBe(
      'a <b> &amp; A中 &nope; &constructor; \ufffd',
    );
  });
});

describe('highlighting', () => {
  it('gives the text back in coloured spans', async () => {
    const code = 'fn main() { let x = "<b>"; } // hi\n';
    const spans = (await highlight(code, 'rust')) ?? [];
    expect(spans.map((span) => span.text).join('')).toBe(code);
    expect(spans.find((span) => span.text === 'fn')?.colour).toBe('kw');
    expect(spans.find((span) => span.text.includes('<b>'))?.colour).toBe('str');
    expect(lines(spans)).toHaveLength(2);
  });

  it('knows languages by fence and by file name', () => {
    expect(languageOf('rust')).toBe('rust');
    expect(languageOf('ts {1,3}')).toBe('typescript');
    expect(languageOf('src/auth/session.rs')).toBe('rust');
    expect(languageOf('constructor')).toBeNull();
  });

  it('reads a language within another', async () => {
    const code = '<p>a</p><script>const a = 1;</script>';
    const spans = (await highlight(code, 'xml')) ?? [];
    expect(spans.map((span) => span.text).join('')).toBe(code);
  });
});
