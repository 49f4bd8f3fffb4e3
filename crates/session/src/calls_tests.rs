use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bosun_agent::{BoxFuture, Limits, Policy, UuidSource};
use bosun_model::{ChatRequest, ModelError, ModelErrorKind, ModelEvent, ModelStream, Price, Stays, Usage};
use bosun_protocol::{Budget, CallPurpose, Effort, ItemBody, Problem, SessionEvent, SessionId, SessionStatus};
use bosun_testkit::{Project, Reply, Scripted, ScriptedModel};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{ModelSource, Sessions, SessionsParts};

#[path = "calls_tests/budgets.rs"]
mod budgets;

/// A model that every session shares.
struct Shared(Arc<ScriptedModel>);

impl ChatModel for Shared {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.0.stream(request)
    }
}

struct Models(HashMap<String, Arc<ScriptedModel>>);

impl ModelSource for Models {
    fn connect<'a>(&'a self, model: &'a ModelRef) -> BoxFuture<'a, Result<Arc<dyn ChatModel>, SessionError>> {
        let found = self.0.get(&model.name).cloned();
        Box::pin(async move {
            let missing = || SessionError::new(ErrorCode::NoModel, Problem::NoModelChosen);
            Ok(Arc::new(Shared(found.ok_or_else(missing)?)) as Arc<dyn ChatModel>)
        })
    }

    fn know_keys(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn redacted(&self, text: &str) -> String {
        text.replace("sk-canary", "[redacted]")
    }

    fn learn(&self, _secret: &secrecy::SecretString) {}
}

struct Stage {
    sessions: Sessions,
    session: SessionId,
    models: HashMap<String, Arc<ScriptedModel>>,
    _project: Project,
}

fn named(name: &str) -> ModelRef {
    ModelRef { provider: "test".into(), name: name.into() }
}

/// A picture as far as one sees without drawing it.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x06\0\0\0....\0\0\0\x01IDAT\0....\0\0\0\0IEND....";

/// A dollar for a thousand tokens read, nothing for those written.
const DEAR: Price = Price { input: 1_000.0, output: 0.0, ..Price::FREE };

fn model(name: &str, price: Option<Price>, replies: Vec<Scripted>) -> (String, Arc<ScriptedModel>) {
    called(name, price, ScriptedModel::new(replies))
}

fn called(name: &str, price: Option<Price>, plain: ScriptedModel) -> (String, Arc<ScriptedModel>) {
    let info = ModelInfo { provider: "test".into(), name: name.into(), price, ..plain.info().clone() };
    (name.to_owned(), Arc::new(plain.with_info(info)))
}

fn said(text: &str) -> Scripted {
    let usage = Usage { input: Some(1_000), output: Some(10), cache_read: Some(400), ..Usage::default() };
    Reply::text(text).usage(usage).into()
}

/// Asks for a patience that nobody has, so that the same model is not asked again.
fn overload() -> ModelError {
    let error = ModelError::new(ModelErrorKind::Unavailable, "test", "too many people at once");
    error.with_retry_after(Some(Duration::from_secs(600)))
}

fn overloaded() -> Scripted {
    overload().into()
}

impl Stage {
    async fn new(models: Vec<(String, Arc<ScriptedModel>)>, settings: ModelSettings) -> Self {
        let project = Project::new().file("a.txt", "one\n").file("a.png", PNG);
        let models: HashMap<_, _> = models.into_iter().collect();
        let parts = SessionsParts {
            database: None,
            blobs: None,
            models: Arc::new(Models(models.clone())),
            policy: Policy::default(),
            limits: Limits::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(UuidSource),
        };
        let sessions = Sessions::open(parts).await.unwrap();
        sessions.save_model_settings(settings).await.unwrap();
        let id = sessions.open_project(project.root()).await.unwrap().id;
        let session = sessions.create(&id, Some(named("big"))).await.unwrap().id;
        Self { sessions, session, models, _project: project }
    }

    async fn say(&self, text: &str) -> SessionStatus {
        self.sessions.send(&self.session, text.into()).await.unwrap();
        self.sessions.quiet(&self.session).await.unwrap().summary.status
    }

    /// What was said and noticed, a line for each.
    async fn lines(&self) -> Vec<String> {
        let items = self.sessions.subscribe(&self.session).await.unwrap().snapshot.items;
        let lines = items.into_iter().filter_map(|item| match item.body {
            ItemBody::Ai { text, .. } => Some(text.to_string()),
            ItemBody::Notice(notice) => Some(format!("{:?}: {}", notice.code, notice.detail)),
            _ => None,
        });
        lines.collect()
    }

    /// What the notices say for a window of any language.
    async fn problems(&self) -> Vec<Problem> {
        let items = self.sessions.subscribe(&self.session).await.unwrap().snapshot.items;
        let problems = items.into_iter().filter_map(|item| match item.body {
            ItemBody::Notice(notice) => notice.problem,
            _ => None,
        });
        problems.collect()
    }

    fn efforts(&self, model: &str) -> Vec<Option<bosun_model::Effort>> {
        self.models[model].requests().iter().map(|request| request.effort).collect()
    }
}

#[tokio::test]
async fn another_model_answers_the_rest_of_a_turn_and_the_person_is_told() {
    let models =
        vec![model("big", None, vec![overloaded(), said("from big")]), model("spare", None, vec![said("from spare")])];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    stage.say("hello").await;
    stage.say("again").await;
    let told =
        "ModelFellBack: test:big is overloaded (too many people at once); test:spare answers the rest of this turn";
    assert_eq!(stage.lines().await, [told, "from spare", "from big"]);
}

/// Beside 429 and 5xx: what a gateway says where the server behind it gave up. A wait of Bosun's own is no such thing.
#[tokio::test]
async fn a_server_that_gave_up_is_overloaded_and_one_that_was_given_up_is_not() {
    let timeout = |status: Option<u16>| {
        let error = ModelError { status, ..ModelError::new(ModelErrorKind::Timeout, "test", "too late") };
        Scripted::Error(error.with_retry_after(Some(Duration::from_secs(600))))
    };
    for (status, end) in
        [(Some(504), SessionStatus::Idle), (Some(408), SessionStatus::Idle), (None, SessionStatus::Failed)]
    {
        let models = vec![model("big", None, vec![timeout(status)]), model("spare", None, vec![said("from spare")])];
        let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
        let stage = Stage::new(models, settings).await;
        assert_eq!(stage.say("hello").await, end, "{status:?}");
    }
}

#[tokio::test]
async fn a_summary_is_made_by_the_second_model_where_the_first_is_overloaded() {
    let long = || said(&"much to be said. ".repeat(100));
    let big = model("big", None, vec![long(), long(), long(), overloaded(), overloaded(), said("from big")]);
    let spare = model("spare", None, vec![said("the story"), overloaded()]);
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(vec![big, spare], settings).await;
    stage.sessions.declare(crate::DeclaredAgent::parse("[summarization]\nkeep.messages = 2").unwrap());
    for text in ["a", "b", "c"] {
        assert_eq!(stage.say(text).await, SessionStatus::Idle);
    }
    assert_eq!(stage.sessions.compact(&stage.session, None).await.unwrap().text, "the story");
    let told = stage.problems().await;
    assert!(matches!(&told[..], [Problem::FellBack { to, .. }] if to == "test:spare"), "{told:?}");
    assert_eq!(stage.say("on").await, SessionStatus::Failed, "both are overloaded by now");
    assert_eq!((stage.models["big"].requests().len(), stage.models["spare"].requests().len()), (5, 2));
}

#[tokio::test]
async fn models_beside_that_cannot_be_had_are_told_once_and_the_session_goes_on() {
    let models = vec![model("big", None, vec![said("one"), said("two"), said("three")])];
    let missing = |second: &str| ModelSettings {
        fallback: Some(named(second)),
        small: Some(named("gone")),
        ..ModelSettings::default()
    };
    let stage = Stage::new(models, missing("gone")).await;
    stage.say("hello").await;
    let gone = || ("test:gone".to_owned(), Problem::NoModelChosen.to_string());
    let second = |(model, detail)| Problem::SecondMissing { model, detail };
    let small = |(model, detail)| Problem::SmallMissing { model, detail };
    assert_eq!(stage.problems().await, [second(gone()), small(gone())]);
    stage.say("again").await;
    assert_eq!(stage.problems().await.len(), 2, "the second turn says nothing");
    // Another that is missing too is another.
    stage.sessions.save_model_settings(missing("lost")).await.unwrap();
    stage.say("on").await;
    let problems = stage.problems().await;
    assert_eq!((problems.len(), &problems[2]), (3, &second(("test:lost".into(), gone().1))));
    assert_eq!(stage.lines().await.iter().filter(|line| !line.contains(':')).count(), 3);
}

#[tokio::test]
async fn nobody_helps_a_model_of_this_machine_who_is_not_on_it() {
    let at = |stays, (name, model): (String, Arc<ScriptedModel>)| {
        let info = ModelInfo { stays, ..model.info().clone() };
        (name, Arc::new(Arc::into_inner(model).unwrap().with_info(info)))
    };
    let settings =
        ModelSettings { fallback: Some(named("spare")), small: Some(named("spare")), ..ModelSettings::default() };
    let big = |stays| at(stays, model("big", None, vec![overloaded(), said("from big"), said("Mend the tests")]));
    for (own, other) in [(Stays::Yes, Stays::No), (Stays::Yes, Stays::Unknown), (Stays::Unknown, Stays::No)] {
        let stage = Stage::new(vec![big(own), at(other, model("spare", None, vec![]))], settings.clone()).await;
        assert_eq!(stage.say("hello").await, SessionStatus::Failed, "{own:?} {other:?}");
        stage.say("again").await;
        assert!(stage.models["spare"].requests().is_empty(), "{own:?} {other:?}");
    }
    for (own, other) in [(Stays::Yes, Stays::Yes), (Stays::Unknown, Stays::Unknown), (Stays::No, Stays::Unknown)] {
        let spare = at(other, model("spare", None, vec![said("from spare"), said("Mend the tests")]));
        let stage = Stage::new(vec![big(own), spare], settings.clone()).await;
        stage.say("hello").await;
        assert!(stage.lines().await.contains(&"from spare".to_owned()), "{own:?} {other:?}");
    }
}

#[tokio::test]
async fn agents_that_are_refused_together_all_go_to_the_other_model_and_it_is_told_once() {
    let (plain, mut driver) = ScriptedModel::driven();
    let answers = ["one", "two", "three", "all of it"].map(said);
    let models = vec![called("big", None, plain), model("spare", None, answers.to_vec())];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    let refusing = async {
        let task = |id: &str| (id.to_owned(), json!({ "description": id, "subagent_type": "general-purpose" }));
        let sending = ["a", "b", "c"].map(task).into_iter();
        driver
            .next()
            .await
            .reply(sending.fold(Reply::default(), |reply, (id, task)| reply.and_call_with_id(&id, "task", task)));
        let in_flight = [driver.next().await, driver.next().await, driver.next().await];
        in_flight.into_iter().for_each(|call| call.fail(overload()));
    };
    let (status, ()) = tokio::join!(stage.say("go"), refusing);
    assert_eq!(status, SessionStatus::Idle);
    assert_eq!(stage.lines().await.last().map(String::as_str), Some("all of it"));
    assert_eq!(stage.models["spare"].requests().len(), 4);
    let mut notes = 0;
    let agents = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.agents;
    for agent in &agents {
        let items = stage.sessions.subscribe(&agent.session).await.unwrap().snapshot.items;
        notes += items.iter().filter(|item| matches!(&item.body, ItemBody::Notice(_))).count();
    }
    assert_eq!((agents.len(), notes), (4, 1), "it is told once");
}

#[tokio::test]
async fn a_second_model_that_is_overloaded_too_is_asked_once() {
    let models = vec![model("big", None, vec![overloaded()]), model("spare", None, vec![overloaded()])];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    assert_eq!(stage.say("hello").await, SessionStatus::Failed);
    assert_eq!(stage.models["spare"].requests().len(), 1);
}

/// It was the first that had looked at the picture.
#[tokio::test]
async fn a_second_model_that_refuses_pictures_is_asked_without_and_the_first_still_gets_them() {
    let look = Reply::call("read_file", json!({ "file_path": "/a.png" }));
    let refusal = ModelError::new(ModelErrorKind::InvalidRequest, "test", "image_url is only supported by some models");
    let big = model("big", None, vec![look.into(), overloaded(), said("from big")]);
    let models = vec![big, model("spare", None, vec![refusal.into(), said("from spare")])];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    assert_eq!(stage.say("look").await, SessionStatus::Idle);
    assert_eq!(stage.say("again").await, SessionStatus::Idle);
    let pictures = |model: &str| -> Vec<usize> {
        let seen = |request: &ChatRequest| {
            let blocks = request.messages.iter().flat_map(|message| message.content());
            blocks.filter(|block| matches!(block, bosun_model::ContentBlock::Media(_))).count()
        };
        stage.models[model].requests().iter().map(seen).collect()
    };
    assert_eq!((pictures("spare"), pictures("big")), (vec![1, 0], vec![0, 1, 1]));
}

/// What is beside the conversation is the session's own model.
#[tokio::test]
async fn a_failure_of_the_second_model_names_it() {
    let gone = ModelError::new(ModelErrorKind::InvalidRequest, "test", "nothing answers");
    let models =
        vec![model("big", None, vec![overloaded(), gone.clone().into()]), model("spare", None, vec![gone.into()])];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    let failed = async || {
        let items = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.items;
        let Some(ItemBody::Notice(notice)) = items.into_iter().last().map(|item| item.body) else { panic!() };
        (notice.detail, notice.model)
    };
    assert_eq!(stage.say("hello").await, SessionStatus::Failed);
    assert_eq!(failed().await, ("nothing answers".to_owned(), Some(named("spare"))));
    stage.say("again").await;
    assert_eq!(failed().await, ("nothing answers".to_owned(), None));
}

/// A provider refuses a limit that its model does not have.
#[tokio::test]
async fn a_second_model_is_asked_for_no_more_than_it_can_say() {
    let small = |(name, model): (String, Arc<ScriptedModel>)| {
        let info = ModelInfo { max_output: Some(4_096), ..model.info().clone() };
        (name, Arc::new(Arc::into_inner(model).unwrap().with_info(info)))
    };
    let models = vec![model("big", None, vec![overloaded()]), small(model("spare", None, vec![said("from spare")]))];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    assert_eq!(stage.say("hello").await, SessionStatus::Idle);
    let most = |model: &str| stage.models[model].requests()[0].max_output;
    assert_eq!((most("big"), most("spare")), (Some(8_192), Some(4_096)));
}

/// What a person has read is not said once more by somebody else.
#[tokio::test]
async fn nobody_answers_for_a_model_whose_reply_was_shown() {
    let (plain, mut driver) = ScriptedModel::driven();
    let models = vec![called("big", None, plain), model("spare", None, vec![said("from spare")])];
    let settings = ModelSettings { fallback: Some(named("spare")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    let breaking = async {
        let call = driver.next().await;
        call.text("half of it");
        call.fail(overload());
    };
    let (status, ()) = tokio::join!(stage.say("hello"), breaking);
    assert_eq!(status, SessionStatus::Failed);
    assert!(stage.models["spare"].requests().is_empty());
    let lines = stage.lines().await;
    assert_eq!(lines[0], "half of it");
    assert!(lines[1].contains("too many people at once"), "{lines:?}");
}

/// It is told from the first request on, and again when the session is opened anew.
#[tokio::test]
async fn the_tree_says_whom_each_agent_asks() {
    let sending = Reply::call("task", json!({ "description": "look", "subagent_type": "scout" }));
    let (plain, mut driver) = ScriptedModel::driven();
    let big = model("big", None, vec![sending.into(), said("done")]);
    let stage = Stage::new(vec![big, called("spare", None, plain)], ModelSettings::default()).await;
    let scout = "[[subagents]]\nname = \"scout\"\ndescription = \"Looks.\"\nprompt = \"Look.\"\nmodel = \"test:spare\"";
    stage.sessions.declare(crate::DeclaredAgent::parse(scout).unwrap());
    let asked = async || {
        let agents = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.agents;
        agents.into_iter().map(|agent| agent.model.unwrap().name).collect::<Vec<_>>()
    };
    let looking = async {
        let call = driver.next().await;
        let before = asked().await;
        call.reply("found it");
        before
    };
    let (status, before) = tokio::join!(stage.say("go"), looking);
    assert_eq!((status, before), (SessionStatus::Idle, vec!["big".to_owned(), "spare".to_owned()]));
    stage.sessions.shut_down().await;
    assert_eq!(asked().await, ["big", "spare"]);
}

/// Titles and summaries, too.
#[tokio::test]
async fn all_calls_of_a_model_that_was_turned_over_go_to_the_other() {
    let long = || said(&"much to be said. ".repeat(100));
    let big = model("big", None, vec![overloaded(), long(), long(), overloaded(), said("not asked")]);
    let answers = vec![said("first"), said("a name"), said("last"), said("the story")];
    let models = vec![big, model("spare", None, answers)];
    let settings =
        ModelSettings { fallback: Some(named("spare")), small: Some(named("big")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    stage.sessions.declare(crate::DeclaredAgent::parse("[summarization]\nkeep.messages = 2").unwrap());
    let mut events = stage.sessions.subscribe(&stage.session).await.unwrap().events;
    stage.say("hello").await;
    while stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.session.title != "a name" {
        events.next().await;
    }
    for text in ["b", "c", "d"] {
        assert_eq!(stage.say(text).await, SessionStatus::Idle);
    }
    assert_eq!(stage.sessions.compact(&stage.session, None).await.unwrap().text, "the story");
    let usage = stage.sessions.session_usage(&stage.session).await.unwrap();
    let quiet: Vec<_> = usage.calls.iter().filter(|call| call.purpose != CallPurpose::Answer).collect();
    let quiet: Vec<_> = quiet.iter().map(|call| (call.model.name.as_str(), call.purpose)).collect();
    assert_eq!(quiet, [("spare", CallPurpose::Summary), ("spare", CallPurpose::Title)]);
}

#[tokio::test(start_paused = true)]
async fn a_title_waits_as_the_provider_asks() {
    let error = ModelError::new(ModelErrorKind::RateLimited, "test", "slow down");
    let busy = Scripted::Error(error.with_retry_after(Some(Duration::from_secs(7))));
    let models = vec![model("big", None, vec![said("1")]), model("small", None, vec![busy, said("Mend the tests")])];
    let settings = ModelSettings { small: Some(named("small")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    let mut events = stage.sessions.subscribe(&stage.session).await.unwrap().events;
    let started = tokio::time::Instant::now();
    stage.say("please do mend the tests").await;
    while stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.session.title != "Mend the tests" {
        events.next().await;
    }
    assert!(started.elapsed() >= Duration::from_secs(7), "{:?}", started.elapsed());
}

#[tokio::test]
async fn without_another_model_the_overload_is_shown_as_it_is() {
    let stage = Stage::new(vec![model("big", None, vec![overloaded()])], ModelSettings::default()).await;
    assert_eq!(stage.say("hello").await, SessionStatus::Failed);
    let lines = stage.lines().await;
    assert!(lines[0].starts_with("ModelFailed: ") && lines[0].contains("too many people"), "{lines:?}");
}

#[tokio::test]
async fn a_reply_that_ended_early_says_why_and_keeps_what_was_said() {
    use bosun_model::StopReason::{EndTurn, MaxTokens, Other, Refusal, RefusalFor, StopSequence};
    let cases = [
        (MaxTokens, "half of", Some("OutputLimit: ")),
        (MaxTokens, "", Some("OutputLimit: ")),
        (Refusal, "I will not.", Some("ModelRefused: ")),
        (Refusal, "", Some("ModelRefused: ")),
        (RefusalFor("Against the rules.".into()), "", Some("ModelRefused: Against the rules.")),
        (Other("insufficient_system_resource".into()), "half of", Some("ReplyEnded: insufficient_system_resource")),
        (Other("network_error".into()), "", Some("ReplyEnded: network_error")),
        (EndTurn, "all", None),
        (EndTurn, "", Some("EmptyReply: ")),
        (StopSequence, "all", None),
    ];
    for (stop, text, notice) in cases {
        let reply = if text.is_empty() { Reply::new() } else { Reply::text(text) }.stop(stop.clone());
        let stage = Stage::new(vec![model("big", None, vec![reply.into()])], ModelSettings::default()).await;
        assert_eq!(stage.say("go").await, SessionStatus::Idle, "{stop:?} is no failure");
        let wanted: Vec<&str> = [text].into_iter().filter(|text| !text.is_empty()).chain(notice).collect();
        assert_eq!(stage.lines().await, wanted, "{stop:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_busy_provider_is_a_row_until_the_model_is_asked_again() {
    let busy = |seconds: u64| {
        let error = ModelError::new(ModelErrorKind::RateLimited, "test", "slow down");
        Scripted::Error(error.with_retry_after(Some(Duration::from_secs(seconds))))
    };
    let stage =
        Stage::new(vec![model("big", None, vec![busy(7), busy(20), said("done")])], ModelSettings::default()).await;
    let mut events = stage.sessions.subscribe(&stage.session).await.unwrap().events;
    assert_eq!(stage.say("go").await, SessionStatus::Idle);
    let (mut shown, mut told) = (Vec::new(), Vec::new());
    for envelope in events.now() {
        match envelope.event {
            SessionEvent::ItemStarted { item } => {
                let ItemBody::Notice(notice) = item.body else { continue };
                shown.push(item.id);
                told.push(notice.problem.unwrap());
            }
            SessionEvent::ItemRemoved { item } => assert_eq!(shown.pop(), Some(item), "one at a time"),
            _ => {}
        }
    }
    let seconds: Vec<u64> = told
        .iter()
        .map(|problem| match problem {
            Problem::AsksAgain { seconds, why } if why.to_string() == "slow down" => seconds.parse().unwrap(),
            other => panic!("{other}"),
        })
        .collect();
    assert!(matches!(seconds[..], [7..=8, 20..=21]), "{seconds:?}");
    assert_eq!((shown.len(), stage.lines().await), (0, vec!["done".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_summary_is_a_row_until_the_model_is_asked_again() {
    let long = || said(&"much to be said. ".repeat(100));
    let error = ModelError::new(ModelErrorKind::RateLimited, "test", "slow down");
    let busy = Scripted::Error(error.with_retry_after(Some(Duration::from_secs(7))));
    let replies = vec![long(), long(), long(), busy, said("the story")];
    let stage = Stage::new(vec![model("big", None, replies)], ModelSettings::default()).await;
    stage.sessions.declare(crate::DeclaredAgent::parse("[summarization]\nkeep.messages = 2").unwrap());
    for text in ["a", "b", "c"] {
        assert_eq!(stage.say(text).await, SessionStatus::Idle);
    }
    let mut events = stage.sessions.subscribe(&stage.session).await.unwrap().events;
    assert_eq!(stage.sessions.compact(&stage.session, None).await.unwrap().text, "the story");
    let told = events.now().into_iter().filter_map(|envelope| match envelope.event {
        SessionEvent::ItemStarted { item } => matches!(item.body, ItemBody::Notice(_)).then_some(("begins", item.id)),
        SessionEvent::ItemRemoved { item } => Some(("ends", item)),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["begins", "ends"]);
    assert_eq!(told[0].1, told[1].1);
}

#[tokio::test]
async fn how_much_a_model_thinks_is_the_sessions_choice_else_that_of_the_settings() {
    let replies = vec![said("1"), said("2"), said("3")];
    let preferred = bosun_protocol::ModelEffort { model: named("big"), effort: Effort::Low };
    let settings = ModelSettings { efforts: vec![preferred], ..ModelSettings::default() };
    let stage = Stage::new(vec![model("big", None, replies)], settings).await;
    stage.say("a").await;
    stage.sessions.set_effort(&stage.session, Some(Effort::Max)).await.unwrap();
    stage.say("b").await;
    stage.sessions.set_effort(&stage.session, None).await.unwrap();
    stage.say("c").await;
    use bosun_model::Effort::{Low, Max};
    assert_eq!(stage.efforts("big"), [Some(Low), Some(Max), Some(Low)]);
    let summary = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.session;
    assert_eq!(summary.effort, None);
}

#[tokio::test]
async fn a_call_is_kept_with_whose_it_is() {
    let sending = Reply::call("task", json!({ "description": "look", "subagent_type": "general-purpose" }));
    let models = vec![model("big", Some(DEAR), vec![sending.into(), said("found"), said("done")])];
    let stage = Stage::new(models, ModelSettings::default()).await;
    stage.say("go").await;
    let usage = stage.sessions.session_usage(&stage.session).await.unwrap();
    let names: Vec<_> = usage.calls.iter().map(|call| call.agent.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(names, ["main", "general-purpose", "main"]);
    let main = usage.agents.iter().find(|used| used.agent.session == stage.session).unwrap();
    let sent = usage.agents.iter().find(|used| used.agent.name == "general-purpose").unwrap();
    assert_eq!((main.total.calls, sent.total.calls, sent.total.cost), (2, 1, 1.0));
    let agents = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.agents;
    assert!(agents.iter().any(|agent| agent.session == sent.agent.session), "it is the subagent's own session");
}

#[tokio::test]
async fn every_call_is_counted_with_its_price_or_as_unknown() {
    let models = vec![model("big", Some(DEAR), vec![said("1")]), model("free", None, vec![said("2")])];
    let stage = Stage::new(models, ModelSettings::default()).await;
    stage.say("a").await;
    stage.sessions.set_model(&stage.session, named("free")).await.unwrap();
    stage.say("b").await;
    let usage = stage.sessions.session_usage(&stage.session).await.unwrap();
    let total = usage.total;
    assert_eq!((total.calls, total.input_tokens, total.cache_read_tokens), (2, 2_000, 800));
    assert_eq!((total.cost, total.unpriced), (1.0, 1));
    let calls: Vec<_> = usage.calls.iter().map(|call| (call.model.name.as_str(), call.cost, call.purpose)).collect();
    assert_eq!(calls, [("free", None, CallPurpose::Answer), ("big", Some(1.0), CallPurpose::Answer)]);
    let report = stage.sessions.usage(1).await.unwrap();
    assert_eq!((report.total, report.days[0].day.clone()), (total, report.today));
    assert_eq!(report.days[0].models.len(), 2);
}

/// OpenAI's wire tells the usage behind all that was said.
#[tokio::test]
async fn a_call_that_breaks_off_before_its_usage_is_counted_as_of_unknown_price() {
    let begun = vec![ModelEvent::Started { model: Some("m".into()) }, ModelEvent::TextDelta { text: "half of".into() }];
    let refused = ModelError::new(ModelErrorKind::InvalidRequest, "test", "no");
    let replies = vec![Scripted::Events(begun), refused.into(), said("whole")];
    let stage = Stage::new(vec![model("big", Some(DEAR), replies)], ModelSettings::default()).await;
    assert_eq!(stage.say("a").await, SessionStatus::Failed);
    let usage = stage.sessions.session_usage(&stage.session).await.unwrap();
    assert_eq!((usage.total.calls, usage.total.unpriced, usage.total.cost), (1, 1, 0.0));
    assert_eq!((usage.calls[0].input_tokens, usage.calls[0].cost), (None, None));
    assert_eq!(stage.say("b").await, SessionStatus::Failed, "what never began cost nothing");
    stage.say("c").await;
    let total = stage.sessions.session_usage(&stage.session).await.unwrap().total;
    assert_eq!((total.calls, total.unpriced, total.cost), (2, 1, 1.0));
}

#[tokio::test]
async fn a_model_whose_thinking_is_not_shown_says_so() {
    let reply = vec![
        ModelEvent::ThinkingUnseen { detail: "verify your organization".into() },
        ModelEvent::TextDelta { text: "done".into() },
        ModelEvent::Finished { stop: bosun_model::StopReason::EndTurn },
    ];
    let stage = Stage::new(vec![model("big", None, vec![Scripted::Events(reply)])], ModelSettings::default()).await;
    assert_eq!(stage.say("a").await, SessionStatus::Idle);
    let told = "ThinkingUnseen: big thinks without showing it: the provider gives no summaries of its thinking \
         (verify your organization)";
    assert_eq!(stage.lines().await, [told, "done"]);
    let problem = Problem::ThinkingUnseen { model: "big".into(), detail: "verify your organization".into() };
    assert_eq!(stage.problems().await, [problem]);
}

/// The provider has read the request by then, and charges for it.
#[tokio::test]
async fn a_call_that_is_stopped_before_its_first_word_is_counted() {
    let (plain, mut driver) = ScriptedModel::driven();
    let stage = Stage::new(vec![called("big", Some(DEAR), plain)], ModelSettings::default()).await;
    let stopping = async {
        let call = driver.next().await;
        stage.sessions.stop(&stage.session).await.unwrap();
        call.cancelled().await;
    };
    let (status, ()) = tokio::join!(stage.say("hello"), stopping);
    assert_eq!(status, SessionStatus::Stopped);
    let total = stage.sessions.session_usage(&stage.session).await.unwrap().total;
    assert_eq!((total.calls, total.unpriced, total.cost), (1, 1, 0.0));
}

/// Nobody touches its files or runs it a second time before it has ended.
#[tokio::test]
async fn a_turn_that_is_being_stopped_still_runs() {
    let (plain, mut driver) = ScriptedModel::driven();
    let stage = Stage::new(vec![called("big", None, plain)], ModelSettings::default()).await;
    stage.sessions.send(&stage.session, "hello".into()).await.unwrap();
    let call = driver.next().await;
    // Nothing is waited for between the stop and the look: the turn cannot have ended by then.
    let actor = stage.sessions.actor(&stage.session).await.unwrap();
    let mut stopping = std::pin::pin!(actor.stop());
    assert!(futures_util::poll!(&mut stopping).is_pending());
    let turn = actor.turn().await;
    let refused = actor.refuse_running(&turn).unwrap_err();
    assert!(matches!(refused.problem, Problem::TurnRunning), "{refused}");
    assert!(!turn.listens());
    drop(turn);
    let (again, first) = tokio::join!(actor.stop(), stopping);
    again.and(first).unwrap();
    call.cancelled().await;
    let status = stage.sessions.quiet(&stage.session).await.unwrap().summary.status;
    assert_eq!(status, SessionStatus::Stopped);
}

/// The calls that it had begun are none, and the model is not asked for them once more.
#[tokio::test]
async fn a_refusal_in_the_middle_of_a_call_ends_the_turn() {
    let refused = Reply::text("I").and_call("ls", json!({ "path": "/" })).stop(bosun_model::StopReason::Refusal);
    let stage = Stage::new(vec![model("big", None, vec![refused.into()])], ModelSettings::default()).await;
    assert_eq!(stage.say("go").await, SessionStatus::Idle);
    assert_eq!(stage.lines().await, ["I", "ModelRefused: "]);
    let items = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.items;
    assert!(!items.iter().any(|item| matches!(item.body, ItemBody::Tool(_))));
}

#[tokio::test]
async fn no_model_names_a_session_where_nobody_looks_at_a_list() {
    let models = vec![model("big", None, vec![said("1")]), model("small", None, vec![said("a name")])];
    let settings = ModelSettings { small: Some(named("small")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    stage.sessions.name_no_sessions();
    assert_eq!(stage.say("please do mend the tests").await, SessionStatus::Idle);
    let beside = stage.sessions.tasks();
    beside.close();
    beside.wait().await;
    assert!(stage.models["small"].requests().is_empty());
}

#[tokio::test]
async fn the_small_model_names_a_session_after_its_first_turn() {
    let models = vec![model("big", None, vec![said("1")]), model("small", None, vec![said("\"Mend the tests.\"")])];
    let settings = ModelSettings { small: Some(named("small")), ..ModelSettings::default() };
    let stage = Stage::new(models, settings).await;
    let mut events = stage.sessions.subscribe(&stage.session).await.unwrap().events;
    stage.say("please do mend the tests of this project").await;
    while stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.session.title != "Mend the tests" {
        events.next().await;
    }
    let request = &stage.models["small"].requests()[0];
    assert!(matches!(&*request.messages[0], bosun_model::Message::Human(message)
        if bosun_model::text_of(&message.content).contains("please do mend")));
    assert_eq!(request.effort, Some(bosun_model::Effort::Off), "what it thinks is of its few tokens");
    let usage = stage.sessions.session_usage(&stage.session).await.unwrap();
    assert!(usage.calls.iter().any(|call| call.purpose == CallPurpose::Title));
}

/// It was paid for, and belongs to nobody's session.
#[tokio::test]
async fn a_test_of_an_account_counts_for_its_day() {
    let database = Database::in_memory().unwrap();
    let (_, scripted) = model("big", Some(DEAR), vec![said("ready")]);
    let counted = counted_as_test(Arc::new(Shared(scripted)), Arc::clone(&database));
    let mut reply = counted.stream(ChatRequest::default()).await.unwrap();
    while let Some(event) = futures_util::StreamExt::next(&mut reply).await {
        event.unwrap();
    }
    drop(reply);
    database.calls_stored().await.unwrap();
    let today = CallBook::new(Arc::clone(&database), Arc::new(SystemClock), TaskTracker::new()).today();
    let sums = database.calls_by_day(&today).await.unwrap();
    let told: Vec<_> = sums.iter().map(|sum| (sum.model.as_str(), sum.calls, sum.cost, sum.usage.input)).collect();
    assert_eq!(told, [("big", 1, 1.0, Some(1_000))]);
    let calls = database.calls_of_session(&bosun_agent::SessionId::new(""), 9).await.unwrap();
    let told: Vec<_> = calls.iter().map(|call| (call.purpose.as_str(), call.project.as_str())).collect();
    assert_eq!(told, [("test", "")]);
}
