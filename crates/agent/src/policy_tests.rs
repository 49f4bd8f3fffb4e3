use bosun_backend::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE};
use pretty_assertions::assert_eq;

use super::*;

fn judge(policy: &Policy, tool: &str, kind: ToolKind, path: Option<&str>) -> Verdict {
    let path = path.map(|path| VirtualPath::parse(path).unwrap());
    policy.judge(&CallFacts {
        tool,
        kind,
        mutates: path.as_ref(),
        beside: false,
        held: false,
        steers: false,
        args: &Value::Null,
    })
}

fn asks(verdict: &Verdict) -> Option<&AskReason> {
    match verdict {
        Verdict::Ask { reason, .. } => Some(reason),
        Verdict::Allow { .. } | Verdict::Reject { .. } => None,
    }
}

#[test]
fn by_default_changes_and_commands_ask_and_reading_does_not() {
    let policy = Policy::default();
    assert_eq!(asks(&judge(&policy, "edit_file", ToolKind::Edit, Some("/a"))), Some(&AskReason::EditsAsk));
    assert_eq!(asks(&judge(&policy, "delete", ToolKind::Edit, Some("/a"))), Some(&AskReason::DeletesAsk));
    assert_eq!(asks(&judge(&policy, "execute", ToolKind::Execute, None)), Some(&AskReason::CommandsAsk));
    assert_eq!(judge(&policy, "ls", ToolKind::Read, None), Verdict::Allow { rule: None });
}

#[test]
fn allowing_edits_never_covers_protected_names() {
    let policy = Policy { edits: PermissionRule::Allow { name: "edits".into() }, ..Policy::default() };
    for path in ["/.git/hooks/pre-commit", "/sub/.GIT/config", "/.Git./x", "/.github/workflows/ci.yml", "/.envrc"] {
        assert!(asks(&judge(&policy, "write_file", ToolKind::Edit, Some(path))).is_some(), "{path}");
    }
    // The same names that a command in the sandbox cannot change.
    let inside = PROTECTED_INSIDE.map(|(folder, name)| format!("{folder}/{name}"));
    let folders = PROTECTED_FOLDERS.iter().map(|name| format!("{name}/x")).chain(inside);
    for name in folders.chain(PROTECTED_FILES.map(str::to_owned)) {
        for path in [format!("/{name}"), format!("/sub/{}", name.to_uppercase())] {
            assert!(asks(&judge(&policy, "write_file", ToolKind::Edit, Some(&path))).is_some(), "{path}");
        }
    }
    assert_eq!(
        judge(&policy, "write_file", ToolKind::Edit, Some("/src/git.rs")),
        Verdict::Allow { rule: Some("edits".into()) }
    );
}

/// C05: what was read may want to be remembered.
#[test]
fn no_rule_for_edits_covers_what_later_sessions_go_by_once_something_was_read() {
    let path = VirtualPath::parse("/memories/style.md").unwrap();
    let judged = |policy: &Policy, steers: bool| {
        let kind = ToolKind::Edit;
        policy.judge(&CallFacts {
            tool: "write_file",
            kind,
            mutates: Some(&path),
            beside: false,
            held: false,
            args: &Value::Null,
            steers,
        })
    };
    let edits = Policy { edits: PermissionRule::Allow { name: "edits".into() }, ..Policy::default() };
    let rule = standing(ApprovalMode::Edits, &[(RuleKind::Files, "memories/**")]);
    for policy in [edits, rule] {
        assert!(asks(&judged(&policy, false)).is_none(), "{policy:?}");
        let reason = AskReason::ProtectedName { name: "/memories/style.md".into() };
        assert_eq!(asks(&judged(&policy, true)), Some(&reason), "{policy:?}");
    }
    let all = Policy { edits: PermissionRule::AllowAll { name: "all".into() }, ..Policy::default() };
    assert!(asks(&judged(&all, true)).is_none(), "someone said so in as many words");
}

#[test]
fn no_rule_approves_what_a_person_may_only_answer() {
    let config = InterruptConfig { allowed: vec![DecisionKind::Respond], description: None };
    let edits = PermissionRule::AllowAll { name: "all".into() };
    let mut policy = Policy { edits, ..Policy::default() };
    let edit = |policy: &Policy| judge(policy, "edit_file", ToolKind::Edit, Some("/a"));
    assert!(asks(&edit(&policy)).is_none());
    policy.interrupt_on.insert("edit_file".into(), Some(config));
    assert!(asks(&edit(&policy)).is_some());
    policy.interrupt_on.insert("edit_file".into(), Some(InterruptConfig::default()));
    assert!(asks(&edit(&policy)).is_none(), "what may be approved is");
}

/// It is a rule for edits like any other.
#[test]
fn a_tool_that_never_asks_still_does_for_protected_names_and_what_steers() {
    let policy = Policy { interrupt_on: [("write_file".to_owned(), None)].into(), ..Policy::default() };
    let write = |policy: &Policy, path| judge(policy, "write_file", ToolKind::Edit, Some(path));
    let allowed = Verdict::Allow { rule: Some("write_file never asks".into()) };
    assert_eq!(write(&policy, "/src/a.rs"), allowed);
    let reason = AskReason::ProtectedName { name: "/.envrc".into() };
    assert_eq!(asks(&write(&policy, "/.envrc")), Some(&reason));
    let path = VirtualPath::parse("/memories/style.md").unwrap();
    let steers = policy.judge(&CallFacts {
        tool: "write_file",
        kind: ToolKind::Edit,
        mutates: Some(&path),
        beside: false,
        held: false,
        args: &Value::Null,
        steers: true,
    });
    assert_eq!(asks(&steers), Some(&AskReason::ProtectedName { name: "/memories/style.md".into() }));
    let all = Policy { edits: PermissionRule::AllowAll { name: "all".into() }, ..policy };
    assert!(asks(&write(&all, "/.envrc")).is_none(), "someone said so in as many words");
}

#[test]
fn a_tool_that_never_asks_runs_nothing_that_is_rejected() {
    let rejects = || PermissionRule::Reject { name: "nothing".into() };
    let never = ["write_file", "execute"].map(|tool| (tool.to_owned(), None));
    let policy = Policy { edits: rejects(), commands: rejects(), interrupt_on: never.into(), ..Policy::default() };
    let rejected = Verdict::Reject { rule: "nothing".into() };
    assert_eq!(judge(&policy, "write_file", ToolKind::Edit, Some("/a")), rejected);
    assert_eq!(judge(&policy, "execute", ToolKind::Execute, None), rejected);
}

#[test]
fn a_tool_can_be_set_to_one_kind_of_answer() {
    let config = InterruptConfig { allowed: vec![DecisionKind::Respond], description: Some("hm".into()) };
    let policy = Policy { interrupt_on: [("ls".to_owned(), Some(config.clone()))].into(), ..Policy::default() };
    let verdict = judge(&policy, "ls", ToolKind::Read, None);
    assert_eq!(verdict, Verdict::Ask { reason: AskReason::Rule { rule: "ls asks".into() }, config });
}

fn standing(mode: ApprovalMode, rules: &[(RuleKind, &str)]) -> Policy {
    let rules = rules.iter().map(|(kind, text)| StandingRule {
        id: (*text).into(),
        scope: RuleScope::Session,
        pattern: RulePattern::parse(*kind, text).unwrap(),
    });
    Policy { standing: Standing::new(mode, rules.collect()), ..Policy::default() }
}

/// P19, P33: however it is written, it is the same to some file system.
#[test]
fn protected_names_are_known_in_every_dress() {
    let edits = standing(ApprovalMode::Edits, &[(RuleKind::Files, "**")]);
    for path in [
        "/.GIT/config",
        "/.Git/hooks/x",
        "/sub/.git/config",
        "/GIT~1/config",
        "/.git./config",
        "/.git /config",
        "/.git::$INDEX_ALLOCATION/config",
        "/.bashrc::$DATA",
        "/.g\u{200c}it/config",
        "/.git\u{202e}/config",
        "/.cLaUdE/settings.json",
        "/.Bosun/AGENTS.md",
        "/.agents/skills/x/SKILL.md",
        "/.VSCode/tasks.json",
        "/.github/workflows/ci.yml",
        "/src/CON",
        "/COM1.txt",
        "/lpt\u{b3}/x",
    ] {
        let reason = asks(&judge(&edits, "write_file", ToolKind::Edit, Some(path))).cloned();
        assert!(matches!(reason, Some(AskReason::ProtectedName { .. })), "{path}");
    }
    for path in ["/console.txt", "/git/config", "/.gitignore", "/src/.github.md", "/digit~1"] {
        assert_eq!(asks(&judge(&edits, "write_file", ToolKind::Edit, Some(path))), None, "{path}");
    }
}

/// A folder that a person put beside the project is not meant by what they said of the project's files.
#[test]
fn what_is_beside_the_project_asks_unless_it_is_named() {
    let path = VirtualPath::parse("/shelf/a.md").unwrap();
    let judged = |policy: &Policy, beside: bool| {
        let facts = CallFacts {
            tool: "edit_file",
            kind: ToolKind::Edit,
            mutates: Some(&path),
            beside,
            held: false,
            steers: false,
            args: &Value::Null,
        };
        matches!(policy.judge(&facts), Verdict::Allow { .. })
    };
    let edits = standing(ApprovalMode::Edits, &[]);
    let all = standing(ApprovalMode::Ask, &[(RuleKind::Files, "**")]);
    let named = standing(ApprovalMode::Ask, &[(RuleKind::Files, "/shelf/**")]);
    assert_eq!([&edits, &all, &named].map(|policy| judged(policy, false)), [true, true, true]);
    assert_eq!([&edits, &all, &named].map(|policy| judged(policy, true)), [false, false, true]);
}

fn command(policy: &Policy, line: &str) -> Verdict {
    command_held(policy, line, false)
}

fn command_held(policy: &Policy, line: &str, held: bool) -> Verdict {
    let args = serde_json::json!({ "command": line });
    policy.judge(&CallFacts {
        tool: "execute",
        kind: ToolKind::Execute,
        mutates: None,
        beside: false,
        held,
        steers: false,
        args: &args,
    })
}

fn allowed(rule: &str) -> Verdict {
    Verdict::Allow { rule: Some(rule.into()) }
}

#[test]
fn the_modes_widen_and_narrow_what_asks() {
    let plan = standing(ApprovalMode::PlanOnly, &[(RuleKind::Command, "ls")]);
    for (tool, kind) in [("edit_file", ToolKind::Edit), ("execute", ToolKind::Execute), ("mcp", ToolKind::Other)] {
        assert_eq!(judge(&plan, tool, kind, Some("/a")), Verdict::Reject { rule: "plan only".into() });
    }
    assert_eq!(judge(&plan, "ls", ToolKind::Read, None), Verdict::Allow { rule: None });
    assert_eq!(command(&plan, "ls"), Verdict::Reject { rule: "plan only".into() });

    let edits = standing(ApprovalMode::Edits, &[]);
    assert_eq!(judge(&edits, "edit_file", ToolKind::Edit, Some("/a")), allowed("edit freely in the project"));
    for path in ["/.git/config", "/memories/x.md", "/skills/user/x/SKILL.md"] {
        assert!(asks(&judge(&edits, "write_file", ToolKind::Edit, Some(path))).is_some(), "{path}");
    }
    assert_eq!(asks(&judge(&edits, "delete", ToolKind::Edit, Some("/a"))), Some(&AskReason::DeletesAsk));
    assert_eq!(asks(&command(&edits, "ls")), Some(&AskReason::CommandsAsk));
}

/// What the lines are that ask is tried in `held_tests.rs`.
#[test]
fn in_the_sandbox_commands_run_freely_but_for_what_takes_files_away_or_runs_later() {
    let free = standing(ApprovalMode::Sandbox, &[]);
    let allow = allowed("run freely in the sandbox");
    for line in ["ls", "cargo test && python3 tool.py", "for f in *; do cat $f; done", "cat /etc/hosts ../x"] {
        assert_eq!(command_held(&free, line, true), allow, "{line}");
        assert_eq!(asks(&command_held(&free, line, false)), Some(&AskReason::CommandsAsk), "{line}: nothing holds it");
        let edits = standing(ApprovalMode::Edits, &[]);
        assert!(asks(&command_held(&edits, line, true)).is_some(), "{line}");
    }
    for line in ["rm .env", "git reset --hard"] {
        assert_eq!(asks(&command_held(&free, line, true)), Some(&AskReason::DeletesAsk), "{line}");
        assert_eq!(asks(&command_held(&free, line, false)), Some(&AskReason::CommandsAsk), "{line}");
    }
    let protected = AskReason::ProtectedName { name: "sub/.envrc".into() };
    assert_eq!(asks(&command_held(&free, "echo x > sub/.envrc", true)), Some(&protected));
    assert_eq!(judge(&free, "edit_file", ToolKind::Edit, Some("/a")), allow);
    for (tool, kind, path) in
        [("write_file", ToolKind::Edit, "/.envrc"), ("delete", ToolKind::Edit, "/a"), ("docs", ToolKind::Other, "/a")]
    {
        assert!(asks(&judge(&free, tool, kind, Some(path))).is_some(), "{tool}");
    }
}

#[test]
fn what_the_program_itself_set_goes_before_the_mode() {
    let standing = Standing::new(ApprovalMode::PlanOnly, Vec::new());
    let all = PermissionRule::AllowAll { name: "all".into() };
    let policy = Policy { edits: all.clone(), commands: all, standing, ..Policy::default() };
    assert_eq!(command(&policy, "ls"), allowed("all"));
}

#[test]
fn rules_pass_calls_by_name_and_nothing_else() {
    let rules = standing(
        ApprovalMode::Ask,
        &[
            (RuleKind::Command, "cargo test *"),
            (RuleKind::Command, "git status"),
            (RuleKind::Files, "/src/**"),
            (RuleKind::Tool, "docs"),
        ],
    );
    assert_eq!(command(&rules, "cargo test -p a"), allowed("cargo test * (this session)"));
    assert_eq!(
        command(&rules, "git status && cargo test"),
        allowed("cargo test * (this session), git status (this session)")
    );
    assert_eq!(judge(&rules, "write_file", ToolKind::Edit, Some("/src/a")), allowed("/src/** (this session)"));
    assert_eq!(judge(&rules, "docs", ToolKind::Other, None), allowed("docs (this session)"));
    assert!(asks(&judge(&rules, "delete", ToolKind::Edit, Some("/src/a"))).is_some());
    assert!(asks(&command(&rules, "cargo test; rm x")).is_some());
    assert!(asks(&judge(&rules, "write_file", ToolKind::Edit, Some("/src/.envrc"))).is_some());
}

#[test]
fn a_tool_that_is_set_to_ask_asks_whatever_the_rules_say() {
    let mut rules = standing(ApprovalMode::Edits, &[(RuleKind::Tool, "docs"), (RuleKind::Files, "**")]);
    rules.interrupt_on.insert("docs".into(), Some(InterruptConfig::default()));
    rules.interrupt_on.insert("edit_file".into(), Some(InterruptConfig::default()));
    assert!(asks(&judge(&rules, "docs", ToolKind::Other, None)).is_some());
    assert!(asks(&judge(&rules, "edit_file", ToolKind::Edit, Some("/a"))).is_some());
}

#[test]
fn what_is_said_later_holds_for_every_clone() {
    let policy = standing(ApprovalMode::Ask, &[]);
    let subagent = policy.clone();
    policy.standing.set(ApprovalMode::PlanOnly, Vec::new());
    assert_eq!(command(&subagent, "ls"), Verdict::Reject { rule: "plan only".into() });
}
