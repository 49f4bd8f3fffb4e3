import { expect, it } from 'vitest';
import type { Envelope } from '../../ipc/bindings';
import { item, snapshot, summary } from '../../ipc/recorded/builders';
import { reduce } from '../../features/session/reduce';
import { BlockReader } from '../markdown/blocks';
import { growthOf } from './growth';

const SAID = `# A title

Words with **marks** and a [link][ref] that end\r
somewhere, ${'and go on '.repeat(1_200)}

- one
- two

\`\`\`rust
${'let one = another;\n'.repeat(900)}\`\`\`

| a | b |
|---|---|
${'| 1 | 2 |\n'.repeat(300)}
[ref]: https://example.com

${'A paragraph.\n\n'.repeat(400)}The end.`;

/** The text said in pieces of these lengths, several in a batch, as it comes over the line. */
function* told(text: string, lengths: readonly number[], batch: number) {
  const reply = item({ kind: 'ai', text: '', reasoning: '', streaming: true });
  let now = snapshot(summary('s'), { items: [reply] });
  let seq = now.seq;
  for (let at = 0, turn = 0; at < text.length;) {
    const events: Envelope[] = [];
    for (let count = 0; count < batch && at < text.length; count++, turn++) {
      const length = lengths[turn % lengths.length] ?? 1;
      const delta = { delta: 'text' as const, text: text.slice(at, at + length) };
      events.push({ seq: ++seq, event: { type: 'item_delta', item: reply.id, delta } });
      at += length;
    }
    now = reduce(now, events);
    const body = now.items[0]?.body;
    if (body?.kind !== 'ai') throw new Error('no reply');
    yield body;
  }
}

it('a reader that is told what was added makes the same of a text as one that reads all of it each time', () => {
  const [grown, whole] = [new BlockReader(), new BlockReader()];
  let added = 0;
  for (const body of told(SAID, [7, 1, 260, 3, 90], 4)) {
    const growth = growthOf(body);
    added += growth?.added.length ?? 0;
    expect(grown.read(body.text, false, growth)).toEqual(whole.read(body.text, false));
  }
  expect(added).toBe(SAID.length);
  expect(grown.read(SAID, true)).toEqual(whole.read(SAID, true));
});

it('a reader that missed something reads all of it', () => {
  const [some, all] = [new BlockReader(), new BlockReader()];
  let turn = 0;
  for (const body of told(SAID, [500], 2)) {
    if (turn++ % 3 === 1) continue;
    expect(some.read(body.text, false, growthOf(body))).toEqual(all.read(body.text, false));
  }
});

it('what is known is not touched', () => {
  const reader = new BlockReader();
  const bodies = [...told('word '.repeat(4_000), [50], 1)];
  const [first, second] = [bodies[200], bodies[201]];
  if (!first || !second) throw new Error('too short');
  reader.read(first.text, false);
  reader.read(bodies[201]?.text ?? '', false, growthOf(second));
  const third = bodies[202];
  if (!third) throw new Error('too short');
  // The text itself is not looked at: of one that is as long and something else the beginning stays as it was read.
  const other = '#'.repeat(third.text.length);
  const said = reader
    .read(other, false, growthOf(third))
    .map(({ token }) => token.raw)
    .join('');
  expect(third.text.startsWith(said.slice(0, 1_000))).toBe(true);
});
