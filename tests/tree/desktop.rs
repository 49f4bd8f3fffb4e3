//! What the desktop package may do: its content policy, its capabilities, its version of Tauri.

use serde_json::Value;

use crate::none;
use crate::source::{files, root};

/// The policy, word for word. Scripts come from the bundle alone, the page talks to the core and to nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
                      img-src 'self' data: blob:; font-src 'self'; connect-src ipc: http://ipc.localhost; \
                      object-src 'none'; base-uri 'none'; frame-src 'none'; form-action 'none'";

/// The first version with the fix of CVE-2026-42184.
const TAURI_AT_LEAST: (u64, u64, u64) = (2, 11, 1);

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_content_policy_is_exactly_ours() {
    let security = &json("tauri.conf.json")["app"]["security"];
    assert_eq!(security["csp"].as_str(), Some(POLICY));
    assert_eq!(security["freezePrototype"], true);
    for loosened in [
        "capabilities",
        "devCsp",
        "dangerousDisableAssetCspModification",
        "assetProtocol",
        "dangerousRemoteDomainIpcAccess",
    ] {
        assert!(security[loosened].is_null(), "tauri.conf.json: app.security.{loosened} must stay away");
    }
}

#[test]
fn the_page_reaches_the_core_only_through_the_bundle() {
    let config = json("tauri.conf.json");
    assert_eq!(config["app"]["withGlobalTauri"], false);
    assert_eq!(config["build"]["frontendDist"], "ui/dist");
    assert!(config["plugins"].is_null(), "plugins are called from Rust and need no configuration for the page");
    let page = files("ui", &["index.html"]).into_iter().next().expect("ui/index.html");
    let loads = ["src=\"http", "src=\"//", "href=\"http", "href=\"//", "<base"];
    assert!(!loads.iter().any(|load| page.text.contains(load)), "ui/index.html loads from elsewhere");
}

#[test]
fn capabilities_grant_our_own_commands_and_nothing_more() {
    let capabilities = files("src-tauri/capabilities", &[".json", ".toml", ".json5"]);
    assert!(!capabilities.is_empty(), "there is no capability");
    let mut problems = Vec::new();
    for file in &capabilities {
        let capability: Value = serde_json::from_str(&file.text).expect("a capability in JSON");
        if !capability["remote"].is_null() {
            problems.push(format!("{}: opens the core to remote pages", file.path));
        }
        if capability["windows"] != serde_json::json!(["main"]) || !capability["webviews"].is_null() {
            problems.push(format!("{}: must be for the window `main` alone", file.path));
        }
        for permission in capability["permissions"].as_array().expect("permissions") {
            // Our own commands are `allow-…`; what Tauri or a plugin grants has a prefix and a colon.
            let is_ours = permission.as_str().is_some_and(|name| name.starts_with("allow-"));
            if !is_ours {
                problems.push(format!("{}: {permission} is not one of our commands", file.path));
            }
        }
    }
    none("a capability was widened", &problems);
}

#[test]
fn tauri_is_new_enough() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let versions: Vec<&str> = lock
        .split("[[package]]")
        .filter(|package| package.contains("\nname = \"tauri\"\n"))
        .filter_map(|package| package.split("version = \"").nth(1)?.split('"').next())
        .collect();
    let [version] = versions.as_slice() else { panic!("Cargo.lock must hold one tauri, not {versions:?}") };
    let parts: Vec<u64> = version.split('.').map_while(|part| part.parse().ok()).collect();
    let [major, minor, patch] = parts.as_slice() else { panic!("{version} is not a release of Tauri") };
    assert!((*major, *minor, *patch) >= TAURI_AT_LEAST && *major == 2, "tauri {version} lacks a security fix");
}

/// `cargo xtask bundle deb` leaves its package under Tauri's name for it, and whoever installs it has to find it there.
#[test]
fn what_is_said_of_packages_names_the_files_that_are_made() {
    let config = json("tauri.conf.json");
    let (name, version) = (config["productName"].as_str(), config["version"].as_str());
    let package = format!("target/bundle/{}_{}_amd64.deb", name.expect("a name"), version.expect("a version"));
    let manifest = files("src-tauri/packaging", &["flatpak.yml"]).into_iter().next().expect("flatpak.yml");
    assert!(manifest.text.contains(&format!("path: ../../{package}")), "flatpak.yml: the source is {package}");
    let library = "-t /app/lib/bosun usr/lib/bosun/libbosun.so";
    assert!(manifest.text.contains(library), "flatpak.yml: the programs do not start without {library}");
    let readme = files("", &["README.md"]).into_iter().find(|file| file.path == "README.md").expect("README.md");
    assert!(readme.text.contains("./target/bundle/*.deb"), "README.md: the package is {package}");
}
