/** `npm run test:browser`: the recorded build in a real browser, under the desktop window's own content policy. */
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { build } from 'vite';
import { findBrowser } from './site.mjs';

if (!findBrowser()) {
  const isRequired = process.env.CI === 'true';
  console.log(
    `No Chromium is here, so the browser tests ${isRequired ? 'cannot run' : 'are left out'}: install one, or set BOSUN_BROWSER`,
  );
  process.exit(isRequired ? 1 : 0);
}
const files = [
  'looks',
  'models',
  'knowledge',
  'files',
  'permissions',
  'cards',
  'paths',
  'agents',
  'panes',
  'plan',
  'sessions',
  'past',
  'changes',
  'attachments',
  'window',
  'scroll',
].map((name) => new URL(`${name}.browser.mjs`, import.meta.url).pathname);

/** More failures than this are no matter of chance. */
const FLAKY_AT_MOST = 3;

/** A test's name is looked for with its group's name in front. */
const exactly = (name) => new RegExp(`${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);

/** Groups and files count by what is in them, unless they fail by themselves: in what they set up, or by ending early. */
const isTest = ({ name, file, details }) => details.type !== 'suite' && name !== file;
const isOfOthers = ({ details }) => details.error?.failureType === 'subtestsFailed';

/** Runs tests, one file after another because they share the machine: how many passed, and what failed. */
function runTests(options) {
  return new Promise((settled) => {
    const tally = { passed: 0, failed: [] };
    const tests = run({ concurrency: 1, ...options })
      .on('test:pass', (event) => (tally.passed += isTest(event) && !event.skip ? 1 : 0))
      .on('test:fail', (event) => {
        if (!isOfOthers(event)) {
          tally.failed.push({ name: event.name, file: event.file, isTest: isTest(event) });
        }
      })
      .on('end', () => settled(tally));
    tests.compose(new spec()).pipe(process.stdout, { end: false });
  });
}

await build({ mode: 'recorded', logLevel: 'error' });
process.env.BOSUN_RECORDED_BUILT = 'yes';
const first = await runTests({ files });
let { failed } = first;
if (failed.length > 0 && failed.length <= FLAKY_AT_MOST && failed.every(({ isTest }) => isTest)) {
  console.log(`Again: ${failed.map(({ name }) => name).join(' · ')}`);
  const again = {
    files: [...new Set(failed.map(({ file }) => file))],
    testNamePatterns: failed.map(({ name }) => exactly(name)),
  };
  ({ failed } = await runTests(again));
}
const flaky = first.failed.length - failed.length;
console.log(`${first.passed + flaky} passed, ${failed.length} failed${flaky > 0 ? `, ${flaky} flaky` : ''}`);
process.exitCode = failed.length > 0 ? 1 : 0;
