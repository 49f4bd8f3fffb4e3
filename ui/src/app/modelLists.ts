import type { ModelChoice, ProviderView } from '../ipc/bindings';
import type { UiClient } from '../ipc/client';

/** Milliseconds that a list is kept. */
const KEPT = 5 * 60_000;

interface Kept {
  /** The provider as it was when it was asked: at another address, or with another key, it has another list. */
  seen: string;
  at: number;
  answer: Promise<ModelChoice[]>;
}

/** The lists of models, kept for some minutes: asking for one goes to servers that may be far, and to some of them often. */
export class ModelLists {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly workspace: { client: Pick<UiClient, 'listModels'> }) {}

  of(provider: ProviderView): Promise<ModelChoice[]> {
    const { id } = provider;
    const seen = JSON.stringify(provider);
    const known = this.kept.get(id);
    if (known?.seen === seen && Date.now() - known.at < KEPT) return known.answer;
    const answer = this.workspace.client.listModels(id);
    this.kept.set(id, { seen, at: Date.now(), answer });
    // What failed may work the next time.
    answer.catch(() => this.kept.get(id)?.answer === answer && this.kept.delete(id));
    return answer;
  }

  /** Asks anew the next time: of one provider, or of all. */
  forget(id?: string): void {
    if (id === undefined) this.kept.clear();
    else this.kept.delete(id);
  }
}
