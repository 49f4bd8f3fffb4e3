import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { i18n } from '../../shared/i18n/i18n.svelte';
import { draw, setUp } from '../../test/stage';
import CustomProvider from './CustomProvider.svelte';

afterEach(() => i18n.use('en', 'en'));

const address = () => screen.findByRole('textbox', { name: 'Base URL' });

describe('a server of one\u2019s own', () => {
  it('is kept in the format that was chosen, called, and done with once it answers', async () => {
    const scene = await setUp();
    const kept = vi.spyOn(scene.client, 'saveProvider');
    const onDone = vi.fn();
    draw(scene, CustomProvider, { onDone });
    await userEvent.type(await address(), 'https://gate.example');
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Format' }), 'Anthropic Messages');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await vi.waitFor(() => expect(onDone).toHaveBeenCalledWith(expect.objectContaining({ family: 'anthropic' })));
    expect(kept).toHaveBeenCalledWith(expect.objectContaining({ id: null, family: 'anthropic', chosen: true }));
  });

  it('that does not answer shows the provider\u2019s own words, and is mended in place', async () => {
    const scene = await setUp();
    const kept = vi.spyOn(scene.client, 'saveProvider');
    const problem = { problem: 'said' as const, detail: 'unknown path /messages' };
    vi.spyOn(scene.client, 'testProvider').mockResolvedValueOnce({ result: 'fails', model: null, problem });
    const onDone = vi.fn();
    draw(scene, CustomProvider, { onDone });
    await userEvent.type(await address(), 'https://gate.example/v1');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect((await screen.findByRole('alert')).textContent).toContain('unknown path /messages');
    expect(onDone).not.toHaveBeenCalled();
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Format' }), 'OpenAI Responses');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await vi.waitFor(() => expect(onDone).toHaveBeenCalledTimes(1));
    const [first, second] = kept.mock.calls.map(([given]) => given);
    expect([first?.id, first?.family, second?.family]).toEqual([null, 'openai_chat', 'openai_responses']);
    expect(second?.id).not.toBeNull();
    // By its address, then by the person: only what somebody chose holds whatever the address ends with.
    expect([first?.chosen, second?.chosen]).toEqual([false, true]);
  });
});
