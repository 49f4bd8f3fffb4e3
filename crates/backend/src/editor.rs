//! The person's own editor, in which a file is opened as text: also one that the system would start instead of opening.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

use crate::opener::first_of;

/// Stands for the file, and for the line in it.
const FILE: &str = "{file}";
const LINE: &str = "{line}";
/// Bytes of a command.
const LONGEST: usize = 4096;
/// Bytes at a file's beginning that tell whether it is text.
const LOOKED_AT: u64 = 8 * 1024;

/// How an editor is started, as a person wrote it: a program and its arguments, such as `code -g {file}:{line}`. No shell
/// reads it. Where no argument names the file, it is the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorCommand {
    program: String,
    arguments: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditorFault {
    #[error("it names no program")]
    NoProgram,
    #[error("a quotation mark is not closed")]
    OpenQuote,
    /// What is opened must never be what runs.
    #[error("the program's own name cannot hold {{file}} or {{line}}")]
    PlaceholderProgram,
    /// It would be another one in every folder.
    #[error("a program with a folder in its name has to be named from the root on")]
    RelativeProgram,
    #[error("it has a character that no command can hold")]
    Nul,
    #[error("it is too long")]
    TooLong,
}

impl EditorCommand {
    /// Words are set apart by blanks; quotation marks of either kind hold one together.
    pub fn parse(text: &str) -> Result<Self, EditorFault> {
        if text.contains('\0') {
            return Err(EditorFault::Nul);
        }
        if text.len() > LONGEST {
            return Err(EditorFault::TooLong);
        }
        let mut words = words(text)?.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or(EditorFault::NoProgram)?;
        if program.contains(FILE) || program.contains(LINE) {
            return Err(EditorFault::PlaceholderProgram);
        }
        if program.contains('/') && !program.starts_with('/') {
            return Err(EditorFault::RelativeProgram);
        }
        Ok(Self { program, arguments: words.collect() })
    }

    /// The arguments for `file`. A file named from the root on is never read as an option.
    fn arguments(&self, file: &Path, line: u32) -> Vec<OsString> {
        let filled = |argument: &String| filled(argument, file.as_os_str(), line);
        let mut arguments: Vec<OsString> = self.arguments.iter().map(filled).collect();
        if !self.arguments.iter().any(|argument| argument.contains(FILE)) {
            arguments.push(file.as_os_str().to_owned());
        }
        arguments
    }

    /// Starts it, without the variables `hidden`, and without waiting for it to end. Blocks for a moment.
    ///
    /// # Errors
    /// Where `file` is not named from the root on, and what the system said, or the program where it failed at once.
    pub fn open(&self, file: &Path, line: u32, hidden: &[&str]) -> io::Result<()> {
        if !file.is_absolute() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut command = Command::new(&self.program);
        // Where a search path names the folder one is in, that is none of a project.
        command.args(self.arguments(file, line)).current_dir("/");
        first_of([command], hidden)
    }
}

fn words(text: &str) -> Result<Vec<String>, EditorFault> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err(EditorFault::OpenQuote);
    }
    words.extend(word);
    Ok(words)
}

/// In one pass: what a file's name holds is no placeholder.
fn filled(argument: &str, file: &OsStr, line: u32) -> OsString {
    let (mut made, mut rest) = (Vec::new(), argument);
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        made.extend_from_slice(before.as_bytes());
        if let Some(after) = from.strip_prefix(FILE) {
            made.extend_from_slice(file.as_bytes());
            rest = after;
        } else if let Some(after) = from.strip_prefix(LINE) {
            made.extend_from_slice(line.to_string().as_bytes());
            rest = after;
        } else {
            made.push(b'{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    made.extend_from_slice(rest.as_bytes());
    OsString::from_vec(made)
}

/// Whether a program for texts can show what is in this file, by how it begins. Never waits for what is no file.
pub fn is_text(file: &Path) -> bool {
    if !std::fs::metadata(file).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let mut begins = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut begins));
    read.is_ok() && !begins.contains(&0)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn arguments(command: &str, file: impl AsRef<Path>) -> Vec<OsString> {
        let parsed = EditorCommand::parse(command);
        parsed.map(|command| command.arguments(file.as_ref(), 12)).unwrap_or_default()
    }

    #[test]
    fn placeholders_are_filled_in_whole_arguments() {
        assert_eq!(arguments("code -g {file}:{line}", "/p/a b.rs"), ["-g", "/p/a b.rs:12"]);
        assert_eq!(arguments("  gvim\t+{line}  {file} ", "/p/x"), ["+12", "/p/x"]);
        assert_eq!(arguments("subl", "/p/x"), ["/p/x"]);
        assert_eq!(arguments("ed --at {line}", "/p/x"), ["--at", "12", "/p/x"]);
        assert_eq!(arguments("ed {other} {{file}}", "/p/x"), ["{other}", "{/p/x}"]);
    }

    #[test]
    fn quotation_marks_hold_a_word_together() {
        let command = EditorCommand::parse("'/opt/My Editor/run' \"a b\" '' c'd e'").unwrap();
        assert_eq!(command.program, "/opt/My Editor/run");
        assert_eq!(command.arguments, ["a b", "", "cd e"]);
        for open in ["code 'x", "\"code"] {
            assert_eq!(EditorCommand::parse(open), Err(EditorFault::OpenQuote), "{open}");
        }
    }

    #[test]
    fn a_hostile_name_is_one_argument_and_nothing_else() {
        let names = ["-rf", "--wait", "a; touch M", "$(touch M)", "`x`", "a\nb", "{line}", "{file}", "'\"", "名 前"];
        for name in names {
            let file = Path::new("/p").join(name);
            assert_eq!(arguments("code -g {file}", &file), [OsStr::new("-g"), file.as_os_str()], "{name}");
            assert_eq!(arguments("code", &file), [file.as_os_str()], "{name}");
        }
        let bytes = Path::new(OsStr::from_bytes(b"/p/\xff{line}"));
        assert_eq!(arguments("code {file}:{line}", bytes), [OsStr::from_bytes(b"/p/\xff{line}:12")]);
    }

    #[test]
    fn what_is_opened_is_never_what_runs() {
        for (text, fault) in [
            ("", EditorFault::NoProgram),
            ("   ", EditorFault::NoProgram),
            ("'' x", EditorFault::NoProgram),
            ("{file}", EditorFault::PlaceholderProgram),
            ("/opt/{line} {file}", EditorFault::PlaceholderProgram),
            ("./edit {file}", EditorFault::RelativeProgram),
            ("bin/edit", EditorFault::RelativeProgram),
            ("co\0de", EditorFault::Nul),
        ] {
            assert_eq!(EditorCommand::parse(text), Err(fault), "{text:?}");
        }
        let named = EditorCommand::parse("true").unwrap().open(Path::new("-x"), 1, &[]);
        assert_eq!(named.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn it_is_started_with_what_it_was_given_and_a_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (said, file) = (folder.path().join("said"), folder.path().join("-a b; $(x).sh"));
        std::fs::write(&file, "#!/bin/sh\ntouch executed\n").unwrap();
        let command = format!("sh -c 'echo \"$PWD|$1|$2\" > \"$0\"' '{}' {{line}} {{file}}", said.display());
        EditorCommand::parse(&command).unwrap().open(&file, 7, &[]).unwrap();
        assert_eq!(std::fs::read_to_string(said).unwrap(), format!("/|7|{}\n", file.display()));
        assert!(!folder.path().join("executed").exists());
        let failed = EditorCommand::parse("false").unwrap().open(&file, 1, &[]).unwrap_err();
        assert!(failed.to_string().contains('1'), "{failed}");
        let missing = EditorCommand::parse("/nowhere/editor").unwrap().open(&file, 1, &[]).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_text_is_told_by_how_it_begins() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            is_text(&path)
        };
        assert!(file("a.sh", b"#!/bin/sh\n") && file("empty", b"") && file("latin", b"caf\xe9"));
        assert!(!file("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR") && !file("elf", b"\x7fELF\x02\x01\x01\0"));
        assert!(!is_text(folder.path()) && !is_text(&folder.path().join("none")));
        assert!(!is_text(Path::new("/dev/zero")));
    }
}
