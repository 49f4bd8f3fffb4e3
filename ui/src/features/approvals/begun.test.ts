import { expect, it } from 'vitest';
import { isBegun, jsonOf, packed, textsIn, textsOf, unpacked, type Begun, type Edits } from './begun';

const PROPOSED = { file_path: '/src/a.rs', content: 'x'.repeat(5_000), limit: 7 };
const begun = (edits: Edits): Begun => ({ form: 'edit', text: '', edits });
const form = (args: Edits['args'], json = jsonOf(args)): Begun => begun({ tab: 'form', json, args, broken: {} });

it.each([
  ['another value', form({ ...PROPOSED, limit: 8 })],
  ['one less and one more', form({ file_path: PROPOSED.file_path, content: PROPOSED.content, offset: null })],
  ['a text that is no JSON yet', form(PROPOSED, jsonOf(PROPOSED).replace('/src/a.rs"', '/src/'))],
  ['another order', form(PROPOSED, jsonOf({ limit: 7, file_path: PROPOSED.file_path, content: PROPOSED.content }))],
  ['no value of its field', begun({ tab: 'json', json: jsonOf(PROPOSED), args: PROPOSED, broken: { limit: 'many' } })],
])('is stored without what the call has itself, and is the same again: %s', (_, written) => {
  const stored: unknown = JSON.parse(JSON.stringify(packed(written, PROPOSED)));
  if (!isBegun(stored)) throw new Error('it is not as it is written');
  expect(unpacked(stored, PROPOSED)).toEqual(written);
});

it('has what is long in it once at most, where it was changed', () => {
  const size = (written: Begun) => JSON.stringify(packed(written, PROPOSED)).length;
  expect(size(form({ ...PROPOSED, limit: 8 }))).toBeLessThan(200);
  expect(size(form({ ...PROPOSED, content: 'y'.repeat(5_000) }))).toBeLessThan(5_200);
  expect(isBegun({ form: 'edit', text: '', edits: { tab: 'form', json: '{}', args: {}, broken: {} } })).toBe(false);
});

it('names every text in it by itself', () => {
  expect(textsIn({ a: 'one', b: ['two', 3, null, { c: 'three' }] })).toEqual(['one', 'two', 'three']);
});

it('is looked through with what stands beside a change, as far as one word can go on', () => {
  const content = `${'a'.repeat(9_000)} sk-abcd${'b'.repeat(9_000)}`;
  const json = jsonOf({ content }).replace('sk-abcd', 'sk-abcdefgh"');
  const written = begun({ tab: 'json', json, args: { content }, broken: {} });
  const texts = textsOf(packed(written, { content }), written);
  expect([texts.some((text) => text.includes('sk-abcdefgh')), texts.some((text) => text.length > 10_000)]).toEqual([
    true,
    false,
  ]);
});
