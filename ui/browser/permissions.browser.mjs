/** Answers that hold for later, and the settings around them, in a page under the window's own policy. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { calls, done, message } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

async function settings(page, name) {
  await page.keyboard.press('Control+,');
  await page.getByRole('tab', { name }).click();
}

describe('permissions', () => {
  test('an approval makes a rule that was tried before, and the rule can be taken back', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: 'Next request' }).click();
    await page.getByRole('button', { name: 'just this once' }).click();
    await page.getByText('This session', { exact: true }).click();
    const pattern = page.getByRole('textbox', { name: 'Commands that pass' });
    await pattern.fill('cargo build *');
    await page.getByText('This does not cover the call above.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Approve/ }).isDisabled(), true);
    // The line says how long it holds as it was chosen, once and again.
    const line = page.locator('button.scope');
    const stands = async () => [await line.innerText(), await line.getAttribute('aria-expanded')];
    assert.deepEqual(await stands(), ['This session', 'true']);
    await page.getByText('Once', { exact: true }).click();
    assert.deepEqual(await stands(), ['just this once', 'true']);
    await page.getByText('This session', { exact: true }).click();
    await line.click();
    assert.deepEqual(await stands(), ['just this once', 'false']);
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await line.click();
    await page.getByText('This session', { exact: true }).click();
    await pattern.fill('cargo test *');
    await page.getByText('Would have answered 12 of 40 past requests.').waitFor();
    await page.waitForTimeout(400);
    await page.getByRole('button', { name: 'Approve and let pass' }).click();
    await page.getByRole('dialog', { name: /^Approval: Edit/ }).waitFor();
    const [made] = await calls(page, 'approveAlways');
    assert.deepEqual(
      [made.drafts.map(({ scope, pattern }) => [scope, pattern]), made.decisions.map(({ decision }) => decision)],
      [[['session', 'cargo test *']], [{ decision: 'approve' }]],
    );
    await settings(page, 'Permissions');
    await page.getByRole('button', { name: 'Remove the rule “cargo test *”' }).first().click();
    assert.equal((await calls(page, 'removeRule')).length, 1);
    await done(page);
  });

  test('answers of one sheet each hold as long as chosen', async () => {
    const page = await site.show();
    await page.locator('.answers input').check();
    const chosen = page.locator('section.sheet .badge');
    const approve = async (count) => {
      while ((await chosen.count()) < count) {
        await page
          .locator('.answers .btn')
          .first()
          .click({ timeout: 1000 })
          .catch(() => undefined);
      }
    };
    await approve(1);
    await page.getByRole('button', { name: 'just this once' }).click();
    await page.getByText('This project', { exact: true }).click();
    await page.getByText('Would have answered 12 of 40 past requests.').waitFor();
    await approve(2);
    await page.getByText('will be approved · This project').waitFor();
    await page.getByRole('button', { name: 'Send 2 answers' }).click();
    await page.locator('section.sheet').waitFor({ state: 'detached' });
    const [made] = await calls(page, 'approveAlways');
    assert.deepEqual(
      [made.decisions.map(({ decision }) => decision.decision), made.drafts.map(({ scope }) => scope)],
      [['approve', 'approve'], ['project']],
    );
    await done(page);
  });

  test('Shift+Tab leads from the message to the card, whose keys hold beside a box that is ticked', async () => {
    const page = await site.show();
    await message(page).focus();
    await page.keyboard.press('Shift+Tab');
    const card = page.getByRole('dialog', { name: /^Approval/ });
    assert.ok(await card.evaluate((it) => it === document.activeElement));
    // A key that comes at once was meant for what was there before.
    await page.waitForTimeout(400);
    await page.keyboard.press('n');
    await card.getByRole('textbox').waitFor();
    await card.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.answers input').focus();
    await page.keyboard.press('r');
    await card.getByRole('textbox').waitFor();
    await card.getByRole('button', { name: 'Cancel' }).click();
    // Once each has its answer there is no card, and the sheet is what waits.
    await page.locator('.answers input').check();
    for (const chosen of [1, 2]) {
      await page.waitForTimeout(400);
      await page.keyboard.press('n');
      await card.getByRole('textbox').press('Control+Enter');
      await page
        .locator('section.sheet .badge')
        .nth(chosen - 1)
        .waitFor();
    }
    await message(page).focus();
    await page.keyboard.press('Shift+Tab');
    assert.ok(await page.locator('section.sheet').evaluate((it) => it === document.activeElement));
    await done(page);
  });

  test('Shift+Tab goes through the modes, and a project keeps one', async () => {
    const page = await site.show({ recorded: 'empty' });
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.press('Shift+Tab');
    await page.getByRole('button', { name: 'Approval mode: Edit freely in the project' }).waitFor();
    await page.keyboard.type('Tidy up');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Tidy up' }).waitFor();
    assert.deepEqual(
      (await calls(page, 'setSessionMode')).map((one) => one.mode),
      ['edits'],
    );
    await settings(page, 'Permissions');
    await page.getByRole('combobox').first().selectOption('plan_only');
    assert.deepEqual(
      (await calls(page, 'setProjectMode')).map((one) => one.mode),
      ['plan_only'],
    );
    await done(page);
  });

  test('commands of a project run in the sandbox from the settings on, and the message box says so', async () => {
    const page = await site.show();
    await page.getByText('Sandbox: off, asks').waitFor();
    await settings(page, 'Sandbox');
    await page.getByText('With your rights', { exact: true }).waitFor();
    const project = page.getByRole('checkbox', { name: 'harbour-env' });
    assert.equal(await project.isChecked(), false);
    await project.check();
    await page.getByText('In the sandbox', { exact: true }).waitFor();
    await page.getByText('Commands have none').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Sandbox: on', { exact: true }).waitFor();
    assert.deepEqual(
      (await calls(page, 'setCommandPlace')).map((one) => one.place),
      ['sandbox'],
    );
    await done(page);
  });

  test('keys are given to other commands, but never the same to two', async () => {
    const page = await site.show();
    await settings(page, 'Shortcuts');
    await page.getByRole('button', { name: 'Change the shortcut for “Everything waiting for you”' }).click();
    await page.keyboard.press('Control+n');
    await page.getByText('is taken by “New session”').waitFor();
    await page.keyboard.press('Control+i');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+i');
    await page.getByRole('dialog', { name: 'Waiting for you' }).waitFor();
    const saved = await calls(page, 'saveSettings');
    assert.deepEqual(saved.at(-1).shortcuts, { inbox: 'i' });
    await done(page);
  });

  test('the text is checked before it is kept, and a changed tool is looked at', async () => {
    const page = await site.show();
    await settings(page, 'Folders and limits');
    const text = page.getByRole('textbox', { name: 'Servers, hooks and folders as TOML' });
    await text.fill('[mcp.new]\ncommand = ""\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('name a program').waitFor();
    await text.fill('[mcp.new]\ncommand = "x"\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. New sessions have it.').waitFor();
    await page.getByRole('tab', { name: 'Servers (MCP)' }).click();
    await page.getByRole('button', { name: 'Accept it as shown' }).click();
    await page.getByRole('button', { name: 'Accept it as shown' }).waitFor({ state: 'detached' });
    await done(page);
  });

  test('a server is added by its form, checked, switched off, removed and had back', async () => {
    const page = await site.show();
    await settings(page, 'Servers (MCP)');
    await page.getByRole('button', { name: 'Check search now' }).click();
    await page.getByText('Could not be started: No such file or directory').first().waitFor();
    await page.getByRole('button', { name: 'Add server' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('git hub');
    await page.getByText('Address (HTTP)', { exact: true }).click();
    const url = page.getByRole('textbox', { name: 'URL' });
    await url.fill('http://mcp.example.com');
    await page.keyboard.press('Enter');
    await page.getByText('a name starts with a letter or digit').waitFor();
    const name = page.getByRole('textbox', { name: 'Name' });
    assert.equal(
      await name.evaluate((field) => field === document.activeElement),
      true,
      'the wrong field is left alone',
    );
    await name.fill('github');
    await page.keyboard.press('Enter');
    await page.getByText('to another machine, only https is safe').waitFor();
    await url.fill('https://mcp.example.com');
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.keyboard.type('Authorization');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Bearer abc');
    await page.keyboard.press('Enter');
    await page.getByText('https://mcp.example.com', { exact: true }).waitFor();
    const value = { name: 'Authorization', value: 'Bearer abc', in_database: false };
    assert.deepEqual((await calls(page, 'changeAdditions')).at(-1).server, {
      name: 'github',
      enabled: true,
      reach: { reach: 'address', url: 'https://mcp.example.com', headers: [value] },
    });

    await page.getByRole('checkbox', { name: 'Use: github' }).click();
    await page.getByRole('button', { name: 'Check github now', disabled: true }).waitFor();
    await page.getByRole('button', { name: 'Edit github' }).click();
    await page.getByPlaceholder('in the keyring').waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Edit github' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Edit github' }).waitFor();
    await done(page);
  });

  test('the value of a variable goes in and does not come out again', async () => {
    const page = await site.show();
    await settings(page, 'Servers (MCP)');
    await page.getByRole('button', { name: 'Edit docs' }).click();
    await page.getByPlaceholder('in the keyring').waitFor();
    await page.getByRole('button', { name: 'Add variable' }).click();
    await page.keyboard.type('LEVEL');
    await page.keyboard.press('Tab');
    await page.keyboard.type('quiet');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit docs' }).waitFor();
    const { reach } = (await calls(page, 'changeAdditions')).at(-1).server;
    assert.deepEqual(reach.env, [
      { name: 'DOCS_TOKEN', value: null, in_database: false },
      { name: 'LEVEL', value: 'quiet', in_database: false },
    ]);
    await page.getByRole('button', { name: 'Edit docs' }).click();
    const values = page.getByPlaceholder('in the keyring');
    assert.equal(await values.count(), 2);
    for (const value of await values.all())
      assert.deepEqual([await value.inputValue(), await value.getAttribute('type')], ['', 'password']);
    await done(page);
  });

  test('a hook is added by its form under the point where it runs', async () => {
    const page = await site.show();
    await settings(page, 'Hooks');
    await page.getByRole('button', { name: 'Add hook' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('bell');
    await page.getByRole('textbox', { name: 'Time limit in seconds' }).fill('soon');
    await page.getByRole('textbox', { name: 'Command' }).fill('say');
    await page.getByRole('textbox', { name: 'Arguments' }).fill('all done\n--loud');
    await page.getByRole('textbox', { name: 'Tools' }).waitFor();
    await page.getByRole('combobox', { name: 'When' }).selectOption({ label: 'When a turn ends' });
    await page.getByRole('textbox', { name: 'Tools' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('use 1 to 600').waitFor();
    await page.getByRole('textbox', { name: 'Time limit in seconds' }).fill('20');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'When a turn ends' }).waitFor();
    assert.deepEqual((await calls(page, 'changeAdditions')).at(-1), {
      change: 'hook',
      was: null,
      hook: {
        name: 'bell',
        enabled: true,
        point: 'turn_end',
        tools: [],
        command: 'say',
        args: ['all done', '--loud'],
        env: [],
        timeout: 20,
        on_failure: null,
      },
    });
    await page.getByRole('checkbox', { name: 'Use: bell' }).click();
    await page.getByRole('listitem').filter({ hasText: 'bell' }).getByText('off', { exact: true }).waitFor();
    await done(page);
  });

  test('a folder beside the project is written down from a template, and one that cannot be is refused', async () => {
    const page = await site.show();
    await settings(page, 'Folders and limits');
    const text = page.getByRole('textbox', { name: 'Servers, hooks and folders as TOML' });
    await text.fill('');
    await page.getByRole('button', { name: 'A folder beside the project' }).click();
    assert.match(await text.inputValue(), /^\[\[routes\]\]\nprefix = "\/handbook"\nkind = "folder"/);
    await text.fill('[[routes]]\nprefix = "/handbook"\nkind = "folder"\nfolder = "handbook"\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must be an absolute path on this machine, not "handbook"').waitFor();
    await text.fill('[[routes]]\nprefix = "/handbook"\nkind = "folder"\nfolder = "/home/me/handbook"\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. New sessions have it.').waitFor();
    await done(page);
  });

  test('a person sees whose page it is, signs in at a server, and signs out again', async () => {
    const page = await site.show();
    await settings(page, 'Servers (MCP)');
    await page.getByRole('button', { name: 'Sign in to calendar' }).click();
    await page.getByText('accounts.calendar.example').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Sign in to calendar' }).click();
    assert.deepEqual(await calls(page, 'openLink'), [], 'nothing is opened before the person said so');
    await page.getByRole('button', { name: 'Open in the browser' }).click();
    await page.getByText('ready, 6 tools').waitFor();
    assert.deepEqual(await calls(page, 'openLink'), ['https://accounts.calendar.example/authorize?state=1']);
    await page.getByRole('button', { name: 'Sign out of calendar' }).click();
    await page.getByRole('button', { name: 'Sign in to calendar' }).waitFor();
    await done(page);
  });

  test('the diagnostics are read before they are written', async () => {
    const page = await site.show();
    await settings(page, 'Data and privacy');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('region', { name: 'Preview of the diagnostics' }).getByText('key in the keyring').waitFor();
    await page.getByRole('button', { name: 'Write it as a file…' }).click();
    await page.getByText('Written to ~/bosun-diagnostics.txt').waitFor();
    await done(page);
  });
});
