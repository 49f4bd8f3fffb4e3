/** Pictures of every screen, to be looked at: `node browser/shots.mjs [NAME…] [--size=small] [--look=dark-zh-CN]`. */
import { mkdirSync, rmSync } from 'node:fs';
import { SCREENS } from './screens.mjs';
import { open, rest } from './site.mjs';

const FOLDER = 'test-results/shots';
const SIZES = {
  large: { width: 1440, height: 900 },
  small: { width: 1024, height: 700 },
  drawer: { width: 860, height: 700 },
  icons: { width: 660, height: 700 },
  low: { width: 800, height: 600 },
  least: { width: 640, height: 480 },
};
const LOOKS = ['light-en', 'dark-en', 'light-zh-CN', 'dark-zh-CN'];

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const wanted = (flag, all) =>
  words
    .filter((word) => word.startsWith(`--${flag}=`))
    .map((word) => word.split('=')[1])
    .concat(all);
const sizes = words.some((word) => word.startsWith('--size=')) ? wanted('size', []) : ['large', 'small'];
const looks = words.some((word) => word.startsWith('--look=')) ? wanted('look', []) : LOOKS;

const site = await open();
// What an earlier run left would pass for this run's.
if (names.length === 0) rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const [name, { query, act }] of Object.entries(SCREENS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  for (const size of sizes) {
    for (const look of looks) {
      const [theme, ...lang] = look.split('-');
      const page = await site.show({ theme, lang: lang.join('-'), ...query }, SIZES[size]);
      if (act) await act(page);
      await rest(page);
      await page.screenshot({ path: `${FOLDER}/${name}-${size}-${look}.png` });
      for (const fault of page.faults) console.error(name, fault);
      await page.close();
    }
  }
}
await site.close();
