//! A session as one HTML page: nothing in it is loaded from anywhere, nothing in it runs.

use bosun_protocol::{Attachment, FileDiff, Item, ItemBody, TodoStatus, ToolItem};

use super::archive::Archive;
use super::diff::unified;
use super::markdown::{notice_text, time};
use super::prose::prose;
use super::row;
use super::text::{one_line, visible};
use super::words::{Words, word};

/// Whatever the page should hold, a browser takes nothing but its own styles.
const HEAD: &str = "<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
    base-uri 'none'; form-action 'none'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"referrer\" content=\"no-referrer\">\n";

const STYLE: &str = "<style>\n\
    :root { color-scheme: light dark; --line: #8884; --quiet: #888; --add: #2da04422; --cut: #d1242f22; }\n\
    body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n\
    h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; color: var(--quiet); }\n\
    p.text { white-space: pre-wrap; } p, li { overflow-wrap: anywhere; margin: .5rem 0; }\n\
    h3, h4, h5, h6 { font-size: 1rem; margin: 1rem 0 .5rem; } code { background: #8882; border-radius: 3px; }\n\
    table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; }\n\
    blockquote { border-left: 3px solid var(--line); margin: .5rem 0; padding-left: .75rem; }\n\
    pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; font-size: 13px; }\n\
    pre .add { background: var(--add); } pre .cut { background: var(--cut); } pre span { display: block; }\n\
    details { margin: .25rem 0; } summary { font-family: monospace; overflow-wrap: anywhere; }\n\
    img.attached { max-width: 100%; }\n\
    .subagent { border-left: 3px solid var(--line); padding-left: 1rem; }\n\
    .notice { border-left: 3px solid #d1242f; padding-left: .75rem; } .meta { color: var(--quiet); }\n\
    </style>\n";

/// The whole session with its subagents, diffs and outputs; `project` is the folder's path.
pub fn page(archive: &Archive, project: &str, words: &Words) -> String {
    let session = &archive.session;
    let title = if session.title.is_empty() { words.untitled } else { &session.title };
    let title = escaped(&one_line(title));
    let head =
        format!("<!doctype html>\n<html lang=\"{}\">\n{HEAD}<title>{title}</title>\n{STYLE}</head>\n", words.tag);
    let mut page = Page { text: format!("{head}<body>\n<h1>{title}</h1>\n"), words };
    let model = session.model.as_ref().map(|model| format!(" · {}:{}", model.provider, model.name)).unwrap_or_default();
    let meta = format!("{project}{model} · {} · {}", word(session.status, words), time(session.created_at, words));
    page.push("p", "meta", &one_line(&meta));
    page.conversation(archive);
    page.rest(archive);
    page.text.push_str("</body>\n</html>\n");
    page.text
}

struct Page<'w> {
    text: String,
    words: &'w Words,
}

impl Page<'_> {
    fn push(&mut self, tag: &str, class: &str, text: &str) {
        self.text.push_str(&format!("<{tag} class=\"{class}\">{}</{tag}>\n", escaped(text)));
    }

    fn conversation(&mut self, archive: &Archive) {
        let mut speaker = "";
        for item in &archive.items {
            let next = if matches!(item.body, ItemBody::Human { .. }) { self.words.person } else { self.words.agent };
            if speaker != next {
                self.push("h2", "speaker", next);
                speaker = next;
            }
            self.item(item, archive);
        }
    }

    fn item(&mut self, item: &Item, archive: &Archive) {
        match &item.body {
            ItemBody::Human { text, attachments } => {
                self.push("p", "text", &visible(text));
                attachments.iter().for_each(|attachment| self.attachment(attachment, archive));
            }
            ItemBody::Ai { text, reasoning, .. } => {
                if !reasoning.trim().is_empty() {
                    self.folded(self.words.thinking, |page| page.push("p", "text", &visible(reasoning)));
                }
                self.text.push_str(&prose(text));
            }
            ItemBody::Tool(tool) => self.tool(tool, archive),
            ItemBody::Notice(notice) => self.push("p", "notice", &notice_text(notice, self.words)),
        }
    }

    /// What stands with a message: a picture drawn from the page itself, a text folded, of anything else its name.
    fn attachment(&mut self, attachment: &Attachment, archive: &Archive) {
        let name = one_line(&(self.words.file_of)(&attachment.name, &attachment.mime, attachment.size));
        let content = attachment.blob.as_ref().and_then(|blob| archive.attachments.get(blob));
        match content.map(|content| (&content.image, &content.text)) {
            Some((Some(image), _)) => {
                self.push("p", "meta", &name);
                let source = format!("data:{};base64,{}", escaped(&attachment.mime), escaped(image));
                let alt = escaped(&one_line(&attachment.name));
                self.text.push_str(&format!("<img class=\"attached\" alt=\"{alt}\" src=\"{source}\">\n"));
            }
            Some((None, Some(text))) => self.folded(&name, |page| page.push("pre", "output", &visible(text))),
            Some((None, None)) | None => self.push("p", "meta", &name),
        }
    }

    fn tool(&mut self, tool: &ToolItem, archive: &Archive) {
        let child = tool.child.as_ref().and_then(|id| archive.subagents.iter().find(|child| child.session.id == *id));
        self.folded(&row::finished(tool, self.words), |page| {
            if let Some(asked) = row::asked(tool) {
                page.push("pre", "asked", &visible(&asked));
            }
            for line in row::decided(tool, page.words) {
                page.push("p", "text", &visible(&line));
            }
            if let Some(diff) = &tool.diff {
                page.diff(diff);
            } else if !tool.output.trim().is_empty() {
                page.push("pre", "output", &visible(&tool.output));
            }
            if let Some(child) = child {
                page.text.push_str("<div class=\"subagent\">\n");
                page.conversation(child);
                page.text.push_str("</div>\n");
            }
        });
    }

    fn diff(&mut self, diff: &FileDiff) {
        self.text.push_str("<pre>");
        for line in unified(diff, self.words).lines() {
            let class = match line.as_bytes().first() {
                Some(b'+') => "add",
                Some(b'-') => "cut",
                _ => "",
            };
            self.text.push_str(&format!("<span class=\"{class}\">{} </span>", escaped(line)));
        }
        self.text.push_str("</pre>\n");
    }

    fn folded(&mut self, title: &str, inside: impl FnOnce(&mut Self)) {
        self.text.push_str(&format!("<details>\n<summary>{}</summary>\n", escaped(title)));
        inside(self);
        self.text.push_str("</details>\n");
    }

    fn rest(&mut self, archive: &Archive) {
        let todos = archive.todos.iter().map(|todo| {
            let mark = match todo.status {
                TodoStatus::Pending => "☐",
                TodoStatus::InProgress => "◐",
                TodoStatus::Completed => "☑",
            };
            format!("{mark} {}", one_line(&todo.content))
        });
        self.list(self.words.plan, todos.collect());
        let changes = archive.changes.iter();
        let lines = changes.map(|change| format!("{} +{} −{}", one_line(&change.path), change.added, change.removed));
        self.list(self.words.changed_files, lines.collect());
    }

    fn list(&mut self, title: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        self.push("h2", "list", title);
        for line in lines {
            self.push("p", "point", &line);
        }
    }
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
