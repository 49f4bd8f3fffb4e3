//! Where processes start, files are touched or opened by name, and clippy's list of refused methods is switched off.

use std::collections::BTreeSet;

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
const OPT_OUTS: [(&str, &str); 13] = [
    ("crates/agent/src/clock.rs", "the clock and the source of ids themselves"),
    ("crates/backend/src/lib.rs", "the room of files and processes"),
    ("crates/harness/examples/bench_subagents.rs", "it reads what it used itself"),
    ("crates/harness/examples/own_middleware.rs", "an example makes the folder it works in"),
    ("crates/mcp/src/lib.rs", "the room of HTTP to servers of tools"),
    ("crates/programs/src/lib.rs", "ends the programs of a package, which have no other main to return to"),
    ("crates/providers/src/lib.rs", "the room of HTTP to models"),
    ("crates/store/src/lib.rs", "the room of the database and the folder it lies in"),
    ("src-tauri/src/context.rs", "Tauri's own macro ends the process where its files are gone"),
    ("src-tauri/src/graphics.rs", "looks for a graphics device before anything runs"),
    ("src-tauri/src/window.rs", "the folder of the page's own storage"),
    ("src-tauri/src/sample.rs", "copies the tour's sample project into the folder the person chose"),
    ("src-tauri/src/logs/capped.rs", "the shell's own log files"),
];

/// How a file or folder is opened by its name, or looked at by it. What has a handle already is `use std::fs::File`.
const BY_NAME: [&str; 13] = [
    "std::fs::",
    "std::fs;",
    "File::open",
    "File::create",
    "OpenOptions",
    "DirBuilder",
    "rustix::fs::open",
    "rustix::fs::stat(",
    "rustix::fs::lstat(",
    "CWD",
    ".canonicalize()",
    ".read_dir()",
    "tokio::fs",
];

/// The files of `crates/backend` in which that is done, and what they open. No path of a project is among it but through
/// `Root`: what resolves a name, checks it and then opens it is led out by whoever swaps a link in between.
const OPENS_BY_NAME: [(&str, &str); 20] = [
    ("crates/backend/src/blobs.rs", "the app's own blobs"),
    ("crates/backend/src/blobs/sweep.rs", "the app's own blobs"),
    ("crates/backend/src/bundle.rs", "a bundle that a person names, in and out"),
    (
        "crates/backend/src/filesystem/leftovers.rs",
        "temporary files of its own in a folder that is held, never through a link",
    ),
    ("crates/backend/src/filesystem/stage.rs", "temporary files of its own in a folder that is held"),
    ("crates/backend/src/folder_lock.rs", "a folder that is held, once more by its own handle"),
    ("crates/backend/src/editor.rs", "looks at what the person's editor is about to be given by this name"),
    ("crates/backend/src/launchable.rs", "looks at what the system's own opener is about to be given by this name"),
    ("crates/backend/src/local_shell/tree/scan.rs", "the kernel's table of processes"),
    ("crates/backend/src/manifest/trail.rs", "the app's own record of what was seen"),
    ("crates/backend/src/project.rs", "looks whether the folder that a person chose can be a project"),
    ("crates/backend/src/root.rs", "the root itself: everything below it goes by its handle"),
    ("crates/backend/src/root/openat2.rs", "below a handle, by the kernel's rules"),
    ("crates/backend/src/root/stepwise.rs", "below a handle, one name at a time, never through a link"),
    (
        "crates/backend/src/sandbox/process.rs",
        "which folder of this machine a root is, told apart from another by that name",
    ),
    (
        "crates/backend/src/sandbox/process/bubblewrap.rs",
        "the system's own folders and settings, for the sandbox to have them too",
    ),
    (
        "crates/backend/src/sandbox/process/bubblewrap/guard/placeholder.rs",
        "what stands for a missing name, made in a folder that is held and never over anything",
    ),
    (
        "crates/backend/src/sandbox/process/bubblewrap/stage.rs",
        "the sandbox's mounts: the root by identity, what is below it by handles",
    ),
    ("crates/backend/src/settings_text.rs", "a file of settings that a person names"),
    (
        "crates/backend/src/watch.rs",
        "figures of a file that the agent has read, compared with its own; a difference is read through the root",
    ),
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

#[test]
fn the_room_of_files_opens_by_name_only_where_it_says_what() {
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for file in code().into_iter().filter(|file| file.path.starts_with("crates/backend/src/")) {
        let text = file.effective();
        let is_hit = |line: &&str| line.trim() != "use std::fs::File;" && BY_NAME.iter().any(|way| line.contains(way));
        let Some(line) = text.lines().find(is_hit) else { continue };
        if OPENS_BY_NAME.iter().any(|(path, _)| *path == file.path) {
            used.insert(file.path);
        } else {
            let line = line.trim();
            problems
                .push(format!("{}: opens by name; lead it through Root, or say here what it opens: {line}", file.path));
        }
    }
    for (path, what) in OPENS_BY_NAME {
        assert!(!what.is_empty(), "{path} opens something that is not said");
        if !used.contains(path) {
            problems.push(format!("{path}: may open by name, but no longer does"));
        }
    }
    none("files are opened by name", &problems);
}
