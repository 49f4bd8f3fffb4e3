//! Output without what differs from run to run: ids, times, digests, folders.

use bosun_protocol::{AgentStatus, Delta, ItemBody, SessionEvent, ToolState};
use serde_json::{Map, Value};

use crate::bench::Bench;

/// Names for ids, in the order in which they are met.
#[derive(Default)]
pub struct Names {
    met: Vec<String>,
}

impl Names {
    /// The same value on every run.
    pub fn value(&mut self, bench: &Bench, value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, field)| {
                    let field = match (key.as_str(), &field) {
                        (
                            "at" | "created_at" | "updated_at" | "started_at" | "ended_at" | "asked_at",
                            Value::Number(_),
                        ) => 1_700_000_000_000_i64.into(),
                        ("digest", _) => "5b1e…".into(),
                        _ => self.value(bench, field),
                    };
                    (key, field)
                });
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Value::Array(items) => items.into_iter().map(|item| self.value(bench, item)).collect(),
            Value::String(text) => self.text(bench, &text).into(),
            other => other,
        }
    }

    /// The same text on every run.
    pub fn text(&mut self, bench: &Bench, text: &str) -> String {
        let text = text.replace(bench.project.root_str(), "/home/you/project");
        let mut stable = String::with_capacity(text.len());
        let mut word = String::new();
        for c in text.chars().chain(['\n']) {
            if c.is_ascii_alphanumeric() {
                word.push(c);
                continue;
            }
            stable.push_str(&self.word(std::mem::take(&mut word)));
            stable.push(c);
        }
        stable.pop();
        let lines = stable.split('\n').map(|line| match line.find(" UTC") {
            Some(end) if end >= 19 => format!("{}2026-01-01 12:00:00{}", &line[..end - 19], &line[end..]),
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn word(&mut self, word: String) -> String {
        if word.len() != 32 || !word.chars().all(|c| c.is_ascii_hexdigit()) {
            return word;
        }
        let number = self.met.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.met.push(word);
            self.met.len() - 1
        });
        format!("id-{}", number + 1)
    }
}

/// The events with those joined that only the moment of reading had parted, and without the states in between: what
/// ends within one write of the journal was never told as running.
pub fn settled(events: Vec<SessionEvent>) -> Vec<SessionEvent> {
    let mut settled: Vec<SessionEvent> = Vec::new();
    for event in events {
        if let (
            Some(SessionEvent::ItemDelta { item: known, delta: Delta::Text { text } }),
            SessionEvent::ItemDelta { item, delta: Delta::Text { text: more } },
        ) = (settled.last_mut(), &event)
            && known == item
        {
            text.push_str(more);
            continue;
        }
        if !in_between(&event) {
            settled.push(event);
        }
    }
    settled
}

fn in_between(event: &SessionEvent) -> bool {
    match event {
        SessionEvent::AgentUpdated { agent } => agent.status == AgentStatus::Running,
        SessionEvent::ItemUpdated { item } => {
            matches!(&item.body, ItemBody::Tool(call) if call.state == ToolState::Running)
        }
        _ => false,
    }
}
