//! Where processes start, files are touched, and clippy's list of refused methods is switched off.

use crate::none;
use crate::source::{File, files};

/// An effect as it appears in code, and the places that own it (a path ends in `/` when it is a whole folder).
struct Effect {
    what: &'static str,
    needles: &'static [&'static str],
    owners: &'static [&'static str],
}

const EFFECTS: [Effect; 6] = [
    Effect {
        what: "starting a process",
        needles: &["process::Command", "tokio::process", "process_wrap", "Command::new(", "posix_spawn", "libc::fork"],
        owners: &["crates/backend/", "crates/mcp/"],
    },
    Effect { what: "HTTP", needles: &["reqwest", "TcpStream::connect"], owners: &["crates/providers/", "crates/mcp/"] },
    Effect { what: "SQLite", needles: &["rusqlite"], owners: &["crates/store/"] },
    Effect { what: "the keyring", needles: &["keyring::"], owners: &["crates/store/"] },
    Effect { what: "watching files", needles: &["notify::", "notify_debouncer"], owners: &["crates/backend/"] },
    Effect { what: "Tauri", needles: &["tauri::", "tauri_"], owners: &["src-tauri/"] },
];

/// Who may switch off clippy's list of refused methods, and why. Tests are free.
const OPT_OUTS: [(&str, &str); 11] = [
    ("crates/agent/src/clock.rs", "the clock and the source of ids themselves"),
    ("crates/backend/src/lib.rs", "the room of files and processes"),
    ("crates/harness/examples/bench_subagents.rs", "it reads what it used itself"),
    ("crates/harness/examples/own_middleware.rs", "an example makes the folder it works in"),
    ("crates/mcp/src/lib.rs", "the room of HTTP to servers of tools"),
    ("crates/providers/src/lib.rs", "the room of HTTP to models"),
    ("crates/store/src/lib.rs", "the room of the database and the folder it lies in"),
    ("src-tauri/src/context.rs", "Tauri's own macro ends the process where its files are gone"),
    ("src-tauri/src/graphics.rs", "looks for a graphics device before anything runs"),
    ("src-tauri/src/sample.rs", "copies the tour's sample project into the folder the person chose"),
    ("src-tauri/src/logs/capped.rs", "the shell's own log files"),
];

fn code() -> Vec<File> {
    let all = ["crates", "src-tauri"].into_iter().flat_map(|dir| files(dir, &[".rs"]));
    let code: Vec<File> = all.filter(|file| !file.is_test()).collect();
    assert!(code.len() > 40, "only {} source files were found", code.len());
    code
}

fn is_owned(path: &str, owners: &[&str]) -> bool {
    owners.iter().any(|owner| if owner.ends_with('/') { path.starts_with(owner) } else { path == *owner })
}

#[test]
fn effects_happen_only_in_the_rooms_that_own_them() {
    let mut problems = Vec::new();
    for file in code() {
        for (number, line) in file.effective().lines().enumerate() {
            for effect in EFFECTS.iter().filter(|effect| !is_owned(&file.path, effect.owners)) {
                if effect.needles.iter().any(|needle| line.contains(needle)) {
                    let (what, owners) = (effect.what, effect.owners);
                    problems.push(format!(
                        "{}:{}: {what} belongs to {owners:?}: {}",
                        file.path,
                        number + 1,
                        line.trim()
                    ));
                }
            }
        }
    }
    none("an effect outside its room", &problems);
}

#[test]
fn only_owners_of_effects_switch_the_refused_methods_off() {
    let mut problems = Vec::new();
    for file in code() {
        let text = file.effective();
        // `cfg_attr(test, …)` leaves real code checked and is open to all.
        let lines = text.lines().filter(|line| !line.contains("cfg_attr(test"));
        let switched_off = lines.filter(|line| line.contains("clippy::disallowed_methods")).count() > 0;
        if switched_off && !OPT_OUTS.iter().any(|(path, _)| *path == file.path) {
            problems
                .push(format!("{}: the effect belongs to another room, or needs a row with a reason here", file.path));
        }
    }
    for (path, reason) in OPT_OUTS {
        assert!(!reason.is_empty(), "{path} is excused without a reason");
        if !code().iter().any(|file| file.path == path && file.text.contains("clippy::disallowed_methods")) {
            problems.push(format!("{path}: excused here, but it no longer switches anything off"));
        }
    }
    none("clippy's refused methods are switched off where they must not be", &problems);
}
