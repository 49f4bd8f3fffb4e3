//! Pictures, sound and film that tools bring, kept beside the session.

use std::sync::Arc;

use bosun_agent::{EntryBody, TurnEnd};
use bosun_backend::BlobStore;
use bosun_harness::{Artifacts, Compaction, Summarization, SummarizationOptions, Threshold};
use bosun_model::{ChatRequest, ContentBlock, Media, MediaKind, Message};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::scene::{Scene, texts};

/// A picture of two by two points, as far as one sees without drawing it.
fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02".to_vec();
    bytes.extend(b"\x08\x06\0\0\0....\0\0\0\x01IDAT\0....\0\0\0\0IEND....");
    bytes
}

fn media_of(messages: &[Arc<Message>]) -> Vec<Media> {
    let blocks = messages.iter().flat_map(|message| message.content());
    let media = blocks.filter_map(|block| match block {
        ContentBlock::Media(media) => Some(media.clone()),
        ContentBlock::Text { .. } | ContentBlock::Reasoning(_) => None,
    });
    media.collect()
}

fn sent(request: &ChatRequest) -> usize {
    media_of(&request.messages).iter().filter(|media| !media.data.is_empty() && media.kept.is_none()).count()
}

fn at_work(replies: Vec<Scripted>, folder: &std::path::Path, offload: bool) -> Scene {
    let blobs = Arc::new(BlobStore::open(folder).unwrap());
    let film = b"\0\0\0\x18ftypisom and so on";
    let project = Project::new().file("a.png", png()).file("a.mp3", b"ID3\x04 and so on").file("a.mp4", film);
    Scene::build(project, ScriptedModel::new(replies), vec![], |config| {
        config.blobs = Some(blobs);
        config.filesystem.offload_media = offload;
    })
}

fn look() -> Scripted {
    Reply::new().and_call_with_id("r", "read_file", json!({"file_path": "/a.png"})).into()
}

#[tokio::test]
async fn a_picture_is_kept_by_its_hash_and_sent_with_every_request() {
    for (offload, in_journal) in [(true, 0), (false, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let scene = at_work(vec![look(), "seen".into(), "again".into()], folder.path(), offload);
        assert_eq!(scene.say("look").await, TurnEnd::Done);
        assert_eq!(scene.say("and again").await, TurnEnd::Done);
        let media = scene.log.with_state(|state| media_of(&state.messages));
        assert_eq!(media.iter().filter(|media| !media.data.is_empty()).count(), in_journal);
        assert_eq!((sent(&scene.request(1)), sent(&scene.request(2))), (1, 1), "offloaded: {offload}");
    }
}

/// E7 of the reference: a model that takes them gets them as blocks.
#[tokio::test]
async fn sound_and_film_are_kept_and_sent_as_pictures_are() {
    for (path, kind, mime) in [("/a.mp3", MediaKind::Audio, "audio/mpeg"), ("/a.mp4", MediaKind::Video, "video/mp4")] {
        let folder = tempfile::tempdir().unwrap();
        let read = Reply::new().and_call_with_id("r", "read_file", json!({"file_path": path}));
        let scene = at_work(vec![read.into(), "perceived".into(), "again".into()], folder.path(), true);
        assert_eq!(scene.say("what is it?").await, TurnEnd::Done);
        assert_eq!(scene.say("and again?").await, TurnEnd::Done);
        let media = scene.log.with_state(|state| media_of(&state.messages));
        let [media] = &media[..] else { panic!("{media:?}") };
        assert_eq!((media.kind, &*media.mime, &*media.data, media.kept.is_some()), (kind, mime, "", true));
        assert_eq!((sent(&scene.request(1)), sent(&scene.request(2))), (1, 1), "{path}");
    }
}

#[tokio::test]
async fn a_subagent_sees_what_it_looked_at_too() {
    let folder = tempfile::tempdir().unwrap();
    let task = json!({"description": "look", "subagent_type": "general-purpose"});
    let send = Reply::new().and_call_with_id("t", "task", task);
    let scene = at_work(vec![send.into(), look(), "seen".into(), "done".into()], folder.path(), true);
    assert_eq!(scene.say("go").await, TurnEnd::Done);
    assert_eq!(sent(&scene.request(2)), 1);
}

#[tokio::test]
async fn a_summary_by_hand_keeps_the_bytes_of_what_is_kept_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let long = Reply::text("and so on ".repeat(500));
    let scene = at_work(vec![look(), long.into(), "next".into(), "the story".into()], folder.path(), true);
    scene.say("look").await;
    scene.say("more").await;
    let options = SummarizationOptions { keep: Some(Threshold::Messages(1)), ..SummarizationOptions::default() };
    let summarization = Summarization::new(options, Artifacts::at_root());
    summarization.compact_now(&scene.context(), None).await.unwrap();
    let file = scene.log.with_state(Compaction::of).summary.unwrap().file.unwrap();
    let told = scene.project.read(file.as_str().trim_start_matches('/'));
    let place = told
        .split("[image/png at /")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .unwrap_or_else(|| panic!("{told}"));
    assert_eq!(scene.project.bytes(place), png());
    let asked = texts(&scene.last_request()).concat();
    assert!(asked.contains(&format!("[image/png at /{place}]")), "the summary can name it: {asked}");
    let results =
        scene.host.entries().into_iter().filter(|recorded| matches!(recorded.entry.body, EntryBody::ToolResult { .. }));
    assert_eq!(results.count(), 1);
}
