use bosun_protocol::{
    AskReason, AskedAgain, DiffHunk, DiffLine, DiffLineKind, DiffSegment, FileDiff, Reach, ReachPlace, ToolKind, Undo,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn command(allowed: &[DecisionKind]) -> Approval {
    Approval {
        call_id: "c".into(),
        session: "s".into(),
        agent: vec!["main".into(), "research".into()],
        tool: "execute".into(),
        tool_kind: ToolKind::Execute,
        args: json!({ "command": "echo \u{1b}[8mhidden\nrm x" }),
        schema: json!({}),
        preview: Preview::Command {
            command: "echo \u{1b}[8mhidden\nrm x".into(),
            folder: "/".into(),
            timeout_seconds: Some(120),
        },
        reach: Reach { place: ReachPlace::Anywhere, network: true, sandbox: None, undo: Undo::No },
        reason: AskReason::CommandsAsk,
        allowed: allowed.to_vec(),
        description: None,
        scripts: Vec::new(),
        more_scripts: false,
        again: None,
        todo: None,
        asked_at: 0,
        digest: "d".into(),
    }
}

const ALL: [DecisionKind; 4] = [DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Respond, DecisionKind::Reject];

fn decided(approval: &Approval, typed: &str) -> (Option<Decision>, String) {
    let mut output = Vec::new();
    let decision = prompt(approval, &mut typed.as_bytes(), &mut output).unwrap();
    (decision, String::from_utf8(output).unwrap())
}

#[test]
fn the_whole_command_is_shown_and_nothing_in_it_acts_on_the_terminal() {
    let (decision, shown) = decided(&command(&ALL), "y\n");
    assert_eq!(decision, Some(Decision::Approve));
    assert_eq!(
        shown,
        "\nmain / research asks: execute\ncommands ask\n  $ echo ⟨ESC⟩[8mhidden\n  $ rm x\nin /, for 120 s at most\n\
         may reach everything that you may, and the network; cannot be undone\n\
         [y = yes, do it, e = edit the arguments first, r = answer instead, n = no] "
    );
}

#[test]
fn a_command_in_a_sandbox_says_so_and_one_that_lost_it_too() {
    let reach = Reach { place: ReachPlace::Project, network: false, sandbox: Some("a sandbox".into()), undo: Undo::No };
    let (_, shown) = decided(&Approval { reach, ..command(&ALL) }, "y\n");
    assert!(shown.contains("stays in the project, in a sandbox without the network; cannot be undone\n"), "{shown}");
    let again = Some(AskedAgain::SandboxOff);
    let (_, shown) = decided(&Approval { again, ..command(&ALL) }, "y\n");
    assert!(shown.contains("it was approved for a sandbox, which is off now"), "{shown}");
}

#[test]
fn every_kind_of_answer_can_be_given() {
    let cases = [
        (" Y \n", Decision::Approve),
        ("e\n{\"command\":\"ls\"}\n", Decision::Edit { args: json!({ "command": "ls" }) }),
        ("e\nnot json\n[1]\n{}\n", Decision::Edit { args: json!({}) }),
        ("e\n\ny\n", Decision::Approve),
        ("r\nuse ls\n", Decision::Respond { text: "use ls".into() }),
        ("r\n \nn\nbecause\n", Decision::Reject { reason: Some("because".into()) }),
        ("what\n\nn\n\n", Decision::Reject { reason: None }),
    ];
    for (typed, decision) in cases {
        assert_eq!(decided(&command(&ALL), typed).0, Some(decision), "{typed:?}");
    }
}

#[test]
fn what_is_not_allowed_is_neither_offered_nor_taken() {
    let (decision, shown) = decided(&command(&[DecisionKind::Respond]), "y\nn\nr\nwords\n");
    assert_eq!(decision, Some(Decision::Respond { text: "words".into() }));
    assert!(shown.contains("[r = answer instead]"), "{shown}");
}

#[test]
fn an_input_that_ends_decides_nothing() {
    for typed in ["", "what\n", "n\n", "e\n", "r\n"] {
        assert_eq!(decided(&command(&ALL), typed).0, None, "{typed:?}");
    }
}

#[test]
fn a_diff_is_shown_whole() {
    let line = |kind, old, new, text: &str| DiffLine {
        kind,
        old,
        new,
        segments: vec![DiffSegment { text: text.into(), changed: false }],
        no_newline: new == Some(2),
    };
    let diff = FileDiff {
        path: "/a.txt".into(),
        added: 1,
        removed: 1,
        hunks: vec![DiffHunk {
            old_start: 1,
            old_lines: 2,
            new_start: 1,
            new_lines: 2,
            heading: String::new(),
            lines: vec![
                line(DiffLineKind::Context, Some(1), Some(1), "one"),
                line(DiffLineKind::Removed, Some(2), None, "two"),
                line(DiffLineKind::Added, None, Some(2), "zw\u{202e}ei"),
            ],
        }],
        binary: false,
        truncated: false,
        created: false,
        deleted: false,
    };
    assert_eq!(
        bosun_session::export::unified(&diff, &bosun_session::export::ENGLISH),
        "--- /a.txt\n+++ /a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zw⟨U+202E⟩ei\n\\ No newline at end of file\n"
    );
}

#[test]
fn the_scripts_that_a_command_runs_are_shown_with_it() {
    let again = Some(AskedAgain::ScriptChanged { path: "/x.sh".into() });
    let scripts = vec!["/x.sh".into(), "/\u{1b}y.sh".into()];
    let (_, shown) = decided(&Approval { scripts, more_scripts: true, again, ..command(&ALL) }, "y\n");
    for line in [
        "runs /x.sh, as it is now\n",
        "may run more scripts, which are not checked\n",
        "/x.sh changed after this was approved\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(shown.contains("y.sh, as it is now") && !shown.contains('\u{1b}'), "{shown}");
    assert!(!decided(&command(&ALL), "y\n").1.contains("as it is now"));
}
