use bosun_backend::VirtualPath;
use bosun_tools::{Preview, ToolKind};
use serde_json::Value;

use super::command::{leaves_project, parts};
use super::held::{arming, destroyed};
use super::protected::protected_name;
use crate::{Ask, AskPlace, AskReason};

/// What makes approving a call grave: a person confirms it where no script can press (security.md A23).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grave {
    /// It runs with everything that the person may do: no sandbox holds it.
    Unsandboxed,
    /// A rule for calls like it holds where no sandbox does, too.
    UnsandboxedLater,
    /// A tool of another program, which reaches what that reaches.
    OtherProgram { tool: String },
    /// It names a place outside the project, or an address, and no sandbox keeps it from there.
    Outside,
    /// A file that later runs code or holds configuration.
    Protected { name: String },
    /// A folder goes with all that is in it.
    DeletesFolder { path: String },
    /// What it takes away cannot be had back.
    Destroys { command: String },
}

impl Ask {
    /// What is grave about a rule that lets calls like this one run from now on, beside what is grave about the call.
    pub fn grave_as_rule(&self) -> Option<Grave> {
        (self.kind == ToolKind::Execute && self.sandbox.is_some()).then_some(Grave::UnsandboxedLater)
    }

    /// What is grave about running the call with `args`, its own or others that were put in their place.
    pub fn grave(&self, args: &Value) -> Vec<Grave> {
        match self.kind {
            ToolKind::Execute => self.grave_command(args),
            ToolKind::Edit => self.grave_change(args),
            ToolKind::Other => vec![Grave::OtherProgram { tool: self.call.name.clone() }],
            ToolKind::Read | ToolKind::Plan | ToolKind::Delegate => Vec::new(),
        }
    }

    /// The same request about `path`, where a link leads, in `place`: other arguments were put in the place of its own.
    pub fn aimed_at(self, path: &VirtualPath, place: AskPlace) -> Self {
        let reason = match (protected_name(path), self.reason) {
            (Some(name), _) => AskReason::ProtectedName { name },
            // That was said of the file it was about.
            (None, AskReason::ProtectedName { .. }) => AskReason::EditsAsk,
            (None, AskReason::Hook { rule, .. }) => AskReason::Hook { rule, name: None },
            (None, reason) => reason,
        };
        Self { place: Some(place), reason, ..self }
    }

    /// The file or folder that the arguments of a tool for files name.
    pub fn names(args: &Value) -> Option<&str> {
        ["file_path", "path"].iter().find_map(|name| args.get(name).and_then(Value::as_str))
    }

    fn grave_command(&self, args: &Value) -> Vec<Grave> {
        let line = args.get("command").and_then(Value::as_str).unwrap_or_default();
        let held = self.sandbox.is_some();
        let mut grave = Vec::new();
        if held {
            grave.extend(arming(line).map(|name| Grave::Protected { name }));
        } else {
            grave.push(Grave::Unsandboxed);
            let leaves = |words: &Vec<String>| words.iter().any(|word| leaves_project(word));
            grave.extend(parts(line).is_ok_and(|commands| commands.iter().any(leaves)).then_some(Grave::Outside));
        }
        grave.extend(destroyed(line, held).map(|command| Grave::Destroys { command }));
        grave
    }

    fn grave_change(&self, args: &Value) -> Vec<Grave> {
        let mut grave = Vec::new();
        if self.place == Some(AskPlace::Outside) {
            grave.push(Grave::Outside);
        }
        if let (Preview::Delete { path, is_dir: true, .. }, true) = (&self.preview, *args == self.call.args) {
            grave.push(Grave::DeletesFolder { path: path.clone() });
        } else if self.call.name == "delete" && *args != self.call.args {
            // What is there now was looked at for the path that was asked for only.
            grave.push(Grave::DeletesFolder { path: Self::names(args).unwrap_or_default().to_owned() });
        }
        let protected = Self::names(args).and_then(|path| protected_name(&VirtualPath::parse(path).ok()?));
        let asked = match &self.reason {
            AskReason::ProtectedName { name } | AskReason::Hook { name: Some(name), .. } => Some(name.clone()),
            _ => None,
        };
        grave.extend(protected.or(asked).map(|name| Grave::Protected { name }));
        grave
    }
}

#[cfg(test)]
#[path = "grave_tests.rs"]
mod tests;
