/** What happens on a card and is no answer to it, in a page under the window's own policy. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { calls, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

describe('a card', () => {
  test('A24 a paste, a drop and zoom on a card decide nothing, and its answers count as before', async () => {
    const page = await site.show();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const card = page.getByRole('dialog', { name: /^Approval/ });
    const approve = card.getByRole('button', { name: /^Approve/ });
    const address = page.url();
    const decided = async () => [...(await calls(page, 'decide')), ...(await calls(page, 'approveAlways'))];
    const isCalm = async (after) => {
      assert.deepEqual(await decided(), [], after);
      assert.equal(page.url(), address, after);
      assert.equal(await card.getByRole('textbox').count(), 0, after);
    };
    await page.waitForTimeout(400);

    await page.evaluate(() => navigator.clipboard.writeText('y\nYes, approve\n'));
    for (const place of [card, approve]) {
      await place.focus();
      await page.keyboard.press('Control+v');
      await page.keyboard.press('Control+Shift+v');
      // As an input method or a screen keyboard gives it.
      await page.keyboard.insertText('y');
      await isCalm('pasted');
    }

    const devtools = await page.context().newCDPSession(page);
    const dropped = async (box, data) => {
      const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      for (const type of ['dragEnter', 'dragOver', 'drop']) {
        await devtools.send('Input.dispatchDragEvent', { type, ...at, data: { dragOperationsMask: 1, ...data } });
      }
    };
    const uri = { mimeType: 'text/uri-list', data: 'https://canary.example/' };
    for (const place of [card, approve]) {
      await dropped(await place.boundingBox(), { items: [], files: [import.meta.filename] });
      await dropped(await place.boundingBox(), { items: [uri, { mimeType: 'text/plain', data: 'y' }] });
      await isCalm('dropped');
    }
    // What is dragged from elsewhere is let go on the button.
    const [from, to] = [await message(page).boundingBox(), await approve.boundingBox()];
    await page.mouse.move(from.x + 5, from.y + 5);
    await page.mouse.down();
    await page.mouse.move(to.x + 5, to.y + 5, { steps: 4 });
    await page.mouse.up();
    await isCalm('let go');

    await card.focus();
    for (const key of ['Control++', 'Control+=', 'Control+-', 'Control+0']) await page.keyboard.press(key);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await isCalm('zoomed');
    // Enlarged so far that the call does not fit, it has to be read again before it can be approved.
    const whole = page.viewportSize();
    await page.setViewportSize({ width: 420, height: 260 });
    await card.getByRole('button', { name: 'Show the end' }).waitFor();
    assert.equal(await approve.isDisabled(), true);
    await card.focus();
    await page.keyboard.press('y');
    await isCalm('enlarged');
    await page.setViewportSize(whole);

    await card.getByRole('button', { name: 'Show the end' }).waitFor({ state: 'detached' });
    await card.focus();
    await page.keyboard.press('y');
    await page.waitForFunction(() => window.recordedHost.calls.some((one) => one.name === 'decide'));
    assert.equal((await decided()).length, 1);
    await done(page);
  });
});
