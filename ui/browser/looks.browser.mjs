/** Every screen in two looks and sizes: drawn under the window's policy without a fault, fitting, and accessible. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import axe from 'axe-core';
import { SCREENS } from './screens.mjs';
import { open, rest } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

const LOOKS = [
  { theme: 'light', lang: 'en', size: { width: 1440, height: 900 } },
  { theme: 'dark', lang: 'zh-CN', size: { width: 1024, height: 700 } },
];

/** What axe has against the page. Its script comes in through the debugger, which the page's policy does not bind. */
async function faults(page) {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const found = await window.axe.run({ resultTypes: ['violations'] });
    return found.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }));
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((html) => html.slice(0, 160)).join('\n    ')}`);
}

/** Controls that what lies around them cuts off at the right: nobody could read or press them. */
const cutOff = () => {
  const cut = [];
  for (const control of document.querySelectorAll('button, input, textarea, select, .badge, .chip')) {
    if (!control.checkVisibility() || control.closest('.sr-only, .veil')) continue;
    const { right, width } = control.getBoundingClientRect();
    if (width <= 1) continue;
    for (let around = control.parentElement; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      if (right > around.getBoundingClientRect().right + 1) cut.push(control.outerHTML.slice(0, 120));
      break;
    }
  }
  return cut;
};

describe('screens', { concurrency: Math.min(3, availableParallelism()) }, () => {
  for (const [name, { query, act }] of Object.entries(SCREENS)) {
    for (const { theme, lang, size } of LOOKS) {
      test(`${name} is drawn without a fault and is accessible (${theme}, ${lang}, ${size.width})`, async () => {
        const page = await site.show({ theme, lang, ...query }, size);
        if (act) await act(page);
        await rest(page);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} pixels too wide`);
        assert.deepEqual(await page.evaluate(cutOff), [], 'nothing is cut off');
        assert.deepEqual(await faults(page), []);
        assert.deepEqual(page.faults, []);
        await page.close();
      });
    }
  }
});
