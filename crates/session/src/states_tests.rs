use std::sync::Arc;
use std::sync::atomic::Ordering;

use bosun_backend::{BlobStore, ContentHash, VirtualPath};
use bosun_protocol::ChangeScope;
use bosun_tools::{Artifact, ChangeRecord};
use pretty_assertions::assert_eq;

use super::{FileState, Folds};
use crate::projection::{Between, Deed, Did, Form, How, Projection, Subject};
use crate::stream::{Stream, locked};

const TURNS: usize = 200;

struct Scene {
    blobs: BlobStore,
    _folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { blobs: BlobStore::open(folder.path().join("blobs")).unwrap(), _folder: folder }
    }

    async fn put(&self, text: &str) -> ContentHash {
        self.blobs.put(text.as_bytes().to_vec().into()).await.unwrap()
    }

    async fn form(&self, text: &str) -> Form {
        Form::of(Some(self.put(text).await), Some(0o644))
    }
}

/// A file in which the agent changed the first `agents` of its lines and a person the first `theirs` of those behind them.
fn text(agents: usize, theirs: usize) -> String {
    let line = |at: usize| match at {
        at if at < agents => format!("agent {at}\n"),
        at if (TURNS..TURNS + theirs).contains(&at) => format!("person {at}\n"),
        at => format!("{at}\n"),
    };
    // Lines that stay between those of the two.
    (0..2 * TURNS).map(|at| line(at) + "stays\n").collect()
}

fn path() -> VirtualPath {
    VirtualPath::parse("/f").unwrap()
}

fn stream() -> Arc<Stream> {
    let subject = Subject {
        id: "root".into(),
        project: "p".into(),
        parent: None,
        path: Vec::new(),
        task: None,
        created_at: 1,
        model: None,
    };
    let mut projection = Projection::new(subject);
    projection.compare_changes();
    Arc::new(Stream::new(projection, None, Arc::default()))
}

/// The agent's change number `turn`, behind one of a person.
async fn deed(scene: &Scene, turn: usize) -> Deed {
    let (before, after) = (scene.put(&text(turn, turn)).await, scene.put(&text(turn + 1, turn)).await);
    let (before, after) = (Some(before), Some(after));
    let changes = vec![ChangeRecord { path: path(), before, after, mode: None, mode_after: None }];
    let artifact = Box::new(Artifact { changes, ..Artifact::default() });
    Deed { at: 1, seq: turn as u64 + 1, what: Did::Changed { artifact, command: None } }
}

#[tokio::test]
async fn a_file_that_two_edit_by_turns_costs_one_step_more_with_each_turn() {
    let (scene, stream) = (Scene::new(), stream());
    let mut deeds = Vec::new();
    for turn in 0..TURNS {
        let deed = deed(&scene, turn).await;
        deeds.push(deed.clone());
        stream.update(|projection| projection.follow(&deed));
        stream.count_changes(&scene.blobs).await;
    }
    let made = |stream: &Stream| stream.folds.made.load(Ordering::Relaxed);
    assert_eq!(made(&stream), TURNS - 1, "counted with each change");
    let file = stream.read(|projection| projection.scoped_changes(ChangeScope::Session)).remove(0);
    let count = u32::try_from(TURNS).unwrap();
    assert_eq!(file.lines, Some((count, count)), "the lines of the agent alone");
    for _ in 0..10 {
        let first = FileState::of(file.first.clone());
        let state = stream.folds.with(first, &file.span.between, &scene.blobs).await;
        assert_eq!(state.made.map(|bytes| String::from_utf8(bytes).unwrap()), Some(text(0, TURNS - 1)));
    }
    assert_eq!(made(&stream), TURNS - 1, "and listed without any");
    let ends = locked(&stream.folds.known).len();
    assert!(ends <= 2, "what a chain was before is not held: {ends}");

    stream.update(|projection| projection.replay_changes(&deeds));
    stream.count_changes(&scene.blobs).await;
    assert_eq!(made(&stream), TURNS - 1, "what was counted is not counted again");
}

#[tokio::test]
async fn what_was_made_of_a_state_is_not_taken_for_what_comes_of_another() {
    let (scene, folds) = (Scene::new(), Folds::default());
    let edited = |from: &Form, to: &Form| Between { from: from.clone(), to: to.clone(), how: How::Edited };
    let (a, b, c) =
        (scene.form("1\n\n2\n\n3\n").await, scene.form("x\n\n2\n\n3\n").await, scene.form("x\n\n2\n\ny\n").await);
    let (chain, other) = ([edited(&a, &b), edited(&b, &c)], [edited(&a, &b), edited(&b, &a)]);
    let of = |form: &Form| FileState::of(form.clone());
    assert_eq!(folds.with(of(&a), &chain, &scene.blobs).await.form(), c);
    assert_eq!(folds.with(of(&a), &other, &scene.blobs).await.form(), a);
    assert_eq!(folds.with(of(&a), &chain[..1], &scene.blobs).await.form(), b);
    let closed = Form { mode: Some(0o600), ..a.clone() };
    assert_eq!(folds.with(of(&closed), &chain, &scene.blobs).await.mode, Some(0o600));
    let made = FileState::of(Form::default());
    assert!(folds.with(made, &chain, &scene.blobs).await.is_mixed, "the file is the agent's");
}

#[tokio::test]
async fn a_step_whose_bytes_cannot_be_read_is_made_again() {
    let (scene, folds) = (Scene::new(), Folds::default());
    let (from, to) = (scene.form("1\n\n2\n").await, Form::of(Some(ContentHash::of(b"1\n\ntwo\n")), Some(0o644)));
    let between = [Between { from, to: to.clone(), how: How::Edited }];
    let state = || FileState::made(b"one\n\n2\n".to_vec(), None);
    assert_eq!(folds.with(state(), &between, &scene.blobs).await.form(), Form { mode: None, ..to });
    scene.put("1\n\ntwo\n").await;
    let made = folds.with(state(), &between, &scene.blobs).await.made;
    assert_eq!(made.as_deref(), Some(&b"one\n\ntwo\n"[..]));
}
