//! What budgets warn of and stop, one call after the other and side by side.

use pretty_assertions::assert_eq;

use super::*;

fn stopping(spent: &str) -> Problem {
    Problem::SessionCostStops { spent: spent.into(), limit: "1.00".into(), stop: "3.00".into() }
}

#[tokio::test]
async fn a_budget_warns_once_then_stops_and_a_higher_one_goes_on() {
    let replies = vec![said("1"), said("2"), said("3"), said("4")];
    let mut settings = ModelSettings::default();
    settings.budgets.session = Budget { warn: Some(1.0), stop: Some(3.0) };
    let stage = Stage::new(vec![model("big", Some(DEAR), replies)], settings.clone()).await;
    for text in ["a", "b", "c"] {
        assert_eq!(stage.say(text).await, SessionStatus::Idle);
    }
    assert_eq!(stage.say("d").await, SessionStatus::Failed);
    let lines = stage.lines().await;
    assert_eq!(
        lines[..4],
        ["1", "BudgetWarning: This session has cost $1.00; you asked to be told at $1.00. It stops at $3.00", "2", "3"]
    );
    assert!(
        lines[4].starts_with("BudgetSpent: the budget of $3.00 for this session is used up ($3.00 spent)"),
        "{lines:?}"
    );
    let spent = Problem::SessionBudget { limit: "3.00".into(), spent: "3.00".into() };
    assert_eq!(stage.problems().await, [stopping("1.00"), spent]);
    assert_eq!(stage.models["big"].requests().len(), 3, "nothing was asked beyond it");

    settings.budgets.session.stop = Some(10.0);
    stage.sessions.save_model_settings(settings).await.unwrap();
    stage.sessions.continue_turn(&stage.session).await.unwrap();
    let quiet = stage.sessions.quiet(&stage.session).await.unwrap();
    assert_eq!(quiet.summary.status, SessionStatus::Idle);
    assert_eq!(stage.lines().await.last().map(String::as_str), Some("4"));
}

#[tokio::test]
async fn the_budget_of_a_day_holds_across_sessions() {
    let mut settings = ModelSettings::default();
    settings.budgets.day = Budget { warn: None, stop: Some(1.0) };
    let stage = Stage::new(vec![model("big", Some(DEAR), vec![said("1"), said("2")])], settings).await;
    stage.say("a").await;
    let project = stage.sessions.projects().await.unwrap()[0].id.clone();
    let other = stage.sessions.create(&project, Some(named("big"))).await.unwrap().id;
    stage.sessions.send(&other, "b".into()).await.unwrap();
    assert_eq!(stage.sessions.quiet(&other).await.unwrap().summary.status, SessionStatus::Failed);
    assert_eq!(stage.models["big"].requests().len(), 1);
}

/// What nobody knows yet counts as what it is thought to cost.
#[tokio::test]
async fn subagents_that_begin_together_do_not_pass_over_a_budget_together() {
    let (plain, mut driver) = ScriptedModel::driven();
    let mut settings = ModelSettings::default();
    settings.budgets.session.stop = Some(2.0);
    let stage = Stage::new(vec![called("big", Some(DEAR), plain)], settings).await;
    let driving = async {
        let task = |id: &str| (id.to_owned(), json!({ "description": id, "subagent_type": "general-purpose" }));
        let sending = ["a", "b", "c"].map(task).into_iter();
        let sent = sending.fold(Reply::default(), |reply, (id, task)| reply.and_call_with_id(&id, "task", task));
        driver.next().await.reply(sent);
        let read = Usage { input: Some(2_000), output: Some(1), ..Usage::default() };
        driver.next().await.reply(Reply::text("found").usage(read));
    };
    let (status, ()) = tokio::join!(stage.say("go"), driving);
    assert_eq!(status, SessionStatus::Failed);
    assert_eq!(stage.models["big"].requests().len(), 2, "the others waited for what it cost");
    let used_up = Problem::SessionBudget { limit: "2.00".into(), spent: "2.01".into() };
    assert_eq!(stage.problems().await.last(), Some(&used_up));
}

/// Whether an agent of the tree says that it waits for the cost of another's call.
async fn waits(stage: &Stage) -> bool {
    let agents = stage.sessions.subscribe(&stage.session).await.unwrap().snapshot.agents;
    for agent in agents {
        let items = stage.sessions.subscribe(&agent.session).await.unwrap().snapshot.items;
        let is_wait = |item: &bosun_protocol::Item| matches!(&item.body, ItemBody::Notice(notice) if notice.problem == Some(Problem::BudgetWaits));
        if items.iter().any(is_wait) {
            return true;
        }
    }
    false
}

/// It is seen, and lasts no longer than the other's call, or than the turn.
#[tokio::test]
async fn a_call_that_waits_for_anothers_cost_is_told_and_ends_with_that_call_or_the_turn() {
    for is_stopped in [false, true] {
        let (plain, mut driver) = ScriptedModel::driven();
        let mut settings = ModelSettings::default();
        settings.budgets.session.stop = Some(2.0);
        let stage = Stage::new(vec![called("big", Some(DEAR), plain)], settings).await;
        stage.sessions.send(&stage.session, "go".into()).await.unwrap();
        let task = |id: &str| (id.to_owned(), json!({ "description": id, "subagent_type": "general-purpose" }));
        let sending = ["a", "b"].map(task).into_iter();
        let sent = sending.fold(Reply::default(), |reply, (id, task)| reply.and_call_with_id(&id, "task", task));
        driver.next().await.reply(sent);
        let held = driver.next().await;
        let told = async {
            while !waits(&stage).await {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), told).await.expect("the other waits and says so");
        if is_stopped {
            stage.sessions.stop(&stage.session).await.unwrap();
            drop(held);
        } else {
            let cheap = Usage { input: Some(10), output: Some(1), ..Usage::default() };
            held.reply(Reply::text("found").usage(cheap));
            let waiting = driver.next().await;
            assert!(!waits(&stage).await, "it waits no more, though nothing came back yet");
            waiting.reply(Reply::text("found too").usage(cheap));
            driver.next().await.reply(Reply::text("all of it").usage(cheap));
        }
        let quiet = tokio::time::timeout(Duration::from_secs(30), stage.sessions.quiet(&stage.session));
        let status = quiet.await.expect("nobody waits any more").unwrap().summary.status;
        assert_eq!(status, if is_stopped { SessionStatus::Stopped } else { SessionStatus::Idle });
        assert!(!waits(&stage).await, "the row is gone");
    }
}

/// At its full price what is read again and again would keep everybody else waiting.
#[tokio::test]
async fn what_the_last_call_read_from_the_cache_is_taken_to_be_read_from_there_again() {
    let (plain, mut driver) = ScriptedModel::driven();
    let mut settings = ModelSettings::default();
    settings.budgets.day.stop = Some(2.0);
    let price = Price { cache_read: Some(0.0), ..DEAR };
    let stage = Stage::new(vec![called("big", Some(price), plain)], settings).await;
    let project = stage.sessions.projects().await.unwrap()[0].id.clone();
    let other = stage.sessions.create(&project, Some(named("big"))).await.unwrap().id;
    let cached = Usage { input: Some(90_000), cache_read: Some(90_000), output: Some(1), ..Usage::default() };
    let (status, ()) =
        tokio::join!(stage.say("one"), async { driver.next().await.reply(Reply::text("1").usage(cached)) });
    assert_eq!(status, SessionStatus::Idle);
    stage.sessions.send(&stage.session, "two".into()).await.unwrap();
    let held = driver.next().await;
    stage.sessions.send(&other, "three".into()).await.unwrap();
    let begun = tokio::time::timeout(Duration::from_secs(30), driver.next()).await;
    begun.expect("it does not wait for the other").reply(Reply::text("3").usage(cached));
    held.reply(Reply::text("2").usage(cached));
    for session in [&stage.session, &other] {
        assert_eq!(stage.sessions.quiet(session).await.unwrap().summary.status, SessionStatus::Idle);
    }
}

#[tokio::test]
async fn calls_under_way_count_until_they_are_stored_and_stop_nothing_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let budgets = bosun_protocol::Budgets { session: Budget { warn: None, stop: Some(1.0) }, ..Default::default() };
    let set = |settings: &mut ModelSettings| -> Result<(), ()> {
        settings.budgets = budgets;
        Ok(())
    };
    database.change_setting(MODEL_SETTINGS, set).await.unwrap().unwrap();
    let book = Arc::new(CallBook::new(Arc::clone(&database), Arc::new(SystemClock), TaskTracker::new()));
    // Each is thought to cost half a dollar, and costs that, or next to nothing.
    for (costs, expected) in [(0.5, 2), (0.01, 50)] {
        let session = SessionId::new(format!("s{expected}"));
        let call = || {
            let (book, session) = (Arc::clone(&book), session.clone());
            async move {
                let session = bosun_agent::SessionId::new(session.as_str());
                let subject = Subject { session, project: String::new() };
                let (verdict, under_way) = book.admit(&subject, || 0.5, || ()).await.unwrap();
                if verdict != book::Verdict::Go {
                    return 0;
                }
                tokio::task::yield_now().await;
                let now = book.now_ms();
                book.note(bosun_store::StoredCall {
                    session: subject.session.clone(),
                    project: String::new(),
                    at: now,
                    day: CallBook::day(now),
                    provider: "test".into(),
                    model: "m".into(),
                    purpose: "answer".into(),
                    milliseconds: 0,
                    usage: Usage::default(),
                    cost: Some(costs),
                    agent: None,
                });
                drop(under_way);
                1
            }
        };
        let made = futures_util::future::join_all((0..50).map(|_| call())).await;
        assert_eq!(made.into_iter().sum::<u32>(), expected, "each costs {costs}");
    }
}

#[tokio::test]
async fn a_budget_that_does_not_count_a_model_is_said_once_in_a_session() {
    let mut settings = ModelSettings::default();
    let stage = Stage::new(vec![model("big", None, vec![said("1"), said("2"), said("3")])], settings.clone()).await;
    stage.say("a").await;
    assert_eq!(stage.problems().await, [], "there is no budget");
    settings.budgets.day = Budget { warn: None, stop: Some(1.0) };
    stage.sessions.save_model_settings(settings).await.unwrap();
    stage.say("b").await;
    stage.say("c").await;
    assert_eq!(stage.problems().await, [Problem::BudgetNotCounted { model: "test:big".into() }]);
}

#[tokio::test]
async fn no_summary_is_asked_for_once_a_budget_is_used_up() {
    let long = || said(&"much to be said. ".repeat(100));
    let replies = vec![long(), long(), long(), long(), said("the story")];
    let mut settings = ModelSettings::default();
    settings.budgets.day = Budget { warn: None, stop: Some(4.0) };
    let stage = Stage::new(vec![model("big", Some(DEAR), replies)], settings.clone()).await;
    stage.sessions.declare(crate::DeclaredAgent::parse("[summarization]\nkeep.messages = 2").unwrap());
    for text in ["a", "b", "c", "d"] {
        assert_eq!(stage.say(text).await, SessionStatus::Idle);
    }
    let refused = stage.sessions.compact(&stage.session, None).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    assert!(refused.to_string().contains("the budget of $4.00 for today is used up"), "{refused}");
    assert_eq!(stage.models["big"].requests().len(), 4, "no summary was asked for");

    settings.budgets.day.stop = Some(50.0);
    stage.sessions.save_model_settings(settings).await.unwrap();
    assert_eq!(stage.sessions.compact(&stage.session, None).await.unwrap().text, "the story");
}

#[tokio::test]
async fn no_title_is_asked_for_once_a_budget_is_used_up() {
    let models = vec![model("big", Some(DEAR), vec![said("1")]), model("small", None, vec![said("a name")])];
    let mut settings = ModelSettings { small: Some(named("small")), ..ModelSettings::default() };
    settings.budgets.session = Budget { warn: None, stop: Some(1.0) };
    let stage = Stage::new(models, settings).await;
    assert_eq!(stage.say("please do mend the tests").await, SessionStatus::Idle);
    let beside = stage.sessions.tasks();
    beside.close();
    beside.wait().await;
    assert!(stage.models["small"].requests().is_empty());
}
