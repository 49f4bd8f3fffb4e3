use std::fs;
use std::path::Path;
use std::time::Duration;

use bosun_testkit::missing;
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use crate::sandbox::HOLDS_BACK;
use crate::{
    BackendError, BlobStore, CommandSwitch, Commands, ExecRequest, ExecResult, LocalExecutorOptions, LocalShellBackend,
    LocalShellOptions, OutputSink, Shell, SightingLimits, Sightings, bubblewrap, is_protected,
};

struct Deaf;

impl OutputSink for Deaf {
    fn output(&self, _bytes: &[u8]) {}
}

/// What is written outside the project goes into memory, of which the machine keeps some for itself (security.md X16).
#[tokio::test]
async fn what_is_written_outside_the_project_has_an_end_before_the_memory_has() {
    let Some(top) = place().await else { return };
    let backend = open(top.path(), in_sandbox());
    let look = "df -Pk /tmp /var/tmp /dev/shm /run \"$HOME\" | awk 'NR > 1 { room += $2 } END { print room }'; \
                awk '/^MemTotal:/ { print $2 }' /proc/meminfo; head -c 1M /dev/zero > /tmp/x && echo written";
    let (code, said) = run(&backend, look).await;
    let told: Vec<&str> = said.lines().collect();
    let [room, memory, "written"] = told[..] else { panic!("{code:?} {said}") };
    let (room, memory): (u64, u64) = (room.parse().unwrap(), memory.parse().unwrap());
    assert!(room > memory / 2 && room < memory / 10 * 7, "{room} of {memory}");
}

/// `proj`, and beside it `out` with a file in it. `None` where there is no sandbox, which CI has to have.
async fn place() -> Option<tempfile::TempDir> {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join("proj")).unwrap();
    fs::create_dir(top.path().join("out")).unwrap();
    fs::write(top.path().join("out/secret"), "secret").unwrap();
    match bubblewrap(&top.path().join("proj"), LocalExecutorOptions::default()).await {
        Ok(_) => Some(top),
        Err(error) => missing(&error.to_string(), "apt-get install bubblewrap"),
    }
}

fn in_sandbox() -> LocalShellOptions {
    LocalShellOptions { commands: CommandSwitch::from(Commands::Sandbox), ..LocalShellOptions::default() }
}

fn open(top: &Path, options: LocalShellOptions) -> LocalShellBackend {
    LocalShellBackend::open(&top.join("proj"), options).unwrap()
}

async fn execute(backend: &LocalShellBackend, command: &str) -> Result<ExecResult, BackendError> {
    let timeout = Some(Duration::from_secs(60));
    let request = ExecRequest { timeout, ..ExecRequest::new(command) };
    backend.execute(request, &Deaf).await
}

async fn run(backend: &LocalShellBackend, command: &str) -> (Option<i32>, String) {
    let ran = execute(backend, command).await.unwrap();
    (ran.exit_code, ran.output)
}

#[tokio::test]
async fn the_project_is_written_and_nothing_else_and_there_is_no_network() {
    let Some(top) = place().await else { return };
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let out = top.path().join("out");
    let denied = [
        format!("cat {}/secret", out.display()),
        format!("echo x > {}/new", out.display()),
        format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
    ];
    let backend = open(top.path(), in_sandbox());
    for command in &denied {
        let (code, said) = run(&backend, &format!("{{ {command}; }} 2>/dev/null")).await;
        assert!(code.is_some_and(|code| code != 0), "{command}: {code:?} {said}");
    }
    assert!(!out.join("new").exists());
    let folder = top.path().join("proj");
    let (code, said) = run(&backend, "pwd; echo made > made; cat made").await;
    assert_eq!((code, said), (Some(0), format!("{}\nmade\n", folder.display())), "it is where the agent's files are");
    assert_eq!(fs::read_to_string(folder.join("made")).unwrap(), "made\n");
    let free = open(top.path(), LocalShellOptions::default());
    for command in &denied {
        assert_eq!(
            run(&free, &format!("{{ {command}; }} 2>/dev/null")).await.0,
            Some(0),
            "{command}: only the sandbox"
        );
    }
}

/// security.md X01: a namespace of networks hides no virtual machine's host, and no socket that lies in the project.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_leads_out_past_the_namespaces_is_refused() {
    let Some(top) = place().await else { return };
    let backend = open(top.path(), in_sandbox());
    let refused = [
        (libc::AF_VSOCK, 0),
        (libc::AF_UNIX, 0),
        (libc::AF_PACKET, 0),
        (libc::AF_ALG, 0),
        (libc::AF_INET, 262),
        (libc::AF_INET, 132),
        (libc::AF_NETLINK, libc::NETLINK_KOBJECT_UEVENT),
    ];
    let made = [(libc::AF_INET, 0), (libc::AF_INET, libc::IPPROTO_TCP), (libc::AF_NETLINK, libc::NETLINK_ROUTE)];
    let kinds = refused.map(|kind| (kind, "1")).into_iter().chain(made.map(|kind| (kind, "made")));
    for ((family, protocol), expected) in kinds {
        let kind = if family == libc::AF_NETLINK { libc::SOCK_RAW } else { libc::SOCK_STREAM };
        let asked = format!("perl -e 'print socket(S, {family}, {kind}, {protocol}) ? \"made\" : $! + 0'");
        assert_eq!(run(&backend, &asked).await, (Some(0), expected.to_owned()), "{family} {protocol}");
    }
    let calls =
        [libc::SYS_keyctl, libc::SYS_io_uring_setup, libc::SYS_bpf, libc::SYS_unshare, 0x4000_0000 + libc::SYS_socket];
    let numbers = if cfg!(target_arch = "x86_64") { &calls[..] } else { &calls[..4] };
    for number in numbers {
        let asked = format!("perl -e 'syscall({number}, 0, 0, 0); print $! + 0'");
        assert_eq!(run(&backend, &asked).await, (Some(0), "1".to_owned()), "call {number}");
    }
    // What programs say to themselves stays.
    let loopback = "socket(L, 2, 1, 0); bind(L, pack_sockaddr_in(0, INADDR_LOOPBACK)); listen(L, 1); socket(C, 2, 1, 0); \
                    print connect(C, getsockname(L)) && socketpair(A, B, 1, 1, 0) ? \"joined\" : $!";
    assert_eq!(run(&backend, &format!("perl -MSocket -e '{loopback}'")).await, (Some(0), "joined".to_owned()));
}

/// What toolchains have in a home folder can be used there, and what beside it says who somebody is cannot be read.
#[tokio::test]
async fn toolchains_of_the_home_folder_are_there_and_their_keys_are_not() {
    let Some(top) = place().await else { return };
    let home = top.path().join("home");
    let shown =
        [".m2/repository/a.jar", ".cargo/git/db/a", ".local/bin/tool", ".volta/bin/node", "go/pkg/mod/a/go.mod"];
    let kept_back = [
        ".m2/settings.xml",
        ".m2/settings-security.xml",
        ".cargo/credentials.toml",
        ".gradle/gradle.properties",
        ".config/mise/config.toml",
        ".npmrc",
        ".ssh/id_ed25519",
    ];
    for name in shown.iter().chain(&kept_back) {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), "held").unwrap();
    }
    let root = crate::root::Root::open(&top.path().join("proj"), crate::Mounts::Cross).unwrap();
    let home = home.into_os_string();
    let environment = [("HOME".into(), home), ("PATH".into(), std::env::var_os("PATH").unwrap())].into();
    let executor = crate::sandbox::around(&root, environment, LocalExecutorOptions::default()).await.unwrap();
    let run = async |command: String| executor.execute(ExecRequest::new(command), &Deaf).await.unwrap();
    for name in shown {
        let ran = run(format!("cat ~/{name}; echo x > ~/{name}")).await;
        assert!(ran.output.contains("held") && ran.exit_code != Some(0), "{name}: {}", ran.output);
    }
    for name in kept_back {
        assert_ne!(run(format!("cat ~/{name}")).await.exit_code, Some(0), "{name}");
    }
}

/// What runs on this machine runs in its sandbox.
#[tokio::test]
async fn the_toolchains_of_this_machine_run_in_the_sandbox() {
    let Some(top) = place().await else { return };
    let backend = open(top.path(), in_sandbox());
    for command in [
        "java -version",
        "mvn -version",
        "go version",
        "node --version",
        "python3 -c 'import ssl, sqlite3, sysconfig'",
        "perl -MConfig -e 1",
        "cargo --version",
        "gcc --version",
        "git --version",
    ] {
        let outside = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
        if outside.status.success() {
            let (code, said) = run(&backend, command).await;
            assert_eq!(code, Some(0), "{command}: {said}");
        } else {
            eprintln!("passed over: {command} does not run here");
        }
    }
}

#[tokio::test]
async fn what_is_chosen_holds_from_the_next_command_on() {
    let Some(top) = place().await else { return };
    let commands = CommandSwitch::default();
    let backend = open(top.path(), LocalShellOptions { commands: commands.clone(), ..LocalShellOptions::default() });
    let look = format!("cat {}/out/secret 2>/dev/null", top.path().display());
    assert_eq!((backend.sandbox(), run(&backend, &look).await.0), (None, Some(0)));
    commands.set(Commands::Sandbox);
    assert_eq!((backend.sandbox(), run(&backend, &look).await.0), (Some(HOLDS_BACK), Some(1)));
    commands.set(Commands::Machine);
    assert_eq!((backend.sandbox(), run(&backend, &look).await.0), (None, Some(0)));
}

/// security.md S: what was let run because a sandbox holds it never runs without one, whoever turned it off meanwhile.
#[tokio::test]
async fn what_is_to_be_held_does_not_run_where_nothing_holds_it() {
    let Some(top) = place().await else { return };
    let commands = CommandSwitch::from(Commands::Sandbox);
    let backend = open(top.path(), LocalShellOptions { commands: commands.clone(), ..LocalShellOptions::default() });
    let held = || ExecRequest { held: true, ..ExecRequest::new("echo ran >> ran") };
    assert_eq!(backend.execute(held(), &Deaf).await.unwrap().exit_code, Some(0));
    commands.set(Commands::Machine);
    let refused = backend.execute(held(), &Deaf).await.unwrap_err();
    assert!(matches!(refused, BackendError::SandboxOff), "{refused}");
    assert_eq!(fs::read_to_string(top.path().join("proj/ran")).unwrap(), "ran\n");
}

/// A project in which the program of the sandbox is itself could bring any program of that name.
#[tokio::test]
async fn without_a_sandbox_nothing_runs() {
    let top = tempfile::tempdir().unwrap();
    let ran = top.path().join("ran");
    let backend = LocalShellBackend::open(Path::new("/usr"), in_sandbox()).unwrap();
    let refused = execute(&backend, &format!("echo > {}", ran.display())).await.unwrap_err();
    let said = "the command was not run: it is to run in a sandbox, and bubblewrap is not installed on this machine; \
                install it with apt-get install bubblewrap, or have the sandbox turned off for these commands";
    assert_eq!(refused.to_string(), said);
    assert!(!ran.exists());
}

#[tokio::test]
async fn commands_get_the_variables_that_are_set_for_them_and_no_others() {
    let Some(top) = place().await else { return };
    let set_environment = vec![("EDITOR".to_owned(), "ed -s".to_owned())];
    let backend = open(top.path(), LocalShellOptions { set_environment, ..in_sandbox() });
    let (_, said) = run(&backend, "env").await;
    let usual = ["EDITOR", "HOME", "LANG", "LANGUAGE", "PATH", "PWD", "SHLVL", "TERM", "TZ", "_"];
    let names = said.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let odd: Vec<&str> = names.filter(|name| !usual.contains(name) && !name.starts_with("LC_")).collect();
    assert_eq!((odd, said.contains("EDITOR=ed -s\n")), (Vec::new(), true), "{said}");
}

/// Nothing that stands there for as long as the command runs is told as its work.
#[tokio::test]
async fn what_a_command_did_to_files_is_found() {
    let Some(top) = place().await else { return };
    let blobs = BlobStore::open(top.path().join("blobs")).unwrap();
    let sightings = Some(Sightings::new(blobs.into(), SightingLimits::default()).into());
    let backend = open(top.path(), LocalShellOptions { sightings, ..in_sandbox() });
    fs::write(top.path().join("proj/a.txt"), "before\n").unwrap();
    let ran = execute(&backend, "echo after > a.txt; echo new > b.txt").await.unwrap();
    let found = ran.files.unwrap();
    let told: Vec<_> = found.changes.iter().map(|one| (one.path.as_str(), one.before.is_some())).collect();
    assert_eq!(told, [("/a.txt", true), ("/b.txt", false)]);
    assert_eq!((found.unkept, found.more, found.uncompared), (Vec::new(), 0, None));
    // Nor does it hide what it did by ending like a sandbox that cannot be had.
    for (command, code, said) in [
        ("echo 1 > c.txt; echo 'bwrap: no' >&2; exit 1", Some(1), "[stderr] bwrap: no\n"),
        ("echo 2 > c.txt; exit 70", Some(70), ""),
        ("echo 3 > c.txt; kill -9 $PPID; sleep 60", None, ""),
    ] {
        let ran = execute(&backend, command).await.unwrap();
        let found = ran.files.unwrap();
        let told: Vec<_> = found.changes.iter().map(|one| one.path.as_str()).collect();
        assert_eq!((told, ran.exit_code, ran.output.as_str()), (vec!["/c.txt"], code, said), "{command}");
        assert_eq!(ran.broke_off, code.is_none(), "{command}");
    }
}

/// Below the top no more names are held than a command can have covers; what it does to the rest is told, and that there
/// are more.
#[tokio::test]
async fn a_project_that_is_not_held_to_its_end_is_said_and_what_was_made_below_is_found() {
    let Some(top) = place().await else { return };
    let blobs = BlobStore::open(top.path().join("blobs")).unwrap();
    let sightings = Some(Sightings::new(blobs.into(), SightingLimits::default()).into());
    let backend = open(top.path(), LocalShellOptions { sightings, ..in_sandbox() });
    let ran = execute(&backend, "mkdir sub; echo 'use flake' > sub/.envrc").await.unwrap();
    let made: Vec<bool> = ran.files.unwrap().changes.iter().map(|change| is_protected(&change.path)).collect();
    assert_eq!((made, ran.unheld), (vec![true], false));
    for number in 0..=200 {
        let folder = top.path().join(format!("proj/{number}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".npmrc"), "").unwrap();
    }
    let ran = execute(&backend, "true").await.unwrap();
    assert_eq!((ran.exit_code, ran.unheld), (Some(0), true));
}

#[tokio::test]
async fn a_cancel_ends_all_that_a_command_started() {
    let Some(top) = place().await else { return };
    let backend = open(top.path(), in_sandbox());
    let cancel = CancellationToken::new();
    let command = "(setsid sh -c 'while :; do echo x > beat; sleep 0.02; done' &) ; sleep 60".to_owned();
    let request = ExecRequest { cancel: cancel.clone(), ..ExecRequest::new(command) };
    let beat = top.path().join("proj/beat");
    let stop = async {
        while !beat.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (ran, ()) = tokio::join!(backend.execute(request, &Deaf), stop);
    let ran = ran.unwrap();
    assert_eq!((ran.cancelled, ran.timed_out, ran.exit_code), (true, false, None));
    fs::remove_file(&beat).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!beat.exists(), "what it left behind goes on");
}

/// Two sessions of a project have a backend each.
#[tokio::test]
async fn a_command_that_ends_leaves_the_covers_of_another_backends_command() {
    let Some(top) = place().await else { return };
    let (one, other) = (open(top.path(), in_sandbox()), open(top.path(), in_sandbox()));
    let proj = top.path().join("proj");
    let long = run(&one, "echo > started; while [ ! -e go ]; do sleep 0.05; done; mkdir .vscode && echo x > .vscode/x");
    let short = async {
        while !proj.join("started").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(run(&other, "true").await.0, Some(0));
        fs::write(proj.join("go"), "").unwrap();
    };
    let ((code, _), ()) = tokio::join!(long, short);
    assert_ne!(code, Some(0));
    assert!(!proj.join(".vscode").exists(), "no cover stays");
}
