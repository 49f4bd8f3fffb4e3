//! How long files may get. Tests and generated files are apart.

use crate::none;
use crate::source::{File, files};

const RUST_LINES: usize = 600;
const UI_LINES: usize = 400;

/// Files that may be longer, each with the reason why splitting it would be worse.
const EXCEPTIONS: [(&str, &str); 1] =
    [("ui/browser/screens.mjs", "one table of every screen; in two files each would have to be looked for twice")];

#[test]
fn files_stay_readable() {
    let mut problems = Vec::new();
    let rust = files("", &[".rs"]).into_iter().map(|file| (file, RUST_LINES));
    let ui = files("ui", &[".ts", ".svelte", ".css", ".mjs"]).into_iter().map(|file| (file, UI_LINES));
    for (file, limit) in rust.chain(ui) {
        let excused = EXCEPTIONS.iter().any(|(path, _)| *path == file.path);
        let lines = File::code_lines(&file);
        if lines > limit && !excused && !file.is_test() && !file.is_generated() {
            problems
                .push(format!("{}: {lines} lines, the limit is {limit}; split off a part that has a noun", file.path));
        }
    }
    for (path, reason) in EXCEPTIONS {
        assert!(!reason.is_empty(), "{path} is excused without a reason");
    }
    none("a file has grown too long", &problems);
}
