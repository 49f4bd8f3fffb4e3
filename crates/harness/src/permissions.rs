//! What an agent may do with paths (behaviour.md 8.6): rules over its files, held by the tools and by its shell.

mod backend;
mod pattern;

use std::sync::Arc;

use bosun_backend::{Backend, VirtualPath};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::MountNote;
pub(crate) use backend::Permitted;
pub use pattern::{PathPattern, PathPatternError};

/// One rule. Of several the first that names the operation and fits the path decides; where none does, it may be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRule {
    pub operations: Vec<PathOperation>,
    pub paths: Vec<PathPattern>,
    pub mode: PathMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathOperation {
    /// Listing, reading and searching.
    Read,
    /// Writing, editing and deleting.
    Write,
}

/// What a rule says. Of what several agents' rules say of one path, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathMode {
    Allow,
    /// A person is asked, whatever else is allowed.
    Interrupt,
    /// As if it were not there: direct calls are refused, lists and searches leave it out.
    Deny,
}

impl PathOperation {
    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The rules of an agent, in their order. A subagent has those of the agents above it, each list by itself, and its own:
/// what one of the lists forbids is forbidden, what one asks for is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRules {
    lists: Vec<Vec<PathRule>>,
}

impl PathRules {
    pub fn new(rules: Vec<PathRule>) -> Self {
        Self::default().narrowed(rules)
    }

    /// These, and the list `more`, which allows nothing that they do not.
    #[must_use]
    pub fn narrowed(&self, more: Vec<PathRule>) -> Self {
        let more = Some(more).filter(|rules| !rules.is_empty());
        Self { lists: self.lists.iter().cloned().chain(more).collect() }
    }

    /// The strictest of the rules that decide; each list has at most one.
    fn rule(&self, operation: PathOperation, path: &VirtualPath) -> Option<&PathRule> {
        let fits = |rule: &&PathRule| {
            rule.operations.contains(&operation) && rule.paths.iter().any(|pattern| pattern.matches(path))
        };
        self.lists.iter().filter_map(|list| list.iter().find(fits)).max_by_key(|rule| rule.mode)
    }

    /// What the rules say of one operation on one path.
    pub fn mode(&self, operation: PathOperation, path: &VirtualPath) -> PathMode {
        self.rule(operation, path).map_or(PathMode::Allow, |rule| rule.mode)
    }

    /// The pattern that makes a call of one of the file tools ask, under the path that it names and where links lead from
    /// there. What looks at all of a folder, or takes it away, asks for whatever may be in it.
    pub(crate) fn asks(&self, tool: &str, args: &Value, backend: &dyn Backend) -> Option<&PathPattern> {
        // Where links lead is looked up on the disk; not for rules that never ask.
        self.lists.iter().flatten().find(|rule| rule.mode == PathMode::Interrupt)?;
        let (operation, named) = named_by(tool, args, backend)?;
        let globbed = args.get("pattern").and_then(Value::as_str).filter(|_| tool == "glob").and_then(fixed_part);
        let is_wide = matches!(tool, "ls" | "glob" | "grep" | "delete");
        let paths = globbed.into_iter().chain([backend.direct(&named), named]);
        paths.into_iter().find_map(|path| {
            self.asks_at(operation, &path).or_else(|| self.asks_below(operation, &path).filter(|_| is_wide))
        })
    }

    fn asks_at(&self, operation: PathOperation, path: &VirtualPath) -> Option<&PathPattern> {
        let rule = self.rule(operation, path).filter(|rule| rule.mode == PathMode::Interrupt)?;
        rule.paths.iter().find(|pattern| pattern.matches(path))
    }

    /// As [`Self::asks_at`], for whatever is at or below `folder`.
    fn asks_below(&self, operation: PathOperation, folder: &VirtualPath) -> Option<&PathPattern> {
        for list in &self.lists {
            for rule in list.iter().filter(|rule| rule.operations.contains(&operation)) {
                match rule.paths.iter().find(|pattern| pattern.may_match_below(folder)) {
                    Some(pattern) if rule.mode == PathMode::Interrupt => return Some(pattern),
                    // It decides for all that is there, so that none of the rules behind it does.
                    Some(_) if rule.paths.iter().any(|pattern| pattern.is_all_of(folder)) => break,
                    _ => {}
                }
            }
        }
        None
    }

    /// Why a path may not be deleted with all that is below it.
    fn keeps(&self, path: &VirtualPath) -> Option<&PathPattern> {
        let denies = |rule: &&PathRule| rule.mode == PathMode::Deny && rule.operations.contains(&PathOperation::Write);
        let mut patterns = self.lists.iter().flatten().filter(denies).flat_map(|rule| &rule.paths);
        patterns.find(|pattern| pattern.may_match_below(path) || pattern.covers(path))
    }

    fn denying(&self) -> impl Iterator<Item = &PathPattern> {
        self.lists.iter().flatten().filter(|rule| rule.mode != PathMode::Allow).flat_map(|rule| &rule.paths)
    }

    /// `backend` as far as these rules let an agent see it. A command could do what the rules forbid, so there is none
    /// unless everything they speak of is in those `mounts` that no command reaches.
    pub fn hold(&self, backend: Arc<dyn Backend>, mounts: &[MountNote]) -> Arc<dyn Backend> {
        if self.denying().next().is_none() {
            return backend;
        }
        let in_a_mount =
            |pattern: &PathPattern| mounts.iter().any(|mount| mount.host.is_none() && pattern.is_below(&mount.path));
        let has_shell = self.denying().all(in_a_mount);
        Arc::new(Permitted::new(backend, self.clone(), has_shell))
    }
}

/// What is said of a call that a rule forbids.
pub(crate) fn refusal(operation: PathOperation, path: &VirtualPath) -> String {
    format!(
        "Error: permission denied for {} on {path}; a rule of this agent forbids it. Go on without it.",
        operation.word()
    )
}

/// What a call of one of the file tools does to which path, by the tool's name.
pub(crate) fn named_by(tool: &str, args: &Value, backend: &dyn Backend) -> Option<(PathOperation, VirtualPath)> {
    let (operation, field) = match tool {
        "read_file" => (PathOperation::Read, "file_path"),
        "ls" | "glob" | "grep" => (PathOperation::Read, "path"),
        "write_file" | "edit_file" | "delete" => (PathOperation::Write, "file_path"),
        _ => return None,
    };
    let given = args.get(field).and_then(Value::as_str).unwrap_or("/");
    Some((operation, backend.resolve(given).ok()?))
}

/// The folders at the beginning of a pattern that counts from the root.
fn fixed_part(pattern: &str) -> Option<VirtualPath> {
    let names = pattern.strip_prefix('/')?.split('/');
    let fixed: Vec<&str> = names.take_while(|name| !name.contains(['*', '?', '[', '{'])).collect();
    VirtualPath::parse(&format!("/{}", fixed.join("/"))).ok()
}

#[cfg(test)]
#[path = "permissions_tests.rs"]
mod tests;
