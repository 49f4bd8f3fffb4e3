/** What a person sets about models, and what the calls cost, in a page under the window's own policy. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { calls, done } from './page.mjs';
import { open, rest } from './site.mjs';

let site;
before(async () => (site = await open()));
after(() => site?.close());

async function settings(page) {
  await page.keyboard.press('Control+,');
  await page.locator('.settings [role=tab]').first().click();
}

describe('models', () => {
  test('the menu says where requests go, what models cost, and how much they think', async () => {
    const page = await site.show();
    await page.getByRole('button', { name: /^Model: claude-sonnet. Requests go to api.anthropic.com/ }).click();
    await page.getByRole('option', { name: /claude-opus.*200k context · \$3.00 \/ \$15.00/ }).waitFor();
    await page.getByRole('group', { name: 'Thinking' }).getByText('High').click();
    await page.getByRole('radio', { name: 'High' }).and(page.locator(':checked')).waitFor({ state: 'attached' });
    const chosen = await calls(page, 'setSessionEffort');
    assert.deepEqual(
      chosen.map(({ effort }) => effort),
      ['high'],
    );
    await done(page);
  });

  test('a model on this machine is one click away in the first steps', async () => {
    const page = await site.show({ recorded: 'welcome' });
    await page.locator('footer .primary').click();
    await page.getByRole('button', { name: 'Use qwen3:8b at Ollama' }).click();
    await page.getByText('In use').waitFor();
    const [saved] = await calls(page, 'saveSettings');
    assert.deepEqual(saved.model, { provider: 'ollama', name: 'qwen3:8b' });
    await done(page);
  });

  test('a budget is kept, and one that cannot be meant goes back', async () => {
    const page = await site.show();
    await settings(page);
    const stop = page.getByLabel('One session: Stop at');
    await stop.fill('5');
    await stop.press('Tab');
    await rest(page);
    await stop.fill('-1');
    await stop.press('Tab');
    await page.getByText('a budget must be a number of US dollars above 0').waitFor();
    assert.equal(await stop.inputValue(), '5');
    const kept = await calls(page, 'saveModelSettings');
    assert.equal(kept[0].budgets.session.stop, 5);
    await done(page);
  });

  test('what calls cost is shown by session and by day, what is not known is said', async () => {
    const page = await site.show();
    await settings(page);
    const table = page.getByRole('table', { name: 'Usage and cost' });
    await table.getByRole('row', { name: /^This session 30 232k – 17.4k \$0.53/ }).waitFor();
    await page.getByText('Last 30 days').click();
    await table
      .getByRole('row', { name: /ollama:qwen3:8b .* price unknown/ })
      .first()
      .waitFor();
    await done(page);
  });
});
