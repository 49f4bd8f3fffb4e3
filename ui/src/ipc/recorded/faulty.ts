/** A session in which things are not as the page takes them to be, so that drawing them throws. */
import type { Snapshot } from '../bindings';
import { ago, ai, approval, human, snapshot, summary, tool } from './builders';

export function faulty(): Snapshot {
  const nothing = null as never;
  const items = [
    human('What does the clock of the harbour show?', ago(8)),
    human('And this is a message that cannot be drawn.', ago(7), nothing),
    ai('I look at the clock and at the tests around it.'),
    tool('read_file', { file_path: '/src/clock.rs' }, { figures: [{ figure: 'lines', value: 118 }] }),
    tool('grep', { pattern: 'now', path: '/src' }, { state: 'failed', figures: nothing }),
    tool('read_file', { file_path: '/tests/clock.rs' }, { figures: [{ figure: 'lines', value: 42 }] }),
    ai('The clock shows the time of the machine. It is asked for **once a tick**.'),
  ];
  const asked = { session: 's-faulty', reach: nothing };
  return snapshot(summary('s-faulty', { title: 'The clock of the harbour', status: 'waiting', waiting: 1 }), {
    items,
    todos: [
      { id: 't1', content: 'Find what the clock shows', status: 'in_progress' },
      { id: 't2', content: 'Look at the clock', status: 'completed' },
    ],
    evidence: [nothing],
    approvals: [approval('edit_file', { file_path: '/src/clock.rs' }, asked)],
  });
}
