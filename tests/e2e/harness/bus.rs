//! A private session bus, and on it an unlocked keyring.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::process::Owned;
use super::wait;

/// No service files: nothing on this bus starts by itself.
const CONFIG: &str = r#"<busconfig>
  <type>session</type>
  <listen>unix:path=@SOCKET@</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A bus of this desk's own.
pub struct Bus {
    /// What `DBUS_SESSION_BUS_ADDRESS` is set to.
    pub address: String,
    _daemon: Owned,
}

impl Bus {
    /// `runtime` is the desk's `XDG_RUNTIME_DIR`; its path must be short, as paths of sockets are.
    pub fn start(runtime: &Path, log: Stdio, mark: (&str, &str)) -> Self {
        let config = runtime.join("bus.conf");
        let socket = runtime.join("bus");
        std::fs::write(&config, CONFIG.replace("@SOCKET@", &socket.to_string_lossy())).expect("the bus configuration");
        let mut command = Command::new("dbus-daemon");
        command.arg(format!("--config-file={}", config.display())).args([
            "--nofork",
            "--nopidfile",
            "--print-address=1",
        ]);
        let mut daemon =
            Owned::start(command.env(mark.0, mark.1).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log));
        let stdout = daemon.child().stdout.take().expect("piped");
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address).expect("the bus tells its address");
        assert!(address.starts_with("unix:"), "the bus did not start: {address:?}");
        Self { address: address.trim().to_owned(), _daemon: daemon }
    }
}

/// A Secret Service with an unlocked collection.
pub struct Keyring(#[expect(dead_code, reason = "held for its end")] Owned);

impl Keyring {
    /// Whether this machine has what a keyring takes.
    pub fn is_installed() -> bool {
        let runs = |program: &str| {
            let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok()
        };
        runs("gnome-keyring-daemon") && runs("secret-tool")
    }

    /// `desk` gives a command the desk's environment.
    pub fn start(desk: &dyn Fn(&str) -> Command, log: Stdio) -> Self {
        let mut command = desk("gnome-keyring-daemon");
        command.args(["--unlock", "--foreground", "--components=secrets"]);
        let mut daemon = Owned::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log));
        let mut password = daemon.child().stdin.take().expect("piped");
        password.write_all(b"desk").expect("the keyring takes its password");
        drop(password);
        let unlocked = wait(Duration::from_secs(10), || Self::keeps_a_secret(desk).then_some(()));
        assert!(unlocked.is_some(), "the keyring did not unlock within ten seconds");
        Self(daemon)
    }

    fn keeps_a_secret(desk: &dyn Fn(&str) -> Command) -> bool {
        let quiet = |command: &mut Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        };
        let mut store = desk("secret-tool");
        quiet(store.args(["store", "--label=probe", "bosun-desk", "probe"]).stdin(Stdio::piped()));
        let Ok(mut child) = store.spawn() else { return false };
        // The tool may refuse before it reads.
        drop(child.stdin.take().map(|mut stdin| stdin.write_all(b"probe")));
        let stored = child.wait().is_ok_and(|status| status.success());
        let mut clear = desk("secret-tool");
        quiet(clear.args(["clear", "bosun-desk", "probe"]).stdin(Stdio::null()));
        stored && clear.status().is_ok_and(|status| status.success())
    }
}
