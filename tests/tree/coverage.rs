//! `docs/coverage.md` says which test shows what. A row of its tables ends in a cell of tests, each written in backquotes
//! as `path/of/file.rs::name_of_the_test` or `path/of/file.test.ts::title of the test`; both parts must exist. A row whose
//! last cell names a later issue (`issue 7`) instead of a test is a promise and is let pass.

use crate::none;
use crate::source::{files, root};

const DOCUMENT: &str = "docs/coverage.md";

/// The last cells of the tables' rows, with their line numbers.
fn rows(document: &str) -> Vec<(usize, &str)> {
    let lines = document.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with('|'));
    let cells =
        lines.filter_map(|(number, line)| Some((number + 1, line.trim().trim_matches('|').rsplit('|').next()?.trim())));
    // The line of dashes below a table's head, and the head itself.
    cells.filter(|(_, cell)| !cell.is_empty() && !cell.chars().all(|c| "-: ".contains(c)) && *cell != "Tests").collect()
}

/// What is between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Why `reference` names no test.
fn fault(reference: &str) -> Option<String> {
    let Some((path, name)) = reference.split_once("::") else {
        return Some("write it as path::name".to_owned());
    };
    let Ok(text) = std::fs::read_to_string(root().join(path)) else {
        return Some(format!("there is no file {path}"));
    };
    // Modules may stand before the name of a function: a::b::name.
    let runs = if path.ends_with(".rs") {
        runs_in_rust(path, &text, name.rsplit("::").next()?)
    } else {
        runs_in_page(&text, name)
    };
    (!runs).then(|| format!("{path} has no test named {name} that runs"))
}

/// Whether `function` of `text` is a test, by its attribute or as a case of a suite that the file beside it plays.
fn runs_in_rust(path: &str, text: &str, function: &str) -> bool {
    let Some((before, _)) = text.split_once(&format!("fn {function}(")) else { return false };
    let above = before.rsplit_once('\n').map_or("", |(above, _)| above);
    let lines = above.lines().rev().map(str::trim);
    let head: Vec<&str> = lines.take_while(|line| line.starts_with("#[") || line.starts_with("//")).collect();
    let has = |what: &str| head.iter().any(|line| line.starts_with("#[") && line.contains(what));
    !has("ignore") && (has("test]") || has("test(") || is_case_of_suite(path, function))
}

fn is_case_of_suite(path: &str, function: &str) -> bool {
    let folder = std::path::Path::new(path).parent();
    let suite = folder.and_then(|folder| std::fs::read_to_string(root().join(folder).join("main.rs")).ok());
    let listed = [format!(" {function},"), format!("::{function},")];
    suite.is_some_and(|suite| listed.iter().any(|listed| suite.contains(listed)))
}

fn runs_in_page(text: &str, title: &str) -> bool {
    let quotes = ["\"", "'", "`"].into_iter();
    quotes
        .filter_map(|quote| text.split_once(&format!("({quote}{title}{quote}")))
        .any(|(before, _)| !before.ends_with(".skip") && !before.ends_with(".todo"))
}

#[test]
fn every_row_of_the_coverage_table_names_tests_that_exist() {
    let document = std::fs::read_to_string(root().join(DOCUMENT)).unwrap_or_else(|error| panic!("{DOCUMENT}: {error}"));
    let rows = rows(&document);
    assert!(!rows.is_empty(), "{DOCUMENT} has no rows");
    let mut problems = Vec::new();
    for (number, cell) in rows {
        let references: Vec<_> = quoted(cell).collect();
        if references.is_empty() && !cell.contains("issue ") {
            problems.push(format!("{DOCUMENT}:{number}: names neither a test nor the issue that brings one: {cell}"));
        }
        let faults = references.iter().filter_map(|reference| fault(reference));
        problems.extend(faults.map(|fault| format!("{DOCUMENT}:{number}: {fault}")));
    }
    none("the coverage table promises what is not there", &problems);
}

/// The names of what stands in `folder`, without endings, hidden parts and tests.
fn names_in(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names
        .map(|name| name.split('.').next().unwrap_or_default().to_owned())
        .filter(|name| !name.ends_with("_tests") && !name.is_empty())
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn every_tool_every_screen_every_middleware_and_every_backend_has_a_row() {
    let document = std::fs::read_to_string(root().join(DOCUMENT)).unwrap_or_else(|error| panic!("{DOCUMENT}: {error}"));
    let parts = ["crates/tools/src/builtin", "ui/src/features"].map(names_in).concat();
    let missing = parts.iter().filter(|name| !document.contains(&format!("`{name}`")));
    let mut problems: Vec<_> = missing.map(|name| format!("{DOCUMENT}: nothing says what shows `{name}`")).collect();
    for implemented in ["Middleware", "Backend", "Executor"].into_iter().flat_map(implementations_of) {
        if !document.contains(&format!("| {implemented} |")) && !document.contains(&format!("`{implemented}`")) {
            problems.push(format!("{DOCUMENT}: nothing says what shows {implemented}"));
        }
    }
    none("the coverage table leaves something out", &problems);
}

/// The types that implement `seam` in what ships, by their names without generics.
fn implementations_of(seam: &str) -> Vec<String> {
    let start = format!("impl {seam} for ");
    let mut found = Vec::new();
    for file in files("crates", &[".rs"]).into_iter().filter(|file| file.path.contains("/src/") && !file.is_test()) {
        let code = file.effective();
        let heads = code.lines().filter_map(|line| line.strip_prefix(&start));
        found.extend(heads.map(|head| head.split(['<', ' ', '{']).next().unwrap_or_default().to_owned()));
    }
    assert!(!found.is_empty(), "nothing implements {seam}");
    found.sort();
    found.dedup();
    found
}

#[test]
fn rows_and_references_are_read_as_described() {
    let table =
        "| Thing | Tests |\n|---|---|\n| a | `tests/tree/sizes.rs::files_stay_readable`, `b::c` |\n| d | issue 7 |\n";
    let rows = rows(table);
    assert_eq!(rows.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(quoted(rows[0].1).collect::<Vec<_>>(), ["tests/tree/sizes.rs::files_stay_readable", "b::c"]);
    assert_eq!(fault("tests/tree/sizes.rs::files_stay_readable"), None);
    let functions = "#[test]\n// Why.\nfn a() {}\n\n#[test]\n#[ignore]\nfn b() {}\n\nfn c() {}\n";
    assert_eq!(["a", "b", "c"].map(|name| runs_in_rust("no/file.rs", functions, name)), [true, false, false]);
    assert_eq!(["d", "e"].map(|title| runs_in_page("it('d', x); it.skip('e', x)", title)), [true, false]);
    assert!(
        fault("tests/tree/sizes.rs::nothing").is_some() && fault("no/file.rs::x").is_some() && fault("x").is_some()
    );
}
