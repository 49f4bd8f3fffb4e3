//! A session as Markdown that a person reads.

use std::fmt::Write;

use bosun_protocol::{Item, ItemBody, Notice, NoticeCode, TodoStatus, ToolItem};
use jiff::Timestamp;

use super::archive::Archive;
use super::word;
use crate::terminal::{one_line, visible};
use crate::{preview, row};

/// How much of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// What was said, and a line for each call.
    Short,
    /// Diffs, outputs and subagents too.
    Whole,
}

/// The session with its head.
pub(super) fn written(archive: &Archive, project: &str, detail: Detail) -> String {
    let session = &archive.session;
    let title = if session.title.is_empty() { "A session" } else { &session.title };
    let mut page = Page::default();
    page.line(&format!("# {}\n", one_line(title)));
    page.line(&format!("- Session: {}", session.id));
    page.line(&format!("- Project: {}", one_line(project)));
    if let Some(model) = &session.model {
        page.line(&format!("- Model: {}", one_line(&format!("{}:{}", model.provider, model.name))));
    }
    page.line(&format!("- Status: {}", word(session.status)));
    page.line(&format!("- Begun: {}", time(session.created_at)));
    let usage = &session.usage;
    page.line(&format!("- Tokens: {} in, {} out", usage.input_tokens, usage.output_tokens));
    page.conversation(archive, detail, 2);
    page.rest(archive);
    page.text
}

/// A time as people and programs read it, in UTC.
pub(super) fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        writeln!(self.text, "{line}").ok();
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
                self.line(&format!("\n{heading} {next}\n"));
            }
            self.item(item, detail);
        }
        if detail == Detail::Whole {
            for subagent in &archive.subagents {
                let name = subagent.agents.first().map_or("subagent", |agent| agent.name.as_str());
                self.line(&format!("\n{heading} Subagent {} ({})", one_line(name), subagent.session.id));
                self.conversation(subagent, detail, level + 1);
            }
        }
    }

    fn item(&mut self, item: &Item, detail: Detail) {
        match &item.body {
            ItemBody::Human { text, .. } => self.line(&format!("{}\n", visible(text.trim_end()))),
            ItemBody::Ai { text, .. } if text.trim().is_empty() => {}
            ItemBody::Ai { text, .. } => self.line(&format!("{}\n", visible(text.trim_end()))),
            ItemBody::Tool(tool) => self.tool(tool, detail),
            ItemBody::Notice(notice) => self.line(&format!("> {}\n", notice_text(notice))),
        }
    }

    fn tool(&mut self, tool: &ToolItem, detail: Detail) {
        self.line(&format!("- {}", row::finished(tool)));
        if detail == Detail::Short {
            return;
        }
        if let Some(diff) = &tool.diff {
            self.block("diff", &preview::unified(diff));
        } else if !tool.output.trim().is_empty() {
            self.block("", &visible(&tool.output));
        }
        if tool.output_truncated {
            self.line("  (the output goes on; its middle is left out here)");
        }
    }

    /// A fenced block that nothing in `content` can end.
    fn block(&mut self, language: &str, content: &str) {
        let longest = content.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
        let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
        self.line(&format!("\n  {fence}{language}"));
        for line in content.trim_end().lines() {
            self.line(format!("  {line}").trim_end());
        }
        self.line(&format!("  {fence}\n"));
    }

    /// The plan, the changed files, and what waits.
    fn rest(&mut self, archive: &Archive) {
        if !archive.todos.is_empty() {
            self.line("\n## Plan\n");
            for todo in &archive.todos {
                let mark = match todo.status {
                    TodoStatus::Pending => "[ ]",
                    TodoStatus::InProgress => "[~]",
                    TodoStatus::Completed => "[x]",
                };
                self.line(&format!("- {mark} {}", one_line(&todo.content)));
            }
        }
        if !archive.changes.is_empty() {
            self.line("\n## Changed files\n");
            for change in &archive.changes {
                self.line(&format!("- {} (+{} -{})", one_line(&change.path), change.added, change.removed));
            }
        }
        if !archive.approvals.is_empty() {
            self.line("\n## Waiting for an approval\n");
            for approval in &archive.approvals {
                self.line(&format!("- {}", row::call(&approval.tool, &approval.args)));
            }
        }
    }
}

fn notice_text(notice: &Notice) -> String {
    let words = match notice.code {
        NoticeCode::ModelFailed => "The model call failed.",
        NoticeCode::StreamCut => "The reply was cut; nothing was done from it.",
        NoticeCode::Stopped => "Stopped.",
        NoticeCode::StepLimit => "The limit of model calls was reached.",
        NoticeCode::Interrupted => "Bosun ended while the turn ran.",
        NoticeCode::Failed => "The turn failed.",
        NoticeCode::EmptyReply => "The model answered nothing.",
    };
    let detail = one_line(&notice.detail);
    if detail.is_empty() { words.to_owned() } else { format!("{words} {detail}") }
}
