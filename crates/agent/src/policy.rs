mod command;
mod grave;
mod guard;
mod held;
mod loose;
mod pattern;
mod programs;
mod protected;
mod scripts;
mod standing;

use std::collections::BTreeMap;

use bosun_backend::VirtualPath;
use bosun_tools::ToolKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use grave::Grave;
pub use guard::{PatternProblem, RuleGuard};
pub use pattern::{RuleKind, RulePattern, RuleSubject};
pub use scripts::{Certainty, ScriptName, ScriptNames};
pub use standing::{ApprovalMode, RuleScope, Standing, StandingRule};

use crate::{AskReason, DecisionKind};
use held::{arming, deleting};
use protected::{beyond_project, protected_name};

/// What is known of a call when it is judged.
#[derive(Clone, Debug)]
pub struct CallFacts<'a> {
    pub tool: &'a str,
    pub kind: ToolKind,
    /// The file it would change, where it would change one.
    pub mutates: Option<&'a VirtualPath>,
    /// That file is not the project's but kept beside it: what is said of the project's files in general does not mean it.
    pub beside: bool,
    pub args: &'a Value,
    /// It is a command, and a sandbox holds it.
    pub held: bool,
    /// Whether it would change what later sessions go by, after something was read that nobody vouches for (security.md
    /// C05), or what hooks and servers are started from (C02). No rule for edits covers that, as none covers files that later
    /// run code by their names.
    pub steers: bool,
}

impl<'a> CallFacts<'a> {
    /// The call as standing rules look at it.
    pub fn subject(&self) -> RuleSubject<'a> {
        match RuleSubject::of(self.tool, self.kind, self.mutates, self.args) {
            RuleSubject::File(path) if self.beside => RuleSubject::FileBeside(path),
            subject => subject,
        }
    }

    /// The file that no rule for edits in general covers.
    fn guarded(&self) -> Option<String> {
        let path = self.mutates?;
        protected_name(path).or_else(|| self.steers.then(|| path.to_string()))
    }
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
    /// Per tool, over the rule of its kind: `None` means that the tool never asks, but for what no rule for edits covers. It
    /// lets nothing pass that the rule of its kind rejects.
    #[serde(default)]
    pub interrupt_on: BTreeMap<String, Option<InterruptConfig>>,
    /// What a person said in advance; it decides only where the rules above would ask. Shared with subagents.
    #[serde(skip)]
    pub standing: Standing,
}

impl Default for Policy {
    /// Ask before changes.
    fn default() -> Self {
        Self {
            edits: PermissionRule::Ask,
            commands: PermissionRule::Ask,
            interrupt_on: BTreeMap::new(),
            standing: Standing::default(),
        }
    }
}

impl Policy {
    pub fn judge(&self, facts: &CallFacts<'_>) -> Verdict {
        let rule = match facts.kind {
            ToolKind::Edit => &self.edits,
            ToolKind::Read | ToolKind::Plan | ToolKind::Delegate => &PermissionRule::Ask,
            ToolKind::Execute | ToolKind::Other => &self.commands,
        };
        let changes = matches!(facts.kind, ToolKind::Edit | ToolKind::Execute | ToolKind::Other);
        if changes && *rule == PermissionRule::Ask && self.standing.mode() == ApprovalMode::PlanOnly {
            return Verdict::Reject { rule: ApprovalMode::PlanOnly.name().to_owned() };
        }
        let config = self.interrupt_on.get(facts.tool);
        let never_asks = PermissionRule::Allow { name: format!("{} never asks", facts.tool) };
        let rule = match (config, rule) {
            (Some(None), PermissionRule::Ask) => &never_asks,
            (_, rule) => rule,
        };
        let config = config.cloned().flatten();
        if !changes && config.is_none() {
            return Verdict::Allow { rule: None };
        }
        let passes = matches!(rule, PermissionRule::Allow { .. } | PermissionRule::AllowAll { .. });
        if let Some(config) =
            config.as_ref().filter(|config| passes && !config.allowed.contains(&DecisionKind::Approve))
        {
            // What not even a person may approve, no rule approves for them.
            return Verdict::Ask { reason: reason_for(facts), config: config.clone() };
        }
        match rule {
            PermissionRule::Reject { name } => Verdict::Reject { rule: name.clone() },
            PermissionRule::AllowAll { name } => Verdict::Allow { rule: Some(name.clone()) },
            PermissionRule::Allow { name } => match facts.guarded() {
                // A rule for edits in general never covers a file that later runs code (security.md P33).
                Some(protected) if facts.kind == ToolKind::Edit => {
                    let reason = AskReason::ProtectedName { name: protected };
                    Verdict::Ask { reason, config: config.unwrap_or_default() }
                }
                _ => Verdict::Allow { rule: Some(name.clone()) },
            },
            PermissionRule::Ask => {
                // What is set to ask by itself is for a person, whatever they said of other calls.
                if let Some(rule) = self.said_before(facts).filter(|_| changes && config.is_none() && !facts.steers) {
                    return Verdict::Allow { rule: Some(rule) };
                }
                let reason = match facts.guarded() {
                    Some(name) => AskReason::ProtectedName { name },
                    None => self.exception(facts).unwrap_or_else(|| reason_for(facts)),
                };
                Verdict::Ask { reason, config: config.unwrap_or_default() }
            }
        }
    }

    /// Why a command asks in the mode that lets them pass in a sandbox.
    fn exception(&self, facts: &CallFacts<'_>) -> Option<AskReason> {
        match (self.standing.mode(), facts.subject()) {
            (ApprovalMode::Sandbox, RuleSubject::Command(line)) if facts.held => asked_in_sandbox(line),
            _ => None,
        }
    }

    /// What the person said in advance lets this call pass, named.
    fn said_before(&self, facts: &CallFacts<'_>) -> Option<String> {
        let (mode, subject) = (self.standing.mode(), facts.subject());
        let is_free = match (mode, subject) {
            (ApprovalMode::Edits | ApprovalMode::Sandbox, RuleSubject::File(path)) => {
                protected_name(path).is_none() && !beyond_project(path)
            }
            (ApprovalMode::Sandbox, RuleSubject::Command(line)) => facts.held && asked_in_sandbox(line).is_none(),
            _ => false,
        };
        if is_free { Some(mode.name().to_owned()) } else { self.standing.passing(subject).ok() }
    }
}

/// What is asked about a command that a sandbox holds.
fn asked_in_sandbox(line: &str) -> Option<AskReason> {
    let armed = arming(line).map(|name| AskReason::ProtectedName { name });
    armed.or_else(|| deleting(line).map(|_| AskReason::DeletesAsk))
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

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
