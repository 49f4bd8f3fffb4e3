/** The paths a person takes, in a page under the window's own policy. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

/** What the page asked of its host that changes something. */
const calls = (page, name) =>
  page.evaluate(
    (wanted) => window.recordedHost.calls.filter((one) => one.name === wanted).map((one) => one.value),
    name,
  );
const button = (page, name) => page.getByRole('button', { name });
const message = (page) => page.getByRole('textbox', { name: 'Message' });

async function done(page) {
  assert.deepEqual(page.faults, []);
  await page.close();
}

// Each has a page and a storage of its own, so they may run side by side.
describe('paths', { concurrency: Math.min(3, availableParallelism()) }, () => {
  test('a first message makes the session; the focus stays for the next', async () => {
    const page = await site.show({ recorded: 'empty' });
    await page.keyboard.type('Tidy the changelog');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'You' }).getByText('Tidy the changelog').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Tidy the changelog' }).waitFor();
    await page.keyboard.type('And then the notes');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: '1 queued' }).getByText('And then the notes').waitFor();
    await button(page, 'Delete from the queue').click();
    await page.getByRole('region', { name: '1 queued' }).waitFor({ state: 'detached' });
    assert.deepEqual(
      (await calls(page, 'sendMessage')).map((one) => one.text),
      ['Tidy the changelog', 'And then the notes'],
    );
    await done(page);
  });

  test('requests are answered by keys alone, one after the other', async () => {
    const page = await site.show();
    await page.waitForTimeout(400);
    await page.keyboard.press('y');
    await page.getByRole('dialog', { name: 'Approval: Run cargo test -p backon --no-run' }).waitFor();
    await page.waitForTimeout(400);
    await page.keyboard.press('n');
    await page.keyboard.type('Not yet');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const decisions = (await calls(page, 'decide')).flat();
    assert.deepEqual(
      decisions.map((one) => [one.session, one.decision]),
      [
        ['s-refresh', { decision: 'approve' }],
        ['s-backon', { decision: 'reject', reason: 'Not yet' }],
      ],
    );
    await done(page);
  });

  test('a key that is typed decides nothing', async () => {
    const page = await site.show();
    await page.waitForTimeout(400);
    await message(page).click();
    await page.keyboard.type('yes, never');
    assert.deepEqual(await calls(page, 'decide'), []);
    assert.equal(await message(page).inputValue(), 'yes, never');
    await done(page);
  });

  test('a subagent’s request is answered where it stands', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /reader · backon/ }).click();
    const pane = page.getByRole('region', { name: 'What reader did' });
    await pane.getByText('I want to see whether').waitFor();
    await page.waitForTimeout(400);
    await pane.getByRole('button', { name: 'Approve' }).click();
    await pane.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await calls(page, 'decide'))[0][0].session, 's-backon');
    await done(page);
  });

  test('one subagent is stopped alone, and all it did is read with more room', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /reader · tower-retry/ }).click();
    const pane = page.getByRole('region', { name: 'What reader did' });
    await pane.getByRole('button', { name: 'Open with more room' }).click();
    const wide = page.getByRole('dialog', { name: 'What reader did' });
    await wide.getByRole('button', { name: /vendor\/tower\/src\/retry\/mod\.rs/ }).waitFor();
    await page.keyboard.press('Escape');
    await pane.getByRole('button', { name: 'Stop reader' }).click();
    await pane.getByRole('button', { name: 'Stop reader' }).waitFor({ state: 'detached' });
    await page.getByRole('treeitem', { name: /reader · tower-retry.*cancelled/ }).waitFor();
    assert.deepEqual(await calls(page, 'stopSubagent'), [{ session: 's-refresh', child: 's-tower' }]);
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await done(page);
  });

  test('the tree of agents is walked with the arrow keys', async () => {
    const page = await site.show({ tab: 'agents' });
    await page.getByRole('treeitem', { name: /retry policies/ }).focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /tower-retry/);
    await page.keyboard.press('End');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /clock fakes/);
    await done(page);
  });

  test('a link shows its real host before anything is opened', async () => {
    const page = await site.show({ recorded: 'hostile' });
    await page.getByRole('link', { name: 'look-alike' }).click();
    const dialog = page.getByRole('dialog', { name: 'Open this link?' });
    await dialog.getByText('xn--gthub-n2e.com', { exact: true }).waitFor();
    assert.deepEqual(await calls(page, 'openLink'), []);
    await dialog.getByRole('button', { name: 'Open in the browser' }).click();
    await page.waitForTimeout(100);
    assert.deepEqual(await calls(page, 'openLink'), ['https://xn--gthub-n2e.com/login']);
    await done(page);
  });

  test('nothing of a hostile message becomes markup', async () => {
    const page = await site.show({ recorded: 'hostile' });
    const made = await page.evaluate(
      () =>
        document.querySelectorAll('.md :is(img, script, iframe, a, form, object, embed, [style], [onerror])').length,
    );
    assert.equal(made, 0);
    await page.locator('.picture').getByText('https://canary.example/?d=SECRET').waitFor();
    await done(page);
  });

  test('the window’s own keys do what the sheet says', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'stopTurn'), [], 'closing a dialog stops nothing');
    await page.keyboard.press('Control+Shift+D');
    await page.getByRole('tabpanel', { name: /Changes/ }).waitFor();
    await page.keyboard.press('Control+b');
    await page.getByRole('button', { name: 'Show sessions' }).waitFor();
    await page.keyboard.press('Control+b');
    await page.keyboard.press('Control+n');
    await page.getByText('What should be done?').waitFor();
    await page.keyboard.press('Control+,');
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Escape');
    await done(page);
  });

  const DIALOGS = {
    settings: (page) => page.keyboard.press('Control+,'),
    'the palette': (page) => page.keyboard.press('Control+k'),
    'the inbox': (page) => page.getByRole('button', { name: /^Waiting for you/ }).click(),
    'the shortcut sheet': (page) => page.keyboard.press('Control+/'),
    'a link': (page) => page.getByRole('link').first().click(),
  };

  test('the palette finds commands, sessions and files', async () => {
    const page = await site.show();
    const find = async (words) => {
      await page.keyboard.press('Control+k');
      await page.locator('.palette input:focus').waitFor();
      await page.keyboard.type(words);
      await page.keyboard.press('Enter');
      await page.locator('.palette').waitFor({ state: 'detached' });
    };
    await find('clock.rs');
    await page.getByRole('region', { name: 'Changes to src/auth/clock.rs' }).waitFor();
    await find('fixtures');
    await page.getByRole('heading', { level: 1, name: 'Move fixtures to SQLite' }).waitFor();
    await page.keyboard.press('Control+1');
    await page.getByRole('heading', { level: 1, name: 'Token refresh fails after sleep' }).waitFor();
    await find('dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await done(page);
  });

  test('a todo of the board leaves only its work in the conversation', async () => {
    const page = await site.show();
    await button(page, 'Open as a board').click();
    const lane = page.getByRole('dialog', { name: 'Plan' }).getByRole('region', { name: 'In progress' });
    await lane.getByRole('button', { name: /^Check expiry at call time/ }).click();
    await page.getByText('Only what was done for “Check expiry at call time, not by timer”').waitFor();
    assert.equal(await page.getByRole('article').count(), 0);
    await page.getByRole('button', { name: /^Ran cargo test/ }).waitFor();
    await button(page, 'Show the whole conversation').first().click();
    await page.getByRole('article', { name: 'You' }).waitFor();
    await done(page);
  });

  test('a person adds, rewords, moves and drops lines of the plan', async () => {
    const page = await site.show();
    const plan = page.getByRole('tabpanel', { name: /Plan/ });
    await plan.getByRole('textbox', { name: 'What else is to be done' }).fill('Tell the support team');
    await page.keyboard.press('Enter');
    await plan.getByRole('button', { name: 'Tell the support team', exact: true }).waitFor();
    await button(page, 'Open as a board').click();
    const lane = page.getByRole('dialog', { name: 'Plan' }).getByRole('region', { name: 'Pending' });
    const choose = async (todo, what) => {
      await lane.getByRole('button', { name: `More for “${todo}”` }).press('Enter');
      await page.getByRole('menuitem', { name: what }).click();
      // A menu that goes gives the focus back, which would take it from the next.
      await page.getByRole('menu').waitFor({ state: 'detached' });
    };
    await choose('Tell the support team', 'Earlier in the plan');
    await choose('Note the behaviour in CHANGELOG', 'Drop from the plan');
    await choose('Add a fake clock to the session tests', 'Change the words');
    await page.getByRole('textbox', { name: 'Words of the todo' }).waitFor();
    await page.keyboard.type('Use a fake clock');
    await page.keyboard.press('Enter');
    await lane.getByRole('button', { name: 'Use a fake clock', exact: true }).waitFor();
    assert.deepEqual(await lane.locator('.open').allInnerTexts(), [
      'Use a fake clock',
      'Test: refresh after eight hours of sleep',
      'Tell the support team',
    ]);
    assert.deepEqual(
      (await calls(page, 'changePlan')).map(({ change }) => change),
      ['add', 'move', 'drop', 'reword'],
    );
    await done(page);
  });

  test('changes are walked with the keys, in one column or in two, and answer nothing', async () => {
    const page = await site.show({ tab: 'changes' });
    const region = (name) => page.getByRole('region', { name: `Changes to ${name}` }).last();
    await page.getByRole('button', { name: /clock\.rs/ }).click();
    await region('src/auth/clock.rs').locator('[data-hunk]').waitFor();
    await page.keyboard.press(']');
    assert.ok(await page.evaluate(() => document.activeElement.matches('[data-hunk]')));
    await page.keyboard.press('p');
    await region('src/auth/session.rs').locator('.pair, .line').first().waitFor();
    await button(page, 'Open with more room').click();
    const wide = page.getByRole('dialog', { name: 'Changes' });
    await wide.getByRole('button', { name: 'Before and after side by side' }).click();
    await wide.locator('.pair').first().waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await region('CHANGELOG.md').locator('.pair').first().waitFor();
    await page.waitForTimeout(400);
    await page.keyboard.press('n');
    assert.deepEqual(await calls(page, 'decide'), []);
    await done(page);
  });

  test('messages that wait are changed, moved, given to the turn, sent now', async () => {
    const page = await site.show({ recorded: 'live' });
    const queue = page.getByRole('region', { name: /queued$/ });
    for (const text of ['first', 'second', 'third']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await queue.getByText(text, { exact: true }).waitFor();
    }
    const row = (text) => queue.getByRole('listitem').filter({ hasText: text });
    await row('third').getByRole('button', { name: 'Earlier in the queue' }).click();
    await row('first').getByRole('button', { name: 'Change the words' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('first of all');
    await page.keyboard.press('Enter');
    await row('first of all').waitFor();
    await row('third').getByRole('button', { name: 'Say it to the running turn' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('third').waitFor();
    await row('second').getByRole('button', { name: 'Stop the turn and send it now' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('second').waitFor();
    await message(page).click();
    await page.keyboard.type('use a fake clock');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'You' }).getByText('use a fake clock').waitFor();
    assert.deepEqual(
      (await calls(page, 'moveQueued')).map(({ to }) => to),
      [1],
    );
    assert.equal(await queue.getByRole('listitem').count(), 1);
    await done(page);
  });

  test('a session is renamed, pinned, archived and deleted from its menu, and brought back', async () => {
    const page = await site.show();
    const choose = async (title, what) => {
      await page.getByRole('button', { name: `More for “${title}”` }).press('Enter');
      await page.getByRole('menuitem', { name: what }).click();
    };
    await choose('Move fixtures to SQLite', 'Rename');
    const field = page.getByRole('textbox', { name: 'Title of the session' });
    await field.waitFor();
    await page.keyboard.type('Fixtures');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Fixtures/ }).waitFor();
    await choose('Fixtures', 'Pin');
    await page.getByRole('heading', { name: 'Pinned' }).waitFor();
    await choose('Fixtures', 'Export as a web page');
    await page.getByText('Written to ~/s-fixtures.html').waitFor();
    await choose('Windows path tests', 'Archive');
    await page.getByText('“Windows path tests” was archived').waitFor();
    await button(page, 'Archived (1)').click();
    await page.getByRole('button', { name: /^Windows path tests/ }).waitFor();
    await choose('Fixtures', 'Delete');
    await page.getByText('“Fixtures” was deleted').waitFor();
    await page.getByRole('button', { name: /^Fixtures/ }).waitFor({ state: 'detached' });
    await button(page, 'Undo').click();
    await page.getByRole('button', { name: /^Fixtures/ }).waitFor();
    assert.deepEqual(await calls(page, 'restoreSession'), ['s-fixtures']);
    await done(page);
  });

  test('what was said in another session is found and gone to', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('retry libraries in vendor');
    await page.getByRole('option', { name: /Compare the retry libraries in vendor/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Survey of retry libraries' }).waitFor();
    await page.locator('.group.found').getByText('Compare the retry').waitFor();
    await page.getByText('1 of 1').waitFor();
    await done(page);
  });

  test('a place of the timeline is looked at, gone back to, and that is undone', async () => {
    const page = await site.show({ tab: 'timeline' });
    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    await page
      .getByRole('button', { name: /^Edited tests\/support\/fixtures\.rs/ })
      .first()
      .waitFor();
    await page.locator('.place').filter({ hasText: 'Wrote tests/fixtures/users.sql' }).click();
    const past = page.getByRole('dialog', { name: 'As it was' });
    await past.getByRole('button', { name: /^Wrote tests\/fixtures\/users\.sql/ }).waitFor();
    assert.equal(await past.getByRole('button', { name: /^Edited/ }).count(), 0);
    await past.getByRole('button', { name: /fixtures\.rs/ }).click();
    await past.getByText('// /tests/support/fixtures.rs, as it was').waitFor();
    await past.getByRole('button', { name: 'Go back to here…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Go back' });
    await dialog.getByText('2 rows of the conversation would go.').waitFor();
    const go = dialog.getByRole('button', { name: 'Go back', exact: true });
    await dialog.getByText(/^'\/tests\/fixtures\/users\.sql' was changed since/).waitFor();
    assert.ok(await go.isDisabled(), 'what the core would refuse is not offered');
    await dialog.getByRole('button', { name: 'Take back the conversation alone' }).click();
    await go.click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'rewind'), [{ session: 's-fixtures', seq: 2, what: 'conversation' }]);
    const edited = page.getByRole('main').getByRole('button', { name: /^Edited/ });
    await edited.waitFor({ state: 'detached' });
    await page.locator('.note').getByRole('button', { name: 'Undo' }).click();
    await edited.waitFor();
    await done(page);
  });

  test('a conversation is summed up, its words are changed, and that is undone', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Move fixtures to SQLite/ }).click();
    await message(page).fill('/compact');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Summary of the conversation' });
    await dialog.getByText('Nothing is summed up yet').waitFor();
    await dialog.getByLabel('What the summary must mind').fill('the schema');
    await dialog.getByRole('button', { name: 'Sum up now' }).click();
    const words = dialog.getByLabel('What the model reads in its place');
    await words.waitFor();
    assert.ok((await words.inputValue()).includes('Minded as you asked: the schema.'));
    await words.fill('The fixtures are in SQLite now.');
    await dialog.getByRole('button', { name: 'Save the words' }).click();
    await dialog.getByText('edited').waitFor();
    await dialog.getByRole('button', { name: 'Undo the summary' }).click();
    await dialog.getByText('Nothing is summed up yet').waitFor();
    assert.deepEqual(await calls(page, 'compactSession'), [{ session: 's-fixtures', guidance: 'the schema' }]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await done(page);
  });

  test('nothing can go back while a turn waits', async () => {
    const page = await site.show({ tab: 'timeline' });
    await page.getByRole('button', { name: /^More for “Ran cargo test -p auth”/ }).press('Enter');
    const item = page.getByRole('menuitem', { name: 'Go back to here…' });
    await item.waitFor();
    assert.equal(await item.getAttribute('aria-disabled'), 'true');
    await page.keyboard.press('Escape');
    await page.locator('.place').filter({ hasText: 'Ran cargo test' }).click();
    const past = page.getByRole('dialog', { name: 'As it was' });
    assert.ok(await past.getByRole('button', { name: 'Go back to here…' }).isDisabled());
    await done(page);
  });

  test('a session that was deleted is brought back from the end of the list', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: 'More for “Windows path tests”' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Deleted (1)').click();
    await page.getByText('Kept for 30 days').waitFor();
    await button(page, 'Bring “Windows path tests” back').click();
    await page.getByRole('button', { name: /^Windows path tests/ }).waitFor();
    await button(page, 'Deleted (1)').waitFor({ state: 'detached' });
    await done(page);
  });

  test('the model of a new session is that of the sessions after it', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+n');
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('opus');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: claude-opus' }).waitFor();
    assert.equal((await calls(page, 'saveSettings')).at(-1).model.name, 'claude-opus');
    assert.deepEqual(await calls(page, 'setSessionModel'), []);
    await done(page);
  });

  test('a message is said differently in a session of its own', async () => {
    const page = await site.show();
    await page.getByRole('article', { name: 'You' }).hover();
    await button(page, 'Say it differently').click();
    await page.waitForFunction(() => document.querySelector('textarea')?.value.startsWith('After the laptop sleeps'));
    assert.equal((await calls(page, 'forkSession')).length, 1);
    assert.equal(await page.getByRole('article', { name: 'You' }).count(), 0);
    await done(page);
  });

  test('what stood with a message comes along when it is said differently', async () => {
    const page = await site.show({ recorded: 'attachments' });
    await page.getByRole('article', { name: 'You' }).hover();
    await button(page, 'Say it differently').click();
    await page.waitForFunction(() => document.querySelector('textarea')?.value.startsWith('Why is there a red dot'));
    await page.getByRole('list', { name: 'Attached' }).getByText('report.pdf').waitFor();
    await button(page, 'Take “report.pdf” away').click();
    await message(page).click();
    await page.keyboard.press('Enter');
    await page
      .getByRole('article', { name: 'You' })
      .getByRole('button', { name: /red-dot\.png/ })
      .waitFor();
    const [sent] = await calls(page, 'sendMessage');
    assert.deepEqual(
      sent.attachments.map(({ name }) => name),
      ['red-dot.png', 'console.log'],
    );
    assert.deepEqual(sent.mentions, [{ mention: 'path', path: '/src/auth/clock.rs' }]);
    await done(page);
  });

  test('something is said about a line of a change with the next message', async () => {
    const page = await site.show({ tab: 'changes' });
    await message(page).fill('Nice.');
    await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    await page.locator('.pick', { hasText: '10' }).click();
    assert.equal(await message(page).inputValue(), 'Nice.\n@CHANGELOG.md:10 ');
    await page.keyboard.type('says too little');
    assert.equal(await message(page).inputValue(), 'Nice.\n@CHANGELOG.md:10 says too little');
    await page.getByRole('button', { name: /^CHANGELOG\.md/ }).click();
    await page.keyboard.press(']');
    await page.keyboard.press('c');
    await page.waitForFunction(() => document.querySelector('textarea').value.endsWith('@CHANGELOG.md:7 '));
    await done(page);
  });

  test('files are attached by picking, pasting and dropping, and sent with what is named', async () => {
    const page = await site.show({ recorded: 'live' });
    const chips = page.getByRole('list', { name: 'Attached' }).last();
    await page.locator('.composer input[type=file]').setInputFiles([
      { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes') },
      { name: 'virus.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') },
    ]);
    await chips.getByText('notes.md').waitFor();
    await page.getByText('neither text nor a PNG').waitFor();
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
    await button(page, 'Take “pasted.png” away').click();
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

  test('a person is told before that the model cannot look at a picture', async () => {
    const page = await site.show({ recorded: 'empty' });
    const input = page.locator('.composer input[type=file]');
    await input.setInputFiles([{ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('x') }]);
    await page.getByRole('list', { name: 'Attached' }).getByText('a.png').waitFor();
    assert.equal(await page.getByText('is told the names alone').count(), 0);
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('hai');
    await page.keyboard.press('Enter');
    await page.getByText('This model cannot look at 1 of these files').waitFor();
    await message(page).click();
    await page.keyboard.press('Enter');
    await page
      .getByRole('article', { name: 'You' })
      .getByRole('button', { name: /a\.png/ })
      .waitFor();
    await done(page);
  });

  test('the size of the words is chosen and kept', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+,');
    await page.getByRole('tab', { name: 'Appearance' }).click();
    await page.getByText('125%').click();
    const size = () => page.evaluate(() => getComputedStyle(document.body).fontSize);
    assert.equal(await size(), '16.25px');
    await page.reload();
    await page.locator('main').first().waitFor();
    assert.equal(await size(), '16.25px');
    await done(page);
  });

  test('changes are undone, one file or all of them', async () => {
    const page = await site.show({ tab: 'changes' });
    await page.getByRole('button', { name: /^src\/auth\/clock\.rs/ }).click();
    await button(page, 'Undo the changes to src/auth/clock.rs').click();
    await page.getByRole('button', { name: /^src\/auth\/clock\.rs/ }).waitFor({ state: 'detached' });
    await button(page, 'Undo all').click();
    assert.deepEqual(await calls(page, 'undoChanges'), []);
    await button(page, 'Put 2 files back?').click();
    await page.getByText('1 file', { exact: true }).waitFor();
    await done(page);
  });

  test('words are found in what was said and done, newest first', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+f');
    await page.locator('.find input:focus').waitFor();
    await page.keyboard.type('EXPIRES_AT');
    await page.getByText('2 of 2').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('1 of 2').first().waitFor();
    await page.locator('.tool.found').getByText('pub expires_at: SystemTime').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.found').first().waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await done(page);
  });

  test('what waits in any session is answered in one place', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Windows path tests/ }).click();
    await page.getByRole('button', { name: /^Waiting for you/ }).click();
    const inbox = page.getByRole('dialog', { name: 'Waiting for you' });
    const card = inbox.getByRole('dialog', { name: 'Approval: Run cargo test -p backon --no-run' });
    await card.waitFor();
    await page.waitForTimeout(400);
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.waitFor({ state: 'detached' });
    assert.equal((await calls(page, 'decide'))[0][0].session, 's-backon');
    await inbox.getByRole('button', { name: 'Open the session' }).click();
    await page.getByRole('heading', { level: 1, name: 'Token refresh fails after sleep' }).waitFor();
    await done(page);
  });

  test('Escape shuts every dialog, wherever the focus is, and stops nothing', async () => {
    const page = await site.show({ recorded: 'hostile' });
    for (const [name, ask] of Object.entries(DIALOGS)) {
      await ask(page);
      const dialog = page.locator('.dialog');
      await dialog.waitFor();
      // A press on what cannot hold the focus takes it out of the dialog.
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      assert.deepEqual(await calls(page, 'stopTurn'), [], `${name} took the key`);
    }
    await done(page);
  });

  test('where the data cannot be used, the start can be tried again', async () => {
    const page = await site.show({ recorded: 'locked' });
    await page.getByText('is locked by another program').waitFor();
    await button(page, 'Try again').click();
    await page.getByRole('heading', { level: 1, name: 'Token refresh fails after sleep' }).waitFor();
    await done(page);
  });

  test('a header of one’s own is added to a provider and taken away', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+,');
    // The servers of this machine come later, and stand before the others.
    await page.locator('.settings article', { hasText: 'qwen3:8b' }).waitFor();
    const card = page.locator('.settings article', { has: page.locator('.head') }).first();
    await card.locator('.head').click();
    await card.getByText('Headers of your own').click();
    assert.equal(await button(card, 'Add header').isDisabled(), true);
    await card.getByLabel('Name', { exact: true }).fill('X-Team');
    await card.getByLabel('Value', { exact: true }).fill('platform');
    await card.getByLabel('Value', { exact: true }).press('Enter');
    await button(card, 'Remove the header X-Team').click();
    await card.locator('li').waitFor({ state: 'detached' });
    assert.deepEqual(
      (await calls(page, 'setProviderHeader')).map(({ name }) => name),
      ['X-Team', 'X-Team'],
    );
    await done(page);
  });

  test('Escape stops the turn', async () => {
    const page = await site.show();
    await page.keyboard.press('Escape');
    await page.waitForTimeout(100);
    assert.deepEqual(await calls(page, 'stopTurn'), ['s-refresh']);
    await done(page);
  });

  test('language and theme change at once and are kept', async () => {
    const page = await site.show({ theme: 'light' });
    await page.keyboard.press('Control+,');
    await page.getByRole('tab', { name: 'Appearance' }).click();
    await page.getByText('简体中文').click();
    await page.getByRole('heading', { name: '设置' }).waitFor();
    await page.getByText('深色', { exact: true }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN');
    const kept = await calls(page, 'saveSettings');
    assert.deepEqual([kept.at(-1).theme, kept.at(-1).language], ['dark', 'zh-CN']);
    await done(page);
  });

  test('the first steps can be walked by keyboard, and a notice goes when a key arrives', async () => {
    const page = await site.show({ recorded: 'nokey' });
    await page.getByText('Choose a model first').waitFor();
    await button(page, 'Add a key or a server…').click();
    await page.getByRole('button', { name: /^OpenAI/ }).click();
    await page.getByLabel('OpenAI: Key').fill('sk-secret');
    await page.keyboard.press('Enter');
    await page.getByText('key in the keyring').waitFor();
    await button(page, 'Test call').click();
    await page.getByText('Works: answered in 640 ms').waitFor();
    await page.keyboard.press('Escape');
    // What the test call asked is the model of new sessions.
    await page.getByRole('button', { name: /^Model: / }).waitFor();
    assert.equal(await page.getByText('Choose a model first').count(), 0);
    assert.ok(!(await page.content()).includes('sk-secret'), 'a key never stays in the page');
    await done(page);
  });

  test('the first run leads to work, each step passable', async () => {
    const page = await site.show({ recorded: 'welcome' });
    await button(page, 'Continue').click();
    await page.getByText('A key was found: Anthropic (key from ANTHROPIC_API_KEY)').waitFor();
    await button(page, 'Skip').click();
    await button(page, 'Choose a folder…').click();
    await page.getByText('~/picked').waitFor();
    await button(page, 'Start working').click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal((await calls(page, 'saveSettings')).at(-1).welcomed, true);
    await done(page);
  });

  test('a model is found by typing, or named where it is not listed', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('option', { name: /claude-opus/ }).waitFor();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('hai');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(100);
    await page.getByRole('button', { name: 'Model: claude-haiku' }).click();
    await page.locator('.picker input:focus').waitFor();
    await page.keyboard.type('claude-next');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: claude-next' }).waitFor();
    assert.deepEqual(
      (await calls(page, 'setSessionModel')).map((model) => model.name),
      ['claude-haiku', 'claude-next'],
    );
    await done(page);
  });

  test('panes become a drawer and then icons as the window narrows', async () => {
    const page = await site.show({}, { width: 860, height: 700 });
    assert.equal(await page.getByRole('tab', { name: /Plan/ }).count(), 0);
    await button(page, 'Show the side pane').click();
    await page.getByRole('tab', { name: /Plan/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: /Plan/ }).waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 660, height: 700 });
    await button(page, 'Show sessions').click();
    await page.getByRole('navigation', { name: 'Sessions' }).waitFor();
    assert.deepEqual(await calls(page, 'stopTurn'), []);
    await done(page);
  });

  test('widths are moved with the keys and remembered per project', async () => {
    const page = await site.show();
    const line = page.getByRole('separator', { name: 'Resize the session list' });
    await line.focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await line.getAttribute('aria-valuenow'), '264');
    await page.reload();
    await page.waitForTimeout(400);
    assert.equal(await line.getAttribute('aria-valuenow'), '264');
    await done(page);
  });

  test('a failed turn shows the provider’s words and the ways out', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Windows path tests/ }).click();
    await page.getByText('overloaded_error: Overloaded.').waitFor();
    await button(page, 'Switch model').click();
    await page.getByRole('option', { name: /claude-opus/ }).waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Try again').click();
    await page.waitForTimeout(100);
    assert.deepEqual(await calls(page, 'continueTurn'), ['s-paths']);
    await done(page);
  });

  test('motion is reduced where the system asks for it', async () => {
    const page = await site.show({ recorded: 'empty' }, { reducedMotion: 'reduce' });
    await page.keyboard.type('go');
    await page.keyboard.press('Enter');
    const pulse = page.locator('.pulse');
    await page.getByRole('article', { name: 'You' }).waitFor();
    const duration = (await pulse.count())
      ? await pulse.evaluate((dot) => getComputedStyle(dot).animationDuration)
      : '1e-05s';
    assert.equal(duration, '1e-05s');
    await done(page);
  });
});
