/**
 * Colours for code, as a flat list of spans with class names. highlight.js is given an emitter of ours instead of its
 * HTML renderer, so no HTML string exists at any point; classes come from a fixed list, never from the text.
 */
import type { HLJSApi, LanguageFn } from 'highlight.js';

export interface Span {
  text: string;
  /** One of `COLOURS`' values, or empty. */
  colour: string;
}

const LONGEST = 100_000;

/** highlight.js scopes by our few colours; what is not named here is drawn plainly. */
const COLOURS: Record<string, string> = {
  keyword: 'kw',
  'meta keyword': 'kw',
  'selector-tag': 'kw',
  operator: 'op',
  string: 'str',
  regexp: 'str',
  char: 'str',
  'meta string': 'str',
  'template-tag': 'str',
  addition: 'add',
  deletion: 'del',
  number: 'num',
  literal: 'num',
  symbol: 'num',
  comment: 'com',
  quote: 'com',
  doctag: 'com',
  meta: 'com',
  title: 'fn',
  section: 'fn',
  name: 'fn',
  type: 'ty',
  built_in: 'ty',
  class: 'ty',
  'selector-class': 'ty',
  attr: 'at',
  attribute: 'at',
  property: 'at',
  variable: 'at',
  'template-variable': 'at',
  'selector-attr': 'at',
  'selector-id': 'at',
};

type Loader = () => Promise<{ default: LanguageFn }>;

const LANGUAGES: Record<string, { names: string; load: Loader }> = {
  bash: { names: 'bash sh shell zsh console', load: () => import('highlight.js/lib/languages/bash') },
  c: { names: 'c h', load: () => import('highlight.js/lib/languages/c') },
  cpp: { names: 'cpp c++ cc hpp cxx', load: () => import('highlight.js/lib/languages/cpp') },
  csharp: { names: 'csharp cs c#', load: () => import('highlight.js/lib/languages/csharp') },
  css: { names: 'css scss less', load: () => import('highlight.js/lib/languages/css') },
  diff: { names: 'diff patch', load: () => import('highlight.js/lib/languages/diff') },
  go: { names: 'go golang', load: () => import('highlight.js/lib/languages/go') },
  ini: { names: 'ini toml cfg conf', load: () => import('highlight.js/lib/languages/ini') },
  java: { names: 'java kotlin kt', load: () => import('highlight.js/lib/languages/java') },
  javascript: { names: 'javascript js jsx mjs cjs', load: () => import('highlight.js/lib/languages/javascript') },
  json: { names: 'json jsonc json5', load: () => import('highlight.js/lib/languages/json') },
  makefile: { names: 'makefile make mk', load: () => import('highlight.js/lib/languages/makefile') },
  markdown: { names: 'markdown md', load: () => import('highlight.js/lib/languages/markdown') },
  php: { names: 'php', load: () => import('highlight.js/lib/languages/php') },
  python: { names: 'python py pyi', load: () => import('highlight.js/lib/languages/python') },
  ruby: { names: 'ruby rb', load: () => import('highlight.js/lib/languages/ruby') },
  rust: { names: 'rust rs', load: () => import('highlight.js/lib/languages/rust') },
  sql: { names: 'sql', load: () => import('highlight.js/lib/languages/sql') },
  swift: { names: 'swift', load: () => import('highlight.js/lib/languages/swift') },
  typescript: { names: 'typescript ts tsx mts cts', load: () => import('highlight.js/lib/languages/typescript') },
  xml: { names: 'xml html svg vue svelte xhtml', load: () => import('highlight.js/lib/languages/xml') },
  yaml: { names: 'yaml yml', load: () => import('highlight.js/lib/languages/yaml') },
};

const BY_NAME = new Map(
  Object.entries(LANGUAGES).flatMap(([language, { names }]) => names.split(' ').map((name) => [name, language])),
);

/** The language of a fence's info string or of a file's name; `null` where none of ours fits. */
export function languageOf(infoOrName: string): string | null {
  const word = infoOrName.trim().split(/\s/)[0]?.toLowerCase() ?? '';
  const ending = word.includes('/') || word.includes('.') ? (word.split('/').at(-1)?.split('.').at(-1) ?? '') : word;
  return BY_NAME.get(ending) ?? null;
}

let core: Promise<HLJSApi> | null = null;
const loaded = new Map<string, Promise<void>>();

/** The spans of `code`; `null` where it is too long or the language is not known. */
export async function highlight(code: string, language: string): Promise<Span[] | null> {
  const entry = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined;
  if (!entry || code.length > LONGEST) return null;
  core ??= import('highlight.js/lib/core').then(({ default: hljs }) => {
    hljs.configure({ __emitter: SpanEmitter } as object);
    return hljs;
  });
  const hljs = await core;
  let ready = loaded.get(language);
  if (!ready) {
    ready = entry.load().then(({ default: define }) => hljs.registerLanguage(language, define));
    loaded.set(language, ready);
  }
  await ready;
  const result = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as { _emitter: SpanEmitter };
  return result._emitter.spans;
}

/** What highlight.js calls while it reads. */
class SpanEmitter {
  spans: Span[] = [];
  private open: string[] = [];

  addText(text: string): void {
    if (!text) return;
    const colour = this.open.findLast((one) => one !== '') ?? '';
    const last = this.spans.at(-1);
    if (last && last.colour === colour) last.text += text;
    else this.spans.push({ text, colour });
  }

  startScope(scope: string): void {
    this.open.push(COLOURS[scope] ?? COLOURS[scope.split('.')[0] ?? ''] ?? '');
  }

  endScope(): void {
    this.open.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  closeAllNodes(): void {
    this.open = [];
  }

  __addSublanguage(emitter: SpanEmitter): void {
    for (const span of emitter.spans) {
      this.open.push(span.colour);
      this.addText(span.text);
      this.open.pop();
    }
  }

  finalize(): void {
    this.closeAllNodes();
  }

  /** highlight.js asks for HTML to put into its result; ours is never read. */
  toHTML(): string {
    return '';
  }
}

/** Spans cut at line feeds: one list per line. */
export function lines(spans: readonly Span[]): Span[][] {
  const out: Span[][] = [[]];
  for (const span of spans) {
    span.text.split('\n').forEach((text, at) => {
      if (at > 0) out.push([]);
      if (text) out.at(-1)?.push({ text, colour: span.colour });
    });
  }
  return out;
}
