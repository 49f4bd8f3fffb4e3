//! Nothing in the tree may know the machine it was written on.

use crate::none;
use crate::source::{files, root};

#[test]
fn no_path_of_a_machine_is_in_the_tree() {
    let own = root().to_string_lossy().into_owned();
    let mut needles = vec![own.clone()];
    // A home of one component ("/root") is too common a word to search for by itself.
    let home = std::env::var("HOME").unwrap_or_default();
    needles.extend([home].into_iter().filter(|home| home.matches('/').count() >= 2));
    if let Some(parent) = root().parent().filter(|parent| parent.components().count() >= 2) {
        needles.push(format!("{}/shared", parent.display()));
    }
    let mut problems = Vec::new();
    let endings =
        [".rs", ".toml", ".json", ".md", ".ts", ".svelte", ".css", ".html", ".py", ".sh", ".yml", ".svg", "run"];
    for file in files("", &endings) {
        for (number, line) in file.text.lines().enumerate() {
            if needles.iter().any(|needle| line.contains(needle.as_str())) {
                problems.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    none("a path of this machine is written down", &problems);
}
