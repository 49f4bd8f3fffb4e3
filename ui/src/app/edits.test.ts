import { expect, it } from 'vitest';
import { soundKept } from '../features/chat/along.svelte';
import { setUp } from '../test/stage';
import { Edits } from './edits.svelte';
import { Unsent } from './unsent.svelte';

it('a message that is being said in other words is there after one restart and after the next', async () => {
  const { client } = await setUp();
  const first = new Edits(client, new Unsent());
  const along = first.along('s1', [{ name: 'notes.txt', size: 5, kind: 'text', mime: 'text/plain', blob: 'b1' }]);
  const edit = { item: 'i1', before: 'as it was', text: 'said better', along, isSending: false, isNew: true };
  first.put('s1', edit);
  window.dispatchEvent(new Event('pagehide'));
  for (const restart of [1, 2, 3]) {
    const again = new Edits(client, new Unsent()).of('s1');
    expect(again, `restart ${restart}`).toMatchObject({ item: 'i1', text: 'said better', isNew: false });
    expect(soundKept(again?.along.kept()).files.map(({ name }) => name)).toEqual(['notes.txt']);
  }
  first.put('s1', { ...edit, isSending: true });
  expect(localStorage.getItem('bosun.unsent')).toBe('{}');
});
