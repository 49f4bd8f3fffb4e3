import { expect, it } from 'vitest';
import { keptIn } from './keptIn';

it('is where the result itself says that it was put, and nowhere it only mentions', () => {
  const moved =
    'The result of the call call_7 was too large for this conversation and is in the file /large_tool_results/call_7.\n' +
    'Read only the part you need';
  expect(keptIn(`${moved}\n\n1  one`)).toBe('/large_tool_results/call_7');
  expect(keptIn('ok\n[The whole output is in /large_tool_results/call_8.]')).toBe('/large_tool_results/call_8');
  const places = [
    '/_large_tool_results/c',
    '/__large_tool_results/c',
    '/kept/here/large_tool_results/c',
    '/large_tool_results/child/c',
  ];
  for (const place of places) {
    expect(keptIn(`ok\n[The whole output is in ${place}.]`)).toBe(place);
  }
  expect(keptIn('[The whole output is in /large_tool_results/call_8.]\nok')).toBeNull();
  const both =
    'Of the 90000000 bytes of the output the first 62910464 and the last 4194304 are in /large_tool_results/call_9.';
  expect(keptIn(`ok\n[${both}]`)).toBe('/large_tool_results/call_9');
  const ends = 'conversation: of its 90000000 bytes the first 62910464 and the last 4194304 are in the file';
  expect(keptIn(moved.replace('conversation and is in the file', ends))).toBe('/large_tool_results/call_7');
  expect(keptIn(`It says: ${moved}`)).toBeNull();
  expect(keptIn('[The whole output is in /etc/passwd.]')).toBeNull();
  expect(keptIn('ok')).toBeNull();
});
