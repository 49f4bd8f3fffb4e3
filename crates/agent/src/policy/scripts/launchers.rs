//! Programs that run what stands behind their own words.

use super::super::programs::is_runner;
use super::options::{NONE, Options};

/// A program that runs the command behind its own words.
pub(super) struct Launcher {
    pub options: Options,
    /// One of these stands before the command.
    pub verbs: &'static [&'static str],
    /// Words of its own before the command.
    pub operands: usize,
    pub behind: Behind,
    /// What it reads becomes a part of the command.
    pub adds: bool,
    /// Without a command it starts a shell.
    pub or_shell: bool,
    /// Programs of the project's own packages are found by their names.
    pub local: bool,
}

/// What stands behind a launcher's own words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind {
    Command,
    /// A command of the shell that the line is in.
    Here,
    /// Words that a shell reads as a line.
    Line,
}

const PLAIN: Launcher = Launcher {
    options: NONE,
    verbs: &[],
    operands: 0,
    behind: Behind::Command,
    adds: false,
    or_shell: false,
    local: false,
};

pub(super) fn launcher_of(name: &str) -> Option<Launcher> {
    let with = |values, long_values| Options { values, long_values, ..NONE };
    let launcher = |options| Launcher { options, ..PLAIN };
    Some(match name {
        "!" | "{" | "if" | "then" | "elif" | "else" | "do" | "while" | "until" | "builtin" | "coproc" => {
            Launcher { behind: Behind::Here, ..PLAIN }
        }
        // With these it says only which program it would run.
        "command" => Launcher { behind: Behind::Here, ..launcher(Options { apart: &["-v", "-V"], ..NONE }) },
        "time" => Launcher { behind: Behind::Here, ..launcher(with("fo", &["--format", "--output"])) },
        "nohup" | "setsid" | "busybox" | "chronic" | "unbuffer" | "caffeinate" | "fakeroot" => PLAIN,
        "env" => launcher(Options {
            folders: "C",
            long_folders: &["--chdir"],
            lines: "S",
            long_lines: &["--split-string"],
            ..with("u", &["--unset"])
        }),
        "exec" => launcher(with("a", &[])),
        "nice" => launcher(with("n", &["--adjustment"])),
        "ionice" => launcher(with("cnp", &["--class", "--classdata"])),
        "stdbuf" => launcher(with("ioe", &["--input", "--output", "--error"])),
        "sudo" => Launcher {
            or_shell: true,
            ..launcher(Options {
                folders: "D",
                long_folders: &["--chdir"],
                apart: &["-v", "-l", "-k", "-K", "-V", "--list", "--validate", "--reset-timestamp"],
                ..with("ugpCDhRTU", &["--user", "--group"])
            })
        },
        "doas" => Launcher { or_shell: true, ..launcher(with("uC", &[])) },
        "pkexec" => Launcher { or_shell: true, ..launcher(with("", &["--user"])) },
        "unshare" => Launcher {
            or_shell: true,
            ..launcher(Options {
                folders: "w",
                long_folders: &["--wd"],
                ..with("RSG", &["--root", "--setuid", "--setgid", "--propagation", "--setgroups"])
            })
        },
        "systemd-run" => Launcher {
            or_shell: true,
            ..launcher(Options {
                long_folders: &["--working-directory"],
                ..with("upEMH", &["--unit", "--property", "--setenv", "--slice", "--uid", "--gid", "--description"])
            })
        },
        "xargs" => Launcher {
            adds: true,
            ..launcher(with(
                "adEILnPs",
                &["--arg-file", "--delimiter", "--max-args", "--max-procs", "--replace", "--max-lines"],
            ))
        },
        "parallel" => Launcher {
            adds: true,
            or_shell: true,
            behind: Behind::Line,
            ..launcher(with("ajnNISLC", &["--arg-file", "--jobs", "--colsep", "--delay", "--timeout", "--joblog"]))
        },
        "strace" | "ltrace" => launcher(with("eoapsuE", &["--output", "--trace"])),
        "timeout" => Launcher { operands: 1, ..launcher(with("ks", &["--kill-after", "--signal"])) },
        "taskset" | "chrt" => Launcher { operands: 1, ..PLAIN },
        "flock" => Launcher {
            operands: 1,
            ..launcher(Options { lines: "c", long_lines: &["--command"], ..with("wE", &["--timeout"]) })
        },
        "watch" => Launcher { behind: Behind::Line, ..launcher(with("nq", &["--interval", "--equexit"])) },
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
        "bundle" => Launcher { verbs: &["exec"], ..PLAIN },
        "direnv" => Launcher { verbs: &["exec"], operands: 1, ..PLAIN },
        "conda" | "mamba" | "micromamba" => Launcher {
            verbs: &["run"],
            ..launcher(Options { long_folders: &["--cwd"], ..with("np", &["--name", "--prefix"]) })
        },
        "uv" => Launcher {
            verbs: &["run"],
            ..launcher(Options {
                modules: "m",
                long_modules: &["--module"],
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

/// The options of a program that runs the lines they give, and a shell where they give none.
pub(super) fn of_line_runner(name: &str) -> Option<Options> {
    let lines = Options { lines: "c", long_lines: &["--command", "--session-command"], ..NONE };
    match name {
        "su" => Some(Options { values: "sgGw", long_values: &["--shell", "--group"], ..lines }),
        "script" => Some(Options { values: "EIOBTom", ..lines }),
        "nix-shell" => Some(Options { lines: "", long_lines: &["--run", "--command"], values: "pAI", ..NONE }),
        _ => None,
    }
}

/// Whether what a program of this name runs cannot be told from its words.
pub(super) fn hides_what_it_runs(name: &str) -> bool {
    // These write or show what they read; a person at a keyboard may have them run something.
    is_runner(name) && !matches!(name, "tee" | "less" | "more" | "man")
}

/// Whether the words of a program are texts and names, so that one of a shell among them means none.
pub(super) fn only_names(name: &str) -> bool {
    matches!(
        name,
        "[" | "[["
            | "test"
            | "echo"
            | "printf"
            | "which"
            | "type"
            | "hash"
            | "cat"
            | "ls"
            | "cp"
            | "mv"
            | "rm"
            | "mkdir"
            | "touch"
            | "grep"
            | "rg"
            | "apt"
            | "apt-get"
            | "brew"
            | "pip"
            | "for"
            | "case"
            | "export"
            | "alias"
            | "man"
            | "tee"
            | "less"
            | "more"
    )
}
