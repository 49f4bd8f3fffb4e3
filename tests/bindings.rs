//! The TypeScript that the page speaks to the core with is generated, committed and up to date; and the three lists of
//! commands (the builder's, `build.rs`, the capability) are the same.
#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "tests read the tree they check and stop at once")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use specta_typescript::Typescript;
use tauri::test::MockRuntime;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn generated() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bindings.ts");
    bosun_desktop::bindings::<MockRuntime>()
        .export(Typescript::default(), &path)
        .expect("types that TypeScript can have");
    std::fs::read_to_string(path).expect("the file just written")
}

/// The names under which `source` calls commands.
fn called(source: &str) -> BTreeSet<String> {
    let calls = source.lines().filter_map(|line| line.split_once("__TAURI_INVOKE<"));
    calls.filter_map(|(_, rest)| Some(rest.split_once(">(\"")?.1.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn the_generated_bindings_are_committed() {
    let generated = generated();
    const FILE: &str = "ui/src/ipc/bindings.ts";
    if std::env::var_os("BOSUN_UPDATE_BINDINGS").is_some() {
        std::fs::write(root(FILE), &generated).expect("the bindings can be written");
    }
    assert_eq!(
        read(FILE),
        generated,
        "{FILE} is old; write it anew with: BOSUN_UPDATE_BINDINGS=1 cargo test --test bindings"
    );
}

#[test]
fn what_can_be_called_is_what_may_be_called() {
    let commands = called(&generated());
    assert!(commands.len() >= 28, "only {} commands were found", commands.len());

    let build = read("src-tauri/build.rs");
    let list = build.split_once("&[\n").and_then(|(_, rest)| rest.split_once("];")).expect("the list in build.rs").0;
    let known: BTreeSet<String> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(known, commands, "src-tauri/build.rs lists other commands");

    let capability: serde_json::Value =
        serde_json::from_str(&read("src-tauri/capabilities/main.json")).expect("a capability in JSON");
    let granted: BTreeSet<String> = capability["permissions"]
        .as_array()
        .expect("permissions")
        .iter()
        .filter_map(|permission| Some(permission.as_str()?.strip_prefix("allow-")?.replace('-', "_")))
        .collect();
    assert_eq!(granted, commands, "the capability grants other commands");
    assert_eq!(capability["permissions"].as_array().map(Vec::len), Some(commands.len()), "and nothing of Tauri's own");
}

#[test]
fn keys_only_go_in() {
    let generated = generated();
    let holders: Vec<&str> = generated
        .split("export type ")
        .filter(|shape| shape.contains("\tkey: string"))
        .filter_map(|shape| shape.split(' ').next())
        .collect();
    assert_eq!(holders, ["SaveProvider"], "a type that the core gives out holds a key");
    assert!(!generated.contains("Promise<SaveProvider") && !generated.contains("<SaveProvider>("));
}
