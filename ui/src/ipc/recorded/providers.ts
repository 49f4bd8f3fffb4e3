/** Who is asked in recorded worlds. */
import type { ProviderView } from '../bindings';

const PLAIN: Pick<ProviderView, 'chosen' | 'hands_on' | 'headers' | 'key_page'> = {
  chosen: false,
  hands_on: [],
  headers: [],
  key_page: null,
};
/** Of each kind one: with a key, without, on this machine, and one that a person added. */
export const PROVIDERS: ProviderView[] = [
  {
    id: 'anthropic',
    label: 'Anthropic',
    family: 'anthropic',
    base_url: 'https://api.anthropic.com',
    host: 'api.anthropic.com',
    local: false,
    ...PLAIN,
    key: { source: 'environment', variable: 'ANTHROPIC_API_KEY' },
    key_optional: false,
    custom: false,
  },
  {
    id: 'openai',
    label: 'OpenAI',
    family: 'openai_chat',
    base_url: 'https://api.openai.com/v1',
    host: 'api.openai.com',
    local: false,
    ...PLAIN,
    key_page: 'https://platform.openai.com/api-keys',
    key: { source: 'missing' },
    key_optional: false,
    custom: false,
  },
  {
    id: 'ollama',
    label: 'Ollama',
    family: 'openai_chat',
    base_url: 'http://localhost:11434/v1',
    host: 'localhost:11434',
    local: true,
    chosen: false,
    hands_on: [':cloud', '-cloud'],
    key: { source: 'missing' },
    key_page: null,
    key_optional: true,
    custom: false,
    headers: [],
  },
  {
    id: 'qwen',
    label: 'Qwen (Alibaba Cloud Model Studio, international)',
    family: 'openai_chat',
    base_url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    host: 'dashscope-intl.aliyuncs.com',
    local: false,
    ...PLAIN,
    key: { source: 'environment', variable: 'DASHSCOPE_API_KEY' },
    key_optional: false,
    custom: true,
  },
];

/** A preset that has no address until its resource is named. */
export const AZURE: ProviderView = {
  id: 'azure',
  label: 'Azure OpenAI',
  family: 'openai_responses',
  base_url: 'https://your_resource.openai.azure.com/openai/v1',
  host: 'your_resource.openai.azure.com',
  local: false,
  ...PLAIN,
  key: { source: 'missing' },
  key_optional: false,
  custom: false,
};
