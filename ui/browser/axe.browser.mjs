/** Accessibility of every screen in both themes and both languages, with no fault and no request to elsewhere. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import AxeBuilder from '@axe-core/playwright';
import { SCREENS } from './screens.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

const LOOKS = [
  { theme: 'light', lang: 'en' },
  { theme: 'dark', lang: 'zh-CN' },
];

for (const [name, { query, act }] of Object.entries(SCREENS)) {
  for (const look of LOOKS) {
    test(`${name} is accessible (${look.theme}, ${look.lang})`, async () => {
      // The old way of axe: its own script is let in, ours stays under the policy.
      const page = await site.show({ ...look, ...query }, { bypassCSP: true });
      if (act) await act(page);
      await page.waitForTimeout(200);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const told = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join('\n    ')}`,
      );
      assert.deepEqual(told, []);
      assert.deepEqual(page.faults, []);
      await page.close();
    });
  }
}
