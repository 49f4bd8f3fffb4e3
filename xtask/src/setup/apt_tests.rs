//! The script that installs, with its paths in a folder of the test and an apt that does as it is told.

use super::{GUARD, INSTALL, MARK, is_left_behind};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

const OWNERS: &str = "#!/bin/sh\n# The owner's own policy.\nexit 0\n";

/// Tells what it finds, and with `hold` waits until its input ends.
const APT_GET: &str = r#"#!/bin/sh
[ "$1" = install ] || exit 0
shift
"$GUARD" || echo "the guard answers $?"
echo "suspended ${NEEDRESTART_SUSPEND:-no}"
for word in "$@"; do case "$word" in -*) ;; *=*) ;; *) echo "installs $word" ;; esac; done
if [ "$1" = -y ] && [ -n "$HOLD" ]; then echo held; read -r line; fi
exit "${APT_ENDS:-0}"
"#;
const APT_CACHE: &str = "#!/bin/sh\n[ \"$2\" != unknown ]\n";

/// A machine's `/usr/sbin`, and the programs that the script starts.
struct Machine(PathBuf);

impl Machine {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("bosun-apt-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("sbin")).expect("a folder");
        std::fs::create_dir_all(root.join("bin")).expect("a folder");
        let machine = Self(root);
        machine.program("bin/apt-get", APT_GET);
        machine.program("bin/apt-cache", APT_CACHE);
        machine
    }

    /// Written by another process: a file that this one has open for writing cannot be started meanwhile.
    fn program(&self, path: &str, text: &str) {
        let write = r#"printf '%s' "$2" > "$1" && chmod 755 "$1""#;
        let written = Command::new("sh").args(["-c", write, "sh"]).arg(self.0.join(path)).arg(text).status();
        assert!(written.expect("sh starts").success());
    }

    fn guard(&self) -> PathBuf {
        self.0.join("sbin/policy-rc.d")
    }

    /// What lies in `/usr/sbin`, with its text.
    fn sbin(&self) -> Vec<(String, String)> {
        let entries = std::fs::read_dir(self.0.join("sbin")).expect("a folder").map(|entry| entry.expect("an entry"));
        let text = |path: PathBuf| std::fs::read_to_string(path).expect("a text");
        let mut found: Vec<_> =
            entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(entry.path()))).collect();
        found.sort();
        found
    }

    fn script(&self, names: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &INSTALL.replace(GUARD, &self.guard().to_string_lossy()), "sh"]).args(names);
        let path = std::env::var("PATH").expect("a PATH");
        command.env("PATH", format!("{}:{path}", self.0.join("bin").display())).env("GUARD", self.guard());
        command.stdin(Stdio::null()).process_group(0);
        command
    }

    fn run(&self, names: &[&str]) -> Output {
        self.script(names).output().expect("sh starts")
    }

    /// The script, with apt in the middle of its work.
    fn held(&self) -> (Child, BufReader<ChildStdout>) {
        let mut script = self.script(&["gcc"]);
        script.env("HOLD", "yes").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = script.spawn().expect("sh starts");
        let mut said = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        while line != "held\n" {
            line.clear();
            assert_ne!(said.read_line(&mut line).expect("a line"), 0, "apt was not started");
        }
        (child, said)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("removed");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn signal(name: &str, group: u32) {
    let sent = Command::new("sh").args(["-c", r#"kill -s "$1" -- "-$2""#, "sh", name, &group.to_string()]).status();
    assert!(sent.expect("sh starts").success());
}

/// Without an owner's policy and with one: what has to be there in the end.
fn with_and_without_a_policy(name: &str, check: impl Fn(&Machine, Vec<(String, String)>)) {
    let bare = Machine::new(&format!("{name}-bare"));
    check(&bare, Vec::new());
    let owned = Machine::new(&format!("{name}-owned"));
    owned.program("sbin/policy-rc.d", OWNERS);
    check(&owned, vec![("policy-rc.d".to_owned(), OWNERS.to_owned())]);
}

#[test]
fn the_script_has_the_path_and_the_mark_that_a_start_looks_for() {
    assert!(INSTALL.contains(&format!("guard={GUARD}\n")) && INSTALL.contains(&format!("mark='{MARK}'\n")));
}

#[test]
fn while_apt_installs_no_service_starts_and_afterwards_all_is_as_it_was() {
    with_and_without_a_policy("install", |machine, before| {
        let output = machine.run(&["gcc", "unknown", "xvfb"]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(said(&output), "the guard answers 101\nsuspended 1\ninstalls gcc\ninstalls xvfb\n");
        assert!(String::from_utf8_lossy(&output.stderr).contains("apt has no package unknown here"), "{output:?}");
        assert_eq!(machine.sbin(), before);
    });
}

#[test]
fn after_a_failure_all_is_as_it_was_too() {
    with_and_without_a_policy("failure", |machine, before| {
        let failed = machine.script(&["gcc"]).env("APT_ENDS", "100").output().expect("sh starts");
        assert_eq!(failed.status.code(), Some(100));
        assert_eq!(machine.sbin(), before);
        assert_eq!(machine.run(&["unknown"]).status.code(), Some(1));
        assert_eq!(machine.sbin(), before);
    });
}

#[test]
fn a_terminal_that_closes_and_other_signals_leave_nothing_behind() {
    for name in ["HUP", "INT", "PIPE", "QUIT", "TERM"] {
        with_and_without_a_policy(name, |machine, before| {
            let (mut child, _said) = machine.held();
            assert!(is_left_behind(&machine.guard()), "the guard does not stand while apt installs");
            signal(name, child.id());
            // Where a signal was ignored from the start, apt ends with its input.
            drop(child.stdin.take());
            child.wait().expect("an end");
            assert_eq!(machine.sbin(), before, "{name}");
        });
    }
}

#[test]
fn what_a_killed_install_left_is_put_right_by_the_next_one() {
    for names in [&["gcc"][..], &[]] {
        with_and_without_a_policy("killed", |machine, before| {
            let (mut child, _said) = machine.held();
            signal("KILL", child.id());
            child.wait().expect("an end");
            assert!(is_left_behind(&machine.guard()), "{:?}", machine.sbin());
            let next = machine.run(names);
            assert!(next.status.success(), "{next:?}");
            assert_eq!(machine.sbin(), before, "after {names:?}");
            assert!(!is_left_behind(&machine.guard()));
        });
    }
}

#[test]
fn a_policy_that_was_only_set_aside_comes_back() {
    let machine = Machine::new("aside");
    machine.program("sbin/policy-rc.d.before-bosun", OWNERS);
    machine.program("sbin/policy-rc.d.bosun", "#!/bin");
    assert!(is_left_behind(&machine.guard()));
    assert!(machine.run(&[]).status.success());
    assert_eq!(machine.sbin(), [("policy-rc.d".to_owned(), OWNERS.to_owned())]);
}

#[test]
fn a_policy_that_the_owner_wrote_meanwhile_counts() {
    let machine = Machine::new("meanwhile");
    machine.program("sbin/policy-rc.d.before-bosun", "#!/bin/sh\nexit 104\n");
    machine.program("sbin/policy-rc.d", OWNERS);
    assert!(!is_left_behind(&machine.guard()));
    assert!(machine.run(&["gcc"]).status.success());
    assert_eq!(machine.sbin(), [("policy-rc.d".to_owned(), OWNERS.to_owned())]);
}

#[test]
fn a_second_install_waits_for_the_first() {
    let machine = Machine::new("second");
    let (mut first, _said) = machine.held();
    let mut second = machine.script(&["xvfb"]);
    let second = second.stdout(Stdio::piped()).spawn().expect("sh starts");
    let mut lock = Command::new("flock").arg("-n").arg(machine.0.join("sbin")).arg("true").spawn().expect("flock");
    assert!(!lock.wait().expect("an end").success(), "the first does not hold the lock");
    drop(first.stdin.take());
    assert!(first.wait().expect("an end").success());
    let output = second.wait_with_output().expect("an end");
    assert_eq!(said(&output), "the guard answers 101\nsuspended 1\ninstalls xvfb\n");
    assert!(machine.sbin().is_empty());
}

#[test]
fn only_a_guard_with_the_mark_is_ours() {
    let machine = Machine::new("mark");
    for (text, ours) in [("#!/bin/sh\nexit 101\n".to_owned(), false), (format!("#!/bin/sh\n{MARK}\nexit 101\n"), true)]
    {
        machine.program("sbin/policy-rc.d", &text);
        assert_eq!(is_left_behind(&machine.guard()), ours, "{text}");
    }
    assert!(!is_left_behind(Path::new("/nonexistent/policy-rc.d")));
}
