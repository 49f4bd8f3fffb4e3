import { expect, it, vi } from 'vitest';
import { setUp } from '../test/stage';

it('asks the same again in a session of its own, with what stood with it', async () => {
  const { workspace, host } = await setUp('attachments');
  const { items } = host.snapshot('s-attached');
  const reply = items.findLast(({ body }) => body.kind === 'ai');
  const asked = items.find(({ body }) => body.kind === 'human')?.body;
  if (!reply || asked?.kind !== 'human') throw new Error('nothing was said');
  await workspace.past.askAgain(items, reply);
  const calls = (name: string) => host.calls.filter((one) => one.name === name).map(({ value }) => value);
  expect(calls('forkSession')).toEqual([{ session: 's-attached', seq: 0 }]);
  expect(workspace.sessionId).not.toBe('s-attached');
  expect(calls('sendMessage')).toEqual([
    {
      session: workspace.sessionId,
      text: asked.text,
      attachments: ['red-dot.png', 'report.pdf', 'console.log'].map((name) => ({ name, blob: `kept-${name}` })),
      mentions: [{ mention: 'path', path: '/src/auth/clock.rs' }],
    },
  ]);
  expect(host.snapshot('s-attached').items).toBe(items);
});

it('has what could not be sent in the composer again, with what stood with it', async () => {
  const { workspace, host, client } = await setUp('attachments');
  const { items } = host.snapshot('s-attached');
  const reply = items.findLast(({ body }) => body.kind === 'ai');
  const asked = items.find(({ body }) => body.kind === 'human')?.body;
  if (!reply || asked?.kind !== 'human') throw new Error('nothing was said');
  vi.spyOn(client, 'sendMessage').mockRejectedValue(new Error('no room'));
  await workspace.past.askAgain(items, reply);
  const session = workspace.sessionId ?? '';
  expect(session).not.toBe('s-attached');
  expect(workspace.drafts.of(session)).toBe(asked.text);
  const again = workspace.alongs.of(session).kept();
  const files = asked.attachments.filter(({ kind }) => kind !== 'mention');
  expect(again.files.map(({ blob }) => blob)).toEqual(files.map(({ blob }) => blob));
});
