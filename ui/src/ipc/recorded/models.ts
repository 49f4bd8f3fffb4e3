import type { LocalServerView } from '../bindings';
import type { UiClient } from '../client';
import type { Act } from '../recorded';
import { later } from '../recorded';
import type { Host } from './host';

/** What answers on the recorded machine. */
export const LOCAL_SERVERS: LocalServerView[] = [
  {
    label: 'Ollama',
    family: 'ollama',
    base_url: 'http://localhost:11434',
    host: 'localhost:11434',
    provider: 'ollama',
    models: [
      { name: 'qwen3:8b', context_window: 40_960 },
      { name: 'gpt-oss:20b', context_window: null },
    ],
    wants_key: false,
  },
  {
    label: 'LM Studio',
    family: 'openai_chat',
    base_url: 'http://localhost:1234/v1',
    host: 'localhost:1234',
    provider: null,
    models: [],
    wants_key: true,
  },
];

/** Servers on this machine. */
export function models({ world }: Host, act: Act): Pick<UiClient, 'findLocalServers' | 'useLocalServer'> {
  return {
    findLocalServers: () => later(() => world.local ?? []),
    useLocalServer: async (base_url) => {
      await act('useLocalServer', base_url);
      const server = (world.local ?? []).find((one) => one.base_url === base_url);
      if (!server) throw { code: 'not_found', message: `Nothing answers at ${base_url}.` };
      const known = world.providers.find((one) => one.id === server.provider);
      const made = known ?? {
        id: server.label.toLowerCase().replace(/\W+/g, '-'),
        label: server.label,
        family: server.family,
        base_url,
        host: server.host,
        local: true,
        key: { source: 'missing' as const },
        key_optional: true,
        custom: true,
      };
      if (!known) world.providers = [...world.providers, made];
      return made;
    },
  };
}
