//! What a command line says plainly that a sandbox does not make good: files that it takes away, and names by which
//! something runs outside later (security.md A23, S28). What a program does by itself nobody can tell from its words, and a
//! place outside the project is the sandbox's to keep.

use super::command::{SHELL_WORDS, destroying, written};
use super::loose::{Command, Input, Piece, pieces};
use super::programs::{is_interpreter, is_runner, name_of};
use super::protected::armed;

/// Lines within lines, such as those of `sh -c`.
const DEEPEST: usize = 8;

/// What of the shell's own runs the words behind it.
const RUNS: &[&str] = &["builtin", "command", "eval", "exec", "trap"];

/// Programs by which files go, one by one too.
const DELETERS: &[&str] = &["rimraf", "rm", "rmdir", "shred", "srm", "truncate", "unlink"];

/// Options by which other programs take files away.
const DELETING: &[&str] = &["--del", "--delete", "--remove-files", "--remove-source-files", "-delete"];

/// What programming languages call it, behind the last `.`.
const METHODS: &[&str] =
    &["removedirs", "rm_r", "rm_rf", "rmdir", "rmdirsync", "rmsync", "rmtree", "unlink", "unlinksync"];

/// What reaches nothing from within a sandbox, where processes, mounts and devices are its own, or is no program there.
const HARMLESS: &[&str] = &[
    "del", "fdisk", "format", "halt", "kill", "killall", "mkswap", "mount", "parted", "pkill", "poweroff", "rd",
    "reboot", "shutdown", "umount", "wipefs",
];

/// Programs that only look at the files they are given.
const READERS: &[&str] = &[
    "[",
    "[[",
    "basename",
    "bat",
    "cat",
    "cmp",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "fgrep",
    "file",
    "grep",
    "head",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "printf",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "stat",
    "tail",
    "test",
    "wc",
];

/// The same of git.
const READING_VERBS: &[&str] = &["add", "blame", "commit", "diff", "grep", "log", "ls-files", "show", "status"];

/// What of `line` takes files away, which may not all be in the record of changes.
pub(super) fn deleting(line: &str) -> Option<String> {
    told(line, |words| {
        let Some((program, rest)) = words.split_first() else { return false };
        let method = program.rsplit(['.', ':']).next().unwrap_or_default().to_lowercase();
        DELETERS.contains(&&*name_of(program))
            || METHODS.contains(&&*method)
            || matches!(program.as_str(), "os.remove" | "fs.rm" | "fs.promises.rm" | "fsp.rm")
            || rest.iter().any(|word| DELETING.contains(&&**word) || word.starts_with("--delete-"))
            || destroys_held(words)
    })
}

/// What of `line` cannot be had back; `held` by a sandbox, where some programs reach nothing.
pub(super) fn destroyed(line: &str, held: bool) -> Option<String> {
    told(line, if held { destroys_held } else { destroying })
}

fn destroys_held(words: &[String]) -> bool {
    destroying(words) && !words.first().is_some_and(|program| HARMLESS.contains(&&*name_of(program)))
}

/// A name in `line` that later runs code or configures programs, where more than reading may be done with it.
pub(super) fn arming(line: &str) -> Option<String> {
    commands(line, DEEPEST).iter().find_map(Said::arms)
}

fn told(line: &str, is: impl Fn(&[String]) -> bool) -> Option<String> {
    let commands = commands(line, DEEPEST);
    if commands.iter().any(|command| command.is_unread) {
        return Some(line.to_owned());
    }
    commands.iter().flat_map(Said::readings).find(|words| is(words)).map(written)
}

/// The commands of a line, and those of the texts that they are given to run.
fn commands(line: &str, depth: usize) -> Vec<Said> {
    let unread = || vec![Said { is_unread: true, ..Said::default() }];
    let Some(deeper) = depth.checked_sub(1) else { return unread() };
    let of = |piece| match piece {
        Piece::Command(command) => {
            let (said, texts) = Said::of(&command);
            // What is one word is read where it stands.
            let lines = texts.iter().filter(|text| text.contains(char::is_whitespace));
            let within = lines.flat_map(|text| commands(text, deeper)).collect::<Vec<_>>();
            std::iter::once(said).chain(within).collect()
        }
        Piece::Unread => unread(),
        Piece::Join(_) | Piece::Open | Piece::Close => Vec::new(),
    };
    pieces(line).into_iter().flat_map(of).collect()
}

/// A command as far as its words tell.
#[derive(Default)]
struct Said {
    /// The program and its arguments, without their quotes.
    words: Vec<String>,
    /// The files that its output goes to.
    outputs: Vec<String>,
    /// The words of what it is given to run, whatever language that is in.
    within: Vec<String>,
    /// It runs what its words say, or may.
    runs: bool,
    /// There is more in it than is looked into.
    is_unread: bool,
}

impl Said {
    /// The command, and the texts that it is given to run.
    fn of(command: &Command) -> (Self, Vec<String>) {
        let mut texts = Vec::new();
        let mut runs = false;
        let mut rest = &command.words[..];
        while let Some((first, behind)) = rest.split_first() {
            match first.text.split_once('=') {
                // What a variable holds may be run where it stands.
                Some((name, value)) if is_name(name) => texts.push(value.to_owned()),
                _ if SHELL_WORDS.contains(&&*first.text) || first.text == "{" => {
                    runs |= RUNS.contains(&&*first.text);
                }
                _ => break,
            }
            rest = behind;
        }
        if let Some(program) = rest.first() {
            let name = name_of(&program.text);
            let is_put_together = program.is_changed || program.text.contains(char::is_whitespace);
            runs |= is_put_together || is_runner(&name) || is_interpreter(&name);
        }
        if runs {
            texts.extend(rest.iter().map(|word| &word.text).filter(|text| text.contains(is_between)).cloned());
            if let Some(Input::Text(text)) = &command.input {
                texts.push(text.text.clone());
            }
        }
        let within = texts.iter().flat_map(|text| text.split(is_between)).filter(|word| !word.is_empty());
        let said = Self {
            within: within.map(ToOwned::to_owned).collect(),
            words: rest.iter().map(|word| word.text.clone()).collect(),
            outputs: command.outputs.iter().map(|word| word.text.clone()).collect(),
            runs,
            is_unread: false,
        };
        (said, texts)
    }

    /// Its words as those of a command: from the first on, and where it runs others from each.
    fn readings(&self) -> impl Iterator<Item = &[String]> {
        let starts = if self.runs { self.words.len() } else { self.words.len().min(1) };
        let own = (0..starts).filter_map(|at| self.words.get(at..));
        own.chain((0..self.within.len()).filter_map(|at| self.within.get(at..)))
    }

    fn arms(&self) -> Option<String> {
        let named = if self.only_reads() { &[][..] } else { &self.words };
        self.within.iter().chain(&self.outputs).chain(named).find_map(|word| {
            let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            armed(word).or_else(|| armed(value))
        })
    }

    fn only_reads(&self) -> bool {
        let runs = |word: &String| {
            word.starts_with("-exec") || word.starts_with("-fprint") || word.starts_with("-ok") || word == "-fls"
        };
        match self.words.first().map(|program| name_of(program)).as_deref() {
            Some("git") => {
                let writes = |word: &String| word.starts_with("--output") || word.starts_with("-O");
                let is_reading = self.words.get(1).is_some_and(|verb| READING_VERBS.contains(&&**verb));
                is_reading && !self.words.iter().any(writes)
            }
            Some("find") => !self.words.iter().any(runs),
            Some(name) => READERS.contains(&name),
            None => true,
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a character stands between the words of a text, in whatever language.
fn is_between(c: char) -> bool {
    c.is_whitespace() || "|&;()<>`'\"{}[]$\\=,".contains(c)
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
