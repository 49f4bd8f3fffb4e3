use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bosun_backend::VirtualPath;
use bosun_tools::ToolKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pattern::covering;
use super::{RuleGuard, RulePattern, RuleSubject};

/// How much of what an agent wants to do is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// Reads and plans; everything that would change something is refused.
    PlanOnly,
    /// Asks before changes and commands.
    #[default]
    Ask,
    /// Writes and edits files of the project freely; deleting, protected names and commands ask.
    Edits,
    /// As [`Self::Edits`], and commands that a sandbox holds run too; one that plainly deletes or names what runs
    /// later asks, as does one that nothing holds.
    Sandbox,
}

impl ApprovalMode {
    /// What the record names as the decider.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanOnly => "plan only",
            Self::Ask => "ask before changes",
            Self::Edits => "edit freely in the project",
            Self::Sandbox => "run freely in the sandbox",
        }
    }
}

/// For how long and where a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    Session,
    Project,
    Always,
}

impl RuleScope {
    fn name(self) -> &'static str {
        match self {
            Self::Session => "this session",
            Self::Project => "this project",
            Self::Always => "always",
        }
    }
}

/// A standing answer of a person: calls like this one need not ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRule {
    pub id: String,
    pub scope: RuleScope,
    pub pattern: RulePattern,
}

impl StandingRule {
    /// What the record names as the decider.
    pub fn name(&self) -> String {
        format!("{} ({})", self.pattern.text(), self.scope.name())
    }
}

/// What a person said in advance for one session. Clones are the same: what is set holds from the next call on, for the
/// session's agent and all its subagents.
#[derive(Clone, Default)]
pub struct Standing {
    said: Arc<RwLock<Said>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    mode: ApprovalMode,
    rules: Vec<StandingRule>,
}

impl Standing {
    pub fn new(mode: ApprovalMode, rules: Vec<StandingRule>) -> Self {
        Self { said: Arc::new(RwLock::new(Said { mode, rules })) }
    }

    pub fn set(&self, mode: ApprovalMode, rules: Vec<StandingRule>) {
        *self.said.write().unwrap_or_else(PoisonError::into_inner) = Said { mode, rules };
    }

    pub fn mode(&self) -> ApprovalMode {
        self.said.read().unwrap_or_else(PoisonError::into_inner).mode
    }

    /// The names of the rules that together let a call pass.
    ///
    /// # Errors
    /// The guard that holds whatever the rules say; `None` where only no rule fits.
    pub fn passing(&self, subject: RuleSubject<'_>) -> Result<String, Option<RuleGuard>> {
        let said = self.said.read().unwrap_or_else(PoisonError::into_inner);
        let patterns: Vec<&RulePattern> = said.rules.iter().map(|rule| &rule.pattern).collect();
        let used = covering(&patterns, subject)?;
        let named = said.rules.iter().filter(|rule| used.iter().any(|used| std::ptr::eq(*used, &rule.pattern)));
        Ok(named.map(StandingRule::name).collect::<Vec<_>>().join(", "))
    }
}

impl RulePattern {
    /// Whether this pattern, together with `others`, lets a call pass.
    ///
    /// # Errors
    /// As [`Standing::passing`].
    pub fn passes(&self, others: &[Self], subject: RuleSubject<'_>) -> Result<bool, Option<RuleGuard>> {
        let all: Vec<&Self> = std::iter::once(self).chain(others).collect();
        Ok(covering(&all, subject)?.iter().any(|used| std::ptr::eq(*used, self)))
    }
}

impl<'a> RuleSubject<'a> {
    /// A call as rules look at it.
    pub fn of(tool: &'a str, kind: ToolKind, mutates: Option<&'a VirtualPath>, args: &'a Value) -> Self {
        match (kind, mutates) {
            (ToolKind::Edit, _) if tool == "delete" => Self::Deletion,
            (ToolKind::Edit, Some(path)) => Self::File(path),
            (ToolKind::Execute, _) => match args.get("command").and_then(Value::as_str) {
                Some(command) => Self::Command(command),
                // A command that cannot be read is covered by nothing: no line is empty.
                None => Self::Command(""),
            },
            // No rule has an empty name: an edit of nobody knows what is covered by none.
            (ToolKind::Edit, None) => Self::Tool(""),
            _ => Self::Tool(tool),
        }
    }
}

impl PartialEq for Standing {
    fn eq(&self, other: &Self) -> bool {
        let said = |standing: &Self| standing.said.read().unwrap_or_else(PoisonError::into_inner).clone();
        Arc::ptr_eq(&self.said, &other.said) || said(self) == said(other)
    }
}

impl Eq for Standing {}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said.read().unwrap_or_else(PoisonError::into_inner).fmt(f)
    }
}
