//! What a script in the page cannot do by itself: grave actions are confirmed in a dialog of the system.

use std::sync::atomic::Ordering;

use bosun_testkit::{ModelServer, Project, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::page::Page;

fn decide(approval: &Value, decision: Value) -> Value {
    let (session, call, digest) = (&approval["session"], &approval["call_id"], &approval["digest"]);
    json!({ "decisions": [{ "session": session, "call_id": call, "digest": digest, "decision": decision }] })
}

fn asked(page: &Page, project: &Project, server: &ModelServer, tool: &str, args: Value) -> Value {
    server.add(Rule::turn("do it").reply(Reply::default().and_call(tool, args)).reply("Done."));
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": "do it" } }));
    page.wait_for_event(7, "approval_requested")["approval"].clone()
}

#[test]
fn a_command_runs_only_when_the_person_says_so_in_the_systems_dialog() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    let approval = asked(&page, &project, &server, "execute", json!({ "command": "rm -rf src; echo x > made.txt" }));
    page.desk.refuses.store(true, Ordering::SeqCst);
    assert_eq!(page.refused("decide", decide(&approval, json!({ "decision": "approve" }))), "invalid");
    let rule = json!({ "session": approval["session"], "call_id": approval["call_id"], "scope": "always",
        "pattern": "echo *" });
    let one = decide(&approval, json!({ "decision": "approve" }))["decisions"][0].clone();
    assert_eq!(page.refused("approve_always", json!({ "decisions": [one], "drafts": [rule] })), "invalid");
    assert!(!project.exists("made.txt"));
    assert_eq!(page.ok("list_rules", json!({})), json!([]));
    let told = page.desk.asked.lock().unwrap().clone();
    assert!(told[0].contains("rm -rf src; echo x > made.txt") && told[0].contains("sandbox"), "{told:?}");
    assert!(told[1].contains("echo *"), "{told:?}");

    page.desk.refuses.store(false, Ordering::SeqCst);
    page.ok("decide", decide(&approval, json!({ "decision": "approve" })));
    assert_eq!(page.wait_for_event(7, "turn_ended")["outcome"], "done");
    assert_eq!(project.read("made.txt"), "x\n");
}

#[test]
fn what_an_edit_makes_grave_is_asked_for_too_and_the_rest_is_not() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    let plain = json!({ "file_path": "/hello.txt", "content": "hello\n" });
    let approval = asked(&page, &project, &server, "write_file", plain);
    page.desk.refuses.store(true, Ordering::SeqCst);
    let hook = json!({ "file_path": "/.git/hooks/post-commit", "content": "touch x\n" });
    let edit = json!({ "decision": "edit", "args": hook });
    assert_eq!(page.refused("decide", decide(&approval, edit)), "invalid");
    assert!(page.desk.asked.lock().unwrap()[0].contains("/.git/hooks/post-commit"));
    page.ok("decide", decide(&approval, json!({ "decision": "approve" })));
    assert_eq!(page.wait_for_event(7, "turn_ended")["outcome"], "done");
    assert_eq!((page.desk.asked.lock().unwrap().len(), project.read("hello.txt")), (1, "hello\n".to_owned()));
}

#[test]
fn refusing_and_answering_ask_nothing_and_something_else_than_was_shown_is_refused() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    let approval = asked(&page, &project, &server, "execute", json!({ "command": "ls" }));
    let mut other = approval.clone();
    other["digest"] = json!("f".repeat(64));
    assert_eq!(page.refused("decide", decide(&other, json!({ "decision": "approve" }))), "already_decided");
    page.ok("decide", decide(&approval, json!({ "decision": "reject", "reason": null })));
    page.wait_for_event(7, "turn_ended");
    assert_eq!(*page.desk.asked.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn what_starts_programs_by_itself_is_kept_only_when_it_was_confirmed() {
    let page = Page::open();
    let text = "[mcp.docs]\ncommand = \"docs-server-of-nobody\"\n";
    page.desk.refuses.store(true, Ordering::SeqCst);
    assert_eq!(page.ok("check_additions", json!({ "text": text })), Value::Null);
    assert_eq!(page.refused("save_additions", json!({ "text": text })), "invalid");
    assert!(page.desk.asked.lock().unwrap()[0].contains("docs-server-of-nobody"));
    let server = json!({ "name": "docs", "enabled": true,
        "reach": { "reach": "program", "command": "docs-server-of-nobody", "args": [], "env": [] } });
    let change = json!({ "change": { "change": "server", "was": null, "server": server } });
    assert_eq!(page.refused("change_additions", change.clone()), "invalid");
    assert!(page.desk.asked.lock().unwrap()[1].ends_with("[mcp.docs]\ncommand = \"docs-server-of-nobody\""));
    assert_eq!(page.ok("addition_forms", json!({})), json!({ "servers": [], "hooks": [], "problem": null }));

    // What was kept once may go, and come back, without a question.
    page.desk.refuses.store(false, Ordering::SeqCst);
    page.ok("change_additions", change);
    page.desk.refuses.store(true, Ordering::SeqCst);
    let removed = json!({ "change": { "change": "remove", "addition": "server", "name": "docs" } });
    let id = page.ok("change_additions", removed);
    page.ok("change_additions", json!({ "change": { "change": "bring_back", "id": id } }));
    assert_eq!(page.ok("addition_forms", json!({}))["servers"], json!([server]));
    page.ok("save_additions", json!({ "text": "" }));
}

#[test]
fn an_editor_is_kept_only_when_it_was_confirmed_and_then_has_the_texts() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new().file("run.sh", "#!/bin/sh\ntouch M\n").file("a.txt", "a\n").file("a.bin", b"\0");
    std::fs::set_permissions(project.at("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (page, server) = (Page::open(), ModelServer::start());
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let open = |path: &str, line: Value| json!({ "session": session, "path": path, "line": line });
    let opened = || std::mem::take(&mut *page.desk.opened.lock().unwrap());
    let at = |path: &str| project.root().canonicalize().unwrap().join(path).display().to_string();
    let mut settings = page.ok("start", json!({}))["settings"].clone();
    let mut save = |editor: &str| {
        settings["editor"] = json!(editor);
        json!({ "settings": settings })
    };

    assert_eq!(page.refused("open_file", open("/run.sh", Value::Null)), "invalid");
    page.ok("open_file", open("/a.txt", json!(2)));
    assert_eq!(opened(), [format!("system {}", at("a.txt"))]);

    page.desk.refuses.store(true, Ordering::SeqCst);
    assert_eq!(page.refused("save_settings", save("sh -c {file}")), "invalid");
    assert!(page.desk.asked.lock().unwrap()[0].contains("sh -c {file}"));
    assert_eq!(page.ok("start", json!({}))["settings"]["editor"], "");
    page.desk.refuses.store(false, Ordering::SeqCst);
    for wrong in ["{file}", "./edit {file}", "code 'x", "co\0de"] {
        assert_eq!(page.refused("save_settings", save(wrong)), "invalid", "{wrong}");
    }
    assert_eq!(page.desk.asked.lock().unwrap().len(), 1, "what cannot be is not asked about");
    page.ok("save_settings", save("code -g {file}:{line}"));
    page.ok("save_settings", save("code -g {file}:{line}"));
    assert_eq!(page.desk.asked.lock().unwrap().len(), 2, "it is asked about once");

    page.ok("open_file", open("/run.sh", Value::Null));
    page.ok("open_file", open("/a.txt", json!(2)));
    page.ok("open_file", open("/a.bin", Value::Null));
    assert_eq!(
        opened(),
        [format!("editor {}:1", at("run.sh")), format!("editor {}:2", at("a.txt")), format!("system {}", at("a.bin"))]
    );
    page.ok("save_settings", save(""));
    assert_eq!(page.refused("open_file", open("/run.sh", Value::Null)), "invalid");
    assert!(!project.exists("M"));
}
