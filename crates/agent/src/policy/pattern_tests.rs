use pretty_assertions::assert_eq;

use super::*;

fn command(text: &str) -> RulePattern {
    RulePattern::parse(RuleKind::Command, text).unwrap()
}

fn passes(patterns: &[&str], line: &str) -> bool {
    let patterns: Vec<RulePattern> = patterns.iter().map(|text| command(text)).collect();
    covering(&patterns.iter().collect::<Vec<_>>(), RuleSubject::Command(line)).is_ok()
}

fn file_passes(glob: &str, path: &str) -> bool {
    let pattern = RulePattern::parse(RuleKind::Files, glob).unwrap();
    covering(&[&pattern], RuleSubject::File(&VirtualPath::parse(path).unwrap())).is_ok()
}

#[test]
fn a_command_rule_covers_whole_words_and_never_a_prefix_of_letters() {
    assert!(passes(&["cargo test *"], "cargo test") && passes(&["cargo test *"], "cargo  test -p 'a'"));
    for line in
        ["cargo testing", "cargo", "cargo build", "xcargo test", "cargo 'test x'", "Cargo test", "cargo test && ls"]
    {
        assert!(!passes(&["cargo test *"], line), "{line}");
    }
    assert!(passes(&["cargo test"], "cargo test") && !passes(&["cargo test"], "cargo test -p a"));
}

#[test]
fn every_command_of_a_line_is_covered_or_it_asks() {
    let rules = ["cargo test *", "git status *"];
    assert!(passes(&rules, "cargo test && git status; cargo test -q | git status"));
    for line in
        ["cargo test && touch M", "cargo test; ls", "cargo test | sh", "cargo test & git status", "cargo test $(ls)"]
    {
        assert!(!passes(&rules, line), "{line}");
    }
}

#[test]
fn guards_hold_whatever_a_rule_says() {
    for (rule, line) in [
        ("rm *", "rm -rf x"),
        ("git push *", "git push -f"),
        ("ls *", "ls /etc"),
        ("cat *", "cat ../x"),
        ("go test *", "go test -exec x"),
    ] {
        assert!(!passes(&[rule], line), "{line}");
    }
    let problem = |text: &str| RulePattern::parse(RuleKind::Command, text).unwrap_err();
    assert_eq!(problem("*"), PatternProblem::Everything);
    assert_eq!(problem(""), PatternProblem::Empty);
    assert_eq!(problem("a && b"), PatternProblem::OneCommand);
    assert!(matches!(problem("git *"), PatternProblem::Vague { .. }));
    assert!(matches!(problem("python3 *"), PatternProblem::Vague { .. }));
    assert!(matches!(problem("python3 -c *"), PatternProblem::Vague { .. }));
    for text in ["sh -c *", "sudo *", "rm -rf *", "cat /etc/*", "ls $X *", "cargo te*"] {
        assert!(matches!(problem(text), PatternProblem::Guarded { .. }), "{text}");
    }
    assert_eq!(command("python3 -m pytest *").text(), "python3 -m pytest *");
}

#[test]
fn a_file_rule_covers_paths_and_no_protected_or_deleted_ones() {
    assert!(
        file_passes("/src/**", "/src/a/b.rs")
            && file_passes("src/*.rs", "/src/a.rs")
            && file_passes("**/*.md", "/a/b/c.md")
    );
    assert!(file_passes("/src/**", "/src/x") && file_passes("/a/**/z", "/a/z"));
    for (glob, path) in [
        ("/src/**", "/srcx/a"),
        ("/src/*.rs", "/src/a/b.rs"),
        ("/src", "/src/a"),
        ("**", "/.git/config"),
        ("**", "/a/.envrc"),
        ("**", "/memories/AGENTS.md"),
        ("**", "/skills/user/x"),
        ("*.rs", "/a.rsx"),
    ] {
        assert!(!file_passes(glob, path), "{glob} {path}");
    }
    assert!(file_passes("/memories/**", "/memories/a.md"));
    for glob in ["../x", "a/../b", "a//b", "[a]", "{a,b}", "a\nb"] {
        assert!(RulePattern::parse(RuleKind::Files, glob).is_err(), "{glob:?}");
    }
    let all = RulePattern::parse(RuleKind::Files, "**").unwrap();
    assert_eq!(covering(&[&all], RuleSubject::Deletion), Err(Some(RuleGuard::Deletes)));
}

#[test]
fn a_tool_rule_covers_that_tool_alone() {
    let rule = RulePattern::Tool { name: "docs__search".into() };
    assert!(covering(&[&rule], RuleSubject::Tool("docs__search")).is_ok());
    assert_eq!(covering(&[&rule], RuleSubject::Tool("docs__search2")), Err(None));
    assert_eq!(covering(&[&rule], RuleSubject::Command("docs__search")), Err(None));
}

#[test]
fn what_is_offered_covers_the_call_and_reads_the_same() {
    let offered = |line: &str| {
        RulePattern::offers(RuleSubject::Command(line)).map(|all| all.iter().map(RulePattern::text).collect::<Vec<_>>())
    };
    assert_eq!(offered("cargo test -p auth").unwrap(), ["cargo test *", "cargo test -p auth"]);
    assert_eq!(offered("pytest tests/a.py").unwrap(), ["pytest tests/a.py", "pytest tests/a.py *"]);
    assert_eq!(offered("python3 x.py").unwrap(), ["python3 x.py", "python3 x.py *"]);
    assert_eq!(offered("a && b"), Err(RuleGuard::SeveralCommands));
    assert!(matches!(offered("rm -rf x"), Err(RuleGuard::Destructive { .. })));
    for line in ["cargo test -p auth", "git commit -m 'a b'", "ls"] {
        for pattern in RulePattern::offers(RuleSubject::Command(line)).unwrap() {
            assert_eq!(RulePattern::parse(RuleKind::Command, &pattern.text()), Ok(pattern.clone()));
            assert!(covering(&[&pattern], RuleSubject::Command(line)).is_ok(), "{line} {pattern:?}");
        }
    }
}

#[test]
fn the_examples_are_true() {
    for text in ["cargo test *", "cargo test", "npm run build *"] {
        let pattern = command(text);
        let (yes, no) = pattern.examples();
        assert!(yes.iter().all(|line| covering(&[&pattern], RuleSubject::Command(line)).is_ok()), "{yes:?}");
        assert!(no.iter().all(|line| covering(&[&pattern], RuleSubject::Command(line)).is_err()), "{no:?}");
    }
    for glob in ["/src/**", "/src/*.rs", "/a.md"] {
        let pattern = RulePattern::parse(RuleKind::Files, glob).unwrap();
        let (yes, _) = pattern.examples();
        assert!(yes.iter().all(|path| file_passes(glob, path)), "{yes:?}");
    }
}
