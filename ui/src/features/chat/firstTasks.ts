/** What a person could begin with in a project, by the names at its top: nothing is opened or run, and no model is asked. */
import type { UiClient } from '../../ipc/client';
import type { Messages } from '../../shared/i18n/en';

/** The files that say how a project is built. */
const MANIFESTS =
  /^(cargo\.toml|package\.json|pyproject\.toml|setup\.py|go\.mod|pom\.xml|build\.gradle(\.kts)?|gemfile|composer\.json|mix\.exs|makefile|cmakelists\.txt)$/i;
const README = /^readme(\.[a-z]{1,8})?$/i;
const TESTS = /^(tests?|specs?|__tests__)$/i;
const QUERIES = ['readme', 'toml', 'json', 'go.mod', 'make', 'setup.py', 'pom', 'gradle', 'gem', 'mix', 'test', 'spec'];
const MOST = 3;

/** The names at the top of the project that tell something of it. */
export async function telling(client: UiClient, project: string): Promise<string[]> {
  const found = new Set<string>();
  for (const text of QUERIES) {
    for (const { kind, name } of await client.findMentions({ project, text, limit: 50 })) {
      const top = name.replace(/^\/|\/$/g, '');
      if ((kind === 'file' || kind === 'folder') && !top.includes('/')) found.add(top);
    }
  }
  return [...found];
}

/** The tasks for a project in which there are such names, the most useful first. */
export function firstTasks(t: Messages, names: readonly string[]): string[] {
  const readme = names.find((name) => README.test(name));
  const manifest = names.find((name) => MANIFESTS.test(name));
  const tests = names.find((name) => TESTS.test(name));
  const tasks = t.firstTasks;
  return [
    readme ? tasks.explain(readme) : manifest ? tasks.explain(manifest) : '',
    manifest && tests ? tasks.test(tests) : manifest ? tasks.addTests(manifest) : '',
    manifest && !readme ? tasks.describe : '',
    readme && manifest ? tasks.check(readme) : '',
  ]
    .filter(Boolean)
    .slice(0, MOST);
}
