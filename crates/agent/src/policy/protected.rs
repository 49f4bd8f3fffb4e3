use bosun_backend::{PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_INSIDE, VirtualPath, is_device_name};

/// A name as the most lenient file systems take it: without case, without characters that are not seen, without trailing
/// dots and spaces, and without the name of a stream behind it.
fn folded(name: &str) -> String {
    let seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(seen).collect();
    let own = name.split(':').next().unwrap_or_default();
    own.trim_end_matches(['.', ' ']).to_lowercase()
}

/// The part of `path` that makes it one that later runs code, configures programs, or is a device where Windows has it.
pub(super) fn protected_name(path: &VirtualPath) -> Option<String> {
    let folded: Vec<String> = path.segments().map(folded).collect();
    (is_protected(&folded) || folded.iter().any(|name| is_device_name(name))).then(|| path.to_string())
}

/// A word of a command that names such a file, wherever it lies. `.git` by itself is named to be left out, or is the
/// project's own, in which no command of a sandbox changes what runs.
pub(super) fn armed(word: &str) -> Option<String> {
    let folded: Vec<String> = word.split('/').map(folded).filter(|name| !name.is_empty()).collect();
    let is_own_git =
        matches!(&folded[..], [git] | [git, _] if git == ".git" && folded.get(1).is_none_or(|rest| rest == "*"));
    (!is_own_git && is_protected(&folded)).then(|| word.to_owned())
}

fn is_protected(folded: &[String]) -> bool {
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

/// Whether a path of the agent's path space is beside the project: memories, skills and what is kept for later.
pub(super) fn beyond_project(path: &VirtualPath) -> bool {
    const MOUNTS: &[&str] = &["memories", "skills", "agents", "conversation_history", "large_tool_results"];
    path.segments().next().is_some_and(|first| MOUNTS.contains(&first.strip_prefix('_').unwrap_or(first)))
}
