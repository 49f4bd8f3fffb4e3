//! What a page could send that we would not: every command answers with an error that it can read, and nothing breaks.

use bosun_testkit::Project;
use serde_json::{Value, json};

use crate::page::Page;

/// Commands with a sound set of arguments each. Whether what they name exists does not matter.
fn sound() -> Vec<(&'static str, Value)> {
    let id = "0190a1b2c3d4e5f60718293a4b5c6d7e";
    let model = json!({ "provider": "ollama", "name": "m" });
    let settings = json!({ "theme": "dark", "language": "en", "model": null, "welcomed": true });
    let provider = json!({ "id": "nobody", "label": "L", "family": "openai_chat", "chosen": false, "base_url": "http://127.0.0.1:9/v1", "key": null });
    let decide = json!({ "session": id, "call_id": "call", "digest": "d", "decision": { "decision": "approve" } });
    vec![
        ("forget_project", json!({ "id": id })),
        ("create_session", json!({ "project": id, "model": model })),
        ("subscribe_session", json!({ "session": id, "channel": "__CHANNEL__:1" })),
        ("unsubscribe_session", json!({ "channel": 1 })),
        ("load_items", json!({ "session": id, "before": "i-1", "limit": 10 })),
        ("send_message", json!({ "message": { "session": id, "text": "hello" } })),
        ("unqueue_message", json!({ "session": id, "id": id })),
        ("stop_turn", json!({ "session": id })),
        ("continue_turn", json!({ "session": id })),
        ("decide", json!({ "decisions": [decide] })),
        ("decided_reach", json!({ "decide": decide })),
        ("set_session_model", json!({ "session": id, "model": model })),
        ("edit_queued", json!({ "session": id, "id": id, "text": "x" })),
        ("move_queued", json!({ "session": id, "id": id, "to": 0 })),
        ("send_queued_now", json!({ "session": id, "id": id })),
        ("steer_turn", json!({ "message": { "session": id, "text": "x" } })),
        ("stop_subagent", json!({ "session": id, "child": id })),
        ("change_plan", json!({ "session": id, "change": { "change": "drop", "id": "todo-1" } })),
        ("change_plan", json!({ "session": id, "change": { "change": "restore", "id": "todo-1" } })),
        ("load_attachment", json!({ "session": id, "blob": "a".repeat(64) })),
        ("steer_queued", json!({ "session": id, "id": id })),
        ("rename_session", json!({ "session": id, "title": "x" })),
        ("pin_session", json!({ "session": id, "pinned": true })),
        ("archive_session", json!({ "session": id, "archived": true })),
        ("delete_session", json!({ "session": id })),
        ("restore_session", json!({ "session": id })),
        ("changed_files", json!({ "session": id, "scope": "turn" })),
        ("file_review", json!({ "session": id, "path": "/a", "scope": "session" })),
        ("undo_hunk", json!({ "session": id, "path": "/a", "scope": "step", "version": "a-b", "hunk": 0 })),
        ("keep_hunk", json!({ "session": id, "path": "/a", "version": "a-b", "hunk": 0 })),
        ("keep_changes", json!({ "session": id, "path": null, "scope": "turn" })),
        ("reopen_change", json!({ "session": id, "path": "/a", "scope": "turn" })),
        ("redo_undone", json!({ "session": id, "seq": 1 })),
        ("restore_version", json!({ "session": id, "path": "/a" })),
        ("changed_image", json!({ "session": id, "path": "/a.png", "hash": "a".repeat(64) })),
        ("list_folder", json!({ "session": id, "path": "/" })),
        ("preview_file", json!({ "session": id, "path": "/a", "from": { "line": 1, "part": 0 } })),
        ("find_files", json!({ "session": id, "text": "a" })),
        ("file_text", json!({ "session": id, "path": "/a" })),
        ("save_file", json!({ "session": id, "path": "/a" })),
        ("open_file", json!({ "session": id, "path": "/a", "line": 3 })),
        ("reveal_file", json!({ "session": id, "path": "/a" })),
        ("undo_file", json!({ "session": id, "path": "/a", "scope": "turn" })),
        ("undo_changes", json!({ "session": id, "scope": "turn" })),
        ("timeline", json!({ "query": { "session": id, "list": "places", "from": null, "before": null, "limit": 9 } })),
        ("snapshot_at", json!({ "session": id, "seq": 1 })),
        ("file_at", json!({ "session": id, "seq": 1, "path": "/a" })),
        ("fork_session", json!({ "session": id, "seq": 1 })),
        ("fork_before", json!({ "session": id, "item": "i-1" })),
        ("place_before", json!({ "session": id, "item": "i-1" })),
        ("preview_rewind", json!({ "session": id, "seq": 1 })),
        ("preview_rewind_file", json!({ "session": id, "seq": 1, "path": "/a" })),
        ("rewind", json!({ "session": id, "seq": 1, "what": "both", "leave": ["/a"] })),
        ("undo_rewind", json!({ "session": id })),
        ("preview_export", json!({ "session": id, "format": "html" })),
        ("export_session", json!({ "session": id, "format": "html" })),
        ("save_settings", json!({ "settings": settings })),
        ("save_provider", json!({ "provider": provider })),
        ("remove_provider", json!({ "id": "nobody" })),
        ("set_provider_header", json!({ "id": "nobody", "name": "x", "value": "y" })),
        ("test_provider", json!({ "id": "nobody", "model": "m" })),
        ("list_models", json!({ "provider": "nobody" })),
        ("open_link", json!({ "url": "file:///etc/passwd" })),
        ("begin_sign_in", json!({ "session": id, "server": "docs" })),
        ("change_additions", json!({ "change": { "change": "bring_back", "id": id } })),
        ("check_server", json!({ "project": id, "server": "docs" })),
        ("try_hook", json!({ "project": id, "hook": "guard" })),
        ("finish_sign_in", json!({ "id": id })),
        ("report_fault", json!({ "place": "row", "message": "no such row", "stack": "at a" })),
        ("sign_out", json!({ "session": id, "server": "docs" })),
    ]
}

/// Every place of `arguments` with something else in it.
fn spoilt(arguments: &Value, with: &Value) -> Vec<Value> {
    let Value::Object(fields) = arguments else { return Vec::new() };
    let mut all = Vec::new();
    for (name, value) in fields {
        let put = |inside: Value| {
            let mut copy = fields.clone();
            copy.insert(name.clone(), inside);
            Value::Object(copy)
        };
        all.push(put(with.clone()));
        all.extend(spoilt(value, with).into_iter().map(put));
        if let Value::Array(elements) = value {
            all.extend(elements.iter().flat_map(|element| spoilt(element, with)).map(|element| put(json!([element]))));
        }
    }
    all
}

#[test]
fn guessed_ids_are_not_found() {
    let page = Page::open();
    for (command, arguments) in sound() {
        let names_a_session = arguments.to_string().contains("0190a1b2");
        if names_a_session && command != "forget_project" {
            assert_eq!(page.refused(command, arguments), "not_found", "{command}");
        }
    }
}

#[test]
fn wrong_types_huge_values_and_missing_fields_are_errors_and_the_app_lives() {
    let page = Page::open();
    let huge = "A".repeat(3 << 20);
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("../../../../etc/passwd"),
        json!("/proc/self/environ"),
        json!("a\u{0}b\u{202e}c"),
        json!("__CHANNEL__:99999999999999999999"),
        json!(huge),
        json!([]),
        json!({}),
        json!([[[[[[[[{}]]]]]]]]),
    ];
    for (command, arguments) in sound() {
        for value in &values {
            for spoilt in spoilt(&arguments, value) {
                // Some of them happen to be fine (a cancelled limit, a text); none may bring down what answers the next.
                if let Err(error) = page.call(command, spoilt) {
                    let said = error.to_string();
                    assert!(said.len() < 4_000, "{command} answered a hostile page with {} letters", said.len());
                    assert!(error["code"].is_string() && error["message"].is_string(), "{command}: {said}");
                }
            }
        }
        assert_eq!(page.refused(command, json!({})), "invalid", "{command} without arguments");
        assert_eq!(page.refused(command, json!([])), "invalid", "{command} without an object");
    }
    assert_eq!(page.ok("start", json!({}))["problem"], Value::Null);
}

#[test]
fn extra_fields_change_nothing() {
    let page = Page::open();
    let project = Project::new();
    *page.desk.picks.lock().unwrap() = Some(project.root().to_owned());
    let opened = page.ok("pick_project", json!({ "path": "/", "force": true, "trust": "all" }));
    assert_eq!((&opened["problem"], &opened["path"]), (&Value::Null, &json!(project.root())));
    assert_eq!(page.projects().len(), 1);
}

#[test]
fn one_session_cannot_be_decided_through_another() {
    let page = Page::open();
    let project = Project::new();
    let session = page.session(project.root(), "http://127.0.0.1:9/v1", "m");
    let decide =
        json!({ "session": session, "call_id": "call_1", "digest": "d", "decision": { "decision": "approve" } });
    assert_eq!(page.refused("decide", json!({ "decisions": [decide] })), "already_decided");
}

#[test]
fn only_web_and_mail_addresses_leave_the_window() {
    let page = Page::open();
    for url in ["javascript:alert(1)", "FILE:///etc/passwd", "vscode://x", "https://a@evil.example", "https://e\n.com"]
    {
        assert_eq!(page.refused("open_link", json!({ "url": url })), "invalid");
    }
    page.ok("open_link", json!({ "url": "https://Example.org/a?b" }));
    assert_eq!(*page.desk.opened.lock().unwrap(), ["https://example.org/a?b"]);
}

#[test]
fn wrong_folders_are_refused_with_a_sentence() {
    let page = Page::open();
    let project = Project::new().file("file.txt", "x");
    let home = std::env::home_dir().unwrap();
    for folder in [project.at("missing"), project.at("file.txt"), "/".into(), home] {
        *page.desk.picks.lock().unwrap() = Some(folder.clone());
        let error = page.call("pick_project", json!({})).unwrap_err();
        let said = error["message"].as_str().unwrap();
        assert_eq!(error["code"], "project_unusable", "{folder:?}");
        assert!(said.contains(&*folder.to_string_lossy()) && said.contains("; choose "), "{said}");
    }
    assert!(page.projects().is_empty());
}
