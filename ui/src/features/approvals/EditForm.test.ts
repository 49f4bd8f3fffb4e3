import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { approval } from '../../ipc/recorded/builders';
import { i18n } from '../../shared/i18n/i18n.svelte';
import EditForm from './EditForm.svelte';

const SCHEMA = {
  type: 'object',
  properties: {
    branch: { type: 'string', pattern: '^[a-z-]+$' },
    count: { type: 'integer', multipleOf: 5 },
    labels: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
    version: { const: 2 },
    slow: { type: 'string', pattern: '^(a+)+$' },
  },
};
const ARGS = { branch: 'main', count: 5, labels: ['a'], version: 2, slow: 'aa' };

function open() {
  const onRun = vi.fn();
  const request = { ...approval('mcp__hub__open', ARGS), schema: SCHEMA };
  const given = { approval: request, isSending: false, begun: null, onEdits: vi.fn(), onCancel: vi.fn(), onRun };
  render(EditForm, given);
  return { onRun, run: () => screen.getByRole('button', { name: /Run as edited|按修改运行/ }) };
}

const put = (name: RegExp, value: string) => fireEvent.input(screen.getByLabelText(name), { target: { value } });

afterEach(() => i18n.use('en', 'en'));

describe('the form for other arguments', () => {
  it.each([
    [/^branch/, 'Main', 'feature', 'branch: does not match the pattern ^[a-z-]+$'],
    [/^count/, '7', '10', 'count: should be a multiple of 5'],
    [/^labels/, '[]', '["b"]', 'labels: the number of entries should be ≥ 1'],
    [/^labels/, '["a","a"]', '["b"]', 'labels: has the same entry twice'],
    [/^labels/, '[1]', '["b"]', 'labels[0]: should be text'],
    [/^version/, '3', '2', 'version: can only be 2'],
  ] as const)('says at the field what is wrong in it: %s %s', async (name, bad, good, problem) => {
    const { run } = open();
    await put(name, bad);
    const field = screen.getByLabelText(name);
    expect(field.getAttribute('aria-invalid')).toBe('true');
    const about = field.getAttribute('aria-describedby')?.split(' ') ?? [];
    expect(about.map((id) => document.getElementById(id)?.textContent?.trim())).toContain(problem);
    expect(run()).toHaveProperty('disabled', true);
    await put(name, good);
    expect(screen.queryByText(problem)).toBeNull();
    expect(field.getAttribute('aria-invalid')).toBe('false');
  });

  it('leaves a pattern that may take for ever to the tool, and says so', async () => {
    const { run, onRun } = open();
    await put(/^slow/, `${'a'.repeat(50)}!`);
    expect(screen.getByText(/^slow: the pattern/).textContent).toContain('The tool may refuse the call.');
    await userEvent.click(run());
    expect(onRun).toHaveBeenCalledTimes(1);
  });

  it('checks what is written as JSON by the same rules, in the language of the window', async () => {
    i18n.use('zh-CN', 'en');
    const { run } = open();
    await userEvent.click(screen.getByRole('tab', { name: 'JSON' }));
    const json = screen.getByRole('textbox', { name: 'JSON' });
    await fireEvent.input(json, {
      target: { value: JSON.stringify({ ...ARGS, branch: 'M', count: '1', labels: [] }) },
    });
    for (const problem of ['branch：与模式 ^[a-z-]+$ 不符', 'count：应为整数', 'labels：条目数应为 ≥ 1']) {
      expect(screen.getByText(problem)).toBeTruthy();
    }
    expect(run()).toHaveProperty('disabled', true);
  });
});
