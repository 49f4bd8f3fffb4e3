/** A session that is done, with changes on the disk of which one was changed since by somebody else. */
import type { Problem, SessionSummary, Snapshot } from '../bindings';
import { ai, diff, human, snapshot, tool } from './builders';

/** Why a file of it cannot be put back. */
export const FIXTURE_PROBLEMS: Record<string, Problem> = {
  '/tests/fixtures/users.sql': { problem: 'changed_since', path: '/tests/fixtures/users.sql' },
};

/** Files of sessions that commands changed and that were too large to be kept. */
export const FIXTURE_UNKEPT: Record<string, readonly string[]> = { 's-fixtures': ['/tests/fixtures/users.sqlite'] };

/** The file that loads them, as it is now. */
export const LOADER_TEXT = `//! Fixtures of the tests, by name.

use crate::support::read;

/// A table and its rows.
pub struct Fixture(Vec<Row>);

pub fn load(name: &str) -> Fixture {
    let text = read(format!("{name}.sql"));
    Fixture::parse(&text)
}

impl Fixture {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.0.len()
    }
}
`;

export const LOADER = diff(
  '/tests/support/fixtures.rs',
  'fn load()',
  8,
  ` pub fn load(name: &str) -> Fixture {
-    let text = read(⟦format!("{name}.json")⟧);
+    let text = read(⟦format!("{name}.sql")⟧);
     Fixture::parse(&text)
 }`,
);

export const fixturesSession = (summary: SessionSummary): Snapshot =>
  snapshot(summary, {
    items: [
      human('Move the fixtures to SQLite.'),
      tool(
        'write_file',
        { file_path: '/tests/fixtures/users.sql', content: 'create table users (id integer primary key);' },
        { figures: [{ figure: 'added', value: 40 }] },
      ),
      tool(
        'edit_file',
        { file_path: '/tests/support/fixtures.rs', old_string: '.json', new_string: '.sql' },
        {
          figures: [
            { figure: 'added', value: 1 },
            { figure: 'removed', value: 1 },
          ],
          diff: LOADER,
        },
      ),
      ai('Done: the fixtures are SQL now, all tests pass.'),
    ],
    changes: [
      { path: '/tests/fixtures/users.sql', change: 'created', added: 40, removed: 0 },
      { path: '/tests/support/fixtures.rs', change: 'changed', added: 1, removed: 1 },
    ],
  });
