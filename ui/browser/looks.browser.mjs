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

/** What axe has against the page. */
async function faults(page) {
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

/** Everything that has to hold of a page in every look. */
async function look(page) {
  await rest(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  assert.deepEqual(await page.evaluate(cutOff), [], 'nothing is cut off');
  assert.deepEqual(await faults(page), []);
  assert.deepEqual(page.faults, []);
}

describe('screens', { concurrency: Math.min(3, availableParallelism()) }, () => {
  for (const [name, { query, act }] of Object.entries(SCREENS)) {
    test(`${name} is drawn without a fault and is accessible, in two looks and sizes`, async () => {
      const [first, second] = LOOKS;
      const page = await site.show({ theme: first.theme, lang: first.lang, ...query }, first.size);
      if (act) await act(page);
      // The script comes in through the debugger, which the page's policy does not bind.
      await page.evaluate(axe.source);
      await look(page);
      // The page as it stands, in the other look: what is open stays open.
      await page.setViewportSize(second.size);
      await page.evaluate(({ theme, lang }) => window.recordedLook(theme, lang), second);
      await look(page);
      await page.close();
    });
  }
});
