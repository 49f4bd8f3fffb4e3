//! The main path: open a folder, ask, approve, see it on the disk.

use bosun_testkit::{ModelServer, Project, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::page::Page;

/// A model that writes a file and says so.
fn writer(server: &ModelServer) {
    let call =
        Reply::text("Writing it.").and_call("write_file", json!({ "file_path": "/hello.txt", "content": "hello\n" }));
    server.add(Rule::turn("say hello").reply(call).reply("It is written."));
}

fn decide(approval: &Value, decision: Value) -> Value {
    let (session, call, digest) = (&approval["session"], &approval["call_id"], &approval["digest"]);
    json!({ "decisions": [{ "session": session, "call_id": call, "digest": digest, "decision": decision }] })
}

#[test]
fn a_task_asks_waits_is_approved_and_lands_on_the_disk() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    writer(&server);
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let snapshot = page.subscribe(&session, 7);
    assert_eq!((&snapshot["items"], &snapshot["approvals"]), (&json!([]), &json!([])));

    page.ok("send_message", json!({ "message": { "session": session, "text": "say hello" } }));
    let approval = page.wait_for_event(7, "approval_requested")["approval"].clone();
    assert_eq!((&approval["tool"], &approval["preview"]["preview"]), (&json!("write_file"), &json!("diff")));
    assert!(!project.exists("hello.txt"));

    page.ok("decide", decide(&approval, json!({ "decision": "approve" })));
    assert_eq!(page.wait_for_event(7, "turn_ended")["outcome"], "done");
    assert_eq!(project.read("hello.txt"), "hello\n");
    assert_eq!(page.refused("decide", decide(&approval, json!({ "decision": "approve" }))), "already_decided");

    let arguments = json!({ "session": session, "path": "/hello.txt", "scope": "session" });
    let diff = page.ok("file_review", arguments)["diff"].clone();
    assert_eq!((&diff["created"], &diff["added"]), (&json!(true), &json!(1)));
}

#[test]
fn events_come_in_order_as_arrays_and_join_the_snapshot_without_a_gap() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    server.add(Rule::turn("talk").reply(Reply::text("word ".repeat(400)).delta_chars(5)));
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let mut seq = page.subscribe(&session, 7)["seq"].as_u64().unwrap();
    page.ok("send_message", json!({ "message": { "session": session, "text": "talk" } }));
    page.wait_for_event(7, "turn_ended");
    let arrays = page.heard(7);
    let deltas: usize = 400;
    assert!(arrays.len() < deltas / 4, "{} messages for {deltas} tokens", arrays.len());
    for envelope in arrays.iter().flat_map(|array| array.as_array().unwrap()) {
        let next = envelope["seq"].as_u64().unwrap();
        assert!(next > seq, "{next} after {seq}");
        seq = next;
    }
    assert!(page.subscribe(&session, 8)["seq"].as_u64().unwrap() >= seq);
}

#[test]
fn a_page_that_begins_anew_gets_everything_again_and_the_old_one_nothing_more() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    writer(&server);
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": "say hello" } }));
    page.wait_for_event(7, "approval_requested");
    page.ok("unsubscribe_session", json!({ "channel": 7 }));

    let again = page.subscribe(&session, 8);
    let approval = again["approvals"][0].clone();
    assert_eq!(approval["tool"], "write_file");
    page.ok("decide", decide(&approval, json!({ "decision": "reject", "reason": "not now" })));
    page.wait_for_event(8, "turn_ended");
    let ended = |array: &Value| array.to_string().contains("turn_ended");
    assert!(!page.heard(7).iter().any(ended) && page.heard(8).iter().any(ended));
    assert!(!project.exists("hello.txt"));
}

#[test]
fn a_pending_request_outlives_the_app() {
    let (project, server, data) = (Project::new(), ModelServer::start(), tempfile::tempdir().unwrap());
    writer(&server);
    let page = Page::plan().data(data.path()).open();
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": "say hello" } }));
    let before = page.wait_for_event(7, "approval_requested")["approval"].clone();
    page.close();

    let page = Page::plan().data(data.path()).open();
    assert_eq!(page.projects().len(), 1);
    let listed = page.ok("subscribe_sessions", json!({ "channel": "__CHANNEL__:3" }));
    assert_eq!((&listed[0]["id"], &listed[0]["waiting"]), (&json!(session), &json!(1)));
    let snapshot = page.subscribe(&session, 9);
    assert_eq!(snapshot["approvals"], json!([before]));
    page.ok("decide", decide(&before, json!({ "decision": "approve" })));
    assert_eq!(page.wait_for_event(9, "turn_ended")["outcome"], "done");
    assert_eq!(project.read("hello.txt"), "hello\n");
    let done = |summary: &Value| (summary["id"] == session && summary["status"] == "idle").then_some(());
    page.wait_for(3, done);
}

#[test]
fn a_session_without_a_model_takes_the_one_of_the_settings() {
    let (page, project) = (Page::open(), Project::new());
    let model = json!({ "provider": "ollama", "name": "qwen3" });
    let settings = json!({
        "theme": "dark", "language": "zh-CN", "model": model, "welcomed": true, "muted": false, "editor": "",
        "shortcuts": {}, "projects": {},
    });
    assert_eq!(page.ok("save_settings", json!({ "settings": settings })), settings);
    assert_eq!(page.ok("start", json!({}))["settings"], settings);
    let id = page.project(project.root());
    assert_eq!(page.ok("create_session", json!({ "project": id, "model": null }))["model"], model);
}

#[test]
fn a_project_has_a_model_and_an_effort_of_its_own() {
    let (page, [one, other]) = (Page::open(), [Project::new(), Project::new()]);
    let (one, other) = (page.project(one.root()), page.project(other.root()));
    let model = |name: &str| json!({ "provider": "ollama", "name": name });
    let settings = |projects: Value| {
        json!({ "settings": {
            "theme": "dark", "language": "en", "model": model("usual"), "welcomed": true, "muted": false, "shortcuts": {},
            "projects": projects,
        } })
    };
    page.ok("save_settings", settings(json!({ one.as_str().unwrap(): { "model": model("own"), "effort": "high" } })));
    let begun = |project: &Value, given: Value| {
        let session = page.ok("create_session", json!({ "project": project, "model": given }));
        let kept = &page.subscribe(session["id"].as_str().unwrap(), 8)["session"];
        assert_eq!((&kept["model"], &kept["effort"]), (&session["model"], &session["effort"]));
        (session["model"]["name"].clone(), session["effort"].clone())
    };
    let is = |name: &str, effort: Value| (json!(name), effort);
    assert_eq!(begun(&one, Value::Null), is("own", json!("high")));
    assert_eq!(begun(&one, model("own")), is("own", json!("high")));
    assert_eq!(begun(&one, model("usual")), is("usual", Value::Null));
    assert_eq!(begun(&other, Value::Null), is("usual", Value::Null));
    for wrong in [
        json!({ "../x": { "model": model("own"), "effort": null } }),
        json!({ "x": { "model": model(" "), "effort": null } }),
    ] {
        page.refused("save_settings", settings(wrong));
    }
}

#[test]
fn the_folder_dialog_opens_a_project_or_nothing() {
    let (page, project) = (Page::open(), Project::new());
    assert_eq!(page.ok("pick_project", json!({})), Value::Null);
    *page.desk.picks.lock().unwrap() = Some(project.root().to_owned());
    assert_eq!(page.ok("pick_project", json!({}))["problem"], Value::Null);
    let listed = page.ok("subscribe_projects", json!({ "channel": "__CHANNEL__:5" }));
    assert_eq!(listed.as_array().unwrap().len(), 1);
    page.ok("forget_project", json!({ "id": listed[0]["id"] }));
    assert!(page.projects().is_empty());
}

#[test]
fn what_is_exported_speaks_as_the_window_does() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let folder = tempfile::tempdir().unwrap();
    *page.desk.picks.lock().unwrap() = Some(folder.path().to_owned());
    for (language, project, file) in [("en", "\n- Project: /", "session.html"), ("zh-CN", "\n- 项目：/", "会话.html")]
    {
        let settings = json!({ "theme": "dark", "language": language, "model": null, "welcomed": true });
        page.ok("save_settings", json!({ "settings": settings }));
        let preview = page.ok("preview_export", json!({ "session": session, "format": "markdown" }));
        assert!(preview["text"].as_str().unwrap().contains(project), "{preview}");
        let written = page.ok("export_session", json!({ "session": session, "format": "html" }));
        let written = std::path::Path::new(written.as_str().unwrap()).to_owned();
        assert_eq!(written.file_name().unwrap(), file);
        let html = std::fs::read_to_string(written).unwrap();
        assert!(html.contains(&format!("<html lang=\"{language}\">")), "{html}");
    }
}

#[test]
fn a_project_that_was_moved_is_at_the_folder_that_the_person_names() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let id = page.projects()[0]["id"].clone();
    let around = tempfile::tempdir().unwrap();
    let folder = around.path().canonicalize().unwrap().join("renamed");
    std::fs::rename(project.root(), &folder).unwrap();
    assert_eq!(page.projects()[0]["problem"], "missing");
    *page.desk.picks.lock().unwrap() = None;
    assert_eq!(page.ok("move_project", json!({ "id": id })), Value::Null, "the dialog was cancelled");
    *page.desk.picks.lock().unwrap() = Some(around.path().join("nowhere"));
    assert_eq!(page.refused("move_project", json!({ "id": id })), "project_unusable");
    *page.desk.picks.lock().unwrap() = Some(folder);
    // A folder is only ever one that the person chose in the dialog.
    let moved = page.ok("move_project", json!({ "id": id, "path": "/" }));
    assert_eq!((&moved["id"], &moved["name"], &moved["problem"]), (&id, &json!("renamed"), &Value::Null));
    let listed = page.ok("subscribe_sessions", json!({ "channel": "__CHANNEL__:98" }));
    assert_eq!((&listed[0]["id"], &listed[0]["project"]), (&json!(session), &id));
    for wrong in [json!({ "id": "nobody" }), json!({ "id": "../x" }), json!({})] {
        page.refused("move_project", wrong);
    }
}
