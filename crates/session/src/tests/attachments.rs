//! What a person gives along with a message, and what the message names.
#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use bosun_model::{ChatRequest, ContentBlock, Message};
use bosun_protocol::{
    AttachmentKind, ErrorCode, ExportFormat, FindMentions, ItemBody, Mention, MentionKind, NewAttachment, SendMessage,
    SessionId,
};
use bosun_testkit::Reply;
use pretty_assertions::assert_eq;

use super::stage::Stage;
use crate::export::ENGLISH;

/// Says what stands in the last message of the person.
fn looking(request: &ChatRequest) -> Reply {
    let human = request.messages.iter().rev().find_map(|message| match &**message {
        Message::Human(human) => Some(human.content.clone()),
        _ => None,
    });
    let seen = human.unwrap_or_default().into_iter().map(|block| match block {
        ContentBlock::Text { text } => text.to_string(),
        ContentBlock::Media(media) => format!("<{} {} {}>", media.mime, media.data.len(), media.kept.is_some()),
        ContentBlock::Reasoning(_) => String::new(),
    });
    Reply::text(seen.collect::<Vec<_>>().join("\n"))
}

fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02".to_vec();
    bytes.extend(b"\x08\x06\0\0\0....\0\0\0\x01IDAT\0....\0\0\0\0IEND....");
    bytes
}

fn message(session: &SessionId, text: &str) -> SendMessage {
    SendMessage { session: session.clone(), text: text.into(), attachments: Vec::new(), mentions: Vec::new() }
}

async fn answer(stage: &Stage, session: &SessionId) -> String {
    stage.sessions.quiet(session).await.unwrap();
    match &stage.snapshot(session).await.items.last().unwrap().body {
        ItemBody::Ai { text, .. } => text.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_attached_is_sent_kept_by_its_hash_and_there_after_a_restart() {
    let stage = Stage::new(looking).await;
    let session = stage.session().await;
    let notes = stage.sessions.keep_attachment("notes.md", b"# Clocks\nsleep".to_vec()).await.unwrap();
    let picture = stage.sessions.keep_attachment("screen.png", png()).await.unwrap();
    assert_eq!((notes.kind, picture.kind), (AttachmentKind::Text, AttachmentKind::Image));
    let along = [&notes, &picture].map(|one| NewAttachment { name: one.name.clone(), blob: one.blob.clone().unwrap() });
    let sent = SendMessage { attachments: along.to_vec(), ..message(&session, "Look at these.") };
    stage.sessions.send_message(&sent).await.unwrap();
    let seen = answer(&stage, &session).await;
    assert!(seen.starts_with("Look at these.\n<attached name=\"notes.md\" bytes=\"14\""), "{seen}");
    assert!(seen.contains("# Clocks\nsleep") && seen.contains("<image/png 80 false>"), "{seen}");

    let stage = stage.restarted(looking).await;
    let first = stage.snapshot(&session).await.items.remove(0);
    let ItemBody::Human { text, attachments } = first.body else { panic!() };
    assert_eq!((text.as_str(), attachments), ("Look at these.", vec![notes.clone(), picture.clone()]));
    let content = stage.sessions.attachment(&session, notes.blob.as_deref().unwrap()).await.unwrap();
    assert_eq!(content.text.as_deref(), Some("# Clocks\nsleep"));
    let shown = stage.sessions.attachment(&session, picture.blob.as_deref().unwrap()).await.unwrap();
    assert!(shown.image.is_some_and(|image| image.starts_with("iVBOR")));
    let page = stage.sessions.export(&session, ExportFormat::Html, &ENGLISH).await.unwrap();
    assert!(page.contains("<img class=\"attached\" alt=\"screen.png\" src=\"data:image/png;base64,iVBOR"), "{page}");
    assert!(page.contains("# Clocks\nsleep") && page.contains("img-src data:"));
    let text = stage.sessions.export(&session, ExportFormat::Markdown, &ENGLISH).await.unwrap();
    assert!(text.contains("- Attached: notes.md (text/plain, 14 bytes)") && text.contains("# Clocks"), "{text}");
    let other = stage.session().await;
    let refused = stage.sessions.attachment(&other, notes.blob.as_deref().unwrap()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
    // The journal has the hashes and not the bytes.
    let entries = stage.database.entries(&bosun_agent::SessionId::new(session.as_str()), 0).await.unwrap();
    let journal = serde_json::to_string(&entries.iter().map(|entry| &entry.entry).collect::<Vec<_>>()).unwrap();
    let person: Vec<&str> = journal.split("turn_started").skip(1).collect();
    assert!(person.iter().all(|entry| !entry.contains("iVBOR")) && journal.contains(notes.blob.as_deref().unwrap()));
}

#[tokio::test]
async fn a_message_may_be_an_attachment_alone_and_waits_with_it() {
    let stage = Stage::new(looking).await;
    let session = stage.session().await;
    let notes = stage.sessions.keep_attachment("a\nb.md", b"x".to_vec()).await.unwrap();
    assert_eq!(notes.name, "a b.md");
    let along = vec![NewAttachment { name: notes.name.clone(), blob: notes.blob.clone().unwrap() }];
    let sent = SendMessage { attachments: along, ..message(&session, "") };
    stage.sessions.send_message(&sent).await.unwrap();
    stage.sessions.send_message(&sent).await.unwrap();
    let seen = answer(&stage, &session).await;
    assert!(seen.contains("<attached name=\"a b.md\""), "{seen}");
    let snapshot = stage.snapshot(&session).await;
    assert_eq!(snapshot.session.title, "a b.md");
    assert_eq!(snapshot.queue, []);
}

#[tokio::test]
async fn what_cannot_be_attached_is_refused_with_a_way_out() {
    let stage = Stage::new(looking).await;
    let session = stage.session().await;
    let refusal = stage.sessions.keep_attachment("a.exe", b"MZ\0\0".to_vec()).await.unwrap_err();
    assert_eq!(refusal.code, ErrorCode::Invalid);
    assert!(refusal.to_string().contains("project folder"), "{}", refusal.to_string());
    assert!(stage.sessions.keep_encoded("a", "not base64!").await.is_err());
    for blob in ["", "../../etc/passwd", &"a".repeat(64)] {
        let along = vec![NewAttachment { name: "x".into(), blob: blob.into() }];
        let sent = SendMessage { attachments: along, ..message(&session, "hello") };
        assert_eq!(stage.sessions.send_message(&sent).await.unwrap_err().code, ErrorCode::NotFound);
    }
    assert_eq!(stage.snapshot(&session).await.items, []);
}

#[tokio::test]
async fn what_a_message_names_is_looked_up_when_it_is_sent() {
    let stage = Stage::new(looking).await;
    let earlier = stage.session().await;
    stage.sessions.send(&earlier, "Survey the clocks".into()).await.unwrap();
    answer(&stage, &earlier).await;
    let session = stage.session().await;
    let path = |path: &str| Mention::Path { path: path.into() };
    let mentions = vec![path("/a.txt"), path("/src"), Mention::Session { session: earlier }];
    let sent = SendMessage { mentions, ..message(&session, "See @a.txt and @src/") };
    stage.sessions.send_message(&sent).await.unwrap();
    stage.project.write("a.txt", "changed later\n");
    let seen = answer(&stage, &session).await;
    for wanted in
        ["<mentioned name=\"/a.txt\"", "one\ntwo\n", "name=\"/src/\"", "/src/b.txt", "Person: Survey the clocks"]
    {
        assert!(seen.contains(wanted), "{wanted}: {seen}");
    }
    let ItemBody::Human { attachments, .. } = &stage.snapshot(&session).await.items[0].body else { panic!() };
    assert_eq!(attachments.len(), 3);
    assert!(attachments.iter().all(|one| one.kind == AttachmentKind::Mention));
    // P09, P10: nothing that a link leads to outside goes out with a message.
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "kept beside the project").unwrap();
    for (target, name) in [("secret.txt", "link.txt"), ("", "folder")] {
        std::os::unix::fs::symlink(outside.path().join(target), stage.project.root().join(name)).unwrap();
    }
    let host = outside.path().join("secret.txt");
    let host = host.to_string_lossy();
    let out = ["/link.txt", "/folder/secret.txt", "/folder", "..\\..\\x", "C:\\x", &host];
    for gone in ["/nothing.txt", "/../secret", "/"].into_iter().chain(out) {
        let sent = SendMessage { mentions: vec![path(gone)], ..message(&session, "x") };
        assert!(stage.sessions.send_message(&sent).await.is_err(), "{gone}");
    }
}

#[tokio::test]
async fn files_folders_and_sessions_are_found_by_their_letters() {
    let stage = Stage::new(looking).await;
    stage.project.write("src/ignored.log", "x");
    stage.project.write(".gitignore", "*.log\n");
    let session = stage.session().await;
    stage.sessions.send(&session, "Survey of clocks".into()).await.unwrap();
    answer(&stage, &session).await;
    let find = async |text: &str| {
        let query = FindMentions { project: stage.project_id.clone(), text: text.into(), limit: 9 };
        let hits = stage.sessions.find_mentions(&query).await.unwrap();
        hits.into_iter().map(|hit| (hit.kind, hit.name)).collect::<Vec<_>>()
    };
    assert_eq!(find("b.t").await, [(MentionKind::File, "src/b.txt".to_owned())]);
    assert_eq!(find("src").await[0], (MentionKind::Folder, "src/".to_owned()));
    assert_eq!(find("survey").await, [(MentionKind::Session, "Survey of clocks".to_owned())]);
    assert_eq!(find("ignored").await, []);
}
