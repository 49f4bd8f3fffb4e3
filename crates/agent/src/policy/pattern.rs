use bosun_backend::VirtualPath;
use serde::{Deserialize, Serialize};

use super::command;
use super::programs::{MANY_COMMANDS, is_interpreter, name_of};
use super::protected::{beyond_project, protected_name};
use super::{PatternProblem, RuleGuard};

/// Says "and whatever comes behind it" at the end of a command pattern.
const MORE: &str = "*";
const LONGEST_PATTERN: usize = 1_000;

/// A call as rules look at it.
#[derive(Clone, Copy, Debug)]
pub enum RuleSubject<'a> {
    /// A command line.
    Command(&'a str),
    /// A file that would be written or edited.
    File(&'a VirtualPath),
    /// The same of one that is kept beside the project.
    FileBeside(&'a VirtualPath),
    /// Something would be deleted.
    Deletion,
    /// A call of a tool that nothing more is known of.
    Tool(&'a str),
}

/// What kind of calls a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    Command,
    Files,
    Tool,
}

/// What a standing rule covers, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "covers", rename_all = "snake_case")]
pub enum RulePattern {
    /// A command that begins with these words, word for word. `exact`: it has no further ones.
    Command { words: Vec<String>, exact: bool },
    /// Writing and editing files with such a path. `*` stands for anything in a name, `**` for any folders.
    Files { glob: String },
    /// Every call of one tool.
    Tool { name: String },
}

impl RulePattern {
    /// Reads what a person wrote: for a command its words, with `*` at the end for further ones; for files a glob from
    /// the top of the project; for a tool its name.
    ///
    /// # Errors
    /// [`PatternProblem`] for what covers nothing or more than a rule may.
    pub fn parse(kind: RuleKind, text: &str) -> Result<Self, PatternProblem> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST_PATTERN {
            return Err(PatternProblem::Empty);
        }
        match kind {
            RuleKind::Command => Self::command(text),
            RuleKind::Files => Self::files(text),
            RuleKind::Tool => Ok(Self::Tool { name: text.to_owned() }),
        }
    }

    fn command(text: &str) -> Result<Self, PatternProblem> {
        let (line, exact) = match text.strip_suffix(MORE) {
            Some(line) if line.ends_with(' ') => (line.trim_end(), false),
            Some("") => return Err(PatternProblem::Everything),
            _ => (text, true),
        };
        let mut parts = command::parts(line).map_err(|guard| PatternProblem::Guarded { guard })?;
        let Some(words) = parts.pop().filter(|_| parts.is_empty()) else { return Err(PatternProblem::OneCommand) };
        command::guarded(&words).map_err(|guard| PatternProblem::Guarded { guard })?;
        let Some((program, rest)) = words.split_first().filter(|_| !exact) else {
            return Ok(Self::Command { words, exact });
        };
        let program = program.as_str();
        let first = rest.first().map(String::as_str);
        let names_script = match first {
            Some("-m" | "run" | "x" | "exec" | "tool") => rest.len() > 1,
            Some(word) => !word.starts_with('-'),
            None => false,
        };
        let vague = (MANY_COMMANDS.contains(&program) && first.is_none_or(|word| word.starts_with('-')))
            || (is_interpreter(&name_of(program)) && !names_script);
        if vague {
            return Err(PatternProblem::Vague { program: program.to_owned() });
        }
        Ok(Self::Command { words, exact })
    }

    fn files(text: &str) -> Result<Self, PatternProblem> {
        let glob = if text.starts_with('/') { text.to_owned() } else { format!("/{text}") };
        let segments: Vec<&str> = glob.split('/').skip(1).collect();
        if segments
            .iter()
            .any(|part| part.is_empty() || *part == "." || *part == ".." || part.chars().any(char::is_control))
        {
            return Err(PatternProblem::NotAPath);
        }
        if glob.contains(['[', ']', '{', '}', '?', '\\']) {
            return Err(PatternProblem::NotAPath);
        }
        Ok(Self::Files { glob })
    }

    /// Patterns for one call, the narrowest first; the first is what is offered.
    ///
    /// # Errors
    /// The guard under which no rule is offered at all.
    pub fn offers(subject: RuleSubject<'_>) -> Result<Vec<Self>, RuleGuard> {
        match subject {
            RuleSubject::Deletion => Err(RuleGuard::Deletes),
            RuleSubject::Tool(name) => Ok(vec![Self::Tool { name: name.to_owned() }]),
            RuleSubject::File(path) | RuleSubject::FileBeside(path) => {
                if let Some(name) = protected_name(path) {
                    return Err(RuleGuard::Protected { name });
                }
                let folder = path.parent().filter(|folder| !folder.is_root());
                let globs = [Some(path.to_string()), folder.map(|folder| format!("{folder}/**"))];
                Ok(globs.into_iter().flatten().map(|glob| Self::Files { glob }).collect())
            }
            RuleSubject::Command(line) => {
                let parts = command::parts(line)?;
                for words in &parts {
                    command::guarded(words)?;
                }
                let [words] = parts.as_slice() else { return Err(RuleGuard::SeveralCommands) };
                let mut offers = vec![Self::Command { words: words.clone(), exact: true }];
                let mut begins = (1..=words.len().min(2)).filter_map(|count| {
                    let text = format!("{} {MORE}", command::written(words.get(..count)?));
                    Self::parse(RuleKind::Command, &text).ok()
                });
                let program = words.first().map(String::as_str).unwrap_or_default();
                // What a program of many commands does is said by two words; of others every word may matter.
                match begins.next_back() {
                    Some(begin) if MANY_COMMANDS.contains(&program) => offers.insert(0, begin),
                    Some(begin) => offers.push(begin),
                    None => {}
                }
                Ok(offers)
            }
        }
    }

    pub fn kind(&self) -> RuleKind {
        match self {
            Self::Command { .. } => RuleKind::Command,
            Self::Files { .. } => RuleKind::Files,
            Self::Tool { .. } => RuleKind::Tool,
        }
    }

    /// The pattern as a person writes it; [`RulePattern::parse`] reads the same from it.
    pub fn text(&self) -> String {
        match self {
            Self::Command { words, exact: true } => command::written(words),
            Self::Command { words, exact: false } => format!("{} {MORE}", command::written(words)),
            Self::Files { glob } => glob.clone(),
            Self::Tool { name } => name.clone(),
        }
    }

    fn covers_words(&self, given: &[String]) -> bool {
        let Self::Command { words, exact } = self else { return false };
        if *exact { given == words } else { given.starts_with(words) }
    }

    /// Calls that it would let pass and such that it would not, for a person to see what it means.
    pub fn examples(&self) -> (Vec<String>, Vec<String>) {
        match self {
            Self::Command { exact, .. } => {
                let line = self.text().trim_end_matches(MORE).trim_end().to_owned();
                let no = vec![format!("{line} && rm -rf ."), format!("{line} > /etc/x")];
                if *exact {
                    (vec![line.clone()], [vec![format!("{line} more")], no].concat())
                } else {
                    (vec![line.clone(), format!("{line} more words")], [vec![format!("{line}x")], no].concat())
                }
            }
            Self::Files { glob } => {
                let path = glob.replace("**", "a/b.txt").replace('*', "a");
                (
                    vec![path],
                    vec![
                        "/.git/hooks/pre-commit".into(),
                        format!("delete {}", glob.replace("**", "a").replace('*', "a")),
                    ],
                )
            }
            Self::Tool { name } => (vec![name.clone()], vec![format!("{name}_2")]),
        }
    }
}

/// Which of `rules` let a call pass together: every command of a line must be covered by one of them.
///
/// # Errors
/// The guard that holds whatever the rules say, or `None` where only no rule fits.
pub(super) fn covering<'r>(
    rules: &[&'r RulePattern],
    subject: RuleSubject<'_>,
) -> Result<Vec<&'r RulePattern>, Option<RuleGuard>> {
    match subject {
        RuleSubject::Deletion => Err(Some(RuleGuard::Deletes)),
        RuleSubject::Tool(name) => {
            let fits = |rule: &&&RulePattern| matches!(rule, RulePattern::Tool { name: known } if known == name);
            Ok(vec![*rules.iter().find(fits).ok_or(None)?])
        }
        RuleSubject::File(path) | RuleSubject::FileBeside(path) => {
            if let Some(name) = protected_name(path) {
                return Err(Some(RuleGuard::Protected { name }));
            }
            let beside = matches!(subject, RuleSubject::FileBeside(_)) || beyond_project(path);
            let fits = |rule: &&&RulePattern| matches!(rule, RulePattern::Files { glob } if fits(glob, path, beside));
            Ok(vec![*rules.iter().find(fits).ok_or(None)?])
        }
        RuleSubject::Command(line) => {
            let mut used: Vec<&RulePattern> = Vec::new();
            for words in command::parts(line).map_err(Some)? {
                command::guarded(&words).map_err(Some)?;
                let rule = *rules.iter().find(|rule| rule.covers_words(&words)).ok_or(None)?;
                if !used.contains(&rule) {
                    used.push(rule);
                }
            }
            Ok(used)
        }
    }
}

/// Whether a path has the form that `glob` says. What is `beside` the project is meant only where its folder is named.
fn fits(glob: &str, path: &VirtualPath, beside: bool) -> bool {
    let pattern: Vec<&str> = glob.split('/').skip(1).collect();
    let parts: Vec<&str> = path.segments().collect();
    if beside && pattern.first() != parts.first() {
        return false;
    }
    matches_all(&pattern, &parts, |pattern| *pattern == "**", |pattern, part| name_fits(pattern, part))
}

fn name_fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    matches_all(&pattern, &name, |c| *c == '*', |a, b| a == b)
}

/// Matching with one wildcard that stands for any number of things, in time of their product.
fn matches_all<P, T>(pattern: &[P], things: &[T], is_any: impl Fn(&P) -> bool, fits: impl Fn(&P, &T) -> bool) -> bool {
    let mut reachable = vec![false; things.len() + 1];
    if let Some(first) = reachable.first_mut() {
        *first = true;
    }
    for one in pattern {
        let stepped = reachable.iter().zip(things).map(|(before, thing)| *before && fits(one, thing));
        reachable = if is_any(one) {
            let mut any = false;
            reachable
                .iter()
                .map(|before| {
                    any |= *before;
                    any
                })
                .collect()
        } else {
            std::iter::once(false).chain(stepped).collect()
        };
    }
    reachable.last().copied().unwrap_or(false)
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
