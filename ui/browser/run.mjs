/** `npm run test:browser`: the recorded build in a real browser, under the desktop window's own content policy. */
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { build } from 'vite';
import { findBrowser } from './site.mjs';

if (!findBrowser()) {
  const isRequired = process.env.CI === 'true';
  console.log(
    `No Chromium is here, so the browser tests ${isRequired ? 'cannot run' : 'are left out'}: apt install chromium`,
  );
  process.exit(isRequired ? 1 : 0);
}
const files = [
  'looks',
  'models',
  'knowledge',
  'files',
  'permissions',
  'paths',
  'agents',
  'sessions',
  'past',
  'changes',
  'attachments',
  'window',
  'scroll',
].map((name) => new URL(`${name}.browser.mjs`, import.meta.url).pathname);
await build({ mode: 'recorded', logLevel: 'error' });
process.env.BOSUN_RECORDED_BUILT = 'yes';
// One after another: they share the build and the machine.
run({ files, concurrency: 1 })
  .on('test:fail', () => (process.exitCode = 1))
  .compose(new spec())
  .pipe(process.stdout);
