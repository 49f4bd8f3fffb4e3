/** What went wrong, as a person is told of it, and what can be done about each. */
import type { CommandError } from '../ipc/bindings';
import { Failures } from './failures';

/** Where a sentence came from, as far as its way out hangs on that. */
export interface About {
  /** The request that failed: its next success takes the sentence away. */
  request?: string | undefined;
  /** Does once more what failed. */
  again?: (() => Promise<unknown>) | undefined;
  /** The project that was at hand when it was asked for. */
  project?: string | undefined;
  /** The project that is not where it was. */
  moved?: string | undefined;
}

export class Troubles {
  /** Sentences for the person, newest last. */
  list = $state.raw<CommandError[]>([]);
  readonly failures = new Failures((request) => this.succeeded(request));
  private readonly known = new WeakMap<CommandError, About>();

  fail(error: CommandError, about: About = {}): void {
    this.known.set(error, about);
    // One of a kind: what went wrong last stands for what went wrong in the same way before.
    this.list = [...this.list.filter((one) => one.code !== error.code), error];
  }

  about(error: CommandError): About {
    return this.known.get(error) ?? {};
  }

  /** The way out that sentences of a kind name was taken. */
  forget(code: CommandError['code']): void {
    this.list = this.list.filter((one) => one.code !== code);
  }

  dismiss(error: CommandError): void {
    this.list = this.list.filter((one) => one !== error);
  }

  private succeeded(request: string): void {
    const left = this.list.filter((error) => this.about(error).request !== request);
    if (left.length < this.list.length) this.list = left;
  }
}
