import type { CloseChoice, Goal } from '../ipc/bindings';
import type { Workspace } from './workspace.svelte';

/** What a person is asked when they close the window while sessions are at work. */
export class Closing {
  /** The sessions at work, none any more where it is empty; `null` where nobody asks. */
  asked = $state.raw<readonly string[] | null>(null);
  /** What is at work is being stopped; the window closes in a moment. */
  isStopping = $state(false);

  constructor(private readonly workspace: Workspace) {}

  hears(goal: Extract<Goal, { goal: 'close' | 'stay' }>): void {
    this.asked = goal.goal === 'close' ? goal.sessions : null;
    if (this.asked === null) this.isStopping = false;
  }

  /** The person can see the question. */
  shown(): void {
    void this.workspace.run(() => this.workspace.client.closeQuestionShown());
  }

  answer(choice: CloseChoice): void {
    if (this.asked === null || this.isStopping) return;
    this.isStopping = choice === 'stop';
    if (!this.isStopping) this.asked = null;
    void this.workspace.run(() => this.workspace.client.answerCloseQuestion(choice));
  }
}
