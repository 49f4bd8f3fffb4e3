use bosun_backend::{VirtualPath, is_protected, runs_later};

/// `path`, where a part of it makes it one that later runs code or configures programs.
pub(super) fn protected_name(path: &VirtualPath) -> Option<String> {
    is_protected(path).then(|| path.to_string())
}

/// A word of a command that names what runs later, wherever that lies. `.git` by itself is named to be left out, or is the
/// project's own, in which no command of a sandbox changes what runs.
pub(super) fn armed(word: &str) -> Option<String> {
    let own = word.trim_start_matches("./").trim_end_matches(['/', '*']);
    (own != ".git" && runs_later(word.split('/'))).then(|| word.to_owned())
}

/// Whether a path of the agent's path space is beside the project: memories, skills and what is kept for later.
pub(super) fn beyond_project(path: &VirtualPath) -> bool {
    const MOUNTS: &[&str] = &["memories", "skills", "agents", "conversation_history", "large_tool_results"];
    path.segments().next().is_some_and(|first| MOUNTS.contains(&first.strip_prefix('_').unwrap_or(first)))
}
