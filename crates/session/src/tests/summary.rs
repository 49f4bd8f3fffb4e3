//! Summing a conversation up, and taking that back.

use bosun_model::ChatRequest;
use bosun_protocol::{ErrorCode, ItemBody, NoticeCode, SessionId, SummaryCause};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;

use super::sessions::progress;
use super::stage::Stage;

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
        ItemBody::Ai { text, .. } => Some(text),
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
