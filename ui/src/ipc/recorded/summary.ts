/** What the recorded host answers about the summary of a conversation. */
import type { ConversationSummary } from '../bindings';
import type { UiClient } from '../client';
import { later, type Act } from '../recorded';
import { ai, human, snapshot, summary } from './builders';
import type { Host } from './host';

/** A session of which a summary is being made. */
export const summingUp = () =>
  snapshot(summary('s-summing', { title: 'A summary in the making', status: 'running', summing_up: true }), {
    items: [human('Read the whole of the log.'), ai('I have read it.')],
  });

type Summaries = Pick<UiClient, 'sessionSummary' | 'compactSession' | 'editSummary' | 'undoSummary'>;

export function summaries(host: Host, act: Act): Summaries {
  const made = new Map<string, ConversationSummary>();

  return {
    sessionSummary: (session) => later(() => made.get(session) ?? null),
    compactSession: async (session, guidance) => {
      await act('compactSession', { session, guidance });
      const messages = host.snapshot(session).items.length;
      if (messages === 0) throw { code: 'invalid', message: '', problem: { problem: 'nothing_to_compact' } };
      const minded = guidance ? `\n\nMinded as you asked: ${guidance}.` : '';
      const summary: ConversationSummary = {
        text: `## SESSION INTENT\nRetries that can be configured per host, with tests.\n\n## SUMMARY\nThe client retried in two places; both now go through one policy.${minded}`,
        facts: '- “Make the retries configurable, and keep the old defaults.”',
        file: `/conversation_history/session_${session}.md`,
        messages,
        tokens_before: 118_400,
        tokens_after: 6_200,
        left_out: 0,
        cause: 'person',
        edited: false,
      };
      made.set(session, summary);
      return summary;
    },
    editSummary: async (session, text) => {
      await act('editSummary', { session, text });
      const before = made.get(session);
      if (!before) throw { code: 'not_found', message: '', problem: { problem: 'nothing_summed_up' } };
      const edited = { ...before, text, edited: true };
      made.set(session, edited);
      return edited;
    },
    undoSummary: async (session) => {
      await act('undoSummary', session);
      made.delete(session);
      return null;
    },
  };
}
