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
