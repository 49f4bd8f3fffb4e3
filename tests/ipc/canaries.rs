//! K01 and K10 in the window: keys in each of its places, then a search in what the page heard and what the disk holds.

use std::sync::Arc;

use bosun_store::{MemorySecrets, SecretStore};
use bosun_testkit::{Canaries, ModelServer, Order, Project, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::page::Page;
use crate::providers::{NoKeyring, form};

/// A page whose every answer is kept.
struct Watched<'a> {
    page: &'a Page,
    answers: Vec<String>,
}

impl Watched<'_> {
    fn call(&mut self, command: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self.page.call(command, arguments);
        self.answers.push(format!("{command}: {answer:?}"));
        answer
    }

    fn ok(&mut self, command: &str, arguments: Value) -> Value {
        self.call(command, arguments).unwrap_or_else(|error| panic!("{command}: {error}"))
    }
}

#[test]
fn keys_of_the_window_turn_up_nowhere() {
    let data = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let (project, server) = (Project::new().file("a.txt", "one\n"), ModelServer::start());
    let [entered, second, wrong, header, variable] =
        ["entered", "second", "wrong", "header", "variable"].map(Canaries::key);
    let reading = Reply::call("read_file", json!({ "file_path": "/a.txt" }));
    server.add(Rule::turn("work").reply(reading).reply("done"));
    server.add(Rule::turn("fail").reply(Reply::error(400, "bad", &format!("not {entered} and not {header}"))));
    server.add(Rule::any().reply("ready").order(Order::RepeatLast));
    let keyring: Arc<dyn SecretStore> = Arc::new(MemorySecrets::default());
    let environment = Canaries::key("environment");
    let plan = Page::plan().data(data.path()).keyring(Arc::clone(&keyring));
    let page = plan.key("OPENAI_API_KEY", &environment).key("ANTHROPIC_API_KEY", &Canaries::key("vendor")).open();
    let mut watched = Watched { page: &page, answers: Vec::new() };

    // A key that is entered, replaced, wrong, and a header of the person's own.
    let url = server.base_url(Wire::OpenAi);
    let saved = watched.ok("save_provider", form(None, &url, Some(&second)));
    for key in [&wrong, &entered] {
        watched.ok("save_provider", form(saved["id"].as_str(), &url, Some(key)));
        watched.ok("test_provider", json!({ "id": saved["id"], "model": "m" }));
    }
    watched.ok("set_provider_header", json!({ "id": saved["id"], "name": "X-Team", "value": header }));
    // What a server's program is given, in a form and in a text. It repeats it and ends.
    let args = ["-c", "echo \"$DOCS_TOKEN\" >&2; exit 1"];
    let env = json!([{ "name": "DOCS_TOKEN", "value": variable, "in_database": false }]);
    let reach = json!({ "reach": "program", "command": "sh", "args": args, "env": env });
    let docs = json!({ "name": "docs", "enabled": true, "reach": reach });
    watched.ok("change_additions", json!({ "change": { "change": "server", "was": null, "server": docs } }));
    let text = watched.ok("additions", json!({}))["text"].as_str().unwrap().replace("docs", "papers");
    let text = text.replace("secret_env = [\"DOCS_TOKEN\"]", &format!("env = {{ DOCS_TOKEN = \"{variable}\" }}"));
    assert!(text.contains(&variable), "{text}");
    let asked = std::mem::take(&mut *page.desk.asked.lock().unwrap()).join("\n");
    assert!(asked.contains("DOCS_TOKEN") && !asked.contains(&variable), "{asked}");
    // Who types a key into a text sees it where they say yes to that text.
    page.ok("save_additions", json!({ "text": text }));
    page.desk.asked.lock().unwrap().clear();
    let checked = watched.ok("check_server", json!({ "project": null, "server": "papers" }));
    assert!(checked.to_string().contains("[redacted]"), "it did not get it: {checked}");
    watched.ok("addition_forms", json!({}));
    watched.ok("additions", json!({}));
    // In places where no key belongs: each is refused, and not repeated.
    let password = Canaries::key("password").replace('+', "%2B").replace('/', "%2F");
    watched.call("save_provider", form(None, &format!("https://me:{password}@gate.example/v1"), None)).unwrap_err();
    let mut settings = watched.ok("model_settings", json!({}));
    settings["network"]["proxy"] = json!(format!("http://me:{password}@proxy.example:1"));
    watched.call("save_model_settings", json!({ "settings": settings })).unwrap_err();
    // The name and the password of a proxy have fields of their own. It is asked for nothing here: the server is on this
    // machine.
    settings["network"]["proxy"] = json!("http://proxy.example:1");
    watched.ok("save_model_settings", json!({ "settings": settings }));
    watched.ok("set_proxy_login", json!({ "user": "me", "password": Canaries::key("proxy") }));
    watched.ok("proxy_login", json!({}));
    watched.ok("list_providers", json!({}));

    // A session with a good turn and a bad one, looked at in every way.
    *page.desk.picks.lock().unwrap() = Some(project.root().to_owned());
    let opened = watched.ok("pick_project", json!({}))["id"].clone();
    let model = json!({ "provider": saved["id"], "name": "test-model" });
    let session = watched.ok("create_session", json!({ "project": opened, "model": model }))["id"].clone();
    let id = session.as_str().unwrap();
    page.subscribe(id, 7);
    let ends = |page: &Page| {
        let ended = |envelope: &&Value| envelope["event"]["type"] == "turn_ended";
        page.heard(7).iter().flat_map(|array| array.as_array().unwrap().clone()).filter(|one| ended(&one)).count()
    };
    for (turn, text) in ["work", "fail"].into_iter().enumerate() {
        watched.ok("send_message", json!({ "message": { "session": session, "text": text } }));
        page.wait_for_event(7, "turn_ended");
        while ends(&page) <= turn {
            std::thread::yield_now();
        }
    }
    *page.desk.picks.lock().unwrap() = Some(out.path().to_owned());
    for (command, arguments) in [
        ("subscribe_session", json!({ "session": session, "channel": "__CHANNEL__:8" })),
        ("timeline", json!({ "query": { "session": session, "list": "ledger", "limit": 500 } })),
        ("session_usage", json!({ "session": session })),
        ("usage_report", json!({ "days": 7 })),
        ("search_sessions", json!({ "query": { "text": "not", "project": null, "limit": 10 } })),
        ("preview_export", json!({ "session": session, "format": "json" })),
        ("export_session", json!({ "session": session, "format": "json" })),
        ("export_session", json!({ "session": session, "format": "html" })),
        ("export_session", json!({ "session": session, "format": "markdown" })),
        ("diagnostics", json!({})),
        ("save_diagnostics", json!({})),
        ("storage", json!({})),
    ] {
        watched.ok(command, arguments);
    }
    let asked = page.desk.asked.lock().unwrap().join("\n");
    let answers = [watched.answers, vec![asked, format!("{:?} {:?}", page.heard(7), page.heard(8))]].concat();
    page.close();

    let canaries = Canaries::default();
    let mut found: Vec<String> = answers
        .iter()
        .flat_map(|answer| {
            let command: String = answer.chars().take(24).collect();
            canaries.found_in(answer.as_bytes()).into_iter().map(move |hit| format!("{command}…: {hit}"))
        })
        .collect();
    found.extend(canaries.found_below(data.path()));
    found.extend(canaries.found_below(out.path()));
    found.extend(canaries.found_below(project.root()));
    assert!(found.is_empty(), "{} canaries:\n{}", found.len(), found.join("\n"));
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 4);
    let sent = format!("{:?}", server.requests().iter().map(|one| &one.headers).collect::<Vec<_>>());
    assert!(sent.contains(&entered) && sent.contains(&header) && sent.contains(&wrong), "the keys were never sent");
}

#[test]
fn a_key_for_this_run_only_turns_up_nowhere() {
    let data = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    server.add(Rule::any().reply("ready"));
    let page = Page::plan().data(data.path()).keyring(Arc::new(NoKeyring)).open();
    let saved = page.ok("save_provider", form(None, &server.base_url(Wire::OpenAi), Some(&Canaries::key("memory"))));
    let answers = [
        saved.to_string(),
        page.ok("list_providers", json!({})).to_string(),
        page.ok("test_provider", json!({ "id": saved["id"], "model": "m" })).to_string(),
        page.ok("diagnostics", json!({})).to_string(),
    ];
    page.close();
    let canaries = Canaries::default();
    assert_eq!(canaries.found_in(answers.join("\n").as_bytes()), Vec::<String>::new());
    assert_eq!(canaries.found_below(data.path()), Vec::<String>::new());
    assert!(format!("{:?}", server.requests()).contains(&Canaries::key("memory")));
}

/// K04: the page may ask before anything is sent, and nothing of what it asked about is kept anywhere.
#[test]
fn a_key_is_seen_in_a_message_before_it_is_sent() {
    let data = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    let (entered, pasted) = (Canaries::key("entered"), format!("sk-proj-{}", Canaries::key("pasted")));
    let page = Page::plan().data(data.path()).open();
    page.ok("save_provider", form(None, &server.base_url(Wire::OpenAi), Some(&entered)));
    let holds = |text: &str, blobs: Value| page.ok("holds_key", json!({ "text": text, "blobs": blobs }));
    assert_eq!(holds("Mend the primary key of the users", json!([])), false);
    assert_eq!(holds(&format!("Use {entered} please"), json!([])), true);
    assert_eq!(holds(&format!("Use {pasted} please"), json!([])), true);
    assert_eq!(Canaries::default().found_below(data.path()), Vec::<String>::new());
    assert_eq!(server.requests(), []);

    // Files that go along are kept as they are, since the person gave them to be sent.
    let keep =
        |name: &str, data: &str| page.ok("keep_attachment", json!({ "name": name, "data": data }))["blob"].clone();
    // `# Notes` and `MODEL_KEY=0123456789abcdef`.
    let plain = keep("notes.md", "IyBOb3Rlcw==");
    let secret = keep("prod.env", "TU9ERUxfS0VZPTAxMjM0NTY3ODlhYmNkZWY=");
    assert_eq!(holds("", json!([plain])), false);
    assert_eq!(holds("", json!([plain, secret])), true);
    // What is not there is nobody's key; what cannot be an id or is too much is refused.
    assert_eq!(holds("hello", json!(["0".repeat(64)])), false);
    assert_eq!(page.refused("holds_key", json!({ "text": "", "blobs": ["../keys"] })), "not_found");
    assert_eq!(page.refused("holds_key", json!({ "text": "", "blobs": vec!["0"; 101] })), "invalid");
    assert_eq!(page.refused("holds_key", json!({ "text": "x".repeat((4 << 20) + 1), "blobs": [] })), "invalid");
}
