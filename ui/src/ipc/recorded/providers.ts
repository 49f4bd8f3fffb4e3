/** Who is asked in recorded worlds. */
import type { ProviderView } from '../bindings';

const PLAIN: Pick<
  ProviderView,
  'changed' | 'chosen' | 'handed_on' | 'hands_on' | 'headers' | 'key_page' | 'runs' | 'runs_itself'
> = {
  changed: false,
  chosen: false,
  handed_on: [],
  hands_on: [],
  headers: [],
  key_page: null,
  runs: [],
  runs_itself: false,
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
    ...PLAIN,
    runs_itself: true,
    hands_on: [':cloud', '-cloud'],
    runs: ['qwen3:4b', 'qwen3:8b'],
    key: { source: 'missing' },
    key_optional: true,
    custom: false,
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

/** A cloud whose credentials are on the machine, at its usual place. */
export const VERTEX: ProviderView = {
  id: 'vertex',
  label: 'Google Vertex AI',
  family: 'vertex',
  base_url: 'https://aiplatform.googleapis.com',
  host: 'aiplatform.googleapis.com',
  local: false,
  ...PLAIN,
  key: { source: 'cloud', from: 'application_default_credentials.json' },
  key_optional: true,
  custom: false,
};

/** A person's own, on another machine of the house. */
export const ATTIC: ProviderView = {
  id: 'attic',
  label: 'Attic',
  family: 'openai_chat',
  base_url: 'http://10.0.0.7:8000/v1',
  host: '10.0.0.7:8000',
  local: false,
  ...PLAIN,
  key: { source: 'keyring' },
  key_optional: true,
  custom: true,
};

/** Those that Bosun comes with, as they came. */
export const BUILT_IN: ProviderView[] = [...PROVIDERS.filter(({ custom }) => !custom), AZURE, VERTEX];
