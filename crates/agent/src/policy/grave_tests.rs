use bosun_model::ToolCall;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn ask(kind: ToolKind, name: &str, args: Value, preview: Preview) -> Ask {
    let call = ToolCall { id: "c".into(), name: name.into(), args };
    Ask {
        digest: String::new(),
        call,
        kind,
        schema: json!({}),
        preview,
        reason: AskReason::CommandsAsk,
        allowed: Vec::new(),
        description: None,
        sandbox: Some("bubblewrap".into()),
        place: None,
        leads: None,
        scripts: Vec::new(),
        more_scripts: false,
        again: None,
        is_edited: false,
    }
}

fn in_sandbox(line: &str) -> Vec<Grave> {
    let args = json!({"command": line});
    ask(ToolKind::Execute, "execute", args.clone(), Preview::Fields).grave(&args)
}

#[test]
fn without_a_sandbox_every_command_is_grave() {
    let args = json!({"command": "ls"});
    let bare = Ask { sandbox: None, ..ask(ToolKind::Execute, "execute", args.clone(), Preview::Fields) };
    assert_eq!(bare.grave(&args), [Grave::Unsandboxed]);
    assert_eq!(in_sandbox("ls && cargo test"), []);
}

#[test]
fn a_rule_made_in_a_sandbox_holds_outside_too_and_is_grave_for_that() {
    let args = json!({"command": "cargo test"});
    let held = ask(ToolKind::Execute, "execute", args.clone(), Preview::Fields);
    assert_eq!((held.grave(&args), held.grave_as_rule()), (vec![], Some(Grave::UnsandboxedLater)));
    let bare = Ask { sandbox: None, ..held };
    assert_eq!(bare.grave_as_rule(), None, "it is grave by itself");
    let edit = ask(ToolKind::Edit, "edit_file", json!({"file_path": "/a"}), Preview::Fields);
    assert_eq!(edit.grave_as_rule(), None, "a change is held by no sandbox of commands");
}

#[test]
fn what_destroys_or_runs_later_is_grave_in_a_sandbox_too() {
    let destroys = ["rm -rf build", "git reset --hard", "cd x && git push -f", "git clean -fdx", "shred a"];
    let hidden = ["echo $(rm -rf x)", "bash -c 'git reset --hard'", "x=1; eval \"rm -r y\"", "r\\m -rf x; $y"];
    for line in destroys.into_iter().chain(hidden) {
        assert!(matches!(&in_sandbox(line)[..], [Grave::Destroys { .. }]), "{line}: {:?}", in_sandbox(line));
    }
    assert_eq!(in_sandbox("echo x > sub/.envrc"), [Grave::Protected { name: "sub/.envrc".into() }]);
    for line in ["make 2>/dev/null", "rm a", "kill 12", "git --no-pager diff", "git commit -m 'rm -rf /'"] {
        assert_eq!(in_sandbox(line), [], "{line}");
    }
}

#[test]
fn a_place_outside_is_grave_where_no_sandbox_keeps_a_command_from_it() {
    for line in ["cat /etc/passwd", "curl https://example.org", "cp a ../b"] {
        let args = json!({"command": line});
        let held = ask(ToolKind::Execute, "execute", args.clone(), Preview::Fields);
        assert_eq!(held.grave(&args), [], "{line}");
        let bare = Ask { sandbox: None, ..held };
        assert_eq!(bare.grave(&args), [Grave::Unsandboxed, Grave::Outside], "{line}");
    }
}

#[test]
fn files_that_run_code_and_folders_that_go_are_grave_also_when_they_were_put_in_by_an_edit() {
    let edit = |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let plain = ask(ToolKind::Edit, "edit_file", edit("/a.txt"), Preview::Fields);
    assert_eq!(plain.grave(&edit("/a.txt")), []);
    let name = "/.git/hooks/post-commit".to_owned();
    assert_eq!(plain.grave(&edit(&name)), [Grave::Protected { name }]);
    let outside = Ask { place: Some(AskPlace::Outside), ..plain };
    assert_eq!(outside.grave(&edit("/mnt/a.txt")), [Grave::Outside]);
    let delete = |path: &str| json!({"file_path": path});
    let preview = |is_dir| Preview::Delete { path: "/x".into(), files: 3, counted_all: true, is_dir };
    let file = ask(ToolKind::Edit, "delete", delete("/x"), preview(false));
    assert_eq!(file.grave(&delete("/x")), []);
    assert_eq!(file.grave(&delete("/src")), [Grave::DeletesFolder { path: "/src".into() }]);
    let folder = ask(ToolKind::Edit, "delete", delete("/x"), preview(true));
    assert_eq!(folder.grave(&delete("/x")), [Grave::DeletesFolder { path: "/x".into() }]);
}

#[test]
fn tools_of_other_programs_are_grave_and_reading_is_not() {
    let of = |kind, name: &str| ask(kind, name, json!({}), Preview::Fields).grave(&json!({}));
    assert_eq!(of(ToolKind::Other, "deploy"), [Grave::OtherProgram { tool: "deploy".into() }]);
    assert_eq!(of(ToolKind::Read, "read_file"), []);
}
