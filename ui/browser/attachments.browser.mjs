/** Files and pictures with a message. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { button, calls, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

// Each has a page and a storage of its own, so they may run side by side.
describe('attachments', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('files are attached by picking, pasting and dropping, and sent with what is named', async () => {
    const page = await site.show({ recorded: 'live' });
    const chips = page.getByRole('list', { name: 'Attached' }).last();
    await page.locator('.composer input[type=file]').setInputFiles([
      { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes') },
      { name: 'virus.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') },
    ]);
    await chips.getByText('notes.md').waitFor();
    await page.getByText('neither text nor a complete PNG').waitFor();
    const give = (type, name) =>
      page.evaluate(
        ({ type, name }) => {
          const data = new DataTransfer();
          data.items.add(new File(['x'], name, { type: 'image/png' }));
          const bubbles = { bubbles: true, cancelable: true };
          const event =
            type === 'paste'
              ? new ClipboardEvent('paste', { clipboardData: data, ...bubbles })
              : new DragEvent('drop', { dataTransfer: data, ...bubbles });
          document.querySelector(type === 'paste' ? 'textarea' : '.log').dispatchEvent(event);
        },
        { type, name },
      );
    await give('paste', 'pasted.png');
    await chips.getByText('pasted.png').waitFor();
    await give('drop', 'dropped.png');
    await chips.getByText('dropped.png').waitFor();
    await button(page, 'Remove “pasted.png”').click();
    await message(page).click();
    await page.keyboard.type('Compare with @clo');
    await page.getByRole('option', { name: /src\/auth\/clock\.rs/ }).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await message(page).inputValue(), 'Compare with @src/auth/clock.rs ');
    await page.keyboard.press('Control+Enter');
    const said = page.getByRole('article', { name: 'You' }).filter({ hasText: 'Compare with' });
    await said.getByRole('button', { name: /dropped\.png/ }).waitFor();
    const [steered] = await calls(page, 'steerTurn');
    assert.deepEqual(
      steered.attachments.map(({ name }) => name),
      ['notes.md', 'dropped.png'],
    );
    assert.deepEqual(steered.mentions, [{ mention: 'path', path: '/src/auth/clock.rs' }]);
    await said.getByRole('button', { name: /notes\.md/ }).click();
    await page.getByRole('dialog', { name: 'notes.md' }).getByText('The first line of it.').waitFor();
    await done(page);
  });

  test('a name that was typed means what it would have meant in the list', async () => {
    const page = await site.show({ recorded: 'live' });
    await message(page).click();
    // Not chosen: the list is left, as a person does who types on.
    await page.keyboard.type('Compare @src/auth/clock.rs', { delay: 30 });
    await page.getByRole('option', { name: /src\/auth\/clock\.rs/ }).waitFor();
    await page.keyboard.type(', with @nothing/like/it');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'You' }).filter({ hasText: 'Compare' }).waitFor();
    const [steered] = await calls(page, 'steerTurn');
    assert.deepEqual(steered.mentions, [{ mention: 'path', path: '/src/auth/clock.rs' }]);
    await done(page);
  });

  test('a person is told before they send it that a message holds what looks like a key', async () => {
    const page = await site.show({ recorded: 'live' });
    const note = page.locator('.composer').getByRole('status');
    await message(page).click();
    await page.keyboard.type('Use sk-proj-0123456789abcdef');
    await note.getByText('looks like a key. Once it is sent, it goes to claude').waitFor();
    // Nothing is in the way of sending it.
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'You' }).filter({ hasText: 'Use sk-proj' }).waitFor();
    await note.waitFor({ state: 'detached' });
    await page
      .locator('.composer input[type=file]')
      .setInputFiles([{ name: 'keys.txt', mimeType: 'text/plain', buffer: Buffer.from('MODEL_KEY=0123456789ab') }]);
    await note.getByText('looks like a key').waitFor();
    await button(page, 'Remove “keys.txt”').click();
    await note.waitFor({ state: 'detached' });
    await done(page);
  });

  test('a person is told before that the model cannot look at a picture', async () => {
    const page = await site.show({ recorded: 'empty' });
    const input = page.locator('.composer input[type=file]');
    await input.setInputFiles([{ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('x') }]);
    await page.getByRole('list', { name: 'Attached' }).getByText('a.png').waitFor();
    assert.equal(await page.getByText('gets only their names').count(), 0);
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('hai');
    await page.keyboard.press('Enter');
    await page.getByText('This model cannot see 1 of these files').waitFor();
    await message(page).click();
    await page.keyboard.press('Enter');
    await page
      .getByRole('article', { name: 'You' })
      .getByRole('button', { name: /a\.png/ })
      .waitFor();
    await done(page);
  });
});
