//! Names that configure programs or are run later by themselves. What writes them is asked about whatever else is
//! allowed. A command in the sandbox cannot change them, nor make them at the top of the project; below it can make them,
//! and what it made is told with its result. `.git` is known beside these, by its parts.

use crate::{VirtualPath, is_device_name};

/// Folders: everything in one is as protected as itself, wherever it is.
pub const PROTECTED_FOLDERS: [&str; 6] = [".bosun", ".agents", ".claude", ".husky", ".idea", ".vscode"];

/// Folders that are protected in one other only.
pub const PROTECTED_INSIDE: [(&str, &str); 1] = [(".github", "workflows")];

/// Files, wherever they are.
pub const PROTECTED_FILES: [&str; 12] = [
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".envrc",
    ".gitmodules",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".npmrc",
    ".mcp.json",
];

/// Whether a part of `path` makes it one that later runs code, configures programs, or is a device where Windows has it.
pub fn is_protected(path: &VirtualPath) -> bool {
    runs_later(path.segments()) || path.segments().any(|name| is_device_name(&folded(name)))
}

/// Whether the names of a path make it one that later runs code or configures programs.
pub fn runs_later<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let folded: Vec<String> = names.map(folded).filter(|name| !name.is_empty()).collect();
    let has = |name: &str| folded.iter().any(|part| part == name);
    let pair =
        |first: &str, second: &str| folded.windows(2).any(|two| matches!(two, [a, b] if a == first && b == second));
    let last = folded.last().map(String::as_str).unwrap_or_default();
    has(".git")
        || has("git~1")
        || PROTECTED_FOLDERS.iter().any(|name| has(name))
        || PROTECTED_INSIDE.iter().any(|(folder, name)| pair(folder, name))
        || PROTECTED_FILES.contains(&last)
}

/// A name as the most lenient file systems take it: without case, without characters that are not seen, without trailing
/// dots and spaces, and without the name of a stream behind it.
fn folded(name: &str) -> String {
    let seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(seen).collect();
    let own = name.split(':').next().unwrap_or_default();
    own.trim_end_matches(['.', ' ']).to_lowercase()
}
