use std::sync::Arc;

use bosun_agent::{EntryBody, TurnEnd};
use bosun_backend::{LocalShellBackend, LocalShellOptions};
use bosun_harness::Artifacts;
use bosun_model::{ContentBlock, HumanMessage, Media, MediaKind, ModelError, ModelErrorKind};
use bosun_testkit::{Project, Reply, Scripted};
use bosun_tools::{Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use pretty_assertions::assert_eq;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::scene::{Scene, scene, small, texts};

/// A tool of a library's user, whose results are as long as they are told to be.
struct Talk;

#[derive(Deserialize, JsonSchema)]
struct TalkInput {
    characters: usize,
}

impl Tool for Talk {
    const NAME: &'static str = "talk";
    type Input = TalkInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> std::borrow::Cow<'_, str> {
        "Talks.".into()
    }

    async fn call(&self, _cx: &ToolContext, input: TalkInput) -> Result<ToolOutput, ToolError> {
        let picture =
            Media { kind: MediaKind::Image, mime: "image/png".into(), data: "AA==".into(), name: None, kept: None };
        let mut output = ToolOutput::text("x".repeat(input.characters));
        output.content.push(ContentBlock::Media(picture));
        Ok(output)
    }
}

fn talk(id: &str, characters: usize) -> Reply {
    Reply::new().and_call_with_id(id, "talk", json!({"characters": characters}))
}

#[tokio::test]
async fn a_result_over_the_limit_goes_into_a_file_and_one_at_it_stays() {
    let scene = scene(vec![talk("a.1", 400).into(), talk("a.2", 401).into(), "done".into()], |config| {
        config.tools.push(erase(Talk));
        config.filesystem.evict_results_over = 100;
    });
    scene.say("go").await;
    assert_eq!(scene.result("a.1"), "x".repeat(400));
    let stub = scene.result("a.2");
    assert!(stub.contains("/large_tool_results/a_2") && stub.contains("call a.2 was too large"), "{stub}");
    assert_eq!(scene.project.read("large_tool_results/a_2"), "x".repeat(401));
    let last = scene.last_request().messages.last().unwrap().content().to_vec();
    assert!(matches!(last[..], [ContentBlock::Text { .. }, ContentBlock::Media(_)]), "media stay: {last:?}");
}

#[tokio::test]
async fn a_result_that_can_be_put_nowhere_stays() {
    for artifacts in [Artifacts::default(), Artifacts::at_root()] {
        // With a root, the folder's name is taken by a file.
        let project = Project::new().file("large_tool_results", "mine");
        let model = bosun_testkit::ScriptedModel::new(vec![Scripted::from(talk("a", 500)), "done".into()]);
        let scene = Scene::build(project, model, vec![], |config| {
            config.tools.push(erase(Talk));
            config.filesystem.evict_results_over = 100;
            config.artifacts = artifacts;
        });
        scene.say("go").await;
        assert_eq!(scene.result("a"), "x".repeat(500));
        assert_eq!(scene.project.read("large_tool_results"), "mine");
    }
}

#[tokio::test]
async fn the_whole_output_of_a_command_is_kept() {
    let call = Reply::new().and_call_with_id("c", "execute", json!({"command": "seq 1 40000"}));
    let scene = scene(vec![call.into(), "done".into()], |_| {});
    scene.say("count").await;
    let kept = scene.project.read("large_tool_results/c");
    let all: String = (1..=40_000).map(|n| format!("{n}\n")).collect();
    assert!(kept.starts_with(&all), "{} bytes", kept.len());
    assert!(scene.result("c").contains("/large_tool_results/c"), "{}", scene.result("c"));
}

/// F03: where the disk takes nothing of an output, what memory holds of it is not told to be the whole.
#[tokio::test]
async fn of_an_output_that_no_disk_takes_it_is_said_what_is_kept() {
    for (last, is_whole) in [(40_000, true), (2_000_000, false)] {
        let call = Reply::new().and_call_with_id("c", "execute", json!({"command": format!("seq 1 {last}")}));
        let project = Project::new();
        let spool_dir = Some(project.at("nowhere"));
        let options = LocalShellOptions { spool_dir, ..LocalShellOptions::default() };
        let backend = LocalShellBackend::open(project.root(), options).unwrap();
        let model = bosun_testkit::ScriptedModel::new(vec![Scripted::from(call), "done".into()]);
        let scene = Scene::build(project, model, vec![], |config| config.backend = Arc::new(backend));
        scene.say("count").await;
        let (kept, stub) = (scene.project.read("large_tool_results/c"), scene.result("c"));
        let all: String = (1..=last).map(|n| format!("{n}\n")).collect();
        assert_eq!((kept.starts_with(&all), kept.contains("bytes left out here")), (is_whole, !is_whole));
        assert!(kept.contains(&format!("\n{last}\n")));
        let cut = "too large for this conversation, and the whole could not be kept: its beginning and its end are in";
        let whole = "too large for this conversation and is in";
        assert!(stub.contains(if is_whole { whole } else { cut }), "{stub}");
        let part = scene.log.with_state(|state| state.fields["kept_results"]["c"]["part"].clone());
        assert_eq!(part, if is_whole { json!(null) } else { json!("ends") });
    }
}

#[tokio::test]
async fn a_huge_message_is_sent_as_its_head_and_tail_and_stays_whole_in_the_session() {
    let scene = scene(vec!["read".into(), "again".into()], |config| config.filesystem.evict_messages_over = 100);
    let text: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    scene.say(&text).await;
    let shown = &texts(&scene.request(0))[0];
    assert!(shown.contains("/conversation_history/h1.md") && shown.contains("line 200"), "{shown}");
    assert!(!shown.contains("line 100\n"));
    assert_eq!(scene.project.read("conversation_history/h1.md"), text);
    assert_eq!(scene.log.with_state(|state| bosun_model::text_of(state.messages[0].content())), text);
    scene.say("short").await;
    assert_eq!(&texts(&scene.request(1))[0], shown, "the same bytes in the next turn");
}

/// What it could not read again would be lost to it.
#[tokio::test]
async fn nothing_leaves_the_conversation_of_an_agent_without_a_tool_to_read_it() {
    for tools in [&["execute"][..], &["execute", "read_file"]] {
        let count = Reply::new().and_call_with_id("c", "execute", json!({"command": "seq 1 400"}));
        let scene = scene(vec![count.into(), "done".into()], |config| {
            config.builtin_tools = Some(tools.iter().map(|tool| (*tool).to_owned()).collect());
            config.filesystem.evict_results_over = 100;
            config.filesystem.evict_messages_over = 100;
        });
        let wish: String = (1..=200).map(|n| format!("wish {n}\n")).collect();
        scene.say(&wish).await;
        let sent = texts(&scene.last_request());
        let reads = tools.contains(&"read_file");
        for (shown, middle) in [(&sent[0], "wish 100\n"), (&sent[2], "\n200\n")] {
            assert_eq!(shown.contains(middle), !reads, "{tools:?}: {shown}");
            assert_eq!(shown.contains("for example with read_file"), reads, "{tools:?}: {shown}");
            assert!(!shown.contains("grep"), "there is none: {shown}");
        }
        assert_eq!(scene.project.at("large_tool_results").exists(), reads);
        assert_eq!(scene.project.at("conversation_history").exists(), reads);
    }
}

#[tokio::test]
async fn huge_messages_that_come_while_the_agent_works_are_sent_in_short_too() {
    let call = Reply::new().and_call_with_id("l", "ls", json!({"path": "/"}));
    let scene = scene(vec![call.into(), "read".into(), "again".into()], |config| {
        config.filesystem.evict_messages_over = 100;
    });
    let huge = |what: &str| (1..=200).map(|n| format!("{what} {n}\n")).collect::<String>();
    let said = |id: &str, text: String| HumanMessage { id: id.into(), content: vec![text.into()] };
    let started = EntryBody::TurnStarted { turn: 1, message: said("h1", "go".into()) };
    let steered = ["first", "second"].map(|what| EntryBody::Steered { message: said(what, huge(what)) });
    scene.log.record(std::iter::once(started).chain(steered).collect()).await.unwrap();
    assert_eq!(bosun_agent::run_turn(&scene.context()).await, Ok(TurnEnd::Done));
    let sent = texts(&scene.request(1));
    for (shown, what) in sent[sent.len() - 2..].iter().zip(["first", "second"]) {
        assert!(shown.contains(&format!("/conversation_history/{what}.md")), "{shown}");
        assert!(!shown.contains(&format!("{what} 100\n")), "{shown}");
        assert_eq!(scene.project.read(&format!("conversation_history/{what}.md")), huge(what));
    }
    let kept = scene.log.with_state(|state| bosun_model::text_of(state.messages[3].content()));
    assert_eq!(kept, huge("first"), "the session has all of it");
    scene.say("short").await;
    assert_eq!(texts(&scene.request(2))[..sent.len()], sent[..], "the same bytes in the next turn");
}

#[tokio::test]
async fn pictures_are_named_to_a_model_that_cannot_look_at_them() {
    let model = small(vec![talk("a", 3).into(), "done".into()], 100_000);
    let scene = Scene::build(Project::new(), model, vec![], |config| config.tools.push(erase(Talk)));
    scene.say("go").await;
    let sent = texts(&scene.last_request()).pop().unwrap();
    assert!(sent.contains("[a file (image/png) is left out: this model cannot take it]"), "{sent}");
}

#[tokio::test]
async fn media_that_the_provider_refuses_are_left_out_from_then_on() {
    let refusal = ModelError::new(ModelErrorKind::InvalidRequest, "scripted", "Could not process image");
    let replies = vec![talk("a", 3).into(), refusal.into(), "seen".into(), "next".into()];
    let scene = scene(replies, |config| config.tools.push(erase(Talk)));
    scene.say("go").await;
    for index in [2, 3] {
        if index == 3 {
            scene.say("more").await;
        }
        let sent = texts(&scene.request(index)).join("\n");
        assert!(sent.contains("is left out: the provider refused it"), "{index}: {sent}");
    }
}

#[tokio::test]
async fn media_stay_where_the_request_without_them_fails_too() {
    let unlike = |kind, words: &str| ModelError::new(kind, "scripted", words);
    let refusal = unlike(ModelErrorKind::InvalidRequest, "image_url: Invalid JSON in the request");
    let broken = unlike(ModelErrorKind::InvalidRequest, "tools[0]: Invalid JSON in the request");
    let replies = vec![talk("a", 3).into(), refusal.into(), broken.into(), "next".into()];
    let scene = scene(replies, |config| config.tools.push(erase(Talk)));
    assert!(matches!(scene.say("go").await, TurnEnd::Failed { .. }));
    assert!(texts(&scene.request(2)).join("\n").contains("is left out: the provider refused it"), "asked without");
    scene.say("more").await;
    let sent = scene.request(3);
    assert!(!texts(&sent).join("\n").contains("is left out"), "nothing says that it was the picture");
}
