//! What the options of programs that run files say about these.

use super::super::loose::Word;

/// The options of a program, as far as they say what it runs. Short ones by their letters.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    /// Their value is a program in words: no file is run.
    pub text: &'static str,
    pub long_text: &'static [&'static str],
    /// Their value is a file that is run.
    pub files: &'static str,
    pub long_files: &'static [&'static str],
    /// Their value is the folder in which the program works.
    pub folders: &'static str,
    pub long_folders: &'static [&'static str],
    /// They have a value that is nothing of this.
    pub values: &'static str,
    pub long_values: &'static [&'static str],
    /// What is written together with them is their value, and only that.
    pub joined: &'static str,
    /// A file that an option names is the program itself: what stands behind the options is for it to read.
    pub file_is_all: bool,
    /// Long ones begin with one dash.
    pub one_dash: bool,
}

/// What a command line gives a program.
#[derive(Default)]
pub(super) struct Given<'w> {
    pub has_text: bool,
    pub files: Vec<Word>,
    pub folders: Vec<Word>,
    /// What stands behind the options.
    pub rest: &'w [Word],
}

enum Kind {
    Text,
    File,
    Folder,
    Value,
    Flag,
}

impl Options {
    /// Reads options up to the first word that is none.
    pub fn read<'w>(&self, mut words: &'w [Word]) -> Given<'w> {
        let mut given = Given::default();
        while let Some((word, behind)) = words.split_first() {
            let text = word.text.as_str();
            if text == "--" {
                words = behind;
                break;
            }
            // A shell switches off with `+` what it switches on with `-`.
            let is_option = text.len() > 1 && text.starts_with('-') || text.len() == 2 && text.starts_with('+');
            if !is_option {
                break;
            }
            words = behind;
            let (kind, value) =
                if text.starts_with("--") || self.one_dash { self.long(text) } else { self.short(text) };
            if matches!(kind, Kind::Flag) {
                continue;
            }
            let value = match value {
                Some(value) => Word { text: value.to_owned(), is_changed: word.is_changed },
                // The text of a shell is its first argument, wherever its option stands.
                None if matches!(kind, Kind::Text) => Word::default(),
                None => {
                    let Some((next, behind)) = words.split_first() else { break };
                    words = behind;
                    next.clone()
                }
            };
            match kind {
                Kind::Text => given.has_text = true,
                Kind::File => given.files.push(value),
                Kind::Folder => given.folders.push(value),
                Kind::Value | Kind::Flag => {}
            }
        }
        given.rest = words;
        given
    }

    /// Reads options wherever they stand, as most programs do that have many commands.
    pub fn read_all<'w>(&self, words: &'w [Word]) -> Given<'w> {
        let mut given = self.read(words);
        while let Some((_, behind)) = given.rest.split_first() {
            let next = self.read(behind);
            given.files.extend(next.files);
            given.folders.extend(next.folders);
            given.rest = next.rest;
        }
        given
    }

    fn long<'a>(&self, text: &'a str) -> (Kind, Option<&'a str>) {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let kind = match name {
            _ if self.long_text.contains(&name) => Kind::Text,
            _ if self.long_files.contains(&name) => Kind::File,
            _ if self.long_folders.contains(&name) => Kind::Folder,
            _ if self.long_values.contains(&name) && value.is_none() => Kind::Value,
            _ => Kind::Flag,
        };
        (kind, value)
    }

    /// The letters of one word: the first that has a value takes the rest of it.
    fn short<'a>(&self, text: &'a str) -> (Kind, Option<&'a str>) {
        for (at, letter) in text.char_indices().skip(1) {
            let kind = match letter {
                _ if self.text.contains(letter) => Kind::Text,
                _ if self.files.contains(letter) => Kind::File,
                _ if self.folders.contains(letter) => Kind::Folder,
                _ if self.values.contains(letter) => Kind::Value,
                _ if self.joined.contains(letter) => return (Kind::Flag, None),
                _ => continue,
            };
            let value = text.get(at + letter.len_utf8()..).filter(|value| !value.is_empty());
            return (kind, value);
        }
        (Kind::Flag, None)
    }
}

const NONE: Options = Options {
    text: "",
    long_text: &[],
    files: "",
    long_files: &[],
    folders: "",
    long_folders: &[],
    values: "",
    long_values: &[],
    joined: "",
    file_is_all: false,
    one_dash: false,
};

/// The options of a shell or an interpreter, by its name without a version.
pub(super) fn of_interpreter(name: &str) -> Options {
    match name {
        "pwsh" | "powershell" => Options {
            long_text: &["-c", "-Command", "-e", "-EncodedCommand"],
            long_files: &["-f", "-File"],
            long_values: &["-ExecutionPolicy", "-ep", "-WorkingDirectory", "-wd", "-ConfigurationName"],
            file_is_all: true,
            one_dash: true,
            ..NONE
        },
        "fish" => Options { text: "c", long_text: &["--command"], values: "dDoC", ..NONE },
        "python" => Options { text: "cm", values: "WX", long_values: &["--check-hash-based-pycs"], ..NONE },
        "node" | "tsx" | "ts-node" => Options {
            text: "ep",
            long_text: &["--eval", "--print"],
            files: "r",
            long_files: &["--require", "--import", "--loader", "--experimental-loader"],
            values: "CP",
            long_values: &["--conditions", "--input-type", "--title", "--project", "--tsconfig"],
            ..NONE
        },
        "deno" => Options { values: "c", long_values: &["--config", "--import-map", "--lock"], ..NONE },
        "bun" => Options { text: "ep", files: "r", long_files: &["--preload"], long_folders: &["--cwd"], ..NONE },
        "perl" => Options { text: "eE", values: "I", joined: "MmiCDxFV", ..NONE },
        "ruby" => Options { text: "e", values: "rIE", joined: "WKTxFi", folders: "C", ..NONE },
        "php" => Options { text: "rBRE", files: "f", values: "dcSt", file_is_all: true, ..NONE },
        "lua" => Options { values: "el", ..NONE },
        "julia" => Options { text: "eE", files: "L", values: "ptJCO", long_text: &["--eval", "--print"], ..NONE },
        "r" | "rscript" => Options { text: "e", files: "f", long_files: &["--file"], file_is_all: true, ..NONE },
        "java" => Options {
            long_files: &["-jar"],
            long_values: &["-cp", "-classpath", "-p", "-m"],
            file_is_all: true,
            one_dash: true,
            ..NONE
        },
        _ if super::is_shell(name) => {
            Options { text: "c", values: "oO", long_files: &["--rcfile", "--init-file"], ..NONE }
        }
        _ => NONE,
    }
}

/// Words behind which an interpreter's file stands.
pub(super) fn verbs_of(name: &str) -> &'static [&'static str] {
    match name {
        "deno" => &["run", "test", "bench", "serve", "compile"],
        "bun" => &["run"],
        "node" => &["inspect"],
        "tsx" => &["watch"],
        _ => &[],
    }
}

/// Programs that take their text as an argument and run only the files that an option names.
pub(super) fn of_filter(name: &str) -> Option<Options> {
    let options = Options { files: "f", long_files: &["--file"], ..NONE };
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => Some(Options { values: "Fv", ..options }),
        "sed" => {
            Some(Options { values: "el", long_values: &["--expression", "--line-length"], joined: "i", ..options })
        }
        _ => None,
    }
}

/// A program that goes by a file without its being named.
pub(super) struct Standing {
    pub files: &'static [&'static str],
    pub options: Options,
}

pub(super) fn standing_of(name: &str) -> Option<Standing> {
    let folders = |long_folders| Options { folders: "C", long_folders, ..NONE };
    let (files, options): (&[&str], Options) = match name {
        "make" | "gmake" => (
            &["GNUmakefile", "makefile", "Makefile"],
            Options { files: "f", long_files: &["--file", "--makefile"], values: "IoW", ..folders(&["--directory"]) },
        ),
        "rake" => (
            &["Rakefile", "rakefile"],
            Options { files: "f", long_files: &["--rakefile"], ..folders(&["--directory"]) },
        ),
        "just" => (&["justfile", "Justfile"], Options { files: "f", long_files: &["--justfile"], values: "d", ..NONE }),
        "npm" => (&["package.json"], folders(&["--prefix"])),
        "pnpm" => (&["package.json"], folders(&["--dir", "--prefix"])),
        "yarn" | "bun" => (&["package.json"], Options { long_folders: &["--cwd"], ..NONE }),
        _ => return None,
    };
    Some(Standing { files, options })
}

/// A program that runs the command behind its own words.
pub(super) struct Launcher {
    pub options: Options,
    /// One of these stands before the command.
    pub verbs: &'static [&'static str],
    /// Words of its own before the command.
    pub operands: usize,
    /// Programs of the project's own packages are found by their names.
    pub local: bool,
}

pub(super) fn launcher_of(name: &str) -> Option<Launcher> {
    let with = |values, long_values| Options { values, long_values, ..NONE };
    let launcher = |options| Launcher { options, verbs: &[], operands: 0, local: false };
    Some(match name {
        "!" | "{" | "if" | "then" | "elif" | "else" | "do" | "while" | "until" | "nohup" | "setsid" | "command"
        | "builtin" | "busybox" | "chronic" | "unbuffer" | "caffeinate" => launcher(NONE),
        "env" => launcher(Options { folders: "C", long_folders: &["--chdir"], ..with("u", &["--unset"]) }),
        "time" => launcher(with("fo", &["--format", "--output"])),
        "exec" => launcher(with("a", &[])),
        "nice" => launcher(with("n", &["--adjustment"])),
        "ionice" => launcher(with("cnp", &["--class", "--classdata"])),
        "stdbuf" => launcher(with("ioe", &["--input", "--output", "--error"])),
        "sudo" => {
            launcher(Options { folders: "D", long_folders: &["--chdir"], ..with("ugpCDhRTU", &["--user", "--group"]) })
        }
        "doas" => launcher(with("uC", &[])),
        "xargs" => launcher(with("adEILnPs", &["--arg-file", "--delimiter", "--max-args", "--max-procs", "--replace"])),
        "strace" | "ltrace" => launcher(with("eoapsuE", &["--output", "--trace"])),
        "timeout" => Launcher { operands: 1, ..launcher(with("ks", &["--kill-after", "--signal"])) },
        "flock" => Launcher { operands: 1, ..launcher(with("wE", &["--timeout"])) },
        "watch" => launcher(with("n", &["--interval"])),
        "npx" | "bunx" => Launcher { local: true, ..launcher(with("p", &["--package"])) },
        "npm" | "pnpm" => Launcher {
            verbs: &["exec", "x", "dlx"],
            local: true,
            ..launcher(Options { folders: "C", long_folders: &["--prefix", "--dir"], ..NONE })
        },
        "yarn" => {
            Launcher { verbs: &["exec", "dlx"], local: true, ..launcher(Options { long_folders: &["--cwd"], ..NONE }) }
        }
        "bun" => Launcher { verbs: &["x"], local: true, ..launcher(Options { long_folders: &["--cwd"], ..NONE }) },
        "bundle" => Launcher { verbs: &["exec"], ..launcher(NONE) },
        "uv" => Launcher {
            verbs: &["run"],
            ..launcher(Options {
                text: "m",
                long_text: &["--module"],
                long_folders: &["--directory"],
                ..with(
                    "p",
                    &["--with", "--with-requirements", "--python", "--project", "--group", "--extra", "--env-file"],
                )
            })
        },
        "poetry" | "pdm" | "pipenv" | "hatch" | "rye" | "pixi" => {
            Launcher { verbs: &["run"], ..launcher(Options { folders: "C", long_folders: &["--directory"], ..NONE }) }
        }
        _ => return None,
    })
}
