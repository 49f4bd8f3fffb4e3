//! A session as Markdown that a person reads.

use bosun_protocol::{Attachment, FileChange, Item, ItemBody, Notice, NoticeCode, SessionStatus, TodoStatus, ToolItem};
use jiff::Timestamp;

use super::archive::Archive;
use super::diff::unified;
use super::inert::inert;
use super::row;
use super::text::{one_line, visible};

/// How much of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What was said, and a line for each call.
    Short,
    /// Diffs, outputs and subagents too.
    Whole,
}

/// The session with its head.
pub fn written(archive: &Archive, project: &str, detail: Detail) -> String {
    let session = &archive.session;
    let title = if session.title.is_empty() { "A session" } else { &session.title };
    let mut page = Page::default();
    page.block(&format!("# {}", inert(&one_line(title))));
    page.point(&format!("Session: {}", session.id));
    page.point(&format!("Project: {}", one_line(project)));
    if let Some(model) = &session.model {
        page.point(&format!("Model: {}", one_line(&format!("{}:{}", model.provider, model.name))));
    }
    page.point(&format!("Status: {}", word(session.status)));
    page.point(&format!("Begun: {}", time(session.created_at)));
    page.point(&format!("Tokens: {} in, {} out", session.usage.input_tokens, session.usage.output_tokens));
    page.conversation(archive, detail, 2);
    page.rest(archive);
    page.text
}

/// A time as people and programs read it, in UTC.
pub fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

/// A session's status in a word.
pub fn word(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Idle => "done",
        SessionStatus::Running => "running",
        SessionStatus::Waiting => "waiting",
        SessionStatus::Failed => "failed",
        SessionStatus::Stopped => "stopped",
        SessionStatus::Interrupted => "interrupted",
    }
}

#[derive(Default)]
struct Page {
    text: String,
    /// Whether the last thing written is a point of a list.
    in_list: bool,
}

impl Page {
    /// Something that stands by itself, with an empty line before it.
    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text.trim_matches('\n'));
        self.text.push('\n');
        self.in_list = false;
    }

    /// A point of a list.
    fn point(&mut self, line: &str) {
        if !self.in_list && !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str("- ");
        self.text.push_str(&inert(line));
        self.text.push('\n');
        self.in_list = true;
    }

    fn conversation(&mut self, archive: &Archive, detail: Detail, level: usize) {
        let heading = "#".repeat(level.min(6));
        let mut speaker = None;
        for item in &archive.items {
            let next = match &item.body {
                ItemBody::Human { .. } => "You",
                ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => "Agent",
            };
            if speaker != Some((item.turn, next)) {
                speaker = Some((item.turn, next));
                self.block(&format!("{heading} {next}"));
            }
            self.item(item, archive, detail);
        }
        if detail == Detail::Whole {
            for subagent in &archive.subagents {
                let name = subagent.agents.first().map_or("", |agent| agent.name.as_str());
                self.block(&format!("{heading} Subagent {} ({})", inert(&one_line(name)), subagent.session.id));
                self.conversation(subagent, detail, level + 1);
            }
        }
    }

    fn item(&mut self, item: &Item, archive: &Archive, detail: Detail) {
        match &item.body {
            ItemBody::Human { text, attachments } => {
                self.block(&inert(&visible(text)));
                attachments.iter().for_each(|attachment| self.attachment(attachment, archive, detail));
            }
            ItemBody::Ai { text, reasoning, .. } => {
                if detail == Detail::Whole && !reasoning.trim().is_empty() {
                    self.point("Thinking");
                    self.fenced("", &visible(reasoning));
                }
                if !text.trim().is_empty() {
                    self.block(&inert(&visible(text)));
                }
            }
            ItemBody::Tool(tool) => self.tool(tool, detail),
            ItemBody::Notice(notice) => self.block(&format!("> {}", inert(&notice_text(notice)))),
        }
    }

    fn attachment(&mut self, attachment: &Attachment, archive: &Archive, detail: Detail) {
        let Attachment { name, mime, size, blob, .. } = attachment;
        self.point(&format!("Attached: {} ({mime}, {size} bytes)", one_line(name)));
        let content = blob.as_ref().and_then(|blob| archive.attachments.get(blob));
        if let (Detail::Whole, Some(text)) = (detail, content.and_then(|content| content.text.as_ref())) {
            self.fenced("", &visible(text));
        }
    }

    fn tool(&mut self, tool: &ToolItem, detail: Detail) {
        self.point(&row::finished(tool));
        if detail == Detail::Short {
            return;
        }
        if let Some(asked) = row::asked(tool) {
            self.fenced("", &visible(&asked));
        }
        for line in row::decided(tool) {
            self.fenced("", &visible(&line));
        }
        if let Some(diff) = &tool.diff {
            self.fenced("diff", &unified(diff));
        } else if !tool.output.trim().is_empty() {
            self.fenced("", &visible(&tool.output));
        }
        if tool.output_truncated {
            self.block("  (the output goes on; its middle is left out here)");
        }
    }

    /// A fenced block that nothing in `content` can end, indented so that it belongs to the point before it.
    fn fenced(&mut self, language: &str, content: &str) {
        let longest = content.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
        let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
        let mut block = format!("  {fence}{language}\n");
        for line in content.trim_end().lines() {
            block.push_str(format!("  {line}").trim_end());
            block.push('\n');
        }
        block.push_str("  ");
        block.push_str(&fence);
        self.block(&block);
    }

    /// The plan, the changed files, and what waits.
    fn rest(&mut self, archive: &Archive) {
        let todos = archive.todos.iter().map(|todo| {
            let mark = match todo.status {
                TodoStatus::Pending => "[ ]",
                TodoStatus::InProgress => "[~]",
                TodoStatus::Completed => "[x]",
            };
            format!("{mark} {}", one_line(&todo.content))
        });
        self.list("Plan", todos);
        let change =
            |change: &FileChange| format!("{} (+{} -{})", one_line(&change.path), change.added, change.removed);
        self.list("Changed files", archive.changes.iter().map(change));
        let waiting = archive.approvals.iter().map(|approval| row::call(&approval.tool, &approval.args));
        self.list("Waiting for an approval", waiting);
    }

    fn list(&mut self, title: &str, points: impl Iterator<Item = String>) {
        let mut points = points.peekable();
        if points.peek().is_some() {
            self.block(&format!("## {title}"));
        }
        points.for_each(|point| self.point(&point));
    }
}

pub(super) fn notice_text(notice: &Notice) -> String {
    let words = match notice.code {
        NoticeCode::ModelFailed => "The model call failed.",
        NoticeCode::KeyRefused => "The provider refused the key.",
        NoticeCode::StreamCut => "The reply was cut off; nothing in it was carried out.",
        NoticeCode::Stopped => "Stopped.",
        NoticeCode::StepLimit => "The limit of model calls was reached.",
        NoticeCode::Interrupted => "Bosun was closed in the middle of the turn.",
        NoticeCode::Failed => "The turn failed.",
        NoticeCode::NotRecorded => "The turn was halted because it could not be recorded.",
        NoticeCode::LimitReached => "The turn was ended by a limit.",
        NoticeCode::HookRefused => "The turn was ended by a hook.",
        NoticeCode::BudgetSpent => "The turn was ended by the budget.",
        NoticeCode::EmptyReply => "The model sent an empty reply.",
        NoticeCode::OutputLimit => "The reply was cut at the model's output limit.",
        NoticeCode::ModelRefused => "The model declined to answer.",
        NoticeCode::ReplyEnded => "The provider ended the reply early.",
        NoticeCode::AsksAgain => "The model will be asked again shortly.",
        NoticeCode::BudgetWaits => "Waiting for another call that counts towards the same budget.",
        NoticeCode::ModelFellBack => "Another model answered the rest of the turn.",
        NoticeCode::ThinkingUnseen => "The thinking cannot be shown.",
        NoticeCode::BudgetWarning => "The budget.",
        NoticeCode::HookFailed => "A hook failed.",
        NoticeCode::KeySeen => "This may be a key.",
        NoticeCode::DefinitionWrong => "A definition has errors.",
        NoticeCode::NotUsed => "Not used here.",
        NoticeCode::PriceUnknown => "Some costs are unknown.",
        NoticeCode::HelperMissing => "A helper model is missing.",
        NoticeCode::SummaryFailed => "No summary could be made.",
        NoticeCode::SummaryRemade => "The summary was made again.",
        NoticeCode::FilesChanged => "Files were changed after the agent had read them, and it was told.",
        NoticeCode::Summarized => {
            "The beginning of the conversation is sent as a summary from here on (tokens before and after)."
        }
    };
    let detail = one_line(&notice.detail);
    if detail.is_empty() { words.to_owned() } else { format!("{}: {detail}", words.trim_end_matches('.')) }
}
