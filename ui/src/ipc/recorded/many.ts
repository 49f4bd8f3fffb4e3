/** The sessions of somebody who has worked for years, in two projects. */
import type { Snapshot } from '../bindings';
import { ago, snapshot, summary } from './builders';

const DAY = 24 * 60;
/** So many of a day, as it is in a year with 5,000. */
const A_DAY = 14;
const VERBS = ['Fix', 'Move', 'Explain', 'Review', 'Rename', 'Speed up'];
const THINGS = ['the parser', 'token refresh', 'fixtures', 'the release notes', 'retries', '页面布局'];

/** Every fourth is of the other project; some are pinned, and many are in the archive. */
export function many(count: number): Snapshot[] {
  return Array.from({ length: count }, (_, nth) => {
    const age = 1 + nth * (DAY / A_DAY);
    return snapshot(
      summary(`s-${nth}`, {
        project: nth % 4 === 3 ? 'p-site' : 'p-harbour',
        title: `${VERBS[nth % VERBS.length]} ${THINGS[(nth * 7) % THINGS.length]} ${nth}`,
        created_at: ago(age + 9),
        updated_at: ago(age),
        pinned: nth % 1000 === 500,
        archived: nth % 10 === 9,
      }),
    );
  });
}
