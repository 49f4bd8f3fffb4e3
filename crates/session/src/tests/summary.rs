//! Summing a conversation up, and taking that back.

use bosun_model::ChatRequest;
use bosun_protocol::{ErrorCode, ItemBody, NoticeCode, Problem, SessionId, SessionStatus, SummaryCause};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;

use super::sessions::progress;
use super::stage::{HELD, Stage};

/// Says much, and sums up when it is asked to.
fn talking(request: &ChatRequest) -> Reply {
    let (text, _) = progress(request);
    if text.contains("<conversation>") {
        let minded = if text.contains("Mind the sails") { " The sails are minded." } else { "" };
        return Reply::text(format!("The ship was spoken of.{minded}"));
    }
    match text.as_str() {
        "what do you see" => {
            let texts = request.messages.iter().map(|message| bosun_model::text_of(message.content()));
            Reply::text(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => Reply::text(format!("About {text}: {}", "much to be said. ".repeat(40))),
    }
}

/// An agent of which a summary stands for all but the end, however short the conversation is.
fn keeping_little() -> crate::DeclaredAgent {
    crate::DeclaredAgent::parse("[summarization]\nkeep.messages = 4").unwrap()
}

async fn ask(stage: &Stage, session: &SessionId, text: &str) -> String {
    stage.sessions.send(session, text.to_owned()).await.unwrap();
    stage.sessions.quiet(session).await.unwrap();
    let items = stage.snapshot(session).await.items;
    let said = items.into_iter().rev().find_map(|item| match item.body {
        ItemBody::Ai { text, .. } => Some(text.to_string()),
        ItemBody::Human { .. } | ItemBody::Tool(_) | ItemBody::Notice(_) => None,
    });
    said.unwrap_or_default()
}

#[tokio::test]
async fn a_person_sums_up_changes_the_words_and_takes_it_back() {
    let stage = Stage::new(talking).await;
    stage.sessions.declare(keeping_little());
    let session = stage.session().await;
    let nothing = stage.sessions.compact(&session, None).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::Invalid, "{nothing}");
    for turn in 0..12 {
        ask(&stage, &session, &format!("matter {turn}")).await;
    }
    assert_eq!(stage.sessions.summary(&session).await.unwrap(), None);
    let made = stage.sessions.compact(&session, Some("Mind the sails")).await.unwrap();
    assert_eq!((made.cause, made.edited), (SummaryCause::Person, false));
    assert!(made.text.contains("The sails are minded.") && made.tokens_after < made.tokens_before, "{made:?}");
    assert!(made.facts.contains("matter 0"), "what the person said is kept: {}", made.facts);
    let notices = |items: Vec<bosun_protocol::Item>| {
        let notice = items.into_iter().filter_map(|item| match item.body {
            ItemBody::Notice(notice) => Some(notice.code),
            ItemBody::Human { .. } | ItemBody::Tool(_) | ItemBody::Ai { .. } => None,
        });
        notice.collect::<Vec<_>>()
    };
    assert_eq!(notices(stage.snapshot(&session).await.items), [NoticeCode::Summarized]);

    // It is there after a restart, and the model reads it in the place of the beginning.
    let stage = stage.restarted(talking).await;
    stage.sessions.declare(keeping_little());
    let seen = ask(&stage, &session, "what do you see").await;
    assert!(seen.contains("The sails are minded.") && !seen.contains("About matter 0"), "{seen}");
    let edited = stage.sessions.edit_summary(&session, "The ship is called Otter.").await.unwrap();
    assert_eq!((edited.text.as_str(), edited.edited), ("The ship is called Otter.", true));
    assert!(ask(&stage, &session, "what do you see").await.contains("The ship is called Otter."));
    assert_eq!(stage.sessions.edit_summary(&session, "  ").await.unwrap_err().code, ErrorCode::Invalid);

    let file = edited.file.expect("the original can be read");
    assert!(file.starts_with("/conversation_history/"), "{file}");
    assert_eq!(stage.sessions.undo_summary(&session).await.unwrap(), None);
    assert!(ask(&stage, &session, "what do you see").await.contains("About matter 0"));
    assert_eq!(stage.sessions.undo_summary(&session).await.unwrap_err().code, ErrorCode::NotFound);
}

/// A session with something to sum up.
async fn spoken(stage: &Stage) -> SessionId {
    stage.sessions.declare(keeping_little());
    let session = stage.session().await;
    for turn in 0..6 {
        ask(stage, &session, &format!("matter {turn}")).await;
    }
    session
}

/// Waits until a summary is being made.
async fn under_way(stage: &Stage, session: &SessionId) {
    while !stage.snapshot(session).await.session.summing_up {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_summary_that_is_being_made_is_seen_and_stopped_and_locks_nothing() {
    let stage = Stage::new(talking).await;
    let session = spoken(&stage).await;
    let (outcome, ()) = tokio::join!(stage.sessions.compact(&session, Some(HELD)), async {
        under_way(&stage, &session).await;
        assert_eq!(stage.snapshot(&session).await.session.status, SessionStatus::Running);
        for refused in [
            stage.sessions.compact(&session, None).await.unwrap_err(),
            stage.sessions.undo_summary(&session).await.unwrap_err(),
            stage.sessions.continue_turn(&session).await.unwrap_err(),
        ] {
            assert_eq!(refused.problem, Problem::SummaryUnderWay);
        }
        stage.sessions.stop(&session).await.unwrap();
    });
    let stopped = outcome.unwrap_err();
    assert_eq!((stopped.code, stopped.problem), (ErrorCode::Invalid, Problem::Stopped));
    let after = stage.snapshot(&session).await.session;
    assert_eq!((after.summing_up, after.status), (false, SessionStatus::Idle));
    assert_eq!(stage.sessions.summary(&session).await.unwrap(), None);
    stage.sessions.compact(&session, None).await.unwrap();
}

#[tokio::test]
async fn a_summary_that_is_made_is_work_and_can_be_stopped_with_all_work() {
    let stage = Stage::new(talking).await;
    let session = spoken(&stage).await;
    let at_work =
        async || -> Vec<SessionId> { stage.sessions.at_work().await.into_iter().map(|session| session.id).collect() };
    assert_eq!(at_work().await, []);
    let (outcome, ()) = tokio::join!(stage.sessions.compact(&session, Some(HELD)), async {
        under_way(&stage, &session).await;
        assert_eq!(at_work().await, std::slice::from_ref(&session));
        stage.sessions.stop_all(&at_work().await).await;
    });
    assert_eq!(outcome.unwrap_err().problem, Problem::Stopped);
    assert_eq!(at_work().await, []);
}

#[tokio::test]
async fn what_is_sent_while_a_summary_is_made_is_kept_and_answered_behind_it() {
    let stage = Stage::new(talking).await;
    let session = spoken(&stage).await;
    let (outcome, ()) = tokio::join!(stage.sessions.compact(&session, Some(HELD)), async {
        under_way(&stage, &session).await;
        stage.sessions.send(&session, "what do you see".into()).await.unwrap();
        stage.sessions.steer(&session, "and behind it".into()).await.unwrap();
        let queue = stage.snapshot(&session).await.queue.into_iter().map(|message| message.text);
        assert_eq!(queue.collect::<Vec<_>>(), ["what do you see", "and behind it"]);
        stage.held.add_permits(1);
    });
    assert_eq!(outcome.unwrap().cause, SummaryCause::Person);
    let answered = async |text: &str| {
        stage.sessions.quiet(&session).await.unwrap();
        let items = stage.snapshot(&session).await.items;
        items.iter().any(|item| matches!(&item.body, ItemBody::Ai { text: said, .. } if said.contains(text)))
    };
    while !answered("About and behind it").await {}
    assert!(answered("The ship was spoken of.").await, "the model read the summary");
    assert!(stage.snapshot(&session).await.queue.is_empty());

    // One that is stopped keeps the message as well, and so does one that the app ends in.
    let (outcome, ()) = tokio::join!(stage.sessions.compact(&session, Some(HELD)), async {
        under_way(&stage, &session).await;
        stage.sessions.send(&session, "after the stop".into()).await.unwrap();
        stage.sessions.stop(&session).await.unwrap();
    });
    assert_eq!(outcome.unwrap_err().problem, Problem::Stopped);
    while !answered("About after the stop").await {}
    let (outcome, ()) = tokio::join!(stage.sessions.compact(&session, Some(HELD)), async {
        under_way(&stage, &session).await;
        stage.sessions.send(&session, "before the end".into()).await.unwrap();
        stage.sessions.shut_down().await;
    });
    assert_eq!(outcome.unwrap_err().problem, Problem::Stopped);
    let stage = stage.restarted(talking).await;
    let snapshot = stage.snapshot(&session).await;
    assert_eq!(snapshot.queue.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["before the end"]);
    assert!(!snapshot.session.summing_up);
}

#[tokio::test]
async fn what_a_summary_used_is_in_the_figures_of_its_session_once() {
    let stage = Stage::new(talking).await;
    let session = spoken(&stage).await;
    let before = stage.snapshot(&session).await.session.usage;
    stage.sessions.compact(&session, None).await.unwrap();
    let after = stage.snapshot(&session).await.session.usage;
    // A reply of the script uses 10 and 5.
    assert_eq!((after.input_tokens, after.output_tokens), (before.input_tokens + 10, before.output_tokens + 5));
    assert_eq!(after.context_tokens, before.context_tokens, "the window of the conversation is as full as it was");
    let listed = async |stage: &Stage| {
        let all = stage.sessions.watch_summaries().await.unwrap().0;
        let found = all.into_iter().find(|listed| listed.id == session).unwrap();
        assert!(!found.summing_up);
        found.usage
    };
    assert_eq!(listed(&stage).await, after);
    let stage = stage.restarted(talking).await;
    assert_eq!(listed(&stage).await, after);
    assert_eq!(stage.snapshot(&session).await.session.usage, after);
}

/// Sends a subagent, which answers.
fn delegating(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text == "send" => Reply::default().and_call_with_id(
            "x",
            "task",
            serde_json::json!({ "description": "work x", "subagent_type": "general-purpose" }),
        ),
        _ => talking(request),
    }
}

#[tokio::test]
async fn the_summary_of_a_subagent_is_not_that_of_its_session() {
    let stage = Stage::new(delegating).await;
    let session = spoken(&stage).await;
    ask(&stage, &session, "send").await;
    stage.sessions.compact(&session, None).await.unwrap();
    let agents = stage.snapshot(&session).await.agents;
    let child = agents.into_iter().find(|agent| agent.description == "work x").unwrap().session;
    assert_eq!(stage.sessions.summary(&child).await.unwrap(), None);
    for refused in [
        stage.sessions.compact(&child, None).await.unwrap_err(),
        stage.sessions.edit_summary(&child, "other words").await.unwrap_err(),
        stage.sessions.undo_summary(&child).await.unwrap_err(),
    ] {
        assert_eq!((refused.code, refused.problem), (ErrorCode::Invalid, Problem::SummaryOfSubagent));
    }
    assert!(!stage.sessions.summary(&session).await.unwrap().unwrap().edited);
}
