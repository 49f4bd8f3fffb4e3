use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::part::{is_here, missing, ran};

const SSHD: &str = "/usr/sbin/sshd";

/// An SSH server on a port of the loopback, with keys that are thrown away. Nothing of the machine's own server or of
/// the person's configuration is used.
#[derive(Debug)]
pub struct SshServer {
    server: Child,
    welcomed: Arc<AtomicUsize>,
    folder: tempfile::TempDir,
}

impl SshServer {
    /// `None` where it is not on this machine, after saying so.
    pub fn start() -> Option<Self> {
        if !Path::new(SSHD).exists() || !is_here("ssh") {
            return missing("an SSH server", "apt-get install openssh-server openssh-client");
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(at("root")).unwrap();
        for key in ["host", "person"] {
            ran("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &at(key)]);
        }
        fs::copy(at("person.pub"), at("authorized")).unwrap();
        let is_root = ran("id", &["-u"]) == "0";
        if is_root {
            // The packaged service makes it when it starts, which it does not here.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            write_configurations(&at, port);
            if let Some(server) = serve(&at("sshd_config")) {
                return Some(Self { server: server.0, welcomed: server.1, folder });
            }
        }
        panic!("no port for an SSH server");
    }

    /// A folder over there for a test.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The client's configuration, for the host `there`.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// Changes the machine's key behind the back of the one who knows it.
    pub fn forget(&self) {
        let other = fs::read_to_string(self.folder.path().join("person.pub")).unwrap();
        let known = fs::read_to_string(self.folder.path().join("known_hosts")).unwrap();
        let host = known.split_whitespace().next().unwrap();
        fs::write(self.folder.path().join("known_hosts"), format!("{host} {other}")).unwrap();
    }

    /// How often somebody was let in.
    pub fn welcomed(&self) -> usize {
        self.welcomed.load(Ordering::SeqCst)
    }

    /// The clients of this machine's that hold a connection for others: their ids.
    pub fn lines(&self) -> Vec<i32> {
        let config = self.config();
        let is_line = |words: &[u8]| {
            let words = String::from_utf8_lossy(words);
            words.contains("ControlMaster=yes") && words.contains(config.to_str().unwrap())
        };
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        processes
            .filter(|id: &i32| fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|words| is_line(&words)))
            .collect()
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

fn write_configurations(at: &dyn Fn(&str) -> String, port: u16) {
    let server = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
         StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin \
         prohibit-password\nMaxStartups 500\nMaxSessions 500\nPrintMotd no\n",
        at("host"),
        at("authorized")
    );
    fs::write(at("sshd_config"), server).unwrap();
    let key = fs::read_to_string(at("host.pub")).unwrap();
    fs::write(at("known_hosts"), format!("[127.0.0.1]:{port} {key}")).unwrap();
    let client = format!(
        "Host there\n  HostName 127.0.0.1\n  Port {port}\n  User {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
         UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n",
        ran("id", &["-un"]),
        at("person"),
        at("known_hosts")
    );
    fs::write(at("config"), client).unwrap();
}

/// `None` where the port was taken meanwhile.
#[allow(clippy::zombie_processes, reason = "the machine that it becomes part of waits for it")]
fn serve(config: &str) -> Option<(Child, Arc<AtomicUsize>)> {
    let mut server = Command::new(SSHD)
        .args(["-D", "-e", "-f", config])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(server.stderr.take().unwrap());
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            server.wait().unwrap();
            assert!(said.contains("in use"), "the SSH server ended: {said}");
            return None;
        }
        if line.contains("Server listening") {
            // What it says from now on has to go somewhere.
            let welcomed = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&welcomed);
            std::thread::spawn(move || {
                let welcomes = lines.lines().map_while(Result::ok).filter(|line| line.contains("Accepted publickey"));
                for _ in welcomes {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            });
            return Some((server, welcomed));
        }
        said.push_str(&line);
    }
}
