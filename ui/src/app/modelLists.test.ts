import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ModelChoice } from '../ipc/bindings';
import { PROVIDERS } from '../ipc/recorded/providers';
import { ModelLists } from './modelLists';

const MINUTE = 60_000;
const provider = PROVIDERS[0] ?? expect.fail('no provider');

function lists() {
  const listModels = vi.fn((): Promise<ModelChoice[]> => Promise.resolve([]));
  return { kept: new ModelLists({ client: { listModels } }), listModels };
}

describe('a list of models', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is asked for once in some minutes', async () => {
    const { kept, listModels } = lists();
    await Promise.all([kept.of(provider), kept.of({ ...provider })]);
    vi.advanceTimersByTime(4 * MINUTE);
    await kept.of(provider);
    expect(listModels).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(2 * MINUTE);
    await kept.of(provider);
    expect(listModels).toHaveBeenCalledTimes(2);
  });

  it('is another where the provider is, or its key', async () => {
    const { kept, listModels } = lists();
    await kept.of(provider);
    await kept.of({ ...provider, base_url: 'https://gate.example' });
    await kept.of({ ...provider, base_url: 'https://gate.example', key: { source: 'keyring' } });
    expect(listModels).toHaveBeenCalledTimes(3);
    // One key in the place of another looks the same.
    kept.forget(provider.id);
    await kept.of({ ...provider, base_url: 'https://gate.example', key: { source: 'keyring' } });
    expect(listModels).toHaveBeenCalledTimes(4);
  });

  it('that failed is asked for again', async () => {
    const { kept, listModels } = lists();
    listModels.mockRejectedValueOnce(new Error('no'));
    await expect(kept.of(provider)).rejects.toThrow('no');
    await expect(kept.of(provider)).resolves.toEqual([]);
    expect(listModels).toHaveBeenCalledTimes(2);
  });
});
