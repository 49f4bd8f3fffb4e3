/** Pictures of every screen: `node browser/shots.mjs [NAME…]` leaves them in `test-results/shots`. */
import { mkdirSync } from 'node:fs';
import { open } from './site.mjs';

const FOLDER = 'test-results/shots';
const SIZES = { large: { width: 1440, height: 900 }, small: { width: 1024, height: 700 } };
const LOOKS = [
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'zh-CN'],
  ['dark', 'zh-CN'],
];

const click = (name) => (page) => page.getByRole('button', { name }).first().click();
const key = (keys) => (page) => page.keyboard.press(keys);

/** Each screen: its recorded world, and what is done to it. */
export const SCREENS = {
  plan: { query: { tab: 'plan' } },
  agents: { query: { tab: 'agents' } },
  changes: { query: { tab: 'changes' } },
  edit: { query: {}, act: (page) => page.locator('.answers .btn').nth(1).click() },
  respond: { query: {}, act: (page) => page.locator('.answers .btn').nth(2).click() },
  together: { query: {}, act: (page) => page.locator('.answers input').check() },
  tools: { query: { recorded: 'tools' } },
  toolsopen: {
    query: { recorded: 'tools' },
    act: async (page) => {
      for (const head of await page.locator('.tool .head[aria-expanded=false]').all()) await head.click();
    },
  },
  answer: { query: { recorded: 'tools' }, act: (page) => page.locator('.log').evaluate((log) => (log.scrollTop = 0)) },
  hostile: { query: { recorded: 'hostile' } },
  hostilelong: { query: { recorded: 'hostile' }, act: (page) => page.locator('.place button').nth(1).click() },
  model: { query: {}, act: (page) => page.locator('.bar button.chip').click() },
  projects: { query: {}, act: (page) => page.locator('button.project').click() },
  settings: {
    query: {},
    act: async (page) => {
      await key('Control+,')(page);
      await page.locator('.settings article .head').first().click();
    },
  },
  appearance: {
    query: {},
    act: async (page) => {
      await key('Control+,')(page);
      await page.locator('.settings [role=tab]').nth(1).click();
    },
  },
  about: {
    query: {},
    act: async (page) => {
      await key('Control+,')(page);
      await page.locator('.settings [role=tab]').nth(2).click();
    },
  },
  shortcuts: { query: {}, act: key('Control+/') },
  link: { query: { recorded: 'hostile' }, act: (page) => page.getByRole('link').first().click() },
  welcome1: { query: { recorded: 'welcome' } },
  welcome2: { query: { recorded: 'welcome' }, act: (page) => page.locator('footer .primary').click() },
  welcome3: {
    query: { recorded: 'welcome' },
    act: async (page) => {
      await page.locator('footer .primary').click();
      await page.locator('footer .btn').nth(1).click();
    },
  },
  empty: { query: { recorded: 'empty' } },
  noproject: { query: { recorded: 'noproject' } },
  nokey: { query: { recorded: 'nokey' } },
  failed: { query: {}, act: click(/Windows path tests/) },
};

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const flag = (name) => process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1];
const site = await open({ rebuild: !process.argv.includes('--keep') });
mkdirSync(FOLDER, { recursive: true });
const size = flag('size');
const look = flag('look');
for (const [name, { query, act }] of Object.entries(SCREENS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const [sizeName, viewport] of Object.entries(SIZES)) {
    if (size && size !== sizeName) continue;
    for (const [theme, lang] of LOOKS) {
      if (look && look !== `${theme}-${lang}`) continue;
      const page = await site.browser.newPage({ viewport });
      page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()));
      page.on('pageerror', (error) => console.error(name, error.message));
      await page.goto(site.address({ recorded: 'mock', theme, lang, ...query }));
      await page.waitForTimeout(450);
      if (act) await act(page);
      await page.waitForTimeout(350);
      await page.screenshot({ path: `${FOLDER}/${name}-${sizeName}-${theme}-${lang}.png` });
      await page.close();
    }
  }
}
await site.close();
