use std::collections::{BTreeMap, HashSet};

use bosun_mcp::{TokenStore, VariableError, environment, variable_place};
use serde::{Deserialize, Serialize};

const LONGEST_WAIT: u64 = 600;
const LONGEST_NAME: usize = 64;

/// One hook, as a person writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    /// What messages call it.
    pub name: String,
    pub point: HookPoint,
    /// A program: a path, or a name in the search path. It runs without a shell.
    pub command: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Only for calls of these tools; `*` stands for any characters. Empty: for every tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Seconds until it is ended.
    #[serde(default = "usual_timeout")]
    pub timeout: u64,
    /// Variables it gets with these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Names of variables whose values are kept where sign-ins are, each for this program and its arguments
    /// ([`HookConfig::variable_place`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_env: Vec<String>,
    /// Names of variables it gets from the app's own environment, besides the usual few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
    /// What happens when it fails; by default a call that it would have looked at asks, and everything else goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    #[serde(default = "usually_on", skip_serializing_if = "is_on")]
    pub enabled: bool,
}

fn usual_timeout() -> u64 {
    10
}

fn usually_on() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn is_on(enabled: &bool) -> bool {
    *enabled
}

/// Where in a turn a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    TurnStart,
    BeforeModel,
    AfterModel,
    BeforeTool,
    AfterTool,
    SubagentStart,
    SubagentEnd,
    /// Before the first request that carries a new summary.
    Compaction,
    TurnEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    GoOn,
    Ask,
    Deny,
}

impl OnFailure {
    /// As settings spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::GoOn => "go_on",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl HookPoint {
    /// Whether something can still be refused here.
    pub fn can_deny(self) -> bool {
        matches!(self, Self::TurnStart | Self::BeforeModel) || self.can_ask()
    }

    /// Whether a person can be asked here.
    pub fn can_ask(self) -> bool {
        matches!(self, Self::BeforeTool | Self::SubagentStart)
    }

    /// Whether the model can be given something to read here.
    pub fn takes_context(self) -> bool {
        matches!(self, Self::TurnStart | Self::BeforeModel | Self::AfterTool | Self::SubagentEnd)
    }

    fn is_of_tools(self) -> bool {
        matches!(self, Self::BeforeTool | Self::AfterTool)
    }

    /// As settings spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::TurnStart => "turn_start",
            Self::BeforeModel => "before_model",
            Self::AfterModel => "after_model",
            Self::BeforeTool => "before_tool",
            Self::AfterTool => "after_tool",
            Self::SubagentStart => "subagent_start",
            Self::SubagentEnd => "subagent_end",
            Self::Compaction => "compaction",
            Self::TurnEnd => "turn_end",
        }
    }
}

/// A hook that cannot be used as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("a hook needs a name of 1 to {most} letters, digits, spaces, - and _, not \"{given}\"")]
    Name { given: String, most: usize },
    #[error("two hooks are called '{name}'; rename one of them")]
    Duplicate { name: String },
    #[error("the hook '{hook}' needs a command: the program to run")]
    NoCommand { hook: String },
    #[error("'{field}' of the hook '{hook}' contains a NUL byte or is not a variable")]
    Value { hook: String, field: &'static str },
    #[error("the timeout of the hook '{hook}' is {given} seconds; use 1 to {most}")]
    Timeout { hook: String, given: u64, most: u64 },
    #[error("the hook '{hook}' lists tools, which only before_tool and after_tool accept; remove them at {point}")]
    Tools { hook: String, point: &'static str },
    #[error("the hook '{hook}' cannot {wanted} at {point}; use go_on there")]
    Failure { hook: String, wanted: &'static str, point: &'static str },
}

/// Checks the hooks of one file or of the settings.
pub(crate) fn check(hooks: &[HookConfig]) -> Result<(), HookError> {
    let mut names = HashSet::new();
    for hook in hooks {
        hook.check()?;
        if !names.insert(hook.name.as_str()) {
            return Err(HookError::Duplicate { name: hook.name.clone() });
        }
    }
    Ok(())
}

impl HookConfig {
    pub(super) fn check(&self) -> Result<(), HookError> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        if self.name.trim().is_empty() || self.name.chars().count() > LONGEST_NAME || !self.name.chars().all(plain) {
            return Err(HookError::Name { given: self.name.chars().take(LONGEST_NAME).collect(), most: LONGEST_NAME });
        }
        let hook = || self.name.clone();
        if self.command.trim().is_empty() {
            return Err(HookError::NoCommand { hook: hook() });
        }
        if self.command.contains('\0') || self.args.iter().any(|argument| argument.contains('\0')) {
            return Err(HookError::Value { hook: hook(), field: "command" });
        }
        let is_variable =
            |(name, value): (&String, &str)| !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        let secret = self.secret_env.iter().map(|name| (name, ""));
        if !self.env.iter().map(|(name, value)| (name, value.as_str())).chain(secret).all(is_variable) {
            return Err(HookError::Value { hook: hook(), field: "env" });
        }
        if self.timeout == 0 || self.timeout > LONGEST_WAIT {
            return Err(HookError::Timeout { hook: hook(), given: self.timeout, most: LONGEST_WAIT });
        }
        let point = self.point.word();
        if !self.tools.is_empty() && !self.point.is_of_tools() {
            return Err(HookError::Tools { hook: hook(), point });
        }
        match self.on_failure {
            Some(OnFailure::Ask) if !self.point.can_ask() => {
                Err(HookError::Failure { hook: hook(), wanted: "ask", point })
            }
            Some(OnFailure::Deny) if !self.point.can_deny() => {
                Err(HookError::Failure { hook: hook(), wanted: "deny", point })
            }
            _ => Ok(()),
        }
    }

    /// Where the value of one of its variables is kept: for the program and the arguments that it was entered for.
    pub fn variable_place(&self, variable: &str) -> String {
        variable_place(&self.owner(), &self.command, &self.args, variable)
    }

    /// What its variables are kept under; no server is called so.
    fn owner(&self) -> String {
        format!("hook {}", self.name)
    }

    /// The variables that it is started with.
    pub(super) async fn environment(&self, kept: &dyn TokenStore) -> Result<Vec<(String, String)>, VariableError> {
        let owner = self.owner();
        let started = (owner.as_str(), self.command.as_str(), self.args.as_slice());
        environment(started, &self.env, &self.secret_env, kept).await
    }

    /// Whether it is for calls of `tool`.
    pub(super) fn is_for(&self, tool: Option<&str>) -> bool {
        let Some(tool) = tool else { return true };
        self.tools.is_empty() || self.tools.iter().any(|pattern| matches(pattern, tool))
    }

    pub(super) fn failure(&self) -> OnFailure {
        self.on_failure.unwrap_or(if self.point.can_ask() { OnFailure::Ask } else { OnFailure::GoOn })
    }
}

/// Whether `pattern` is for calls of one of `tools`.
pub(super) fn matches_any(pattern: &str, tools: &[&str]) -> bool {
    tools.iter().any(|tool| matches(pattern, tool))
}

/// Whether `name` is what `pattern` says, where `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{HookConfig, HookPoint, OnFailure, check, matches};

    fn read(text: &str) -> HookConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_hook_is_a_table_of_settings() {
        let hook = read(
            "name = \"guard\"\npoint = \"before_tool\"\ncommand = \"guard.sh\"\ntools = [\"execute\", \"web__*\"]",
        );
        assert_eq!((hook.point, hook.timeout, hook.failure()), (HookPoint::BeforeTool, 10, OnFailure::Ask));
        assert!(hook.is_for(Some("execute")) && hook.is_for(Some("web__get")) && !hook.is_for(Some("ls")));
        assert_eq!(check(&[hook]), Ok(()));
        assert!(!read("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"\nenabled = false").enabled);
        assert!(toml::from_str::<HookConfig>("name = \"a\"\npoint = \"sometimes\"\ncommand = \"b\"").is_err());
        assert!(toml::from_str::<HookConfig>("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"\nx = 1").is_err());
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_way_out() {
        let table = [
            ("name = \" \"\npoint = \"turn_end\"\ncommand = \"b\"", "needs a name"),
            ("name = \"a\\u001b[2J\"\npoint = \"turn_end\"\ncommand = \"b\"", "needs a name"),
            ("name = \"a\"\npoint = \"turn_end\"\ncommand = \"\"", "the program to run"),
            ("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"\ntimeout = 0", "use 1 to 600"),
            ("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"\ntools = [\"x\"]", "remove them at turn_end"),
            ("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"\non_failure = \"deny\"", "cannot deny at turn_end"),
            ("name = \"a\"\npoint = \"turn_start\"\ncommand = \"b\"\non_failure = \"ask\"", "cannot ask at turn_start"),
            ("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"\nenv = { \"=\" = \"c\" }", "not a variable"),
        ];
        for (text, expected) in table {
            let message = check(&[read(text)]).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
        let hook = read("name = \"a\"\npoint = \"turn_end\"\ncommand = \"b\"");
        assert!(check(&[hook.clone(), hook]).unwrap_err().to_string().contains("rename one"));
    }

    #[test]
    fn stars_stand_for_anything() {
        let table = [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "anything", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("", "", true),
            ("", "a", false),
            ("a*a", "a", false),
            ("**", "x", true),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
