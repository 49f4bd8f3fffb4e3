use std::io::Write;
use std::process::{Command, Output, Stdio};

use bosun_testkit::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn tools(project: &Project, arguments: &[&str], input: &[u8]) -> Vec<Value> {
    Desk::new(project).tools(arguments, input)
}

/// Where `bosun tools` runs: a project, and a data folder that stays for all its runs.
pub struct Desk<'a> {
    project: &'a Project,
    data: tempfile::TempDir,
    /// What it finds in its environment beside the path to programs.
    variables: Vec<(&'static str, String)>,
}

impl<'a> Desk<'a> {
    pub fn new(project: &'a Project) -> Self {
        Self { project, data: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    pub fn with(mut self, variable: &'static str, value: String) -> Self {
        self.variables.push((variable, value));
        self
    }

    pub fn tools(&self, arguments: &[&str], input: &[u8]) -> Vec<Value> {
        let (answers, said) = self.tools_and_notes(arguments, input);
        assert_eq!(said, "");
        answers
    }

    /// The answers, and what is said beside them.
    pub fn tools_and_notes(&self, arguments: &[&str], input: &[u8]) -> (Vec<Value>, String) {
        let output = self.run(arguments, input);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let text = String::from_utf8(output.stdout).unwrap();
        (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), said)
    }

    /// What is said before any line is read.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        String::from_utf8(output.stderr).unwrap()
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("bosun"));
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.args(["tools", "--project", self.project.root_str()]).args(arguments);
        command.env("BOSUN_DATA_DIR", self.data.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Who refuses its arguments reads nothing.
        child.stdin.take().unwrap().write_all(input).ok();
        child.wait_with_output().unwrap()
    }
}

pub fn calls(calls: &[(&str, Value)]) -> Vec<u8> {
    let line = |(id, (tool, args)): (usize, &(&str, Value))| {
        json!({ "id": id, "tool": tool, "args": args }).to_string() + "\n"
    };
    calls.iter().enumerate().map(line).collect::<String>().into_bytes()
}

pub fn told(answers: &[Value]) -> Vec<(&str, &str)> {
    answers.iter().map(|answer| (answer["status"].as_str().unwrap(), answer["content"].as_str().unwrap())).collect()
}

#[test]
fn calls_run_in_order_and_answer_under_their_ids() {
    let project = Project::new().file("a.txt", "one\ntwo\n");
    let answers = tools(
        &project,
        &[],
        &calls(&[
            ("read_file", json!({ "file_path": "/a.txt" })),
            ("edit_file", json!({ "file_path": "/a.txt", "old_string": "two", "new_string": "zwei" })),
            ("execute", json!({ "command": "cat a.txt; exit 3" })),
            ("write_todos", json!({ "todos": [{ "content": "rest", "status": "pending" }] })),
        ]),
    );
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [0, 1, 2, 3]);
    assert_eq!(project.read("a.txt"), "one\nzwei\n");
    let statuses: Vec<&str> = told(&answers).iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, ["success"; 4], "{answers:#?}");
    assert!(told(&answers)[2].1.contains("zwei"));
    assert_eq!(answers[2]["artifact"]["exit_code"], 3);
    assert_eq!(answers[1]["artifact"]["diff"]["added"], 1);
    assert_eq!(answers[1]["artifact"]["changes"][0]["path"], "/a.txt");
}

#[test]
fn a_file_is_read_before_it_is_changed_and_the_process_remembers() {
    let project = Project::new().file("a.txt", "one\n");
    let edit =
        |old: &str, new: &str| ("edit_file", json!({ "file_path": "/a.txt", "old_string": old, "new_string": new }));
    let answers = tools(
        &project,
        &[],
        &calls(&[
            edit("one", "two"),
            ("read_file", json!({ "file_path": "/a.txt" })),
            edit("one", "two"),
            edit("two", "three"),
            ("execute", json!({ "command": "echo else > a.txt" })),
            edit("else", "four"),
        ]),
    );
    let statuses: Vec<&str> = told(&answers).iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, ["error", "success", "success", "success", "success", "error"], "{answers:#?}");
    assert_eq!(project.read("a.txt"), "else\n");
}

#[test]
fn lines_that_are_no_calls_are_answered_and_nothing_stops() {
    let project = Project::new();
    let mut input = b"{\n\n  \n\xff\xfe\n[1]\n{\"id\":\"x\"}\n".to_vec();
    input.extend(calls(&[
        ("no_such_tool", json!({})),
        ("read_file", json!({ "path": "/a" })),
        ("ls", json!("text")),
        ("read_file", json!({ "file_path": "/../../etc/passwd" })),
    ]));
    input.extend(br#"{"id":"last","tool":"ls","args":{"path":"/"}}"#);
    let answers = tools(&project, &[], &input);
    let statuses: Vec<&str> = told(&answers).iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, ["error"; 8].into_iter().chain(["success"]).collect::<Vec<_>>(), "{answers:#?}");
    assert_eq!((&answers[3]["id"], &answers[8]["id"]), (&json!("x"), &json!("last")));
    assert!(told(&answers)[4].1.contains("no_such_tool is not a valid tool"), "{answers:#?}");
}

#[test]
fn without_a_shell_there_is_no_execute() {
    let project = Project::new().file("a.txt", "one\n");
    let input = calls(&[("execute", json!({ "command": "true" })), ("ls", json!({ "path": "/" }))]);
    let answers = tools(&project, &["--backend", "filesystem"], &input);
    assert!(told(&answers)[0].1.contains("Execution not available"), "{answers:#?}");
    assert!(told(&answers)[1].1.contains("/a.txt"));
}

#[test]
fn media_come_as_content_blocks() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
                \0\0\0\x01IDAT\0....\0\0\0\0IEND....";
    let project = Project::new().file("a.png", png);
    let answers = tools(&project, &[], &calls(&[("read_file", json!({ "file_path": "/a.png" }))]));
    let kinds: Vec<&str> =
        answers[0]["content"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"media"), "{answers:#?}");
}

#[test]
fn routes_make_one_path_space_of_several_backends() {
    let project = Project::new().file("a.txt", "needle on disk\n");
    let input = calls(&[
        ("write_file", json!({ "file_path": "/b.txt", "content": "needle in memory\n" })),
        ("write_file", json!({ "file_path": "/mem/c.txt", "content": "needle in the store\n" })),
        ("ls", json!({ "path": "/" })),
        ("grep", json!({ "pattern": "needle" })),
        ("write_file", json!({ "file_path": "/disk/new.txt", "content": "x" })),
        ("execute", json!({ "command": "true" })),
    ]);
    let routes = ["--backend", "state", "--route", "/disk=filesystem", "--route", "/mem=store:notes/mine"];
    let desk = Desk::new(&project);
    let answers = desk.tools(&routes, &input);
    let told = told(&answers);
    assert_eq!(told[2].1, "/b.txt\n/disk/\n/mem/");
    assert_eq!(told[3].1, "/b.txt\n/disk/a.txt\n/mem/c.txt");
    assert_eq!(project.read("new.txt"), "x");
    assert_eq!(told[5].0, "error", "no default that runs commands, so there is no execute");
    // What is in the store is there the next time; what was in memory is not.
    let later = desk.tools(&routes, &calls(&[("glob", json!({ "pattern": "*.txt" }))]));
    assert_eq!(later[0]["content"], "/disk/a.txt\n/disk/new.txt\n/mem/c.txt");
}

/// Whoever pipes a file of another kind in gets a sentence, not a program that takes all memory.
#[test]
fn a_line_without_end_is_answered_and_the_next_one_runs() {
    let project = Project::new().file("a.txt", "one\n");
    let mut input = vec![b'x'; (64 << 20) + 1];
    input.push(b'\n');
    input.extend(calls(&[("ls", json!({ "path": "/" }))]));
    let answers = tools(&project, &[], &input);
    assert_eq!(
        told(&answers),
        [("error", "Error: line 1 is longer than 64 MiB; write it in several calls"), ("success", "/a.txt")]
    );
}
