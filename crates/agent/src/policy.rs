use std::collections::BTreeMap;

use bosun_backend::VirtualPath;
use bosun_tools::ToolKind;
use serde::{Deserialize, Serialize};

use crate::{AskReason, DecisionKind};

/// What is known of a call when it is judged.
#[derive(Clone, Debug)]
pub struct CallFacts<'a> {
    pub tool: &'a str,
    pub kind: ToolKind,
    /// The file it would change, where it would change one.
    pub mutates: Option<&'a VirtualPath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Runs. `rule` is set where it would have asked otherwise.
    Allow {
        rule: Option<String>,
    },
    Ask {
        reason: AskReason,
        config: InterruptConfig,
    },
    /// Does not run, and nobody is asked.
    Reject {
        rule: String,
    },
}

/// How one tool asks (behaviour.md 8.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptConfig {
    /// Never empty.
    pub allowed: Vec<DecisionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Default for InterruptConfig {
    fn default() -> Self {
        Self { allowed: DecisionKind::ALL.to_vec(), description: None }
    }
}

/// What happens to the calls of one kind that would change something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum PermissionRule {
    Ask,
    /// `name` is what the record keeps of the rule. Files with protected names still ask.
    Allow {
        name: String,
    },
    /// Protected names included; only for someone who said so in as many words.
    AllowAll {
        name: String,
    },
    Reject {
        name: String,
    },
}

/// The rule set. Pure: the same facts give the same verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// For writing, editing and deleting files.
    pub edits: PermissionRule,
    /// For commands and everything that is neither reading nor planning nor delegating.
    pub commands: PermissionRule,
    /// Per tool, over the rule of its kind: `None` means that the tool never asks.
    #[serde(default)]
    pub interrupt_on: BTreeMap<String, Option<InterruptConfig>>,
}

impl Default for Policy {
    /// Ask before changes.
    fn default() -> Self {
        Self { edits: PermissionRule::Ask, commands: PermissionRule::Ask, interrupt_on: BTreeMap::new() }
    }
}

impl Policy {
    pub fn judge(&self, facts: &CallFacts<'_>) -> Verdict {
        let config = self.interrupt_on.get(facts.tool);
        if let Some(None) = config {
            return Verdict::Allow { rule: Some(format!("{} never asks", facts.tool)) };
        }
        let config = config.cloned().flatten();
        let rule = match facts.kind {
            ToolKind::Read | ToolKind::Plan | ToolKind::Delegate if config.is_none() => {
                return Verdict::Allow { rule: None };
            }
            ToolKind::Edit => &self.edits,
            ToolKind::Read | ToolKind::Plan | ToolKind::Delegate => &PermissionRule::Ask,
            ToolKind::Execute | ToolKind::Other => &self.commands,
        };
        match rule {
            PermissionRule::Reject { name } => Verdict::Reject { rule: name.clone() },
            PermissionRule::AllowAll { name } => Verdict::Allow { rule: Some(name.clone()) },
            PermissionRule::Allow { name } => match facts.mutates.and_then(protected_name) {
                // A rule for edits in general never covers a file that later runs code (security.md P33).
                Some(protected) if facts.kind == ToolKind::Edit => {
                    let reason = AskReason::ProtectedName { name: protected };
                    Verdict::Ask { reason, config: config.unwrap_or_default() }
                }
                _ => Verdict::Allow { rule: Some(name.clone()) },
            },
            PermissionRule::Ask => {
                let reason = match facts.mutates.and_then(protected_name) {
                    Some(name) => AskReason::ProtectedName { name },
                    None => reason_for(facts),
                };
                Verdict::Ask { reason, config: config.unwrap_or_default() }
            }
        }
    }
}

fn reason_for(facts: &CallFacts<'_>) -> AskReason {
    match facts.kind {
        ToolKind::Edit if facts.tool == "delete" => AskReason::DeletesAsk,
        ToolKind::Edit => AskReason::EditsAsk,
        ToolKind::Execute | ToolKind::Other => AskReason::CommandsAsk,
        ToolKind::Read | ToolKind::Plan | ToolKind::Delegate => {
            AskReason::Rule { rule: format!("{} asks", facts.tool) }
        }
    }
}

/// The part of `path` that makes it one that later runs code or configures programs, compared without case and
/// without trailing dots and spaces, as lenient file systems would.
fn protected_name(path: &VirtualPath) -> Option<String> {
    let folded: Vec<String> = path.segments().map(|part| part.trim_end_matches(['.', ' ']).to_lowercase()).collect();
    let has = |name: &str| folded.iter().any(|part| part == name);
    let pair =
        |first: &str, second: &str| folded.windows(2).any(|two| matches!(two, [a, b] if a == first && b == second));
    let last = folded.last().map(String::as_str).unwrap_or_default();
    let protected = has(".git")
        || has("git~1")
        || has(".bosun")
        || has(".husky")
        || pair(".vscode", "tasks.json")
        || pair(".vscode", "settings.json")
        || pair(".vscode", "launch.json")
        || has(".idea")
        || pair(".github", "workflows")
        || matches!(
            last,
            ".bashrc"
                | ".bash_profile"
                | ".profile"
                | ".zshrc"
                | ".zprofile"
                | ".zshenv"
                | ".envrc"
                | ".gitmodules"
                | ".gitattributes"
                | ".gitlab-ci.yml"
                | ".npmrc"
                | ".mcp.json"
        );
    protected.then(|| path.to_string())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn judge(policy: &Policy, tool: &str, kind: ToolKind, path: Option<&str>) -> Verdict {
        let path = path.map(|path| VirtualPath::parse(path).unwrap());
        policy.judge(&CallFacts { tool, kind, mutates: path.as_ref() })
    }

    fn asks(verdict: &Verdict) -> Option<&AskReason> {
        match verdict {
            Verdict::Ask { reason, .. } => Some(reason),
            Verdict::Allow { .. } | Verdict::Reject { .. } => None,
        }
    }

    #[test]
    fn by_default_changes_and_commands_ask_and_reading_does_not() {
        let policy = Policy::default();
        assert_eq!(asks(&judge(&policy, "edit_file", ToolKind::Edit, Some("/a"))), Some(&AskReason::EditsAsk));
        assert_eq!(asks(&judge(&policy, "delete", ToolKind::Edit, Some("/a"))), Some(&AskReason::DeletesAsk));
        assert_eq!(asks(&judge(&policy, "execute", ToolKind::Execute, None)), Some(&AskReason::CommandsAsk));
        assert_eq!(judge(&policy, "ls", ToolKind::Read, None), Verdict::Allow { rule: None });
    }

    #[test]
    fn allowing_edits_never_covers_protected_names() {
        let policy = Policy { edits: PermissionRule::Allow { name: "edits".into() }, ..Policy::default() };
        for path in ["/.git/hooks/pre-commit", "/sub/.GIT/config", "/.Git./x", "/.github/workflows/ci.yml", "/.envrc"] {
            assert!(asks(&judge(&policy, "write_file", ToolKind::Edit, Some(path))).is_some(), "{path}");
        }
        assert_eq!(
            judge(&policy, "write_file", ToolKind::Edit, Some("/src/git.rs")),
            Verdict::Allow { rule: Some("edits".into()) }
        );
    }

    #[test]
    fn a_tool_can_be_set_to_one_kind_of_answer() {
        let config = InterruptConfig { allowed: vec![DecisionKind::Respond], description: Some("hm".into()) };
        let policy = Policy { interrupt_on: [("ls".to_owned(), Some(config.clone()))].into(), ..Policy::default() };
        let verdict = judge(&policy, "ls", ToolKind::Read, None);
        assert_eq!(verdict, Verdict::Ask { reason: AskReason::Rule { rule: "ls asks".into() }, config });
    }
}
