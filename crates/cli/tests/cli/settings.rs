//! What was set in the window holds on the command line too.

use std::sync::Arc;

use bosun_protocol::{Effort, ModelRef, ProjectModel, Settings};
use bosun_providers::SavedAccount;
use bosun_store::{APP_SETTINGS, Database};
use bosun_testkit::{ModelServer, Reply, Wire};
use pretty_assertions::assert_eq;

use crate::bench::{Bench, Ran, ran};

fn mine(name: &str) -> ModelRef {
    ModelRef { provider: "mine".into(), name: name.into() }
}

/// A person's own account, whose model `name` is the default.
async fn preferring(bench: &Bench, name: &str) -> (Arc<Database>, Settings) {
    let database = Database::open(&bench.data()).unwrap();
    let account = SavedAccount {
        id: "mine".into(),
        label: "Mine".into(),
        family: "openai_chat".into(),
        base_url: bench.server.base_url(Wire::OpenAi),
        chosen: false,
    };
    database.save_account(&account.id, &account).await.unwrap();
    let settings = Settings { model: Some(mine(name)), ..Settings::default() };
    database.set_setting(APP_SETTINGS, &settings).await.unwrap();
    (database, settings)
}

#[track_caller]
fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.bosun();
    // The vendor's key is not for this host.
    command.env("OPENAI_API_KEY", "sk-vendor");
    let ran = ran(command.args(["run", "--project", bench.project.root_str(), "hello"]).args(arguments));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_give_the_model_and_the_account() {
    let bench = Bench::new();
    bench.server.once("from the settings").once("nothing kept");
    drop(preferring(&bench, "small").await);
    assert_eq!(run(&bench, &[]).out, "from the settings\n");
    assert_eq!(run(&bench, &["--no-store"]).out, "nothing kept\n");
    assert_eq!(bench.sessions().len(), 1);
    for request in bench.server.requests() {
        assert_eq!((request.asked().model.as_str(), request.header("authorization")), ("small", None));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_gives_its_own_model_and_effort() {
    let bench = Bench::new();
    bench.server.once("as usual").once("as the project has it").once("kept nowhere").once("as said");
    let (database, mut settings) = preferring(&bench, "usual").await;
    run(&bench, &[]);
    let project = database.projects().await.unwrap().remove(0).id;
    let own = ProjectModel { model: mine("own"), effort: Some(Effort::High) };
    settings.projects.insert(project, own);
    database.set_setting(APP_SETTINGS, &settings).await.unwrap();
    run(&bench, &[]);
    run(&bench, &["--no-store"]);
    run(&bench, &["--effort", "low"]);
    let asked: Vec<String> = bench.server.requests().iter().map(|request| request.asked().model).collect();
    assert_eq!(asked, ["usual", "own", "own", "own"]);
    // What is kept nowhere is not listed; the last comes first.
    let begun: Vec<_> = bench.sessions().iter().rev().map(|one| (one.model.clone(), one.effort)).collect();
    let own = |effort| (Some(mine("own")), Some(effort));
    assert_eq!(begun, [(Some(mine("usual")), None), own(Effort::High), own(Effort::Low)]);
}

/// The key of another provider is none of that address's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_url_is_that_of_one_provider_alone() {
    let bench = Bench::new();
    let gateway = ModelServer::start();
    let (database, settings) = preferring(&bench, "mine").await;
    drop((database, settings));
    let busy = || Reply::error(529, "overloaded_error", "too many").retry_after(600);
    let url = gateway.base_url(Wire::OpenAi);
    let arguments = ["--model", "openai:gpt-x", "--base-url", &url, "--fallback", "mine:spare"];
    gateway.once(busy());
    bench.server.once("from mine");
    let ran = run(&bench, &arguments);
    assert_eq!(ran.out, "from mine\n");
    let [asked] = &gateway.requests()[..] else { panic!("the gateway was asked once") };
    assert_eq!((asked.asked().model.as_str(), asked.header("authorization")), ("gpt-x", Some("Bearer sk-vendor")));
    let [asked] = &bench.server.requests()[..] else { panic!("the other was asked once") };
    assert_eq!((asked.asked().model.as_str(), asked.header("authorization")), ("spare", None));
    // Who goes on with it and chooses another provider's model asks that one where it is.
    gateway.once("from the gateway");
    bench.server.once("from mine again");
    let session = bench.sessions()[0].id.to_string();
    assert_eq!(run(&bench, &["--session", &session]).out, "from the gateway\n");
    // A variable goes to another address only where that is named beside it.
    assert_eq!(gateway.requests()[1].header("authorization"), None);
    assert_eq!(run(&bench, &["--session", &session, "--model", "mine:own"]).out, "from mine again\n");
    gateway.once(Reply::error(401, "invalid_request_error", "who are you?"));
    let mut command = bench.bosun();
    command.args(["run", "--session", &session, "--model", "openai:gpt-x", "hello"]).env("OPENAI_API_KEY", "sk-vendor");
    let refused = crate::bench::ran(&mut command);
    let told = refused.sentence();
    assert!(told.contains("openai:gpt-x: who are you?") && told.contains("again with --base-url"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_model_that_fails_is_named() {
    let bench = Bench::new();
    let gateway = ModelServer::start();
    drop(preferring(&bench, "mine").await);
    gateway.once(Reply::error(529, "overloaded_error", "too many").retry_after(600));
    bench.server.once(Reply::error(400, "invalid_request_error", "not like this"));
    let mut command = bench.bosun();
    command.args(["run", "--project", bench.project.root_str(), "--model", "openai:gpt-x", "--fallback", "mine:spare"]);
    command.args(["--base-url", &gateway.base_url(Wire::OpenAi), "hello"]).env("OPENAI_API_KEY", "sk-vendor");
    let failed = crate::bench::ran(&mut command);
    assert!(failed.sentence().contains("mine:spare: not like this"), "{}", failed.err);
}

/// The level is called what it is where it is not what it is called.
#[test]
fn off_is_said_to_be_the_least_of_a_model_that_always_thinks() {
    let bench = Bench::new();
    let told = |model: &str, effort: &str| {
        bench.server.once("hello");
        run(
            &bench,
            &["--no-store", "--effort", effort, "--model", model, "--base-url", &bench.server.base_url(Wire::OpenAi)],
        )
        .err
    };
    let least = "o4-mini always thinks; off asks for the least that it does";
    assert!(told("openai:o4-mini", "off").contains(least));
    assert!(!told("openai:o4-mini", "low").contains("always thinks"));
    assert!(!told("openai:gpt-5.4", "off").contains("always thinks"));
}
