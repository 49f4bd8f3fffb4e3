/** Takes the pictures of README and guide anew: `node browser/guide.mjs`. */
import { SCREENS } from './screens.mjs';
import { open, rest } from './site.mjs';

const FOLDER = '../docs/images';
const PICTURES = { approval: 'plan', plan: 'board', changes: 'changes', rewind: 'rewind' };
const ENDINGS = { en: '', 'zh-CN': '-zh' };

const site = await open();
for (const [picture, screen] of Object.entries(PICTURES)) {
  for (const [lang, ending] of Object.entries(ENDINGS)) {
    const { query, act } = SCREENS[screen];
    const page = await site.show({ theme: 'light', lang, ...query }, { width: 1440, height: 900 });
    if (act) await act(page);
    await rest(page);
    await page.screenshot({ path: `${FOLDER}/${picture}${ending}.png` });
    await page.close();
  }
}
await site.close();
