/** Every screen in its looks and sizes: drawn under the window's policy without a fault, fitting, and accessible. */
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

/** A small window, and the least there is: what axe has to say of them it says of the larger. */
const SMALL = [
  { theme: 'dark', lang: 'zh-CN', size: { width: 800, height: 600 } },
  { theme: 'light', lang: 'en', size: { width: 640, height: 480 } },
  // The largest words in a window of a small screen.
  { theme: 'light', lang: 'en', size: { width: 1024, height: 700 }, text: '140' },
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
    // A row of tabs is scrolled where it has no room.
    if (!control.checkVisibility() || control.closest('.sr-only, .veil, [role=tablist]')) continue;
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

/** Controls that nobody could bring into sight, by whatever scrolls around them. */
const outOfReach = () => {
  const PLACES = ['.docks', '.dialog', 'footer'];
  const controls = 'button, input, textarea, select, a[href]';
  const lost = new Set();
  for (const control of document.querySelectorAll(PLACES.map((place) => `${place} :is(${controls})`).join())) {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.closest('.sr-only')) continue;
    let box = control.getBoundingClientRect();
    if (box.width <= 1) continue;
    const isWithin = ({ top, bottom }) => box.top >= top - 1 && box.bottom <= bottom + 1;
    let isSeen = true;
    for (let around = control.parentElement; around; around = around.parentElement) {
      const { overflowY } = getComputedStyle(around);
      if (overflowY === 'visible') continue;
      const frame = around.getBoundingClientRect();
      // What scrolls shows it, as long as there is enough of it to be seen.
      if (overflowY === 'auto' || overflowY === 'scroll') {
        box = frame;
        isSeen &&= box.height >= 16;
      } else isSeen &&= isWithin(frame);
    }
    if (!isSeen || !isWithin({ top: 0, bottom: innerHeight })) lost.add(control.outerHTML.slice(0, 120));
  }
  return [...lost];
};

/** Text of which what lies around it hides the upper or lower part. */
const clipped = () => {
  const cut = [];
  for (const element of document.querySelectorAll('#app *, .dialog *, .menu *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!hasText || !element.checkVisibility() || element.closest('.sr-only, textarea, select')) continue;
    const { overflowY, webkitLineClamp } = getComputedStyle(element);
    if (overflowY !== 'hidden' && overflowY !== 'clip') continue;
    if (webkitLineClamp === 'none' && element.scrollHeight > element.clientHeight + 2)
      cut.push(element.outerHTML.slice(0, 120));
  }
  return cut;
};

/** What has to hold of how a page is laid out, whatever its size. */
async function fits(page) {
  await rest(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  assert.deepEqual(await page.evaluate(cutOff), [], 'nothing is cut off');
  assert.deepEqual(await page.evaluate(outOfReach), [], 'everything can be reached');
  assert.deepEqual(await page.evaluate(clipped), [], 'no text is cut off');
  assert.deepEqual(page.faults, []);
}

/** Everything that has to hold of a page in every look. */
async function look(page) {
  await fits(page);
  assert.deepEqual(await faults(page), []);
}

/** The page as it stands, in another look: what is open stays open. */
async function turn(page, { theme, lang, size, text }) {
  await page.setViewportSize(size);
  await page.evaluate((to) => window.recordedLook(to.theme, to.lang, to.text), { theme, lang, text });
}

describe('screens', { concurrency: Math.min(3, availableParallelism()) }, () => {
  for (const [name, { query, act, isFaulty }] of Object.entries(SCREENS)) {
    test(`${name} is drawn without a fault and is accessible, in two looks, and fits into small windows`, async () => {
      const [first, second] = LOOKS;
      const page = await site.show({ theme: first.theme, lang: first.lang, ...query }, first.size);
      if (act) await act(page);
      // What is shown of faults needs some.
      if (isFaulty) page.faults.length = 0;
      // The script comes in through the debugger, which the page's policy does not bind.
      await page.evaluate(axe.source);
      await look(page);
      await turn(page, second);
      await look(page);
      for (const small of SMALL) {
        await turn(page, small);
        await fits(page);
      }
      await page.close();
    });
  }
});
