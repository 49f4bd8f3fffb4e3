//! A session as Markdown that a person reads.

use bosun_protocol::{Attachment, FileChange, Item, ItemBody, Notice, TodoStatus, ToolItem};
use jiff::Timestamp;

use super::archive::Archive;
use super::diff::unified;
use super::inert::inert;
use super::row;
use super::text::{one_line, visible};
use super::words::{Words, word};

/// How much of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What was said, and a line for each call.
    Short,
    /// Diffs, outputs and subagents too.
    Whole,
}

/// The session with its head.
pub fn written(archive: &Archive, project: &str, detail: Detail, words: &Words) -> String {
    let session = &archive.session;
    let title = if session.title.is_empty() { words.untitled } else { &session.title };
    let mut page = Page { text: String::new(), in_list: false, words };
    page.block(&format!("# {}", inert(&one_line(title))));
    page.point(&format!("{}{}", words.session, session.id));
    page.point(&format!("{}{}", words.project, one_line(project)));
    if let Some(model) = &session.model {
        page.point(&format!("{}{}", words.model, one_line(&format!("{}:{}", model.provider, model.name))));
    }
    page.point(&format!("{}{}", words.status_is, word(session.status, words)));
    page.point(&format!("{}{}", words.begun, time(session.created_at, words)));
    page.point(&(words.tokens)(session.usage.input_tokens, session.usage.output_tokens));
    page.conversation(archive, detail, 2);
    page.rest(archive);
    page.text
}

/// A time as people and programs read it, in UTC.
pub fn time(ms: i64, words: &Words) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => words.unknown_time.to_owned(),
    }
}

struct Page<'w> {
    text: String,
    /// Whether the last thing written is a point of a list.
    in_list: bool,
    words: &'w Words,
}

impl Page<'_> {
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
                ItemBody::Human { .. } => self.words.person,
                ItemBody::Ai { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => self.words.agent,
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
                let title = (self.words.subagent)(&inert(&one_line(name)), subagent.session.id.as_str());
                self.block(&format!("{heading} {title}"));
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
                    self.point(self.words.thinking);
                    self.fenced("", &visible(reasoning));
                }
                if !text.trim().is_empty() {
                    self.block(&inert(&visible(text)));
                }
            }
            ItemBody::Tool(tool) => self.tool(tool, detail),
            ItemBody::Notice(notice) => self.block(&format!("> {}", inert(&notice_text(notice, self.words)))),
        }
    }

    fn attachment(&mut self, attachment: &Attachment, archive: &Archive, detail: Detail) {
        let Attachment { name, mime, size, blob, .. } = attachment;
        let file = (self.words.file_of)(&one_line(name), mime, *size);
        self.point(&format!("{}{file}", self.words.attached));
        let content = blob.as_ref().and_then(|blob| archive.attachments.get(blob));
        if let (Detail::Whole, Some(text)) = (detail, content.and_then(|content| content.text.as_ref())) {
            self.fenced("", &visible(text));
        }
    }

    fn tool(&mut self, tool: &ToolItem, detail: Detail) {
        self.point(&row::finished(tool, self.words));
        if detail == Detail::Short {
            return;
        }
        if let Some(asked) = row::asked(tool) {
            self.fenced("", &visible(&asked));
        }
        for line in row::decided(tool, self.words) {
            self.fenced("", &visible(&line));
        }
        if let Some(diff) = &tool.diff {
            self.fenced("diff", &unified(diff, self.words));
        } else if !tool.output.trim().is_empty() {
            self.fenced("", &visible(&tool.output));
        }
        if tool.output_truncated {
            self.block(&format!("  {}", self.words.goes_on));
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
        self.list(self.words.plan, todos);
        let change =
            |change: &FileChange| format!("{} (+{} -{})", one_line(&change.path), change.added, change.removed);
        self.list(self.words.changed_files, archive.changes.iter().map(change));
        let waiting = archive.approvals.iter().map(|approval| row::call(&approval.tool, &approval.args));
        self.list(self.words.waiting, waiting);
    }

    fn list(&mut self, title: &str, points: impl Iterator<Item = String>) {
        let mut points = points.peekable();
        if points.peek().is_some() {
            self.block(&format!("## {title}"));
        }
        points.for_each(|point| self.point(&point));
    }
}

pub(super) fn notice_text(notice: &Notice, words: &Words) -> String {
    let mut sentence = (words.notice)(notice.code).to_owned();
    if let Some(model) = &notice.model {
        sentence = (words.of_model)(&sentence, &one_line(&format!("{}:{}", model.provider, model.name)));
    }
    let detail = notice.problem.as_ref().map_or_else(|| notice.detail.clone(), words.problem);
    let detail = one_line(&detail);
    if detail.is_empty() { sentence } else { (words.with_detail)(&sentence, &detail) }
}
