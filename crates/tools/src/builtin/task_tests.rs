use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Canned, Fixture, cards};
use crate::{BoxFuture, Delegate, DelegateRequest, OUTPUT_CHARS, ToolError, ToolOutput};

#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<DelegateRequest>>>);

impl Delegate for Sent {
    fn delegate(&self, request: DelegateRequest) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        let report = if request.description == "at length" { "x".repeat(1_000_000) } else { "the report".into() };
        self.0.lock().unwrap().push(request);
        Box::pin(async { Ok(ToolOutput::text(report)) })
    }
}

#[tokio::test]
async fn a_known_subagent_is_sent() {
    let sent = Sent::default();
    let fixture = Fixture::canned(Canned::default()).delegate(sent.clone());
    let text = fixture.ok("task", json!({"description": "look", "subagent_type": "researcher"})).await;
    assert_eq!(text, "the report");
    let request = DelegateRequest { description: "look".into(), agent: "researcher".into() };
    assert_eq!(*sent.0.lock().unwrap(), [request]);
}

#[tokio::test]
async fn a_long_answer_is_cut_and_kept_whole_for_whoever_has_room_for_it() {
    let fixture = Fixture::canned(Canned::default()).delegate(Sent::default());
    let output = fixture.run("task", json!({"description": "at length", "subagent_type": "researcher"})).await;
    let text = bosun_model::text_of(&output.content);
    assert!(text.len() < OUTPUT_CHARS + 100 && text.contains("characters left out"));
    assert_eq!(output.full_output.map(|kept| kept.len()), Some(1_000_000));
}

#[tokio::test]
async fn everything_else_is_an_error() {
    let sent = Sent::default();
    let fixture = Fixture::canned(Canned::default()).delegate(sent.clone());
    for (args, tokens) in [
        (json!({"description": "x", "subagent_type": "nobody"}), &["'nobody'", "general-purpose, researcher"][..]),
        (json!({"description": "x"}), &["Error invoking tool 'task'", "'subagent_type' is missing"]),
        (json!({"subagent_type": "researcher"}), &["Error invoking tool 'task'", "'description' is missing"]),
        (
            json!({"description": "x", "subagent_type": "researcher", "prompt": "y"}),
            &["Error invoking tool 'task'", "'prompt' is not an argument"],
        ),
        (json!({"description": "", "subagent_type": "researcher"}), &["'description' is empty"]),
    ] {
        let text = fixture.err("task", args).await;
        assert!(tokens.iter().all(|token| text.contains(token)), "{text}");
    }
    assert!(sent.0.lock().unwrap().is_empty());
    let alone = Fixture::canned(Canned::default());
    let text = alone.err("task", json!({"description": "x", "subagent_type": "researcher"})).await;
    assert!(text.starts_with("Error: "), "{text}");
}

#[test]
fn the_description_names_every_subagent() {
    let fixture = Fixture::canned(Canned::default());
    let description = &fixture.tools.get("task").unwrap().spec().description;
    for card in cards() {
        assert!(description.contains(&format!("- {}: {}", card.name, card.description)));
    }
}
