//! `bosun models`: what is asked, and what is kept of the answer.

use bosun_store::{Database, LISTED_MODELS};
use bosun_testkit::{ModelServer, Order, Reply, Rule, Script, Wire};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, ran};

fn models(bench: &Bench, arguments: &[&str]) -> Ran {
    let url = bench.server.base_url(Wire::OpenAi);
    let mut command = bench.bosun();
    ran(command.args(["models", "openai", "--base-url", &url]).args(arguments).env("OPENAI_API_KEY", "sk-test"))
}

fn listing(window: u32) -> Reply {
    let list = json!({ "data": [{ "id": "own-model", "context_length": window }, { "id": "another" }] });
    Reply::http(200, list.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_providers_list_says_is_kept_where_there_is_a_database() {
    let bench = Bench::new();
    bench.server.answer_models_with(listing(65_536));
    let first = models(&bench, &["--json"]);
    let rows: Vec<Value> = first.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows[0]["model"].as_str(), rows[0]["context_window"].as_u64()), (Some("own-model"), Some(65_536)));
    assert_eq!((rows.len(), rows[1].get("context_window")), (2, None), "{}", first.err);
    assert!(!bench.data().exists(), "asking made a data folder");
    assert!(!first.err.contains("models.dev"), "{}", first.err);

    drop(Database::open(&bench.data()).unwrap());
    for window in [65_536, 131_072] {
        bench.server.answer_models_with(listing(window));
        let told = models(&bench, &[]);
        assert_eq!(told.code, Some(0), "{}", told.err);
        assert!(told.err.contains("what the list does not say is of 20"), "{}", told.err);
        assert!(told.err.contains("models.dev"), "{}", told.err);
        let database = Database::open(&bench.data()).unwrap();
        let kept: Value = database.setting(LISTED_MODELS).await.unwrap().unwrap();
        let hosts: Vec<&Value> = kept.as_object().unwrap().values().collect();
        assert_eq!(hosts, [&json!([{ "name": "own-model", "context_window": window }, { "name": "another" }])]);
    }
}

#[test]
fn a_list_that_cannot_be_had_is_said_in_the_providers_words() {
    let bench = Bench::new();
    let refusal = json!({ "error": { "message": "that is no key of ours" } });
    bench.server.answer_models_with(Reply::http(401, refusal.to_string()));
    assert!(models(&bench, &[]).sentence().contains("that is no key of ours"));
    let alone = ran(bench.bosun().args(["models", "--base-url", "http://127.0.0.1:9"]));
    assert_eq!(alone.code, Some(1), "{}", alone.err);
}

/// Ollama cuts what is longer than it was told to hold, without a word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_of_ollama_is_asked_about_before_its_first_call_and_told_what_to_hold() {
    let bench = Bench::on(Wire::Ollama);
    bench.server.once("one").once("two");
    for _ in 0..2 {
        assert_eq!(bench.run(&["hello"]).code, Some(0));
        // Each run asks until it is answered; where nobody answers, what was said before is kept.
        bench.server.answer_at("/api/show", Reply::http(503, "busy"));
    }
    let requests = bench.server.requests();
    let asked = |path: &str| requests.iter().filter(|request| request.path == path).collect::<Vec<_>>();
    assert!(asked("/api/show").len() > 1, "the second run asks too");
    let calls = asked("/api/chat");
    assert_eq!(calls.len(), 2);
    for call in calls {
        assert_eq!(call.json()["options"]["num_ctx"], 32_768);
    }
}

/// What the window's form does, for whoever has no window.
#[test]
fn a_provider_is_added_asked_listed_and_removed_without_the_window() {
    let bench = Bench::new();
    let providers = |arguments: &[&str]| ran(bench.bosun().arg("providers").args(arguments));
    let rows = || -> Vec<Value> {
        providers(&["list", "--json"]).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(rows(), [] as [Value; 0]);
    let url = bench.server.base_url(Wire::OpenAi);
    for id in ["my-gate", "my-gate-2"] {
        let added = providers(&["add", "My gate", &url, "--no-test"]);
        assert_eq!((added.code, added.out.as_str()), (Some(0), format!("{id}\n").as_str()), "{}", added.err);
        assert!(added.err.contains(&format!("--model {id}:NAME")), "{}", added.err);
    }
    let gate = "https://gate.example/v1/responses";
    let chosen = providers(&["add", "Claude", gate, "--format", "anthropic", "--no-test"]);
    assert_eq!(chosen.code, Some(0), "{}", chosen.err);
    let row = |id: &str, name: &str, format: &str, base_url: &str| json!({ "provider": id, "name": name, "format": format, "base_url": base_url, "headers": [] });
    assert_eq!(
        rows(),
        [
            row("my-gate", "My gate", "openai-chat", &url),
            row("my-gate-2", "My gate", "openai-chat", &url),
            row("claude", "Claude", "anthropic", "https://gate.example/v1/responses"),
        ]
    );

    bench.server.once("hello");
    let run = ["run", "--project", bench.project.root_str(), "--model", "my-gate:m", "hello"];
    let answered = ran(bench.bosun().args(run));
    assert_eq!((answered.code, answered.out.trim()), (Some(0), "hello"), "{}", answered.err);

    let other = "https://other.example/v1";
    assert_eq!(providers(&["edit", "my-gate-2", "--name", "Attic"]).code, Some(0), "another name asks nobody");
    let moved = providers(&["edit", "my-gate-2", "--url", other, "--format", "gemini", "--no-test"]);
    assert!(moved.code == Some(0) && moved.err.contains("requests to Attic go to other.example"), "{}", moved.err);
    assert_eq!(rows()[1], row("my-gate-2", "Attic", "gemini", other));
    let line = format!("{:<20}  {:<20}  {:<16}  {other}", "my-gate-2", "Attic", "gemini");
    assert_eq!(providers(&["list"]).out.lines().nth(1), Some(line.as_str()));
    // A built-in one is moved, and is as it came once it is back.
    assert_eq!(providers(&["edit", "openai", "--url", other, "--no-test"]).code, Some(0));
    assert_eq!(rows()[0], row("openai", "OpenAI", "openai-chat", other));
    assert_eq!(providers(&["edit", "openai", "--url", "https://api.openai.com/v1", "--no-test"]).code, Some(0));
    assert_eq!(rows().len(), 3);

    assert_eq!(providers(&["remove", "my-gate-2"]).code, Some(0));
    assert_eq!(rows().len(), 2);
    for (arguments, words) in [
        (&["remove", "my-gate-2"][..], "there is no provider \"my-gate-2\""),
        (&["remove", "openai"], "openai is built in and as it came"),
        (&["add", " ", "https://h/v1"], "name"),
        (&["add", "Gate", "gate.example/v1"], "no http:// or https:// in front"),
        (&["add", "Gate", "https://gate.example/v1?key=canary-0123456789"], "custom header"),
        (&["add", "Gate", "https://gate.example/v1", "--header", "Host=x"], "sent by Bosun itself"),
        (&["add", "Gate", "https://gate.example/v1", "--header", "X-Team"], "no value came for the header X-Team"),
        (&["header", "azure", "X-Team=red"], "azure has no address yet"),
        (&["edit", "nobody", "--name", "Gate"], "there is no provider \"nobody\""),
        (&["edit", "my-gate", "--url", "gate.example/v1"], "no http:// or https:// in front"),
        (&["edit", "my-gate", "--url", "https://gate.example/v1?key=canary-0123456789"], "custom header"),
        (&["edit", "anthropic", "--format", "gemini"], "cannot be changed"),
    ] {
        let refused = providers(arguments);
        assert!(
            refused.sentence().contains(words) && !refused.err.contains("canary"),
            "{arguments:?}: {}",
            refused.err
        );
    }
    assert_eq!(rows().len(), 2, "nothing is kept of what is refused");
}

/// As in the window: what was added stays, and what the server says is told.
#[test]
fn a_small_call_tells_whether_a_provider_that_was_added_or_moved_answers() {
    let bench = Bench::new();
    let providers = |arguments: &[&str]| ran(bench.bosun().arg("providers").args(arguments));
    let server = ModelServer::with(Script { models: vec!["m".into()], ..Script::default() });
    server.add(Rule::any().reply("ready").order(Order::RepeatLast));
    let url = server.base_url(Wire::OpenAi);
    let added = providers(&["add", "Gate", &url]);
    assert_eq!((added.code, added.out.as_str()), (Some(0), "gate\n"), "{}", added.err);
    assert!(added.err.contains("it works: m answers"), "{}", added.err);
    let asked = server.requests().len();
    assert_eq!(providers(&["add", "Gate", &url, "--no-test"]).code, Some(0));
    assert_eq!(providers(&["edit", "gate", "--name", "Attic"]).code, Some(0));
    assert_eq!(server.requests().len(), asked, "nobody was called");

    let gone = "http://127.0.0.1:9/v1";
    let fails = providers(&["edit", "gate", "--url", gone]);
    assert_ne!(fails.code, Some(0));
    assert!(fails.err.contains("gate is changed, but a call to it failed: "), "{}", fails.err);
    let fails = providers(&["add", "Far", gone]);
    assert_eq!((fails.code == Some(0), fails.out.as_str()), (false, "far\n"));
    assert!(fails.err.contains("far is added, but a call to it failed: "), "{}", fails.err);
    let listed = providers(&["list"]).out;
    assert_eq!(listed.lines().filter(|line| line.ends_with(gone)).count(), 2, "{listed}");
}
