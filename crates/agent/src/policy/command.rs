//! Command lines as far as a standing rule may look into them: plain words, nothing that a shell would change. What is
//! not plainly readable here is never said to be harmless; it asks.

use super::RuleGuard;
use super::programs::{is_runner, name_of};

/// More commands in one line are not looked into.
const MOST_PARTS: usize = 50;
/// Longer lines (bytes) are not looked into.
const LONGEST_LINE: usize = 16 * 1024;

/// The commands of a line, each as its words.
///
/// # Errors
/// [`RuleGuard`] for everything that is more than plain words joined by `;`, `&&`, `||`, `|` or line ends.
pub(super) fn parts(line: &str) -> Result<Vec<Vec<String>>, RuleGuard> {
    if line.len() > LONGEST_LINE {
        return Err(RuleGuard::TooLong);
    }
    let mut reader = Reader::default();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => reader.end_word(),
            '\n' => reader.end_line(),
            ';' => reader.end_part()?,
            '|' => {
                chars.next_if_eq(&'|');
                reader.end_part()?;
            }
            '&' if chars.next_if_eq(&'&').is_some() => reader.end_part()?,
            '\'' | '"' => reader.quoted(c, &mut chars)?,
            // Joins the two outputs; the only redirection that writes nothing.
            '>' if reader.word == "2" && !reader.was_quoted => {
                if chars.next() != Some('&') || chars.next() != Some('1') {
                    return Err(RuleGuard::Shell);
                }
                if chars.peek().is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '|')) {
                    return Err(RuleGuard::Shell);
                }
                reader.drop_word();
            }
            _ if is_plain(c) => reader.push(c),
            _ if c.is_ascii() && !c.is_control() => return Err(RuleGuard::Shell),
            _ => return Err(RuleGuard::Hidden),
        }
    }
    reader.finish()
}

/// Whether a character means nothing to a shell and can be seen.
fn is_plain(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ',' | '/' | ':' | '=' | '+' | '@' | '%');
    }
    c.is_alphanumeric()
}

#[derive(Default)]
struct Reader {
    done: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
    was_quoted: bool,
    /// A separator that wants something behind it stands at the end.
    is_open: bool,
}

impl Reader {
    fn push(&mut self, c: char) {
        self.word.push(c);
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() || self.was_quoted {
            self.words.push(std::mem::take(&mut self.word));
            self.is_open = false;
        }
        self.was_quoted = false;
    }

    fn drop_word(&mut self) {
        self.word.clear();
    }

    fn end_line(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.done.push(std::mem::take(&mut self.words));
        }
    }

    fn end_part(&mut self) -> Result<(), RuleGuard> {
        self.end_word();
        if self.words.is_empty() {
            return Err(RuleGuard::Shell);
        }
        self.done.push(std::mem::take(&mut self.words));
        self.is_open = true;
        if self.done.len() > MOST_PARTS { Err(RuleGuard::TooLong) } else { Ok(()) }
    }

    fn quoted(&mut self, quote: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(), RuleGuard> {
        self.was_quoted = true;
        for c in chars.by_ref() {
            match c {
                _ if c == quote => return Ok(()),
                '$' | '`' | '\\' | '!' if quote == '"' => return Err(RuleGuard::Shell),
                '\n' | '\t' => self.push(c),
                _ if c.is_control() => return Err(RuleGuard::Hidden),
                _ if c.is_ascii() || c.is_alphanumeric() => self.push(c),
                _ => return Err(RuleGuard::Hidden),
            }
        }
        Err(RuleGuard::Shell)
    }

    fn finish(mut self) -> Result<Vec<Vec<String>>, RuleGuard> {
        self.end_line();
        if self.is_open || self.done.is_empty() {
            return Err(RuleGuard::Shell);
        }
        if self.done.len() > MOST_PARTS {
            return Err(RuleGuard::TooLong);
        }
        Ok(self.done)
    }
}

/// A line's words as a person would write them again.
pub(super) fn written(words: &[String]) -> String {
    let quoted = |word: &String| match word.chars().all(is_plain) && !word.is_empty() {
        true => word.clone(),
        false if word.contains('\'') => format!("\"{word}\""),
        false => format!("'{word}'"),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What no rule lets pass in one command, whatever it says.
///
/// # Errors
/// The guard that holds.
pub(super) fn guarded(words: &[String]) -> Result<(), RuleGuard> {
    let (program, rest) = words.split_first().ok_or(RuleGuard::Shell)?;
    if !program.is_ascii() {
        return Err(RuleGuard::Hidden);
    }
    if program.contains('=') || program.is_empty() || SHELL_WORDS.contains(&program.as_str()) {
        return Err(RuleGuard::Shell);
    }
    if words.iter().any(|word| leaves_project(word)) {
        return Err(RuleGuard::Outside);
    }
    let name = name_of(program);
    if is_runner(&name) {
        return Err(RuleGuard::RunsOther { program: program.clone() });
    }
    if is_destructive(&name, rest) {
        return Err(RuleGuard::Destructive { command: written(words) });
    }
    let options = rest.iter().filter(|word| word.starts_with('-'));
    let mut names = options.map(|word| word.split('=').next().unwrap_or(word).to_owned());
    match names.find(|option| ESCAPES.contains(&option.as_str())) {
        Some(option) => Err(RuleGuard::Option { option }),
        None => Ok(()),
    }
}

/// Whether a command takes away what cannot be had back.
pub(super) fn destroying(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    is_destructive(&name_of(program), rest)
}

/// What changes how the rest of the line is read, or runs text.
pub(super) const SHELL_WORDS: &[&str] = &[
    ".", "!", "[", "[[", "alias", "builtin", "case", "command", "coproc", "declare", "do", "done", "elif", "else",
    "enable", "esac", "eval", "exec", "export", "fi", "for", "function", "hash", "if", "in", "let", "local", "mapfile",
    "popd", "pushd", "read", "readonly", "select", "set", "shift", "shopt", "source", "then", "time", "trap",
    "typeset", "unalias", "unset", "until", "wait", "while",
];

/// Options under which an ordinary program runs another one, or writes where it is told to.
const ESCAPES: &[&str] = &[
    "--checkpoint-action",
    "--config",
    "--config-env",
    "--exec",
    "--exec-path",
    "--ext-diff",
    "--fls",
    "--fprintf",
    "--git-dir",
    "--open-files-in-pager",
    "--output",
    "--pager",
    "--receive-pack",
    "--rsh",
    "--rsh-command",
    "--to-command",
    "--toolexec",
    "--upload-pack",
    "--use-compress-program",
    "--work-tree",
    "-delete",
    "-exec",
    "-execdir",
    "-fls",
    "-fprintf",
    "-ok",
    "-okdir",
    "-toolexec",
];

/// Whether a word names a place that is not plainly below the folder the command runs in, or an address.
pub(super) fn leaves_project(word: &str) -> bool {
    if word.contains("://") {
        return true;
    }
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    // `-I/usr/include` holds a path behind its letter.
    let joined = word.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
    [word, value, joined].into_iter().any(|text| {
        let windows = text.chars().nth(1) == Some(':') && text.starts_with(|c: char| c.is_ascii_alphabetic());
        text.starts_with('/')
            || text.starts_with('~')
            || (windows && matches!(text.chars().nth(2), Some('/' | '\\')))
            || text.split(['/', '\\', ':', ',', '=']).any(|part| part == "..")
            || text.split([':', ',']).any(|part| part.starts_with('/'))
    })
}

/// Whether the command takes away what cannot be had back.
fn is_destructive(program: &str, rest: &[String]) -> bool {
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let has_letter = |letters: &[char]| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    match program {
        "rm" => has(&["--recursive"]) || has_letter(&['r', 'R']),
        "chmod" | "chown" | "chgrp" => has(&["--recursive"]) || has_letter(&['R']),
        "git" => is_destructive_git(rest),
        "dd" | "shred" | "wipefs" | "fdisk" | "parted" | "truncate" | "mkswap" | "shutdown" | "reboot" | "poweroff"
        | "halt" | "kill" | "killall" | "pkill" | "mount" | "umount" | "srm" | "unlink" | "format" | "del" | "rd" => {
            true
        }
        _ => program.starts_with("mkfs"),
    }
}

fn is_destructive_git(mut rest: &[String]) -> bool {
    // Where it works, and how it shows what it says.
    let verb = loop {
        match rest {
            [first, behind @ ..] if ["--no-pager", "-P", "--no-optional-locks"].contains(&first.as_str()) => {
                rest = behind
            }
            [first, _, behind @ ..] if first == "-C" => rest = behind,
            [verb, behind @ ..] => {
                rest = behind;
                break verb;
            }
            [] => return false,
        }
    };
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let has_letter = |letters: &[char]| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    match verb.as_str() {
        // Other options before the verb set what git runs.
        option if option.starts_with('-') => true,
        "push" => {
            has(&["-f", "--force", "--mirror", "--delete", "-d", "--prune", "--all"])
                || rest.iter().any(|word| word.starts_with("--force") || word.starts_with(['+', ':']))
        }
        "reset" => !rest.is_empty() && !has(&["--soft"]),
        "checkout" | "switch" => {
            has(&["--force", "--", ".", "./", "--discard-changes"]) || has_letter(&['f', 'B', 'C'])
        }
        "stash" => has(&["drop", "clear", "pop"]),
        "branch" => has(&["--delete", "--force"]) || has_letter(&['D', 'd', 'f', 'M']),
        "tag" => has(&["--delete", "--force"]) || has_letter(&['d', 'f']),
        "commit" => has(&["--amend"]),
        "worktree" => has(&["remove", "prune"]),
        "submodule" => has(&["foreach", "deinit"]),
        "bisect" => has(&["run"]),
        "remote" => !rest.is_empty() && !has(&["-v", "show", "get-url"]),
        "clean" | "restore" | "reflog" | "gc" | "filter-branch" | "filter-repo" | "rebase" | "update-ref" | "prune"
        | "config" | "rm" | "read-tree" | "checkout-index" | "difftool" | "mergetool" | "fast-import" | "replace"
        | "hook" => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
