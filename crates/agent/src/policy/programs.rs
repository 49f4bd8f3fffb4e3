//! Programs that run what they are told to, by name.

/// Shells: they run the file or the text that they are given.
const SHELLS: &[&str] =
    &["ash", "bash", "cmd", "csh", "dash", "fish", "ksh", "powershell", "pwsh", "sh", "tcsh", "zsh"];

/// Other programs that run or rewrite whatever they are told to.
const RUNNERS: &[&str] = &[
    "at",
    "awk",
    "batch",
    "busybox",
    "chroot",
    "crontab",
    "doas",
    "ed",
    "emacs",
    "env",
    "ex",
    "expect",
    "find",
    "flock",
    "gawk",
    "gdb",
    "ionice",
    "less",
    "ltrace",
    "man",
    "mawk",
    "more",
    "nawk",
    "nice",
    "nohup",
    "nsenter",
    "nvim",
    "osascript",
    "parallel",
    "pkexec",
    "rsync",
    "scp",
    "screen",
    "script",
    "sed",
    "setsid",
    "socat",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tee",
    "timeout",
    "tmux",
    "unshare",
    "vi",
    "vim",
    "watch",
    "xargs",
];

/// Programs that run the file or the text they are given: a rule for them names which.
const INTERPRETERS: &[&str] = &[
    "bun", "bunx", "deno", "java", "julia", "lua", "node", "npx", "perl", "php", "pipx", "python", "r", "rscript",
    "ruby", "tclsh", "ts-node", "tsx", "uv", "uvx",
];

/// Programs whose first word says what they do: a rule for them names at least that.
pub(super) const MANY_COMMANDS: &[&str] = &[
    "apt",
    "aws",
    "az",
    "brew",
    "bundle",
    "cargo",
    "composer",
    "conda",
    "docker",
    "dotnet",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "svn",
    "systemctl",
    "terraform",
    "yarn",
    "hg",
    "jj",
];

/// What a program is called, however it was written: without its folder, in small letters.
pub(super) fn name_of(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program).to_lowercase();
    name.strip_suffix(".exe").map(ToOwned::to_owned).unwrap_or(name)
}

/// Whether a program of this name runs or rewrites whatever it is told to.
pub(super) fn is_runner(name: &str) -> bool {
    is_shell(name) || RUNNERS.contains(&name)
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether a program of this name runs the file or the text it is given: `python3.12` as `python` does.
pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&unversioned(name))
}

/// The name without the version at its end.
pub(super) fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}
