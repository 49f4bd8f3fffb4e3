//! A data folder that cannot be used: the page gets a sentence, and what is there stays as it is.

use std::os::unix::fs::PermissionsExt;

use bosun_protocol::{Settings, Theme};
use bosun_testkit::Project;
use serde_json::{Value, json};

use crate::page::Page;

/// Starts over a data folder whose database has these bytes; what the page is told.
fn started_over(bytes: &[u8]) -> (tempfile::TempDir, Page, Value) {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("bosun.db"), bytes).unwrap();
    let defaults = Settings { theme: Theme::Dark, ..Settings::default() };
    let page = Page::plan().data(data.path()).defaults(defaults).open();
    let start = page.ok("start", json!({}));
    assert_eq!(start["settings"]["theme"], "dark");
    let problem = start["problem"].clone();
    (data, page, problem)
}

#[test]
fn a_file_that_is_no_database_is_named_and_left_alone() {
    let bytes = b"this was never a database, whatever its name says".repeat(50);
    let (data, page, problem) = started_over(&bytes);
    let path = data.path().join("bosun.db");
    assert_eq!(problem, json!({ "problem": "database_foreign", "path": path.to_str() }));
    for command in ["list_providers", "pick_project", "start_tour"] {
        assert_eq!(page.refused(command, json!({})), "storage_unavailable");
    }
    assert_eq!(std::fs::read(data.path().join("bosun.db")).unwrap(), bytes);
}

#[test]
fn when_the_way_is_free_again_the_next_start_of_the_page_goes_on() {
    let (data, page, _) = started_over(&b"not a database at all, but long enough to be looked at".repeat(50));
    std::fs::remove_file(data.path().join("bosun.db")).unwrap();
    assert_eq!(page.ok("start", json!({}))["problem"], Value::Null);
    assert!(page.projects().is_empty());
}

#[test]
fn a_data_folder_that_is_a_file_or_closed_is_named() {
    let around = Project::new().file("data", "a file").dir("closed");
    for name in ["data", "closed/inside"] {
        std::fs::set_permissions(around.at("closed"), std::fs::Permissions::from_mode(0o500)).unwrap();
        let page = Page::plan().data(&around.at(name)).open();
        let start = page.ok("start", json!({}));
        // Root may write everywhere, so only the file is a problem for everyone.
        if name == "data" {
            let path = around.at(name);
            assert_eq!(start["problem"], json!({ "problem": "data_folder_is_file", "path": path.to_str() }));
        }
    }
    std::fs::set_permissions(around.at("closed"), std::fs::Permissions::from_mode(0o700)).unwrap();
}
