//! Programs that run the files they are given, and what they go by without being told.

use super::super::programs::{is_interpreter, is_shell};
use super::options::{NONE, Options};

/// Interpreters that a standing rule need not know.
const OTHERS: &[&str] = &[
    "elixir",
    "escript",
    "expect",
    "groovy",
    "guile",
    "luajit",
    "nodejs",
    "osascript",
    "pypy",
    "racket",
    "swift",
    "wish",
    "zx",
];

/// Whether a program of this name, without a version, runs the file or the text it is given.
pub(super) fn interprets(name: &str) -> bool {
    is_shell(name) || is_interpreter(name) || OTHERS.contains(&name)
}

/// Whether it takes its program from its input where nothing else is given.
pub(super) fn reads_program(name: &str) -> bool {
    !matches!(name, "bun" | "bunx" | "deno" | "escript" | "java" | "npx" | "pipx" | "rscript" | "uv" | "uvx" | "zx")
}

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
        "fish" => Options { text: "c", long_text: &["--command"], values: "dDoC", apart: &["-v"], ..NONE },
        "python" | "pypy" => Options {
            text: "c",
            modules: "m",
            values: "WX",
            long_values: &["--check-hash-based-pycs"],
            apart: &["-V", "-VV", "-h"],
            ..NONE
        },
        "node" | "nodejs" | "tsx" | "ts-node" => Options {
            text: "ep",
            long_text: &["--eval", "--print"],
            files: "r",
            long_files: &["--require", "--import", "--loader", "--experimental-loader"],
            values: "CP",
            long_values: &["--conditions", "--input-type", "--title", "--project", "--tsconfig"],
            apart: &["-v", "-h", "--test", "--run", "--v8-options"],
            ..NONE
        },
        "deno" => Options { values: "c", long_values: &["--config", "--import-map", "--lock"], ..NONE },
        "bun" => Options { text: "ep", files: "r", long_files: &["--preload"], long_folders: &["--cwd"], ..NONE },
        "perl" => Options { text: "eE", values: "I", joined: "MmiCDxFV", apart: &["-v", "-V"], ..NONE },
        "ruby" => Options {
            text: "e",
            files: "r",
            values: "IE",
            joined: "WKTxFi",
            folders: "C",
            apart: &["-v", "-h"],
            ..NONE
        },
        "php" => Options {
            text: "rBRE",
            files: "f",
            values: "dcSt",
            file_is_all: true,
            apart: &["-v", "-h", "-i", "-m", "-S"],
            ..NONE
        },
        "lua" | "luajit" => Options { values: "el", apart: &["-v"], ..NONE },
        "julia" => Options {
            text: "eE",
            files: "L",
            values: "ptJCO",
            long_text: &["--eval", "--print"],
            apart: &["-v"],
            ..NONE
        },
        "r" | "rscript" => Options { text: "e", files: "f", long_files: &["--file"], file_is_all: true, ..NONE },
        "java" => Options {
            long_files: &["-jar"],
            long_values: &["-cp", "-classpath", "-p", "-m"],
            file_is_all: true,
            one_dash: true,
            ..NONE
        },
        "expect" => Options { text: "c", files: "f", apart: &["-v"], ..NONE },
        "osascript" => Options { text: "e", values: "ls", ..NONE },
        "pipx" => Options { long_values: &["--spec", "--python", "--pip-args", "--index-url"], ..NONE },
        _ if is_shell(name) => {
            Options { text: "c", input: "s", values: "oO", long_files: &["--rcfile", "--init-file"], ..NONE }
        }
        _ => NONE,
    }
}

/// Words behind which an interpreter's file stands.
pub(super) fn verbs_of(name: &str) -> &'static [&'static str] {
    match name {
        "deno" => &["run", "test", "bench", "serve", "compile"],
        "bun" | "pipx" => &["run"],
        "node" | "nodejs" => &["inspect"],
        "tsx" => &["watch"],
        _ => &[],
    }
}

/// What an interpreter puts behind a name that has no ending of its own, where no file has it as it is.
pub(super) fn endings_of(name: &str) -> &'static [&'static str] {
    match name {
        "node" | "nodejs" => &[".js", ".cjs", "/package.json", "/index.js"],
        "bun" | "tsx" | "ts-node" => &[".ts", ".js", "/package.json", "/index.ts", "/index.js"],
        "python" | "pypy" => &["/__main__.py"],
        "ruby" => &[".rb"],
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
    /// It looks in the folders above as well.
    pub looks_above: bool,
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
    Some(Standing { files, options, looks_above: !matches!(name, "make" | "gmake") })
}
