//! What a script says about itself among what it has to say: that it began, and how the command ended that it was for.
//!
//! The program that goes there says by an exit code and in words of its own that it did not get there. A command can end
//! with the same code and say the same words, so neither tells whether it ran.

use super::script::{FOLDER, fresh_word};

/// In front of the word: a line that was handed over to be run, and is shown for some reason, does not hold it.
const MARK: u8 = 0x1e;
/// Behind what is said of an end.
const CLOSE: &[u8] = b"\x1e\n";
/// Stands in what is said of an end where something may go on.
const MAY_GO_ON: char = '\x1d';
/// Longest name of a folder.
const LONGEST_NAME: usize = 200;
/// Longest text about an end.
const LONGEST: usize = 1024;
/// Bytes from before the beginning that are kept: what a shell over there says when it starts.
const BEFORE: usize = 16 * 1024;

/// A word that no line holds by chance, and what was heard of it. A command that looks for it in the arguments of the shell
/// around it finds it, and can then say an end of its own choice, which it can anyway: with an exit code.
pub(crate) struct Word {
    text: String,
    marked: Vec<u8>,
    /// Not known yet to be anybody's.
    held: Vec<u8>,
    has_begun: bool,
    folder: Option<String>,
    end: Option<End>,
}

/// How a command ended, by one of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Nobody over there could say that all that it had started has ended too.
    pub(crate) may_go_on: bool,
}

impl Word {
    pub(crate) fn fresh() -> Self {
        let text = fresh_word();
        let marked = [&[MARK], text.as_bytes()].concat();
        Self { text, marked, held: Vec::new(), has_begun: false, folder: None, end: None }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// A script of files that says this word first, and which folder its root is; where that is known already, it is told
    /// `root` in its place, to do nothing where it is another one by now.
    pub(crate) fn in_front_of(&self, script: &str, root: Option<&str>) -> String {
        let word = &self.text;
        match root {
            Some(root) => {
                let root = root.replace('\'', r"'\''");
                format!("printf '\\036%s\\n' {word}\nexport BOSUN_ROOT='{root}'\n{script}")
            }
            None => format!(
                "{FOLDER}printf '\\036%s %s\\n' {word} \"$(unset CDPATH; cd \"$1\" 2>/dev/null && which_folder \
                 2>/dev/null)\"\nexport BOSUN_ROOT=\n{script}"
            ),
        }
    }

    /// Which folder its root is, in words that are only compared, as a script of files said.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(crate) fn end(&self) -> Option<End> {
        self.end
    }

    /// Takes what came next, and gives what of it is the script's or the command's own.
    pub(crate) fn hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        if !self.has_begun && !self.find_beginning() {
            return Vec::new();
        }
        let mut own = Vec::new();
        while let Some(at) = memchr::memmem::find(&self.held, &self.marked) {
            own.extend(self.held.drain(..at));
            let told = self.held.get(self.marked.len()..).unwrap_or_default();
            match memchr::memmem::find(told, CLOSE) {
                Some(length) => {
                    self.end = told.get(..length).and_then(End::parse).or(self.end);
                    self.held.drain(..self.marked.len() + length + CLOSE.len());
                }
                // The rest of it comes.
                None if told.len() < LONGEST => return own,
                None => own.extend(self.held.drain(..self.marked.len())),
            }
        }
        let unfinished = self.unfinished();
        own.extend(self.held.drain(..self.held.len() - unfinished));
        own
    }

    /// What is left when nothing more comes. An end that was begun to be told is nobody's output.
    pub(crate) fn left(&mut self) -> Vec<u8> {
        let left = std::mem::take(&mut self.held);
        if left.starts_with(&self.marked) { Vec::new() } else { left }
    }

    fn find_beginning(&mut self) -> bool {
        let mut marks = memchr::memmem::find_iter(&self.held, &self.marked);
        let begun = marks.find_map(|at| {
            let from = at + self.marked.len();
            let rest = self.held.get(from..)?;
            let length = memchr::memchr(b'\n', rest).filter(|length| *length <= LONGEST_NAME)?;
            let folder = rest.get(..length)?;
            (folder.is_empty() || folder.starts_with(b" ")).then(|| (from + length + 1, folder.to_vec()))
        });
        match begun {
            Some((end, folder)) => {
                self.held.drain(..end);
                let folder = String::from_utf8_lossy(&folder).trim().to_owned();
                self.folder = (!folder.is_empty()).then_some(folder);
                self.has_begun = true;
            }
            None => {
                let surplus = self.held.len().saturating_sub(BEFORE);
                self.held.drain(..surplus);
            }
        }
        self.has_begun
    }

    /// Bytes at the end of what is held that the word may go on from.
    fn unfinished(&self) -> usize {
        let from = self.held.len().saturating_sub(self.marked.len());
        let tail = self.held.get(from..).unwrap_or_default();
        let begun = memchr::memrchr(MARK, tail).and_then(|at| tail.get(at..));
        begun.filter(|begun| self.marked.starts_with(begun)).map_or(0, <[u8]>::len)
    }
}

impl End {
    /// Reads ` CODE` and what the shell has to say of its job. It has one number for a signal and for an exit code above
    /// 128; of a job that ended by itself it says that number, of another the signal's name.
    fn parse(told: &[u8]) -> Option<Self> {
        let told = String::from_utf8_lossy(told);
        let may_go_on = told.contains(MAY_GO_ON);
        let told = told.replace(MAY_GO_ON, "");
        let (code, job) = told.trim_start().split_once(' ')?;
        let number: i32 = code.parse().ok()?;
        let is_signal = (129..=192).contains(&number) && !job.trim().is_empty() && !job.contains(code);
        Some(if is_signal {
            Self { exit_code: None, signal: Some(number - 128), may_go_on }
        } else {
            Self { exit_code: Some(number), signal: None, may_go_on }
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{BEFORE, End, LONGEST, Word};

    fn exited(code: i32) -> Option<End> {
        Some(End { exit_code: Some(code), signal: None, may_go_on: false })
    }

    /// Hears `text`, in which `W` stands for the marked word, in parts of `size` bytes.
    fn heard(text: &str, size: usize) -> (String, Word) {
        let mut word = Word::fresh();
        let text = text.replace('W', &format!("\x1e{}", word.as_str()));
        let mut own: Vec<u8> = text.as_bytes().chunks(size).flat_map(|part| word.hear(part)).collect();
        own.extend(word.left());
        (String::from_utf8(own).unwrap(), word)
    }

    #[test]
    fn what_is_said_between_is_the_commands_own() {
        for size in [1, 2, 7, 1000] {
            let (own, word) = heard("welcome\nW\none\ntwo\x1eW 3 [1] - Done(3)  \n\x1e\nlate", size);
            assert_eq!((own.as_str(), word.has_begun(), word.end()), ("one\ntwo\x1elate", true, exited(3)), "{size}");
        }
    }

    #[test]
    fn the_folder_that_it_is_about_is_told_with_the_word() {
        for (text, folder) in
            [("W\n1", None), ("W \n1", None), ("welcome\nW 64:12\n1", Some("64:12")), ("W 12 .\n1", Some("12 ."))]
        {
            for size in [1, 4, 100] {
                let (own, word) = heard(text, size);
                assert!(own.ends_with('1') && word.has_begun(), "{text} {own}");
                assert_eq!(word.folder(), folder, "{text}");
            }
        }
        let word = Word::fresh();
        assert!(word.in_front_of("script", Some("1'2")).ends_with("export BOSUN_ROOT='1'\\''2'\nscript"));
    }

    #[test]
    fn what_never_began_is_given_back() {
        let (own, word) = heard("no shell here, nor any 'W' on a line", 5);
        assert!(own.starts_with("no shell here") && !word.has_begun() && word.end().is_none(), "{own}");
        let (own, _) = heard(&"x".repeat(BEFORE * 3), 1000);
        assert_eq!(own.len(), BEFORE);
    }

    #[test]
    fn a_beginning_without_an_end() {
        let (own, word) = heard("W\nearly\n", 4);
        assert_eq!((own.as_str(), word.has_begun(), word.end()), ("early\n", true, None));
        let (own, word) = heard("W\nearly\nW 1", 4);
        assert_eq!((own.as_str(), word.end()), ("early\n", None), "it was cut off in the middle");
        let long = format!("W\nW {}", "x".repeat(LONGEST));
        let (own, word) = heard(&long, 100);
        assert!(own.ends_with('x') && word.end().is_none());
    }

    #[test]
    fn nothing_is_held_back_that_is_no_word() {
        let mut word = Word::fresh();
        let begin = format!("\x1e{}\n", word.as_str());
        assert_eq!(word.hear(begin.as_bytes()), b"");
        assert_eq!(word.hear(b"Continue? [y/n] "), b"Continue? [y/n] ");
        assert_eq!(word.hear(b"\x1ebosom"), b"\x1ebosom");
    }

    /// As dash, busybox and bash say it, and in another language.
    #[test]
    fn signals_and_codes_are_told_apart_by_what_the_shell_says_of_the_job() {
        for (told, exit_code, signal) in [
            (" 0 [1] - Done                       \n", Some(0), None),
            (" 137 [1] - Killed                     \n", None, Some(9)),
            (" 137 [1] - Done(137)                  \n", Some(137), None),
            (" 139 [1]-  Segmentation fault         \n", None, Some(11)),
            (" 137 [1]-  Killed                  $s \"$@\" /bin/sh -c \"$l\" 3>&-", None, Some(9)),
            (" 137 [1]-  Exit 137                $s", Some(137), None),
            (" 137 [1]+  Fertig(137)", Some(137), None),
            (" 130 ", Some(130), None),
            (" 255 [1]   Unknown", Some(255), None),
        ] {
            assert_eq!(End::parse(told.as_bytes()), Some(End { exit_code, signal, may_go_on: false }), "{told}");
            let more = format!("{told}\x1d");
            assert_eq!(End::parse(more.as_bytes()), Some(End { exit_code, signal, may_go_on: true }), "{told}");
        }
        assert_eq!(End::parse(b" what"), None);
    }
}
