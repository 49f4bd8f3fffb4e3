use std::io;

use super::{BackendError, PathError};
use crate::search::{self, Glob};
use crate::{Replacement, VirtualPath, replace};

fn path() -> VirtualPath {
    VirtualPath::parse("/src/a.txt").unwrap()
}

/// One of each variant; a variant that is left out does not compile.
macro_rules! one_of_each {
    ($error:ident: $($variant:ident $fields:tt,)*) => {{
        let known = |error: &$error| match error {
            $($error::$variant { .. } => {})*
        };
        let all = vec![$($error::$variant $fields),*];
        all.iter().for_each(known);
        all
    }};
}

fn errors() -> Vec<BackendError> {
    one_of_each!(BackendError:
        Path(PathError::Nul { given: "/a".into() }),
        NotFound { path: path() },
        DirectoryNotFound { path: path() },
        NotADirectory { path: path() },
        IsADirectory { path: path() },
        DirectoryInTheWay { path: path() },
        AlreadyExists { path: path() },
        NotRegular { path: path(), kind: "pipe" },
        OutsideRoot { path: path() },
        LinkLoop { path: path() },
        LinkToProtected { path: path() },
        AmbiguousPath { path: path(), below: path() },
        PermissionDenied { path: path() },
        Forbidden { path: path() },
        Changed { path: path() },
        ChangedBelow { path: path(), files: vec![path()], more: 1 },
        Unstable { path: path() },
        NotRead { path: path() },
        NotText { path: path(), reason: "byte 3 is no UTF-8".into() },
        Binary { path: path() },
        ContentLost { path: path() },
        TooLarge { path: path(), size: 2, limit: 1 },
        TooLargeToKeep { path: path(), size: 2, limit: 1 },
        OffsetPastEnd { path: path(), offset: 9, total_lines: 3 },
        StringNotFound { path: path(), old: "x".into(), hint: String::new() },
        StringNotUnique { path: path(), old: "x".into(), count: 2 },
        EmptyOldString { path: path() },
        NothingToChange { path: path() },
        ProtectedRoot { path: path() },
        BadPattern { pattern: "../x".into(), reason: "; told beside each reason".into() },
        DiskFull { path: path() },
        ReadOnly { path: path() },
        Immutable { path: path() },
        CannotDelete { path: path() },
        RootGone {},
        FolderGone { path: path() },
        TooManyEntries { path: path(), most: 1 },
        NameNotText { path: path() },
        Io { path: path(), kind: io::ErrorKind::Other, reason: "Input/output error".into() },
        Unsure { path: path(), reason: "the connection broke off".into() },
        Unreachable { path: path(), reason: "no route to host".into() },
        Spawn { reason: "no such program".into() },
        BadCommand { reason: "; told beside each reason".into() },
        GuardIsLink { path: path() },
        NoSandbox {
            reason: "bubblewrap is not installed on this machine; install it with apt-get install bubblewrap".into(),
        },
        SandboxOff {},
        BadTimeout { given: 0, max: 3600 },
        NotRecorded { path: path(), reason: "no room".into() },
        Cancelled {},
    )
}

fn path_errors() -> Vec<PathError> {
    let given = || "/a".to_owned();
    one_of_each!(PathError:
        Traversal { given: given() },
        Home { given: given() },
        Windows { given: given() },
        Device { given: given() },
        Nul { given: given() },
        TooLong { given: given(), limit: 1 },
    )
}

/// What stands behind the last semicolon, where it is more than a word.
fn way_out(sentence: &str) -> Option<&str> {
    sentence.rsplit_once("; ").map(|(_, way)| way).filter(|way| way.contains(' '))
}

#[test]
fn every_refusal_names_its_path_and_has_a_way_out() {
    for mut error in errors() {
        let sentence = error.to_string();
        match error.path_mut() {
            Some(path) => assert!(sentence.contains(&format!("'{path}'")), "{sentence}"),
            // These are of a command, of a pattern, or of the whole project.
            None => assert!(
                matches!(
                    error,
                    BackendError::Path(_)
                        | BackendError::BadPattern { .. }
                        | BackendError::RootGone
                        | BackendError::Spawn { .. }
                        | BackendError::BadCommand { .. }
                        | BackendError::NoSandbox { .. }
                        | BackendError::SandboxOff
                        | BackendError::BadTimeout { .. }
                        | BackendError::Cancelled
                ),
                "{sentence}"
            ),
        }
        // That somebody stopped it leaves nothing to be done.
        assert!(error == BackendError::Cancelled || way_out(&sentence).is_some(), "{sentence}");
        assert!(!sentence.ends_with('.'), "{sentence}");
    }
    for error in path_errors() {
        let sentence = error.to_string();
        assert!(sentence.contains("'/a'") && way_out(&sentence).is_some(), "{sentence}");
    }
}

/// Those that have their way out in the reason.
#[test]
fn every_reason_has_a_way_out() {
    let long = "x".repeat(1 << 20);
    let commands = ["", " ", "a\0b", &long].map(|command| crate::local_shell::check_command(command).unwrap_err());
    let patterns =
        ["../x", &"{a,b}".repeat(30)].map(|pattern| Glob::parse(pattern, search::hidden(false)).unwrap_err());
    for error in commands.into_iter().chain(patterns) {
        let sentence = error.to_string();
        assert!(way_out(&sentence).is_some(), "{sentence}");
    }
}

/// One way out, not two that contradict each other.
#[test]
fn where_there_is_a_hint_it_is_the_way_out() {
    let edited = |old| {
        let replacement = Replacement { old, new: "x", all: false };
        replace(b"def q q", replacement, 1_000, &path()).unwrap_err().to_string()
    };
    let front = "String not found in file: 'def q q\n'. In '/src/a.txt': ";
    let hint = "old_string ends with a newline but the file does not; leave the last newline out";
    assert_eq!(edited("def q q\n"), format!("{front}{hint}"));
    let often = edited("q\n");
    assert!(often.contains("appears 2 times; leave the newline out") && !often.contains("read '"), "{often}");
}

/// Agents and the comparison with the reference look for these words.
#[test]
fn the_words_that_are_looked_for_stand_in_front() {
    for (error, front) in [
        (BackendError::NotFound { path: path() }, "File '/src/a.txt' not found"),
        (BackendError::IsADirectory { path: path() }, "File '/src/a.txt' not found"),
        (BackendError::DirectoryNotFound { path: path() }, "Path '/src/a.txt': path_not_found"),
        (BackendError::NotADirectory { path: path() }, "Path '/src/a.txt': not_a_directory"),
        (BackendError::PermissionDenied { path: path() }, "permission denied for '/src/a.txt'"),
        (
            BackendError::StringNotFound { path: path(), old: "x".into(), hint: String::new() },
            "String not found in file: 'x'",
        ),
    ] {
        assert!(error.to_string().starts_with(front), "{error}");
    }
}
