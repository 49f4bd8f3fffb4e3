use bosun_backend::VirtualPath;
use bosun_tools::{Preview, ToolKind};
use serde_json::Value;

use super::RuleGuard;
use super::command::{destroying, guarded, leaves_project, parts, written};
use super::programs::name_of;
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
    /// It names a place outside the project, or an address.
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
        let unsandboxed = self.sandbox.is_none().then_some(Grave::Unsandboxed);
        unsandboxed.into_iter().chain(grave_line(line)).collect()
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
            AskReason::ProtectedName { name } => Some(name.clone()),
            _ => None,
        };
        grave.extend(protected.or(asked).map(|name| Grave::Protected { name }));
        grave
    }
}

/// What is grave about a command line wherever it runs.
fn grave_line(line: &str) -> Vec<Grave> {
    let Ok(commands) = parts(line) else {
        let outside = readings(line).iter().flatten().any(|word| is_outside(word)).then_some(Grave::Outside);
        return outside.into_iter().chain(somewhere(line)).collect();
    };
    let guards: Vec<_> = commands.iter().map(|words| guarded(words)).collect();
    let mut grave = Vec::new();
    if guards.contains(&Err(RuleGuard::Outside)) {
        grave.push(Grave::Outside);
    }
    for (words, guard) in commands.iter().zip(guards) {
        if destroying(words) {
            grave.push(Grave::Destroys { command: written(words) });
        } else if guard.is_err() {
            grave.extend(somewhere(&words.join(" ")));
        }
    }
    grave
}

/// Words by which files go, one by one too: a person is not asked about the rest of a line in the sandbox.
const TAKES_AWAY: [&str; 7] = ["rm", "rmdir", "unlink", "shred", "truncate", "-delete", "--delete"];

/// Whether nothing in a line that a sandbox holds has to be asked for: nothing is grave about it, and no word of it takes
/// a file away, names a place outside, or a name that later runs code or configures programs. What a program makes of its
/// words by itself nobody can tell from them.
pub(super) fn runs_freely(line: &str) -> bool {
    let named = |word: &str| VirtualPath::parse(&format!("/{word}")).ok().and_then(|path| protected_name(&path));
    let asks = |word: &String| TAKES_AWAY.contains(&&*name_of(word)) || is_outside(word) || named(word).is_some();
    grave_line(line).is_empty() && !readings(line).iter().flatten().any(asks)
}

/// Whether a word of a line names a place outside the project; where output is thrown away is none.
fn is_outside(word: &str) -> bool {
    let at_home = word.split('/').next() == Some("HOME");
    word != "/dev/null" && (leaves_project(word) || at_home)
}

/// The words of a line that no rule can read, as they stand and as they are where a shell joins their parts.
fn readings(line: &str) -> [Vec<String>; 2] {
    let words = |line: &str, between: &str| {
        let is_between = |c: char| c.is_whitespace() || between.contains(c);
        line.split(is_between).filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
    };
    let joined: String = line.chars().filter(|c| !"\\'\"".contains(*c)).collect();
    [words(line, "|&;()<>`'\"{}$\\="), words(&joined, "|&;()<>`{}$=")]
}

/// Of what another program or a shell makes something, it is not known what: wherever its words would destroy, it counts.
fn somewhere(line: &str) -> Option<Grave> {
    let found = readings(line).into_iter().find_map(|words| {
        (0..words.len()).filter_map(|at| words.get(at..)).find(|words| destroying(words)).map(written)
    })?;
    Some(Grave::Destroys { command: found })
}

#[cfg(test)]
#[path = "grave_tests.rs"]
mod tests;
