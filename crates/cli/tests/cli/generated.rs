//! What packages bring beside the program: completions and manual pages, made from the program's own description.

use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::bench::ran;

fn bosun(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("bosun"));
    command.env_clear().args(arguments);
    command
}

#[test]
fn completions_name_the_commands_and_their_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let outcome = ran(&mut bosun(&["completions", shell]));
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        for word in ["sessions", "base-url", "no-store"] {
            assert!(outcome.out.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn manual_pages_for_the_program_and_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = ran(bosun(&["manual"]).arg(folder.path()));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(page("bosun.1").contains("bosun\\-run(1)"), "{}", page("bosun.1"));
    assert!(page("bosun-run.1").contains("\\-\\-approve"));
    for name in
        ["bosun-tools.1", "bosun-sessions.1", "bosun-sessions-list.1", "bosun-providers-add.1", "bosun-completions.1"]
    {
        assert!(page(name).contains(".TH"), "{name}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let outcome = ran(&mut bosun(&["manual", "/nowhere/at/all"]));
    assert!(outcome.sentence().contains("/nowhere/at/all: "), "{}", outcome.err);
}
