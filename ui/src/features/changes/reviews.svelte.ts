/** The changes of a session in the scope that is looked at, read again whenever they may be others. */
import type { ChangedFiles, ChangeScope } from '../../ipc/bindings';
import type { UiClient } from '../../ipc/client';
import { asError } from '../../shared/error';
import { parentOf } from '../files/tree';

export class Reviews {
  /** The scope that the list is of: it comes after the chosen one, and what is done is done to what is seen. */
  shown = $state<ChangeScope>('session');
  list = $state.raw<ChangedFiles | null>(null);
  error = $state('');
  /** Grows with every look, so that what was shown of a file is read again. */
  looks = $state(0);
  readonly folders = $derived([...new Set((this.list?.files ?? []).map(({ path }) => parentOf(path)))].sort());

  constructor(
    private readonly client: UiClient,
    private readonly session: string,
    /** What is looked at, for whoever looks next. */
    private readonly left: { scope: ChangeScope } = { scope: 'session' },
  ) {}

  get scope(): ChangeScope {
    return this.left.scope;
  }

  set scope(scope: ChangeScope) {
    this.left.scope = scope;
  }

  async look(): Promise<void> {
    const { scope } = this;
    try {
      const list = await this.client.changedFiles(this.session, scope);
      if (scope !== this.scope) return;
      this.list = list;
      this.shown = scope;
      this.error = '';
      this.looks += 1;
    } catch (thrown) {
      if (scope !== this.scope) return;
      if (scope !== this.shown) this.list = null;
      this.error = asError(thrown).message;
    }
  }
}
