import { describe, expect, it } from 'vitest';
import { ago, summary } from '../../ipc/recorded/builders';
import { archived, sections } from './sections';

const DAY = 24 * 60;
const all = [
  summary('old', { updated_at: ago(3 * DAY) }),
  summary('new', { updated_at: ago(1) }),
  summary('pinned', { updated_at: ago(9 * DAY), pinned: true }),
  summary('kept', { updated_at: ago(8 * DAY), archived: true }),
  summary('busy', { status: 'running', archived: true }),
  summary('asks', { status: 'waiting', project: 'p-site' }),
  summary('other', { project: 'p-site' }),
  summary('child', { parent: 'new' }),
];

describe('the list of sessions', () => {
  it('has what needs a person first, from every project, and no archived ones but those at work', () => {
    expect(sections(all, 'p-harbour').map((section) => [section.kind, section.lines.map(({ id }) => id)])).toEqual([
      ['waiting', ['asks']],
      ['running', ['busy']],
      ['pinned', ['pinned']],
      ['day', ['new']],
      ['day', ['old']],
    ]);
  });

  it('keeps the archived ones apart', () => {
    expect(archived(all, 'p-harbour').map(({ id }) => id)).toEqual(['kept']);
  });
});
