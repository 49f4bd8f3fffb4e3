use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use bosun_agent::DecisionKind;

use crate::{Gate, PathMode, PathOperation, PathPattern};

const WHOLE: &str = "---
name: reviewer
description: >
  Reviews
  changes.
tools: read_file, grep
model: openai:gpt-x
effort: off
skills: [/skills/user]
interrupt_on: [execute]
max_steps: 20
permissions:
  - operations: [write]
    paths: [/docs/**]
    mode: allow
  - {operations: [read, write], paths: ['/**/*.pem'], mode: deny}
output:
  type: object
  properties:
    verdict: {type: string}
  required: [verdict]
color: red
---

Look twice.
";

fn rule(operations: Vec<PathOperation>, path: &str, mode: PathMode) -> PathRule {
    PathRule { operations, paths: vec![PathPattern::try_from(path.to_owned()).unwrap()], mode }
}

#[test]
fn every_field_is_read_and_an_unknown_one_named() {
    let (spec, warnings) = parse(WHOLE).unwrap();
    let schema = json!({"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]});
    let expected = SubagentSpec {
        name: "reviewer".into(),
        description: "Reviews changes.".into(),
        prompt: "Look twice.".into(),
        tools: Some(vec!["read_file".into(), "grep".into()]),
        model: Some("openai:gpt-x".into()),
        effort: Some(Effort::Off),
        skills: vec![SkillSource { path: VirtualPath::parse("/skills/user").unwrap(), label: None }],
        interrupt_on: [("execute".to_owned(), Default::default())].into(),
        permissions: vec![
            rule(vec![PathOperation::Write], "/docs/**", PathMode::Allow),
            rule(vec![PathOperation::Read, PathOperation::Write], "/**/*.pem", PathMode::Deny),
        ],
        output: Some(OutputSchema { name: "reviewer".into(), schema }),
        middleware: Members::default(),
        max_steps: Some(20),
    };
    assert_eq!((spec, warnings), (expected, vec![SubagentWarning::Unknown("color".into())]));
}

#[test]
fn how_a_tool_asks_is_read_as_a_declaration_has_it() {
    let text = "---\nname: a\ndescription: d\ninterrupt_on:\n  execute:\n    allowed: [approve, reject]\n    description: Runs \
                here.\n    timeout_seconds: 60\n  write_file: true\n  ls: false\n---\nx";
    let (spec, _) = parse(text).unwrap();
    let gate = Gate {
        allowed: vec![DecisionKind::Approve, DecisionKind::Reject],
        description: Some("Runs here.".into()),
        timeout: Some(std::time::Duration::from_secs(60)),
        ..Gate::default()
    };
    let expected = [
        ("execute".to_owned(), InterruptOn::Ask(gate)),
        ("ls".to_owned(), InterruptOn::Never),
        ("write_file".to_owned(), InterruptOn::default()),
    ];
    assert_eq!(spec.interrupt_on, expected.into());
}

#[test]
fn a_file_with_a_mistake_is_no_subagent() {
    let with = |lines: &str| parse(&format!("---\n{lines}\n---\nx")).unwrap_err().to_string();
    assert_eq!(with("name: a"), "the front matter has no 'description'");
    for name in ["../a", "A", "a b", "a/b", "-a", "a--b"] {
        assert!(with(&format!("name: {name}\ndescription: d")).contains("cannot be the name of a subagent"), "{name}");
    }
    assert_eq!(with("name: a\ndescription: d\nmax_steps: 0"), "'max_steps' must be a whole number above 0");
    for effort in ["hard", "3", "[high]"] {
        let told = with(&format!("name: a\ndescription: d\neffort: {effort}"));
        assert_eq!(told, "'effort' must be one of off, low, medium, high and max", "{effort}");
    }
    for model in ["gpt", "openai:", "':gpt'"] {
        let told = with(&format!("name: a\ndescription: d\nmodel: {model}"));
        assert!(told.starts_with("'model' must be PROVIDER:NAME, "), "{model}: {told}");
    }
    assert_eq!(with("name: a\ndescription: d\ntools: {a: b}"), "'tools' must be a list of names");
    assert_eq!(with("name: a\ndescription: d\noutput: text"), "'output' must be a JSON schema of an object");
    assert_eq!(with("name: a\ndescription: d\nskills: [/../x]"), "'skills' must be a list of folders");
    for asks in
        ["{execute: maybe}", "{execute: {allowed: []}}", "{execute: {decisions: [approve]}}", "[{a: true}]", "7"]
    {
        let told = with(&format!("name: a\ndescription: d\ninterrupt_on: {asks}"));
        assert!(told.starts_with("'interrupt_on' must be a list of names, or say for each"), "{asks}: {told}");
    }
    for rules in ["deny", "[{paths: [/a], mode: deny}]", "[{operations: [read], paths: [a], mode: deny}]"] {
        // A rule that is not understood is never left out: the subagent could do more than was meant.
        let told = with(&format!("name: a\ndescription: d\npermissions: {rules}"));
        assert!(told.starts_with("'permissions' must be a list of rules"), "{told}");
    }
}

#[tokio::test]
async fn later_folders_win_and_broken_files_are_named() {
    let project = bosun_testkit::Project::new()
        .file("one/a.md", "---\nname: a\ndescription: first\n---\n")
        .file("one/b.md", "no front matter")
        .file("two/a.md", "---\nname: a\ndescription: second\n---\n")
        .file("two/notes.txt", "no subagent")
        .file("two/off.md", "no front matter");
    let backend = bosun_backend::LocalShellBackend::open(project.root(), Default::default()).unwrap();
    let folders = ["/one", "/missing", "/two"].map(|path| VirtualPath::parse(path).unwrap());
    let loaded = load_subagents(&backend, &folders, &|name| name == "off").await;
    assert_eq!(loaded.specs.iter().map(|spec| spec.description.as_str()).collect::<Vec<_>>(), ["second"]);
    assert_eq!(loaded.problems.len(), 1);
    assert!(loaded.problems[0].starts_with("/one/b.md: "), "{:?}", loaded.problems);
}

#[tokio::test]
async fn what_is_too_long_is_named_with_the_limit() {
    let file = |lines: usize| format!("---\nname: a\ndescription: d\n---\n{}", "x\n".repeat(lines));
    let long = "d".repeat(2_001);
    let project = bosun_testkit::Project::new()
        .file("agents/a.md", file(4_996))
        .file("agents/b.md", file(4_997))
        .file("agents/c.md", format!("---\nname: c\ndescription: {long}\n---\n"));
    let backend = bosun_backend::LocalShellBackend::open(project.root(), Default::default()).unwrap();
    let loaded = load_subagents(&backend, &[VirtualPath::parse("/agents").unwrap()], &|_| false).await;
    let found: Vec<_> = loaded.specs.iter().map(|spec| (spec.name.as_str(), spec.description.len())).collect();
    assert_eq!(found, [("a", 1), ("c", 2_000)]);
    let told = [
        "/agents/b.md: it has 5001 lines, and at most 5000 are read",
        "/agents/c.md: the description was cut at 2000 characters",
    ];
    assert_eq!(loaded.problems, told);
}
