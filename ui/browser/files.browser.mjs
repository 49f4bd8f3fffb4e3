/** Files looked at, and changes gone through, in a page under the window's own policy. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { button, calls, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

describe('files', () => {
  test('the tree of files is walked by keys, and what is chosen is looked at', async () => {
    const page = await site.show({ tab: 'files' });
    const row = (name) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
    await row('memories memory').waitFor();
    await page.getByRole('tree').focus();
    await page.keyboard.press('Home');
    for (let at = 0; at < 5; at++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await row('auth').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await row('clock').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const look = page.getByRole('region', { name: 'Preview of src/auth/clock.rs' });
    await look.locator('.c-kw').first().waitFor();
    await look.getByRole('button', { name: 'Open in its default app' }).click();
    await look.getByRole('button', { name: 'Show in its folder' }).click();
    await page.getByRole('tree').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await row('clock').waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'openFile'), ['/src/auth/clock.rs']);
    assert.deepEqual(await calls(page, 'revealFile'), ['/src/auth/clock.rs']);
    await done(page);
  });

  test('a large result is read page by page; pictures are shown, what is no text is said kindly', async () => {
    const page = await site.show({ tab: 'files' });
    const row = (name) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
    await row('large_tool_results').click();
    await row('call-7').click();
    await page.getByText('Lines 1 to 2,000 of 9,000').waitFor();
    await button(page, 'Later lines').click();
    await page.getByText('Lines 2,001 to 4,000 of 9,000').waitFor();
    await button(page, 'Earlier lines').click();
    await page.getByText('Lines 1 to 2,000 of 9,000').waitFor();
    assert.ok((await page.locator('.text .line').count()) < 200, 'only what is in sight is drawn');
    await row('docs').click();
    await row('logo.png').click();
    await page.getByRole('img', { name: 'logo.png' }).waitFor();
    await row('spec.pdf').click();
    await page.getByText('PDFs open in another app.').waitFor();
    await row('harbour.db').click();
    await page.getByText('This is not text').waitFor();
    await done(page);
  });

  test('a folder and what was found have a menu, by mouse and by keys; a long line is read to its end', async () => {
    const page = await site.show({ tab: 'files' });
    const row = (name) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
    const choose = (name) => page.getByRole('menuitem', { name }).click();
    await row('src').click({ button: 'right' });
    await choose('Show in its folder');
    await page.getByRole('tree').focus();
    await page.keyboard.type('answer');
    // What fits the first letters alone goes when the rest is there.
    await page.getByRole('treeitem').first().and(row('answer')).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+F10');
    await choose('Save as…');
    await page.keyboard.press('Enter');
    const look = page.getByRole('region', { name: 'Preview of /large_tool_results/answer' });
    await look.getByText(/^A long line goes on/).waitFor();
    await look.getByRole('group').last().press('End');
    await look.getByText(/"closed"\}\]$/).waitFor();
    await page.getByRole('tree').focus();
    await page.keyboard.press('Escape');
    await row('src').waitFor();
    await row('src').hover();
    await row('src').getByRole('button').click();
    await choose('Mention in the message');
    assert.equal(await message(page).inputValue(), '@src ');
    assert.deepEqual(await calls(page, 'revealFile'), ['/src']);
    assert.deepEqual(await calls(page, 'saveFile'), ['/large_tool_results/answer']);
    await done(page);
  });

  test('changes are kept and undone place by place, and what was undone comes back', async () => {
    const page = await site.show({ tab: 'changes' });
    await button(page, /^CHANGELOG\.md/).click();
    const change = page.getByRole('region', { name: 'Changes to CHANGELOG.md' });
    await page.getByText('cargo xtask changelog').first().waitFor();
    await page.getByRole('region', { name: 'Changed since, by you or another program' }).waitFor();
    await page.getByText('Changed by commands, cannot be undone').waitFor();
    await button(page, 'Restore the agent’s version of CHANGELOG.md').click();
    await page.getByText('The agent’s version of 1 file is back; what was there is kept.').waitFor();
    await page.getByRole('region', { name: 'Changed since, by you or another program' }).waitFor({ state: 'detached' });
    await button(page, 'Bring that back').click();
    await page.getByRole('region', { name: 'Changed since, by you or another program' }).waitFor();
    // The only place of a file has no row of its own: within less than the session it has one.
    assert.equal(await change.getByRole('button', { name: 'Undo change 1' }).count(), 0);
    await page.getByText('Last turn').click();
    await change.getByRole('button', { name: 'Undo change 1' }).click();
    await page.getByText('1 file was put back.').waitFor();
    await button(page, 'Bring it back').click();
    await page.getByText('1 file was put back.').waitFor({ state: 'detached' });
    await page.getByText('Session', { exact: true }).click();
    await change.getByRole('button', { name: 'Undo change 1' }).waitFor({ state: 'detached' });
    await change.locator('[data-hunk]').first().focus();
    await page.keyboard.press('k');
    await button(page, /^CHANGELOG\.md .*kept/).waitFor();
    await button(page, 'Review it again').click();
    await button(page, 'Keep all').click();
    await button(page, 'Keep all').waitFor({ state: 'detached' });
    const [undone] = await calls(page, 'undoHunk');
    assert.deepEqual([undone.path, undone.scope, undone.hunk], ['/CHANGELOG.md', 'turn', 0]);
    const kept = await calls(page, 'keepChanges');
    assert.deepEqual(kept, [
      { path: '/CHANGELOG.md', scope: 'session' },
      { path: null, scope: 'session' },
    ]);
    assert.deepEqual(await calls(page, 'restoreVersion'), ['/CHANGELOG.md']);
    assert.deepEqual(await calls(page, 'redoUndone'), [41, 40]);
    await page.getByText('Last turn').click();
    await done(page);
  });
});
