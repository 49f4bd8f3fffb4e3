import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { en } from './en';

const ROOT = join(import.meta.dirname, '../..');

/** What the window is made of, without the dictionaries and without tests. That a key that is used exists is what the
 *  type check sees to. */
const SOURCES = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|svelte)$/.test(path) && !/\.test\.ts$/.test(path))
  .filter((path) => !/shared\/i18n\/(en|zh)|ipc\/(bindings|recorded)/.test(path))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'));

/** Every text's path: section, groups, name. */
function paths(node: unknown, path: string[] = []): string[][] {
  if (typeof node === 'string' || typeof node === 'function') return [path];
  if (Array.isArray(node)) return [path];
  return Object.entries(node as object).flatMap(([key, value]) => paths(value, [...path, key]));
}

/** What a file names: everything, members, and what it looks something up in by a code known only when it runs. */
interface Names {
  words: Set<string>;
  members: Set<string>;
  looked: Set<string>;
}

function namesOf(source: string): Names {
  const all = (pattern: RegExp) => [...source.matchAll(pattern)].map((match) => match[1] ?? '');
  const words = new Set(all(/\b(\w+)\b/g));
  const taken = all(/\{([^{}()]*)\}\s*=/g).flatMap((list) => list.split(',').map((name) => name.trim()));
  const members = new Set([...all(/\.(\w+)/g), ...taken]);
  const looked = new Set(all(/(\w+)\??\.?\[/g));
  // `const t = $derived(i18n.t.chat)`: what is looked up in `t` is looked up in `chat`.
  for (const [, alias = '', group = ''] of source.matchAll(
    /(\w+)\s*=\s*(?:\$derived\()?[\w.]*\bt\.(?:\w+\.)*(\w+)\)?\s*[;,]/g,
  )) {
    if (looked.has(alias)) looked.add(group);
  }
  return { words, members, looked };
}

const FILES = SOURCES.map(namesOf);

function isUsed(path: string[]): boolean {
  const name = path.at(-1) ?? '';
  const groups = path.slice(0, -1);
  return FILES.some(
    ({ words, members, looked }) =>
      words.has(path[0] ?? '') && (members.has(name) || groups.some((group) => looked.has(group))),
  );
}

describe('texts', () => {
  it('are all shown somewhere', () => {
    const dead = paths(en).filter((path) => !isUsed(path));
    expect(dead.map((path) => path.join('.'))).toEqual([]);
  });
});
