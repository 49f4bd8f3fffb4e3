/** Memories, skills, subagents and trust, as a person uses them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { calls, done } from './page.mjs';
import { open } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

/** What the page asked of its host that changes something. */
const button = (page, name) => page.getByRole('button', { name, exact: true });

describe('knowledge', () => {
  test('a memory is found, changed, deleted and brought back', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Memories/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Memories' });
    await dialog.getByRole('textbox', { name: 'Text of /memories/AGENTS.md' }).waitFor();
    await dialog.getByRole('searchbox').fill('british');
    await dialog.getByRole('button', { name: /How I like to work/ }).click();
    const text = dialog.getByRole('textbox', { name: 'Text of /memories/AGENTS.md' });
    await text.fill('- Long answers.');
    await button(dialog, 'Save').click();
    await dialog.getByText('Earlier versions').click();
    await button(dialog, 'Show').click();
    await dialog.locator('.diff .removed').getByText('Short answers, no praise').waitFor();
    await button(dialog, 'Full text').click();
    await dialog.locator('pre').getByText('Short answers, no praise').waitFor();
    await button(dialog, 'Delete').click();
    await dialog.getByText('Choose something on the left.').waitFor();
    await dialog.getByRole('searchbox').fill('');
    await button(dialog, 'Bring back').click();
    await text.waitFor();
    assert.equal(await text.inputValue(), '- Long answers.');
    assert.deepEqual((await calls(page, 'saveMemory')).length, 1);
    await done(page);
  });

  test('memories go in and out of the place that is said', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Memories/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Memories' });
    await button(dialog, 'Import folder…').click();
    await page.getByRole('menuitem', { name: 'into this project' }).click();
    await page.getByText('1 new file, 0 replaced').waitFor();
    await button(dialog, 'Export…').click();
    await page.getByRole('menuitem', { name: 'yours' }).click();
    await page.getByText('Written to ~/bosun-memories').waitFor();
    assert.deepEqual(
      [...(await calls(page, 'importMemories')), ...(await calls(page, 'exportMemories'))].map(({ scope }) => scope),
      ['project', 'user'],
    );
    await done(page);
  });

  test('a skill is made, switched off, and pinned', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Skills/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Skills' });
    await dialog.getByRole('checkbox', { name: 'Offer it to the model' }).uncheck();
    await dialog.getByText('You switched it off').waitFor();
    await button(dialog, 'New skill').click();
    await dialog.getByLabel('Name').fill('tidy-up');
    await dialog.getByLabel('When should it be used?').fill('When a folder is a mess.');
    await button(dialog, 'Create').click();
    await dialog.getByRole('heading', { name: 'tidy-up' }).waitFor();
    await dialog.getByRole('checkbox', { name: 'Always in the prompt' }).check();
    assert.deepEqual(
      (await calls(page, 'switchSkill')).map(({ skill, off }) => [skill.folder, off]),
      [['release-notes', true]],
    );
    assert.deepEqual(
      (await calls(page, 'pinSkill')).map(({ skill, pinned }) => [skill.folder, pinned]),
      [['tidy-up', true]],
    );
    await done(page);
  });

  test('a file is put beside a skill, taken away and brought back', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Skills/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Skills' });
    await button(dialog, 'New file').click();
    await dialog.getByLabel('Path of the new file').fill('notes/style.md');
    await button(dialog, 'Create').click();
    await dialog.getByLabel('Text of notes/style.md').waitFor();
    await button(dialog, 'Delete notes/style.md').click();
    await dialog.getByLabel('Text of SKILL.md').waitFor();
    await button(page, 'Undo').click();
    await dialog.getByRole('button', { name: /^notes\/style.md/ }).waitFor();
    assert.equal((await calls(page, 'deleteSkillFile'))[0].path, 'notes/style.md');
    await done(page);
  });

  test('what a folder brings is looked at before it is trusted', async () => {
    const page = await site.show({ recorded: 'brings' });
    await page.getByText('None of it is used until you have reviewed it.').waitFor();
    await button(page, 'Review').click();
    const dialog = page.getByRole('dialog', { name: 'What this folder brings' });
    await dialog.locator('.diff').getByText('push the result').waitFor();
    await button(dialog, 'Not now').click();
    // None is trusted that nobody looked at: with the arrows, or from one to the next.
    const all = dialog.getByRole('button', { name: /^Trust everything/ });
    await dialog.getByText('Seen 1 of 3').waitFor();
    assert.ok(await all.isDisabled());
    await button(dialog, 'Next').click();
    await dialog.getByText('Seen 2 of 3').waitFor();
    assert.ok(await all.isDisabled());
    await dialog.getByRole('button', { name: /^scout/ }).focus();
    await page.keyboard.press('ArrowDown');
    await dialog.getByText('format: ./format.sh').waitFor();
    await dialog.getByText('Seen 3 of 3').waitFor();
    assert.equal(await button(dialog, 'Next').count(), 0);
    await all.click();
    await dialog.getByRole('button', { name: /^Trust everything/ }).waitFor({ state: 'detached' });
    const decided = await calls(page, 'decideTrust');
    assert.deepEqual(
      decided.map(({ files, verdict }) => [verdict, files.map(({ path }) => path)]),
      [
        ['not_now', ['/AGENTS.md']],
        ['trust', ['/.bosun/skills/release/SKILL.md', '/.bosun/agents/scout.md', '/.bosun/config.toml']],
      ],
    );
    await page.keyboard.press('Escape');
    await page.getByText('None of it is used until you have reviewed it.').waitFor({ state: 'detached' });
    await done(page);
  });

  test('what a folder brings is seen when its end was in sight', async () => {
    const page = await site.show({ recorded: 'brings' }, { width: 1024, height: 320 });
    await button(page, 'Review').click();
    const dialog = page.getByRole('dialog', { name: 'What this folder brings' });
    await dialog.getByRole('button', { name: /config.toml/ }).click();
    await dialog.getByText('format: ./format.sh').waitFor();
    const one = button(dialog, 'Trust this');
    assert.ok(await one.isDisabled());
    while (await one.isDisabled()) await button(dialog, 'Read on').click();
    await one.click();
    await page.waitForFunction(() => window.recordedHost.calls.some(({ name }) => name === 'decideTrust'));
    assert.deepEqual(
      (await calls(page, 'decideTrust'))[0].files.map(({ path }) => path),
      ['/.bosun/config.toml'],
    );
    await done(page);
  });

  test('a subagent is changed by its form', async () => {
    const page = await site.show();
    await page.keyboard.press('Control+,');
    await page.getByRole('tab', { name: 'Subagents' }).click();
    await button(page, 'Edit').click();
    await page.getByLabel('When should it be sent?').fill('To find tests.');
    await button(page, 'Add a rule').click();
    await page.getByLabel('What the rule says').last().selectOption({ label: 'Ask' });
    await page.getByLabel('What the rule is about').last().selectOption({ label: 'changing' });
    await page.getByLabel('Paths of the rule').last().fill('/docs/{a,b}/**, /CHANGELOG');
    await button(page, 'Add a rule').click();
    await button(page, 'Save').click();
    await page.getByText('To find tests.').waitFor();
    const [saved] = await calls(page, 'saveSubagent');
    assert.deepEqual([saved.name, saved.content.form.tools], ['test-scout', ['read_file', 'grep', 'glob']]);
    assert.deepEqual(saved.content.form.permissions, [
      { mode: 'deny', operations: ['read', 'write'], paths: ['/secrets/**', '/**/*.pem'] },
      { mode: 'interrupt', operations: ['write'], paths: ['/docs/{a,b}/**', '/CHANGELOG'] },
    ]);
    await button(page, 'Edit').click();
    await button(page, 'Remove this rule').first().click();
    await button(page, 'Save').click();
    const changes = await calls(page, 'saveSubagent');
    assert.equal(changes[1].content.form.permissions.length, 1);
    await done(page);
  });
});
