//! Keys in what is said: pasted by a person, read by a tool. Said to them, and in no file that leaves the app (K04, K10).
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use bosun_model::ChatRequest;
use bosun_protocol::{ExportFormat, ItemBody, NoticeCode, Problem, SessionId};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::KEY;
use super::sessions::progress;
use super::stage::Stage;
use crate::export::ENGLISH;

/// "read" looks at `.env`; "call" names the key in a call; anything else is answered.
fn reading(request: &ChatRequest) -> Reply {
    match progress(request) {
        (text, 0) if text.starts_with("read") => {
            Reply::default().and_call_with_id("r", "read_file", json!({ "file_path": "/.env" }))
        }
        (text, 0) if text.starts_with("call") => {
            Reply::default().and_call_with_id("g", "grep", json!({ "pattern": KEY, "path": "/" }))
        }
        _ => Reply::text("seen"),
    }
}

async fn worked(texts: &[&str]) -> (Stage, SessionId) {
    let stage = Stage::new(reading).await;
    stage.project.write(".env", format!("PORT=8080\nMODEL_KEY={KEY}\n"));
    let session = stage.session().await;
    for text in texts {
        stage.sessions.send(&session, (*text).to_owned()).await.unwrap();
        stage.sessions.quiet(&session).await.unwrap();
    }
    (stage, session)
}

async fn warnings(stage: &Stage, session: &SessionId) -> Vec<Problem> {
    let items = stage.snapshot(session).await.items.into_iter();
    let notices = items.filter_map(|item| if let ItemBody::Notice(notice) = item.body { Some(notice) } else { None });
    let keys = notices.filter(|notice| notice.code == NoticeCode::KeySeen);
    keys.map(|notice| notice.problem.unwrap()).collect()
}

#[tokio::test]
async fn a_key_that_is_pasted_or_read_is_warned_of_once() {
    let pasted = format!("use {KEY} please");
    let (stage, session) = worked(&["hello", &pasted, "and on", "read the file", "thanks"]).await;
    let found = warnings(&stage, &session).await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(matches!(&found[0], Problem::KeyInMessage { .. }), "{found:?}");
    assert!(matches!(&found[1], Problem::KeyInResult { tool, .. } if tool == "read_file"), "{found:?}");
    let stage = stage.restarted(reading).await;
    assert_eq!(warnings(&stage, &session).await, found);
    // It is no setting of any kind: only what was said holds it.
    assert_eq!(stage.sessions.model_settings().await.unwrap(), bosun_protocol::ModelSettings::default());
}

#[tokio::test]
async fn a_key_is_seen_before_it_is_sent_and_nothing_is_kept_of_that() {
    let stage = Stage::new(reading).await;
    let session = stage.session().await;
    let keep = async |name: &str, text: &str| {
        stage.sessions.keep_attachment(name, text.as_bytes().to_vec()).await.unwrap().blob.unwrap()
    };
    let (plain, secret) = (keep("notes.md", "# Notes").await, keep("prod.env", &format!("MODEL_KEY={KEY}")).await);
    let gone = "0".repeat(64);
    for (text, blobs, holds) in [
        ("hello", vec![], false),
        (&*format!("use {KEY} please"), vec![], true),
        ("hello", vec![plain.clone(), gone, "no id".to_owned()], false),
        ("", vec![plain, secret], true),
    ] {
        assert_eq!(stage.sessions.holds_key(text, &blobs).await, holds, "{text} {blobs:?}");
    }
    assert_eq!(stage.snapshot(&session).await.items, []);
}

#[tokio::test]
async fn no_export_and_no_ledger_holds_a_key_that_was_said() {
    let pasted = format!("call with {KEY}");
    let (stage, session) = worked(&[&pasted, "read it"]).await;
    stage.sessions.rename(&session, &format!("About {KEY}")).await.unwrap();
    let said = serde_json::to_string(&stage.snapshot(&session).await).unwrap();
    assert!(said.matches(KEY).count() > 3, "the test has nothing to find: {said}");
    for format in [ExportFormat::Markdown, ExportFormat::Json, ExportFormat::Html] {
        let text = stage.sessions.export(&session, format, &ENGLISH).await.unwrap();
        assert!(!text.contains(KEY) && text.contains("[redacted]"), "{format:?}: {text}");
        let preview = stage.sessions.preview_export(&session, format, &ENGLISH).await.unwrap();
        assert!(!preview.text.contains(KEY) && preview.redacted > 3, "{format:?}: {preview:?}");
        assert_eq!((preview.bytes, preview.cut), (text.len() as u64, false));
        assert_eq!(preview.text == text, format != ExportFormat::Html);
        let folder = tempfile::tempdir().unwrap();
        let file = stage.sessions.export_into(&session, format, &ENGLISH, folder.path()).await.unwrap();
        assert!(!file.to_string_lossy().contains(KEY), "{}", file.display());
        assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    }
    let timeline = stage.timeline(&session).await;
    assert_eq!(timeline.ledger[0].proposed["pattern"], "[redacted]");
    assert!(!serde_json::to_string(&timeline.ledger).unwrap().contains(KEY));
}

#[tokio::test]
async fn a_long_export_is_shown_from_its_beginning() {
    let long = "päge ".repeat(40_000);
    let (stage, session) = worked(&[&long]).await;
    let preview = stage.sessions.preview_export(&session, ExportFormat::Markdown, &ENGLISH).await.unwrap();
    assert!(preview.cut && preview.text.len() <= 64 * 1024 && preview.bytes > 200_000, "{}", preview.bytes);
    assert_eq!(preview.redacted, 0);
}
