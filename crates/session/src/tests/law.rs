//! The law of the stream over made-up sessions: a snapshot and the events after it make the snapshot at the end, wherever
//! it was taken and however the events piled up; and what is shown after a restart is what was shown before.

use std::sync::Arc;

use bosun_agent::{EntryBody, Recorded};
use bosun_model::{CallId, ToolCall};
use bosun_protocol::{Envelope, Item, ItemBody, SessionEvent, Snapshot, ToolState};
use bosun_tools::ToolKind;
use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::prelude::*;

use super::story::{Beat, Story, Told, beat};
use crate::projection::{Projection, Subject};
use crate::stream::{EventStream, Stream, Subscription, Summaries};
use crate::view::{View, WINDOW};

/// What a reader of a stream knows: the reducer that the UI has too.
struct Reader {
    view: View,
    items_before: u32,
    /// `None` while it does not listen.
    events: Option<EventStream>,
}

impl Reader {
    fn of(stream: &Stream) -> Self {
        Self::begin(stream.subscribe())
    }

    fn begin(Subscription { snapshot, events, .. }: Subscription) -> Self {
        let items_before = snapshot.items_before;
        Self { view: View::of_reader(snapshot), items_before, events: Some(events) }
    }

    fn leave(&mut self, stream: &Stream) {
        self.catch_up(stream);
        self.events = None;
    }

    /// Goes on from what it knows.
    fn come_back(&mut self, stream: &Stream) {
        let Subscription { snapshot, since, events } = stream.resume(Some(self.view.seq));
        if since.is_none() {
            *self = Self::begin(Subscription { snapshot, since, events });
            return;
        }
        let (seq, items) = (snapshot.seq, self.view.items.range(0..self.view.items.len()));
        let rows = snapshot.items.clone();
        self.view = View::of_reader(Snapshot { items, ..snapshot });
        rows.into_iter().for_each(|item| self.view.apply(&SessionEvent::ItemUpdated { item }));
        self.view.seq = seq;
        self.events = Some(events);
    }

    fn catch_up(&mut self, stream: &Stream) {
        let Some(events) = &mut self.events else { return self.come_back(stream) };
        let batch = events.now();
        self.take(&batch);
        let known = self.view.clone();
        self.take(&batch);
        assert_eq!(self.view, known, "what is known already changes nothing");
    }

    fn take(&mut self, batch: &[Envelope]) {
        for envelope in batch.iter().filter(|envelope| envelope.seq > self.view.seq).collect::<Vec<_>>() {
            self.view.apply(&envelope.event);
            self.view.seq = envelope.seq;
        }
    }

    /// `last`, as far back as both know the rows.
    fn assert_is(&self, last: &Snapshot) {
        let mine = &self.view;
        assert_eq!(self.items_before as usize + mine.items.len(), last.items_before as usize + last.items.len());
        let known = mine.items.len().min(last.items.len());
        let end = mine.items.range(mine.items.len() - known..mine.items.len());
        assert_eq!(end, last.items[last.items.len() - known..]);
        let rest = |snapshot: Snapshot| Snapshot { items: vec![], items_before: 0, ..snapshot };
        assert_eq!(rest(mine.snapshot()), rest(last.clone()));
    }
}

fn subject(id: &str, parent: Option<&str>) -> Subject {
    let mut path = vec!["main".to_owned()];
    path.extend(parent.map(|_| "helper".to_owned()));
    Subject {
        id: id.into(),
        project: "project".into(),
        parent: parent.map(Into::into),
        path,
        task: parent.map(|_| ("sent".into(), "help".to_owned())),
        created_at: 0,
        model: None,
    }
}

/// A session and a subagent of it, as the host makes them.
fn tree() -> [Arc<Stream>; 2] {
    let root = Arc::new(Stream::new(Projection::new(subject("root", None)), None, Arc::default()));
    let summaries: Arc<Summaries> = Arc::default();
    let child =
        Arc::new(Stream::new(Projection::new(subject("child", Some("root"))), Some(Arc::clone(&root)), summaries));
    child.update(Projection::introduce);
    [root, child]
}

fn tell(stream: &Stream, told: &Told) {
    match told {
        Told::Recorded(entries) => stream.recorded(entries),
        Told::Live(event, at) => stream.live(event, *at),
        Told::Running(running) => stream.update(|projection| projection.set_running(*running)),
    }
}

/// Rows as they stay; what still runs is known to a living process only.
fn finished(items: &[Item]) -> Vec<(&str, &ItemBody)> {
    let stays = |item: &&Item| match &item.body {
        ItemBody::Ai { streaming, .. } => !streaming,
        ItemBody::Tool(tool) => !matches!(tool.state, ToolState::Proposed | ToolState::Waiting | ToolState::Running),
        ItemBody::Human { .. } | ItemBody::Notice(_) => true,
    };
    items.iter().filter(stays).map(|item| (item.id.as_str(), &item.body)).collect()
}

proptest! {
    #[test]
    fn a_snapshot_and_what_follows_make_the_snapshot_at_the_end(
        beats in vec((0_usize..2, beat()), 1..80),
        enters in vec(0_usize..80, 1..5),
        pauses in vec(0_usize..80, 0..5),
        leaves in vec(0_usize..80, 0..5),
    ) {
        let streams = tree();
        let mut stories = [Story::default(), Story::default()];
        let mut readers: Vec<(usize, Reader)> = Vec::new();
        for (n, (who, beat)) in beats.iter().enumerate() {
            for _ in enters.iter().filter(|enter| **enter == n) {
                readers.extend([0, 1].map(|who| (who, Reader::of(&streams[who]))));
            }
            for told in stories[*who].tell(beat) {
                tell(&streams[*who], &told);
            }
            if pauses.contains(&n) {
                readers.iter_mut().for_each(|(who, reader)| reader.catch_up(&streams[*who]));
            }
            if leaves.contains(&n) {
                readers.iter_mut().for_each(|(who, reader)| reader.leave(&streams[*who]));
            }
        }
        for (who, mut reader) in readers {
            reader.catch_up(&streams[who]);
            reader.assert_is(&streams[who].read(|projection| projection.view().snapshot()));
        }
    }

    #[test]
    fn entries_alone_show_the_rows_that_were_shown(beats in vec(beat(), 1..80)) {
        let live = Stream::new(Projection::new(subject("root", None)), None, Arc::default());
        let mut story = Story::default();
        let mut entries: Vec<Recorded> = Vec::new();
        for beat in &beats {
            for told in story.tell(beat) {
                tell(&live, &told);
                if let Told::Recorded(recorded) = told {
                    entries.extend(recorded);
                }
            }
        }
        let mut again = Projection::new(subject("root", None));
        entries.iter().for_each(|entry| again.apply(entry));
        live.read(|live| {
            let all = |view: &View| view.items.range(0..view.items.len());
            let (told_again, told_live) = (all(again.view()), all(live.view()));
            prop_assert_eq!(finished(&told_again), finished(&told_live));
            prop_assert_eq!(&again.view().todos, &live.view().todos);
            prop_assert_eq!(&again.view().approvals, &live.view().approvals);
            prop_assert_eq!(&again.view().queue, &live.view().queue);
            prop_assert_eq!(&again.view().changes, &live.view().changes);
            prop_assert_eq!(&again.view().session.title, &live.view().session.title);
            prop_assert_eq!(&again.view().session.usage, &live.view().session.usage);
            Ok(())
        })?;
    }
}

/// A row that is at work while more than a window of others pass is in every snapshot, so that no reader takes its end
/// for a new row.
#[test]
fn a_row_at_work_is_in_the_snapshot_however_many_follow() {
    let [root, _] = tree();
    let mut story = Story::default();
    let calls = u8::try_from(WINDOW + 20).unwrap();
    for told in [story.begin("go"), story.reply("working", calls)].into_iter().flatten() {
        tell(&root, &told);
    }
    for call in 1..usize::from(calls) {
        story.result(call).iter().for_each(|told| tell(&root, told));
    }
    let mut reader = Reader::of(&root);
    assert_eq!(reader.items_before, 2, "the message and the words before the first call");
    story.result(0).iter().for_each(|told| tell(&root, told));
    reader.catch_up(&root);
    reader.assert_is(&root.read(|projection| projection.view().snapshot()));
}

/// What a reader who knows the session up to `known` is told: from where on, and which rows.
fn missed(stream: &Stream, known: u32) -> (Option<u32>, Vec<String>) {
    let Subscription { snapshot, since, .. } = stream.resume(Some(known));
    (since, snapshot.items.iter().map(|item| item.id.to_string()).collect())
}

#[test]
fn who_comes_back_is_told_what_changed_since_and_all_of_it_where_rows_went() {
    let [root, _] = tree();
    let seq = || root.read(|root| root.view().seq);
    let mut story = Story::default();
    for told in [story.begin("go"), story.reply("working", 2)].into_iter().flatten() {
        tell(&root, &told);
    }
    let known = seq();
    assert_eq!(missed(&root, known), (Some(known), vec![]));
    story.result(1).iter().for_each(|told| tell(&root, told));
    assert_eq!(missed(&root, known), (Some(known), vec!["m2.1".to_owned()]));
    assert_eq!(missed(&root, seq() + 1).0, None, "of another life of the session");
    let calls = u8::try_from(WINDOW + 1).unwrap();
    story.result(0).iter().chain(&story.reply("more", calls)).for_each(|told| tell(&root, told));
    assert_eq!((missed(&root, known).0, missed(&root, known).1.len()), (None, usize::from(calls)), "too much is new");
    let known = seq();
    root.reset(Projection::new(subject("root", None)));
    assert_eq!(missed(&root, known), (None, vec![]), "it was taken back");
    assert_eq!(missed(&root, seq()).0, Some(seq()));
}

#[test]
fn what_was_counted_before_a_session_was_opened_says_nothing_of_it() {
    let mut story = Story::default();
    let mut projection = Projection::new(subject("root", None));
    for told in [story.begin("go"), story.reply("working", 2)].into_iter().flatten() {
        if let Told::Recorded(entries) = told {
            entries.iter().for_each(|entry| projection.apply(entry));
        }
    }
    projection.settle();
    projection.drain();
    let opened = projection.view().seq;
    let stream = Stream::new(projection, None, Arc::default());
    assert_eq!((missed(&stream, 1).0, missed(&stream, opened).0), (None, Some(opened)));
}

/// The end of what a command says is seen however much that is, and so is its beginning.
#[test]
fn endless_output_is_shown_from_its_beginning_and_to_its_end() {
    let [root, _] = tree();
    let mut story = Story::default();
    for told in [story.begin("go"), story.reply("", 1)].into_iter().flatten() {
        tell(&root, &told);
    }
    let mut reader = Reader::of(&root);
    for line in 0..60_000 {
        story.output(0, &format!("line {line} …\n")).iter().for_each(|told| tell(&root, told));
        if line == 5_000 {
            reader.catch_up(&root);
        }
    }
    let waiting = reader.events.as_mut().unwrap().now();
    assert!(waiting.len() < 4, "who sleeps has no more to read than there is to show: {}", waiting.len());
    reader.take(&waiting);
    reader.catch_up(&root);
    reader.assert_is(&root.read(|projection| projection.view().snapshot()));
    let row = reader.view.items.last_ones().last().cloned().unwrap();
    let ItemBody::Tool(tool) = row.body else { panic!("{row:?}") };
    assert!(tool.output.starts_with("line 0 …\nline 1 …\n") && tool.output.ends_with("line 59998 …\nline 59999 …\n"));
    assert!(tool.output_truncated && tool.output.len() <= 200_000, "{}", tool.output.len());
    assert_eq!(tool.output.matches("\n…\n").count(), 1, "what is left out is said once");
}

/// A model may begin with a call and speak afterwards; its words stand first all the same, as after a restart.
#[test]
fn words_stand_before_the_calls_of_their_reply_in_whatever_order_they_came() {
    let [root, _] = tree();
    let mut story = Story::default();
    let beats = [Beat::Begin("go".into()), Beat::Propose, Beat::Text("I look".into()), Beat::Propose];
    for told in beats.iter().flat_map(|beat| story.tell(beat)).collect::<Vec<_>>() {
        tell(&root, &told);
    }
    let rows = || root.read(|root| root.view().items.iter().map(|item| item.id.to_string()).collect::<Vec<_>>());
    assert_eq!(rows(), ["m1", "m2", "m2.0", "m2.1"]);
    story.tell(&Beat::Reply(" closer".into(), 2)).iter().for_each(|told| tell(&root, told));
    assert_eq!(rows(), ["m1", "m2", "m2.0", "m2.1"]);
}

#[test]
fn a_reply_that_comes_to_nothing_is_told_once() {
    let [root, _] = tree();
    let mut events = root.subscribe().events;
    let mut story = Story::default();
    let beats = [Beat::Begin("go".into()), Beat::Text("half a".into()), Beat::Reasoning("hm".into()), Beat::Fail(true)];
    for told in beats.iter().flat_map(|beat| story.tell(beat)).collect::<Vec<_>>() {
        tell(&root, &told);
    }
    let replies = events.now().into_iter().filter(|envelope| match &envelope.event {
        SessionEvent::ItemCompleted { item } => matches!(item.body, ItemBody::Ai { .. }),
        _ => false,
    });
    assert_eq!(replies.count(), 1);
}

/// The rows of the calls that `story` makes beside a plan of `todos`, by the todo that each belongs to.
fn rows_beside(todos: &[&serde_json::Value]) -> Vec<Vec<String>> {
    let [root, _] = tree();
    let mut story = Story::default();
    let mut told = [story.begin("go"), story.reply("", 1), story.result(0), story.reply("", 2)].concat();
    for told in &mut told {
        let Told::Recorded(entries) = told else { continue };
        for recorded in entries {
            if let EntryBody::Ai { message, kinds, .. } = &mut recorded.entry.body
                && message.tool_calls.len() == 2
            {
                message.tool_calls.extend(todos.iter().zip(5..).map(|(todos, n)| ToolCall {
                    id: CallId::new(format!("plan{n}")),
                    name: "write_todos".into(),
                    args: serde_json::json!({"todos": todos}),
                }));
                kinds.resize(message.tool_calls.len(), ToolKind::Plan);
            }
        }
    }
    told.iter().for_each(|told| tell(&root, told));
    root.read(|root| {
        let rows = root.view().items.iter().filter_map(|item| match &item.body {
            ItemBody::Tool(tool) if tool.tool_kind == bosun_protocol::ToolKind::Edit => Some(tool.todos.clone()),
            _ => None,
        });
        rows.skip(1).collect()
    })
}

#[test]
fn a_call_belongs_to_the_plan_that_its_reply_sets() {
    let plan = serde_json::json!([
        {"content": "Find every caller", "status": "completed"},
        {"content": "Rename", "status": "in_progress"},
    ]);
    let of = |todo: &str| vec![vec![todo.to_owned()]; 2];
    assert_eq!(rows_beside(&[&plan]), of("todo-2"));
    let before = rows_beside(&[]);
    assert!(before.iter().all(|todos| todos.len() == 1), "{before:?}");
    assert_eq!(rows_beside(&[&plan, &plan]), before, "two plans are both refused");
    assert_eq!(rows_beside(&[&serde_json::json!("none")]), before);
    assert_eq!(rows_beside(&[&serde_json::json!([])]), vec![Vec::<String>::new(); 2]);
}
