import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { BlockReader } from './blocks';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function used(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it('blocks of a message that grew keep their own words, and not the message as it was when they came', () => {
  const before = used();
  const reader = new BlockReader();
  let text = '';
  for (let paragraph = 0; text.length < 80_000; paragraph++) {
    text += `Paragraph ${paragraph} has a few words.\n\n`;
    reader.read(text, false);
  }
  expect(reader.blocks.length).toBeGreaterThan(2_000);
  // What they kept otherwise is half of the message for each: 90 MB.
  expect(used() - before).toBeLessThan(30_000_000);
});
