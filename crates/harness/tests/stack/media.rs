//! Pictures, sound and film that tools bring, kept beside the session.

use std::sync::Arc;

use bosun_agent::{EntryBody, Recorded, TurnEnd};
use bosun_backend::BlobStore;
use bosun_harness::{Artifacts, Compaction, Summarization, SummarizationOptions, Threshold};
use bosun_model::{ChatRequest, ContentBlock, Media, MediaKind, Message, ModelError, ModelErrorKind, ModelInfo};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use bosun_tools::StateUpdate;
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

fn refusal() -> Scripted {
    ModelError::new(ModelErrorKind::InvalidRequest, "p", "image_url is only supported by certain models").into()
}

/// The model `name` in a session of which `entries` are recorded.
fn going_on(name: &str, replies: Vec<Scripted>, entries: Vec<Recorded>) -> Scene {
    let model = ScriptedModel::new(replies);
    let info = ModelInfo { name: name.into(), ..bosun_model::ChatModel::info(&model).clone() };
    Scene::build(Project::new().file("a.png", png()), model.with_info(info), entries, |_| {})
}

fn left_out(request: &ChatRequest) -> bool {
    texts(request).concat().contains("is left out: the provider refused it")
}

/// Whom a person turns to may take less than whom they turned away from, and has not answered to the picture yet.
#[tokio::test]
async fn a_model_that_refuses_a_picture_of_another_is_asked_without() {
    let seer = going_on("seer", vec![look(), "seen".into()], vec![]);
    assert_eq!(seer.say("look").await, TurnEnd::Done);
    let blind = going_on("textonly", vec![refusal(), "as told".into(), "more".into()], seer.host.entries());
    assert_eq!(blind.say("and now?").await, TurnEnd::Done);
    assert_eq!((sent(&blind.request(0)), sent(&blind.request(1))), (1, 0));
    assert_eq!(blind.say("more").await, TurnEnd::Done);
    assert_eq!((sent(&blind.request(2)), left_out(&blind.request(2))), (0, true), "it is not asked twice");
}

#[tokio::test]
async fn what_one_model_refused_another_is_shown() {
    let blind = going_on("textonly", vec![look(), refusal(), "as told".into()], vec![]);
    assert_eq!(blind.say("look").await, TurnEnd::Done);
    let seer = going_on("seer", vec!["seen".into()], blind.host.entries());
    assert_eq!(seer.say("and now?").await, TurnEnd::Done);
    assert_eq!((sent(&seer.request(0)), left_out(&seer.request(0))), (1, false));
    // Who refused it still knows.
    let blind = going_on("textonly", vec!["as told".into()], seer.host.entries());
    assert_eq!(blind.say("and now?").await, TurnEnd::Done);
    assert_eq!((sent(&blind.request(0)), left_out(&blind.request(0))), (0, true));
}

/// Journals from before had one place for the session. The reply there came from whom had refused.
#[tokio::test]
async fn what_an_old_journal_has_of_refusals_is_known_of_its_model() {
    let blind = going_on("textonly", vec![look(), "as told".into()], vec![]);
    assert_eq!(blind.say("look").await, TurnEnd::Done);
    let replied = blind.log.with_state(|state| state.messages.len()) - 1;
    let update = StateUpdate { fields: vec![("media_refused_before".into(), replied.into())], ..Default::default() };
    blind.log.record(vec![EntryBody::Updated { by: "Filesystem".into(), update }]).await.unwrap();
    for (name, expected) in [("textonly", 0), ("seer", 1)] {
        let scene = going_on(name, vec!["more".into()], blind.host.entries());
        assert_eq!(scene.say("and now?").await, TurnEnd::Done);
        assert_eq!(sent(&scene.request(0)), expected, "{name}");
    }
}
