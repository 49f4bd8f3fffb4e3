use bosun_model::ToolSpec;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{BuiltinOptions, builtin_tools, file_tools};
use crate::fixture::{Canned, Fixture, cards};
use crate::{ReadFormat, ToolKind};

fn names(specs: &[ToolSpec]) -> Vec<&str> {
    specs.iter().map(|spec| spec.name.as_str()).collect()
}

#[test]
fn tools_are_offered_in_their_order() {
    let fixture = Fixture::empty();
    let all =
        ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute", "write_todos", "task"];
    assert_eq!(fixture.tools.names().collect::<Vec<_>>(), all);
    let files: Vec<String> = file_tools(&*fixture.cx.backend).iter().map(|tool| tool.spec().name.clone()).collect();
    assert_eq!(files, all[..8]);
    let bare = builtin_tools(&Canned::default(), BuiltinOptions::default());
    let bare: Vec<ToolSpec> = bare.iter().map(|tool| tool.spec().clone()).collect();
    assert_eq!(names(&bare), ["ls", "read_file", "write_file", "edit_file", "glob", "grep", "write_todos"]);
}

#[test]
fn kinds_decide_rows_and_rules() {
    let fixture = Fixture::empty();
    for (name, kind) in [
        ("ls", ToolKind::Read),
        ("read_file", ToolKind::Read),
        ("glob", ToolKind::Read),
        ("grep", ToolKind::Read),
        ("write_file", ToolKind::Edit),
        ("edit_file", ToolKind::Edit),
        ("delete", ToolKind::Edit),
        ("execute", ToolKind::Execute),
        ("write_todos", ToolKind::Plan),
        ("task", ToolKind::Delegate),
    ] {
        assert_eq!(fixture.tools.get(name).unwrap().kind(), kind, "{name}");
    }
}

/// The whole of what a model is told of the tools. Prompt text: read a change of it as such.
#[test]
fn specs() {
    let fixture = Fixture::empty();
    let beside = super::background_tools(cards());
    let specs = fixture.tools.specs();
    for spec in specs.iter().chain(beside.iter().map(|tool| tool.spec())) {
        let shown = format!("{}\n\n{}", spec.description, serde_json::to_string_pretty(&spec.schema).unwrap());
        insta::assert_snapshot!(spec.name.as_str(), shown);
    }
}

/// What a model sent does not come back to it whole.
#[tokio::test]
async fn no_refusal_is_longer_than_two_thousand_characters() {
    let long = "z".repeat(200_000);
    let twice = format!("{long}\n{long}");
    let deep = format!("/{}", "d/".repeat(2_040));
    let fixture = Fixture::with([("/a.txt", "one\n"), ("/twice.txt", &*twice)]);
    for path in ["/a.txt", "/twice.txt"] {
        fixture.ok("read_file", json!({"file_path": path})).await;
    }
    for (tool, args) in [
        ("edit_file", json!({"file_path": "/a.txt", "old_string": long, "new_string": "y"})),
        ("edit_file", json!({"file_path": "/a.txt", "old_string": "é\n".repeat(3_000), "new_string": "y"})),
        ("edit_file", json!({"file_path": "/twice.txt", "old_string": long, "new_string": "y"})),
        ("edit_file", json!({"file_path": deep, "old_string": long, "new_string": "y"})),
        ("write_file", json!({"file_path": format!("/{}/../y", "x".repeat(3_000)), "content": ""})),
        ("write_file", json!({"file_path": format!("/a.txt{deep}"), "content": ""})),
        ("write_file", json!({(long.clone()): "/a.txt", "content": ""})),
        ("read_file", json!({"file_path": deep})),
        ("read_file", json!({"file_path": format!("/{long}")})),
        ("read_file", json!({"file_path": format!("~{}", "x".repeat(4_000))})),
        ("read_file", json!({"file_path": format!("C:\\{}", "x".repeat(4_000))})),
        ("read_file", json!({"file_path": format!("/\0{}", "\0".repeat(100_000))})),
        ("read_file", json!({"file_path": "/a.txt", "limit": long})),
        ("ls", json!({"path": deep})),
        ("delete", json!({"file_path": deep})),
        ("glob", json!({"pattern": format!("{{{long},b}}/../x")})),
        ("glob", json!({"pattern": "{a,b}".repeat(2_000)})),
        ("grep", json!({"pattern": format!("({}", "x".repeat(5_000)), "regex": true})),
        ("grep", json!({"pattern": format!("[{}", "\n".repeat(5_000)), "regex": true})),
        ("grep", json!({"pattern": "x", "glob": format!("../{long}")})),
        ("grep", json!({"pattern": "x", "output_mode": long})),
        ("execute", json!({"command": format!("\0{}", "x".repeat(300_000))})),
        ("execute", json!({"command": "x".repeat(2_000_000)})),
        ("task", json!({"description": "x", "subagent_type": long})),
        ("task", json!({"description": "x", "subagent_type": "researcher", (long.clone()): 1})),
    ] {
        let text = fixture.err(tool, args).await;
        assert!(text.chars().count() <= 2_000, "{tool}: {} characters: {text:.300}", text.chars().count());
    }
    for (tool, key) in [("glob", "*"), ("grep", "x")] {
        let text = fixture.ok(tool, json!({"pattern": key, "path": deep})).await;
        assert!(text.starts_with("No ") && text.chars().count() <= 2_000, "{text}");
    }
    let unknown = fixture.tools.unknown(&long);
    assert!(unknown.contains("z is not a valid tool") && unknown.chars().count() <= 2_000, "{unknown}");
}

#[test]
fn a_tool_that_is_not_there_is_told_with_those_that_are() {
    let bare = crate::ToolRegistry::new(builtin_tools(&Canned::default(), BuiltinOptions::default())).unwrap();
    let known = "[ls, read_file, write_file, edit_file, glob, grep, write_todos].";
    assert_eq!(bare.unknown("nope"), format!("Error: nope is not a valid tool, try one of {known}"));
    let execute = bare.unknown("execute");
    assert!(execute.starts_with("Error: Execution not available: ") && execute.ends_with(known), "{execute}");
}

#[test]
fn the_plain_read_format_describes_itself() {
    let fixture =
        Fixture::empty().options(BuiltinOptions { read_format: ReadFormat::Plain, ..BuiltinOptions::default() });
    assert!(fixture.tools.get("read_file").unwrap().spec().description.contains("@@"));
}

#[tokio::test]
async fn validated_arguments_are_those_that_run() {
    let fixture = Fixture::empty();
    let tool = fixture.tools.get("read_file").unwrap();
    let args = tool.validate(&json!({"file_path": "/a", "limit": "5", "offset": null, "extra": 1})).unwrap();
    assert_eq!(args, json!({"file_path": "/a", "limit": 5, "extra": 1}));
}
