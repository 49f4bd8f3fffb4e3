import { afterEach, expect, it, vi } from 'vitest';
import { copyText } from './clipboard';

const written: string[] = [];
function clipboard(take: (text: string) => Promise<void>) {
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: take } });
}
afterEach(() => {
  written.length = 0;
  vi.unstubAllGlobals();
});

it('copies what was shown, and says where it wrote something out', async () => {
  clipboard(async (text) => void written.push(text));
  expect(await copyText('cargo test -p auth\n')).toBe('copied');
  expect(await copyText('fn main() {\n\tprintln!("漢");\n}')).toBe('copied');
  expect(await copyText('echo ok\u202e; rm -rf /\u202c\n')).toBe('cleaned');
  expect(await copyText('ls\u001b[2K')).toBe('cleaned');
  expect(written.slice(0, 2)).toEqual(['cargo test -p auth', 'fn main() {\n\tprintln!("漢");\n}']);
  for (const text of written) {
    expect(text.endsWith('\n')).toBe(false);
    for (const hidden of ['\u001b', '\u202e', '\u202c']) expect(text).not.toContain(hidden);
  }
  expect(written[2]).toContain('rm -rf /');
});

it('says that nothing could be copied', async () => {
  clipboard(() => Promise.reject(new Error('not allowed')));
  expect(await copyText('ls')).toBe('failed');
});
