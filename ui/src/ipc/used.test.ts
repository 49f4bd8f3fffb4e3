import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const PAGE = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|svelte)$/.test(path) && !path.startsWith('ipc/') && !path.endsWith('.test.ts'))
  .map(read)
  .join('\n');
const CLIENT = read('ipc/tauri.ts');

/** Called by the page, or by the client for something that the page calls. */
function isCalled(command: string): boolean {
  if (new RegExp(`\\.${command}\\b`).test(PAGE)) return true;
  return CLIENT.includes(`commands.${command}(`) && !new RegExp(`^ {4}(async )?${command}[:(]`, 'm').test(CLIENT);
}

describe('the commands of the host', () => {
  it('are all called: what no page needs, no page may call', () => {
    const commands = [...read('ipc/bindings.ts').matchAll(/^\t(\w+): .*__TAURI_INVOKE/gm)].map(([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(50);
    expect(commands.filter((command) => !isCalled(command))).toEqual([]);
  });
});
