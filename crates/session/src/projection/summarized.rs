use bosun_agent::{EntryBody, Recorded};
use bosun_harness::{Compaction, SUMMARIZATION_FIELD};
use bosun_protocol::{Notice, NoticeCode};

use super::Projection;

impl Projection {
    /// How many summaries there are before an entry that may add one; `None` for any other entry.
    pub(super) fn summaries_before(&self, body: &EntryBody) -> Option<usize> {
        let update = match body {
            EntryBody::Updated { update, .. } | EntryBody::ToolResult { update, .. } => update,
            _ => return None,
        };
        let is_about_them = update.fields.iter().any(|(name, _)| name == SUMMARIZATION_FIELD);
        is_about_them.then(|| Compaction::of(&self.state).made)
    }

    /// Says that the conversation was summed up, where the entry did that.
    pub(super) fn summarized(&mut self, before: usize, recorded: &Recorded) {
        let compaction = Compaction::of(&self.state);
        let Some(summary) = compaction.summary.filter(|_| compaction.made > before) else { return };
        let detail = format!("{} → {}", summary.tokens_before, summary.tokens_after);
        self.notice(
            recorded.seq,
            recorded.entry.at,
            Notice { code: NoticeCode::Summarized, detail, problem: None, model: None },
        );
    }
}
