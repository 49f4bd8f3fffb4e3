//! Accounts, keys, and calls that test them.

use std::sync::Arc;

use bosun_backend::BoxFuture;
use bosun_store::{MemorySecrets, SecretError, SecretStore};
use bosun_testkit::{ModelServer, Project, Reply, Rule, Script, Wire};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::page::Page;

const KEY: &str = "sk-canary-0123456789abcdef";

/// A system on which no keyring answers.
pub struct NoKeyring;

impl NoKeyring {
    fn refuse<T: Send + 'static>() -> BoxFuture<'static, Result<T, SecretError>> {
        Box::pin(async { Err(SecretError::Missing { reason: "no Secret Service".to_owned() }) })
    }
}

impl SecretStore for NoKeyring {
    fn get<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, SecretError>> {
        Self::refuse()
    }

    fn set<'a>(&'a self, _: &'a str, _: &'a str, _: SecretString) -> BoxFuture<'a, Result<(), SecretError>> {
        Self::refuse()
    }

    fn remove<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), SecretError>> {
        Self::refuse()
    }
}

pub fn form(id: Option<&str>, base_url: &str, key: Option<&str>) -> Value {
    json!({ "provider": { "id": id, "label": "My gate", "family": "openai_chat", "chosen": false, "base_url": base_url, "key": key } })
}

fn provider(page: &Page, id: &str) -> Value {
    let all = page.ok("list_providers", json!({}));
    all.as_array().unwrap().iter().find(|view| view["id"] == id).cloned().unwrap_or(Value::Null)
}

#[test]
fn the_list_has_vendors_servers_of_this_machine_and_the_tour() {
    let page = Page::plan().key("ANTHROPIC_API_KEY", KEY).open();
    let anthropic = provider(&page, "anthropic");
    assert_eq!(anthropic["key"], json!({ "source": "environment", "variable": "ANTHROPIC_API_KEY" }));
    assert_eq!((&anthropic["key_optional"], &anthropic["custom"]), (&json!(false), &json!(false)));
    assert_eq!(provider(&page, "openai")["key"], json!({ "source": "missing" }));
    assert_eq!(provider(&page, "ollama")["key_optional"], true);
    assert_eq!(provider(&page, "tour")["family"], "tour");
    let tour = page.ok("list_models", json!({ "provider": "tour" }));
    assert_eq!((&tour[0]["scripted"], &tour[0]["model"]["provider"]), (&json!(true), &json!("tour")));
    assert!(!page.ok("list_providers", json!({})).to_string().contains(KEY));
}

#[test]
fn a_key_goes_into_the_keyring_and_is_bound_to_its_host() {
    let keyring = Arc::new(MemorySecrets::default());
    let page = Page::plan().keyring(Arc::clone(&keyring) as Arc<dyn SecretStore>).open();
    let saved = page.ok("save_provider", form(None, "https://gate.example/v1", Some(KEY)));
    assert_eq!((&saved["id"], &saved["key"]), (&json!("my-gate"), &json!({ "source": "keyring" })));
    let kept = tauri::async_runtime::block_on(keyring.get("my-gate", "gate.example")).unwrap();
    assert!(kept.is_some());

    let same = page.ok("save_provider", form(Some("my-gate"), "https://gate.example/v2", None));
    assert_eq!(same["key"], json!({ "source": "keyring" }));
    let moved = page.ok("save_provider", form(Some("my-gate"), "https://evil.example/v1", None));
    assert_eq!(moved["key"], json!({ "source": "missing" }));
    let kept = tauri::async_runtime::block_on(keyring.get("my-gate", "gate.example")).unwrap();
    assert!(kept.is_none(), "a key that nothing uses any more stays in the keyring");

    page.ok("remove_provider", json!({ "id": "my-gate" }));
    assert_eq!(provider(&page, "my-gate"), Value::Null);
}

#[test]
fn a_key_of_the_environment_stays_with_its_vendor() {
    let page = Page::plan().key("OPENAI_API_KEY", KEY).open();
    assert_eq!(provider(&page, "openai")["key"]["source"], "environment");
    assert_eq!(provider(&page, "openai")["changed"], false);
    page.ok("save_provider", form(Some("openai"), "https://gate.example/v1", None));
    let moved = provider(&page, "openai");
    assert_eq!((&moved["changed"], &moved["key"]["source"]), (&json!(true), &json!("missing")));
    page.ok("remove_provider", json!({ "id": "openai" }));
    let back = provider(&page, "openai");
    assert_eq!((&back["label"], &back["key"]["source"]), (&json!("OpenAI"), &json!("environment")));
    assert_eq!(back["changed"], false);
}

#[test]
fn a_key_that_was_saved_goes_before_the_one_of_the_environment_until_it_is_removed() {
    let keyring = Arc::new(MemorySecrets::default());
    let open = Page::plan().key("OPENAI_API_KEY", "sk-of-the-shell-000").keyring(keyring as Arc<dyn SecretStore>);
    let page = open.open();
    let openai = |key: &str| {
        let provider = json!({
            "id": "openai", "label": "OpenAI", "family": "openai_responses", "chosen": false, "base_url": "https://api.openai.com/v1",
            "key": key,
        });
        page.ok("save_provider", json!({ "provider": provider }))
    };
    assert_eq!(provider(&page, "openai")["key"]["source"], "environment");
    assert_eq!(openai(KEY)["key"], json!({ "source": "keyring" }));
    assert_eq!(provider(&page, "openai")["key"], json!({ "source": "keyring" }));
    assert_eq!(openai("")["key"], json!({ "source": "environment", "variable": "OPENAI_API_KEY" }));
}

#[test]
fn without_a_keyring_the_key_lives_for_this_run_and_the_reason_is_told() {
    let data = tempfile::tempdir().unwrap();
    let open = || Page::plan().data(data.path()).keyring(Arc::new(NoKeyring)).open();
    let page = open();
    let saved = page.ok("save_provider", form(None, "https://gate.example/v1", Some(KEY)));
    assert_eq!(saved["key"]["source"], "memory");
    assert_eq!(saved["key"]["why"]["problem"], "keyring_missing", "{saved}");
    assert!(saved["key"]["why"]["detail"].as_str().unwrap().contains("no Secret Service"), "{saved}");
    assert_eq!(provider(&page, "my-gate")["key"], saved["key"]);
    page.close();
    let page = open();
    assert_eq!(provider(&page, "my-gate")["key"]["source"], "missing");
    page.close();
    assert!(!holds(data.path(), KEY), "the key is in the data folder");
}

/// Whether any file below `folder` has `needle` in it.
fn holds(folder: &std::path::Path, needle: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, needle);
        }
        let bytes = std::fs::read(&path).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}

/// The window begins with what is stored, and is told when a server of this machine says something else.
#[test]
fn the_list_waits_for_nobody_and_what_a_server_says_meanwhile_is_told() {
    let (data, server) = (tempfile::tempdir().unwrap(), ModelServer::start());
    let lists = |owned_by: &str| {
        let list = json!({ "object": "list", "data": [{ "id": "m", "owned_by": owned_by }] });
        server.answer_models_with(Reply::http(200, list.to_string()));
    };
    let open = || {
        let page = Page::plan().data(data.path()).open();
        page.ok("subscribe_providers", json!({ "channel": "__CHANNEL__:4" }));
        page
    };
    let runs_itself = |page: &Page| provider(page, "my-gate")["runs_itself"].clone();
    lists("vllm");
    let page = open();
    page.ok("save_provider", form(None, &server.base_url(Wire::OpenAi), None));
    assert_eq!(runs_itself(&page), false);
    page.ok("list_models", json!({ "provider": "my-gate" }));
    page.wait_for_news(4);
    assert_eq!(runs_itself(&page), true);
    page.close();

    lists("openai");
    let page = open();
    assert_eq!(runs_itself(&page), true, "as it was stored");
    page.wait_for_news(4);
    assert_eq!(runs_itself(&page), false);
    assert_eq!(page.heard(4), [Value::Null], "once");
}

/// Names of headers whose values went with an earlier run keep none of the person's out.
#[test]
fn headers_that_are_not_shown_do_not_count() {
    let data = tempfile::tempdir().unwrap();
    let open = || Page::plan().data(data.path()).keyring(Arc::new(NoKeyring)).open();
    let page = open();
    page.ok("save_provider", form(None, "https://gate.example/v1", None));
    let set = |page: &Page, name: &str| {
        page.call("set_provider_header", json!({ "id": "my-gate", "name": name, "value": "on" }))
    };
    for number in 0..20 {
        set(&page, &format!("X-{number}")).unwrap();
    }
    assert_eq!(set(&page, "X-More").unwrap_err()["code"], "invalid");
    page.close();
    let page = open();
    assert_eq!(provider(&page, "my-gate")["headers"], json!([]));
    assert_eq!(set(&page, "X-More").unwrap()["headers"], json!(["X-More"]));
}

#[test]
fn a_test_call_says_what_the_server_said() {
    let server = ModelServer::with(Script {
        key: Some(KEY.to_owned()),
        models: vec!["test-model".to_owned()],
        ..Script::default()
    });
    server
        .add(Rule::any().reply("ready").reply(Reply::error(404, "not_found", "no model named missing")).reply("there"));
    let page = Page::open();
    let saved = page.ok("save_provider", form(None, &server.base_url(Wire::OpenAi), Some(KEY)));
    let call = |model: Value| page.ok("test_provider", json!({ "id": saved["id"], "model": model }));
    let works = call(json!("test-model"));
    assert_eq!((&works["result"], &works["reply"]), (&json!("works"), &json!("ready")));
    assert_eq!(works["model"], "test-model");
    let fails = call(json!("missing"));
    assert_eq!((&fails["result"], &fails["model"]), (&json!("fails"), &json!("missing")));
    assert!(fails["problem"]["detail"].as_str().unwrap().contains("no model named missing"), "{fails}");
    // Where nobody names one, a model of the list is called: the list alone says nothing of whether any answers.
    let calls = || server.requests().iter().filter(|request| request.method == "POST").count();
    let asked = calls();
    let listed = call(Value::Null);
    assert_eq!((&listed["model"], &listed["reply"]), (&json!("test-model"), &json!("there")), "{listed}");
    assert_eq!(calls(), asked + 1);
    let models = page.ok("list_models", json!({ "provider": saved["id"] }));
    assert_eq!(models[0]["model"], json!({ "provider": "my-gate", "name": "test-model" }));

    page.ok("save_provider", form(Some("my-gate"), &server.base_url(Wire::OpenAi), Some("sk-wrong-key-000000")));
    let wrong = call(json!("test-model"));
    assert_eq!(wrong["result"], "fails");
    assert!(!wrong.to_string().contains("sk-wrong-key"), "{wrong}");
}

#[test]
fn headers_of_the_persons_own_go_to_their_host_only_and_never_come_out() {
    let server = ModelServer::start();
    let keyring = Arc::new(MemorySecrets::default());
    let page = Page::plan().keyring(Arc::clone(&keyring) as Arc<dyn SecretStore>).open();
    page.ok("save_provider", form(None, &server.base_url(Wire::OpenAi), None));
    let set = |name: &str, value: &str| json!({ "id": "my-gate", "name": name, "value": value });
    page.ok("set_provider_header", set("X-Team", "red-canary"));
    let both = page.ok("set_provider_header", set("X-Trace", "on"));
    assert_eq!(both["headers"], json!(["X-Team", "X-Trace"]));
    for (name, value) in [("Content-Length", "1"), ("two words", "1"), ("X-Line", "a\nb")] {
        assert_eq!(page.refused("set_provider_header", set(name, value)), "invalid", "{name}");
    }
    server.once("hi");
    let answer = page.ok("test_provider", json!({ "id": "my-gate", "model": "m" }));
    assert_eq!(answer["result"], "works", "{answer}");
    let request = &server.requests()[0];
    assert_eq!((request.header("x-team"), request.header("x-trace")), (Some("red-canary"), Some("on")));
    assert!(!page.ok("list_providers", json!({})).to_string().contains("canary"));

    let one = page.ok("set_provider_header", set("x-trace", ""));
    assert_eq!(one["headers"], json!(["X-Team"]));
    let moved = page.ok("save_provider", form(Some("my-gate"), "https://evil.example/v1", None));
    assert_eq!(moved["headers"], json!([]));
    let host = server.url().trim_start_matches("http://").to_owned();
    let kept = tauri::async_runtime::block_on(keyring.get("my-gate#x-team", &host)).unwrap();
    assert!(kept.is_none(), "a header that nothing uses any more stays in the keyring");
}

#[test]
fn a_provider_has_twenty_headers_at_most_and_another_value_is_no_other_header() {
    let page = Page::plan().keyring(Arc::new(MemorySecrets::default())).open();
    page.ok("save_provider", form(None, "https://gate.example/v1", None));
    let set = |name: &str, value: &str| json!({ "id": "my-gate", "name": name, "value": value });
    for number in 0..20 {
        page.ok("set_provider_header", set(&format!("X-{number}"), "1"));
    }
    let refused = page.call("set_provider_header", set("X-More", "1")).unwrap_err();
    assert_eq!(refused["problem"], json!({ "problem": "headers_full", "most": 20 }), "{refused}");
    let same = page.ok("set_provider_header", set("x-7", "2"));
    assert_eq!(same["headers"].as_array().map(Vec::len), Some(20));
    let fewer = page.ok("set_provider_header", set("X-7", ""));
    assert_eq!(fewer["headers"].as_array().map(Vec::len), Some(19));
    page.ok("set_provider_header", set("X-More", "1"));
}

#[test]
fn a_vendor_without_a_key_is_not_asked() {
    let page = Page::open();
    assert_eq!(page.refused("list_models", json!({ "provider": "anthropic" })), "no_model");
    assert_eq!(page.refused("test_provider", json!({ "id": "openai", "model": "gpt" })), "no_model");
    let offline = page.ok("save_provider", form(None, "http://127.0.0.1:9/v1", None));
    let call = page.ok("test_provider", json!({ "id": offline["id"], "model": "m" }));
    assert_eq!(call["result"], "fails");
}

/// What is shown of where requests go holds for sessions that are open too, and nothing that was removed is used.
#[test]
fn an_open_session_goes_by_its_account_as_it_is_now() {
    let (page, project) = (Page::open(), Project::new());
    let [before, after] = [ModelServer::start(), ModelServer::start()];
    for server in [&before, &after] {
        server.add(Rule::any().reply("Done."));
        server.add(Rule::any().reply("Done."));
    }
    let session = page.session(project.root(), &before.base_url(Wire::OpenAi), "test-model");
    let id = page
        .ok("list_providers", json!({}))
        .as_array()
        .unwrap()
        .iter()
        .find(|view| view["custom"] == true)
        .unwrap()["id"]
        .clone();
    let change = |server: &ModelServer, key: Option<&str>| {
        page.ok("save_provider", form(id.as_str(), &server.base_url(Wire::OpenAi), key));
    };
    let say = |channel: u32| {
        page.subscribe(&session, channel);
        let sent = page.call("send_message", json!({ "message": { "session": session, "text": "go on" } }));
        if sent.is_ok() {
            page.wait_for_event(channel, "turn_ended");
        }
        sent
    };
    say(1).unwrap();
    change(&before, Some(KEY));
    say(2).unwrap();
    let keys: Vec<_> =
        before.requests().iter().map(|request| request.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, [None, Some(format!("Bearer {KEY}"))]);
    change(&after, None);
    say(3).unwrap();
    assert_eq!((before.requests().len(), after.requests().len()), (2, 1), "it went to where it was before");
    page.ok("remove_provider", json!({ "id": id }));
    say(4).unwrap_err();
    assert_eq!((before.requests().len(), after.requests().len()), (2, 1));
}
