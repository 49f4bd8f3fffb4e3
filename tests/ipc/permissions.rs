//! Rules, modes, servers and diagnostics, as the page asks for them.

use bosun_testkit::{ModelServer, Project, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::page::Page;

fn runner(server: &ModelServer, times: usize) {
    for at in 0..times {
        let call = Reply::call("execute", json!({ "command": format!("echo number {at}") }));
        server.add(Rule::turn(format!("run {at}")).reply(call).reply("It ran."));
    }
}

fn asked(page: &Page, session: &Value, channel: u32, words: &str) -> Value {
    page.subscribe(session.as_str().unwrap(), channel);
    page.ok("send_message", json!({ "message": { "session": session, "text": words } }));
    page.wait_for_event(channel, "approval_requested")["approval"].clone()
}

fn with_draft(approval: &Value, pattern: &str) -> Value {
    let (session, call) = (&approval["session"], &approval["call_id"]);
    json!({
        "decisions": [
            { "session": session, "call_id": call, "digest": approval["digest"], "decision": { "decision": "approve" } },
        ],
        "drafts": [{ "session": session, "call_id": call, "scope": "session", "pattern": pattern }],
    })
}

#[test]
fn a_rule_is_offered_tried_made_listed_and_taken_back() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    runner(&server, 2);
    let session = json!(page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model"));
    let approval = asked(&page, &session, 7, "run 0");
    let call = json!({ "session": approval["session"], "call": approval["call_id"] });
    let offer = page.ok("rule_offer", call);
    assert_eq!((&offer["offer"], &offer["kind"]), (&json!("patterns"), &json!("command")));
    let both = with_draft(&approval, "echo *");
    let rehearsal = page.ok("rehearse_rule", json!({ "draft": both["drafts"][0] }));
    assert_eq!((&rehearsal["asked"], &rehearsal["answered"]), (&json!(1), &json!(1)));
    assert_eq!(page.refused("approve_always", with_draft(&approval, "*")), "invalid");
    assert_eq!(page.ok("list_rules", json!({})), json!([]));

    let rule = page.ok("approve_always", both)[0].clone();
    page.wait_for_event(7, "turn_ended");
    page.subscribe(session.as_str().unwrap(), 8);
    page.ok("send_message", json!({ "message": { "session": session, "text": "run 1" } }));
    page.wait_for_event(8, "turn_ended");
    let query = json!({ "session": session, "list": "ledger", "from": null, "before": null, "limit": 9 });
    let ledger = page.ok("timeline", json!({ "query": query }))["ledger"].clone();
    assert_eq!((ledger.as_array().unwrap().len(), &ledger[1]["state"]), (2, &json!("done")));
    assert_eq!(ledger[1]["decision"]["by"], json!({ "by": "rule", "rule": "echo * (this session)" }));
    assert_eq!(page.ok("list_rules", json!({}))[0]["id"], rule["id"]);
    page.ok("remove_rule", json!({ "id": rule["id"] }));
    assert_eq!(page.refused("remove_rule", json!({ "id": rule["id"] })), "not_found");
    assert_eq!(page.ok("restore_rule", json!({ "id": rule["id"] })), rule);
    assert_eq!(page.ok("list_rules", json!({})), json!([rule]));
    for wrong in [json!({ "id": rule["id"] }), json!({ "id": "../x" }), json!({ "id": "nobody" })] {
        page.refused("restore_rule", wrong);
    }
}

#[test]
fn the_mode_is_the_sessions_and_begins_as_the_projects() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let mode = || page.ok("session_mode", json!({ "session": session }))["mode"].clone();
    assert_eq!(mode(), "ask");
    let projects = page.projects();
    page.ok("set_project_mode", json!({ "project": projects[0]["id"], "mode": "edits" }));
    assert_eq!(mode(), "edits");
    page.ok("set_session_mode", json!({ "session": session, "mode": "plan_only" }));
    assert_eq!(mode(), "plan_only");
    assert_eq!(page.ok("project_modes", json!({}))[0]["mode"], "edits");
    for wrong in
        [json!({ "session": session, "mode": "everything" }), json!({ "session": "../x", "mode": "ask" }), json!({})]
    {
        page.refused("set_session_mode", wrong);
    }
}

#[test]
fn where_commands_run_is_chosen_for_a_project() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    let id = page.projects()[0]["id"].clone();
    let chosen = || page.ok("sandboxed_projects", json!({}));
    assert_eq!(chosen(), json!({ "all": false, "projects": [] }));
    let problem = page.ok("sandbox_problem", json!({}));
    if problem.is_null() {
        page.ok("set_command_place", json!({ "project": id, "place": "sandbox" }));
        assert_eq!(chosen(), json!({ "all": false, "projects": [id] }));
    } else {
        assert_eq!(page.refused("set_command_place", json!({ "project": id, "place": "sandbox" })), "invalid");
    }
    page.ok("set_command_place", json!({ "project": id, "place": "machine" }));
    assert_eq!(chosen(), json!({ "all": false, "projects": [] }));
    for wrong in
        [json!({ "project": id, "place": "moon" }), json!({ "project": "../x", "place": "machine" }), json!({})]
    {
        page.refused("set_command_place", wrong);
    }
}

#[test]
fn servers_and_hooks_are_checked_before_they_are_kept() {
    let page = Page::open();
    let wrong = "[mcp.docs]\ncommand = \"\"\n";
    let problem = page.ok("check_additions", json!({ "text": wrong }));
    assert_eq!((&problem["problem"], &problem["server"]), (&json!("server_value"), &json!("docs")));
    assert_eq!(page.refused("save_additions", json!({ "text": wrong })), "invalid");
    let fine = "[mcp.docs]\ncommand = \"docs-server\"\n";
    assert_eq!(page.ok("check_additions", json!({ "text": fine })), Value::Null);
    page.ok("save_additions", json!({ "text": fine }));
    assert_eq!(page.ok("additions", json!({})), json!({ "text": fine, "problem": null }));
    page.ok("save_additions", json!({ "text": "" }));
}

#[test]
fn the_diagnostics_hold_no_key_and_say_what_is_kept_where() {
    let folder = tempfile::tempdir().unwrap();
    let page = Page::plan().data(folder.path()).key("OPENAI_API_KEY", "plain-canary-of-the-environment").open();
    let storage = page.ok("storage", json!({}));
    assert_eq!(storage["folder"], folder.path().to_string_lossy().as_ref());
    assert!(storage["parts"].as_array().unwrap().iter().any(|part| part["kind"] == "database" && part["bytes"] != 0));
    page.ok("open_data_folder", json!({}));
    assert_eq!(*page.desk.opened.lock().unwrap(), [folder.path().to_string_lossy()]);

    let text = page.ok("diagnostics", json!({}));
    assert!(text.as_str().unwrap().contains("key from the environment"), "{text}");
    assert!(!text.as_str().unwrap().contains("canary"), "{text}");
    assert_eq!(page.ok("save_diagnostics", json!({})), Value::Null);
    let target = tempfile::tempdir().unwrap();
    *page.desk.picks.lock().unwrap() = Some(target.path().to_owned());
    let written = page.ok("save_diagnostics", json!({}));
    let held = std::fs::read_to_string(written.as_str().unwrap()).unwrap();
    assert_eq!(held, text.as_str().unwrap(), "what was read is what is written");
    // What changed since was not read.
    let additions = "[mcp.docs]\ncommand = \"docs-server\"\n";
    page.ok("save_additions", json!({ "text": additions }));
    let again = page.ok("save_diagnostics", json!({}));
    assert_eq!(std::fs::read_to_string(again.as_str().unwrap()).unwrap(), held);
    assert_ne!(page.ok("diagnostics", json!({})), text, "a new preview is a new text");
    assert_ne!(page.ok("save_diagnostics", json!({})), written);
}
