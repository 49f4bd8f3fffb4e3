//! Who may depend on whom, and which third-party crates live in which room.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

use crate::none;
use crate::source::{files, root};

/// A room and the rooms it may import. The shell is the package `desktop`.
const MAY_IMPORT: [(&str, &[&str]); 14] = [
    ("protocol", &[]),
    ("model", &[]),
    ("backend", &["model"]),
    ("providers", &["model"]),
    ("tools", &["model", "backend"]),
    ("agent", &["model", "tools", "backend"]),
    ("mcp", &["model", "tools", "backend"]),
    ("harness", &["agent", "tools", "mcp", "model", "backend"]),
    ("store", &["model", "backend", "agent"]),
    ("session", &["harness", "agent", "tools", "model", "backend", "store", "protocol"]),
    ("cli", &["session", "harness", "tools", "model", "providers", "store", "backend", "protocol"]),
    ("desktop", &["session", "harness", "tools", "model", "providers", "store", "backend", "protocol"]),
    ("programs", &["cli", "desktop"]),
    ("testkit", &["model", "protocol"]),
];

/// A family of third-party crates and the rooms that may name it. A name ending in `-` stands for all that begin so.
const KEPT_IN: [(&str, &[&str]); 17] = [
    ("tauri", &["desktop"]),
    ("tauri-", &["desktop"]),
    ("wry", &["desktop"]),
    ("gtk", &["desktop"]),
    ("reqwest", &["providers", "mcp"]),
    ("aws-", &["providers"]),
    ("google-cloud-", &["providers"]),
    ("hyper", &["testkit"]),
    ("ureq", &[]),
    ("rmcp", &["mcp"]),
    ("rusqlite", &["store"]),
    ("rusqlite_migration", &["store"]),
    ("keyring", &["store"]),
    ("notify", &["backend"]),
    ("notify-", &["backend"]),
    ("process-wrap", &["backend", "mcp"]),
    ("portable-pty", &["backend"]),
];

struct Dependency {
    name: String,
    dev: bool,
}

struct Package {
    room: String,
    manifest: String,
    dependencies: Vec<Dependency>,
    /// The files that its programs, libraries and tests begin with.
    targets: Vec<String>,
}

/// The workspace as cargo sees it.
fn packages() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON from cargo metadata");
    let listed = metadata["packages"].as_array().expect("packages");
    assert!(listed.len() >= 12, "cargo lists only {} packages", listed.len());
    listed.iter().map(package).collect()
}

fn package(listed: &Value) -> Package {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let dependency =
        |value: &Value| Dependency { name: text(&value["name"]), dev: value["kind"].as_str() == Some("dev") };
    Package {
        room: room(listed["name"].as_str().expect("a name")).to_owned(),
        manifest: text(&listed["manifest_path"]),
        dependencies: listed["dependencies"].as_array().expect("dependencies").iter().map(dependency).collect(),
        targets: listed["targets"]
            .as_array()
            .expect("targets")
            .iter()
            .map(|target| text(&target["src_path"]))
            .collect(),
    }
}

fn room(package: &str) -> &str {
    package.strip_prefix("bosun-").unwrap_or(package)
}

#[test]
fn rooms_import_only_what_lies_below_them() {
    let mut problems = Vec::new();
    for package in packages().iter().filter(|package| package.room != "xtask") {
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(room, _)| *room == package.room) else {
            problems.push(format!("{} is no room of the architecture; add it there and here first", package.room));
            continue;
        };
        let own = package.dependencies.iter().filter(|dependency| dependency.name.starts_with("bosun-"));
        for dependency in own.filter(|dependency| !dependency.dev) {
            let below = room(&dependency.name);
            if !allowed.contains(&below) {
                problems.push(format!("{} depends on {below}; it may depend on {allowed:?}", package.room));
            }
        }
    }
    none("a room imports what it may not", &problems);
}

#[test]
fn no_file_of_tests_is_left_out() {
    let mut problems = Vec::new();
    for package in &packages() {
        let folder = Path::new(&package.manifest).with_file_name("tests");
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|is| is == "rs"))
        {
            if !package.targets.iter().any(|target| Path::new(target) == path) {
                problems.push(format!("{} is never run; name it as a [[test]] in its Cargo.toml", path.display()));
            }
        }
    }
    none("a file of tests is no test", &problems);
}

#[test]
fn xtask_stays_quick_to_compile() {
    let packages = packages();
    let xtask = packages.iter().find(|package| package.room == "xtask").expect("the xtask package");
    let names: Vec<_> = xtask.dependencies.iter().map(|dependency| dependency.name.as_str()).collect();
    assert_eq!(
        names,
        ["anyhow", "object", "libc"],
        "every first command on a fresh machine waits for xtask's dependencies"
    );
}

#[test]
fn third_party_effects_stay_in_their_rooms() {
    let mut problems = Vec::new();
    for package in &packages() {
        for dependency in package.dependencies.iter().filter(|dependency| !dependency.dev) {
            let name = dependency.name.as_str();
            let kept = KEPT_IN
                .iter()
                .find(|(family, _)| *family == name || (family.ends_with('-') && name.starts_with(family)));
            if let Some((_, rooms)) = kept.filter(|(_, rooms)| !rooms.contains(&package.room.as_str())) {
                problems.push(format!("{} depends on {name}, which lives in {rooms:?}", package.room));
            }
        }
    }
    none("an effect left its room", &problems);
}

#[test]
fn every_package_takes_the_shared_lints_and_starts_with_its_purpose() {
    let mut problems = Vec::new();
    for package in &packages() {
        let manifest = std::fs::read_to_string(&package.manifest).expect("a manifest");
        if !manifest.contains("[lints]\nworkspace = true") {
            problems.push(format!("{}: its manifest does not say `[lints] workspace = true`", package.room));
        }
    }
    let is_crate_root = |path: &str| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    for file in ["crates", "src-tauri", "xtask"].into_iter().flat_map(|dir| files(dir, &[".rs"])) {
        if is_crate_root(&file.path) && !file.text.starts_with("//! ") {
            problems.push(format!("{}: a crate opens with `//!`: what it owns, must not, where to start", file.path));
        }
        if file.path.ends_with("/mod.rs") {
            problems.push(format!("{}: name it after its folder instead of mod.rs", file.path));
        }
    }
    none("a package does not follow the house rules", &problems);
}
