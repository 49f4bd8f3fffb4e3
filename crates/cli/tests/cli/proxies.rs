//! The proxy of the person's desktop: GNOME's program and KDE's file, and a real proxy of this machine.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use bosun_testkit::Reply;
use pretty_assertions::assert_eq;
use tempfile::TempDir;

use crate::bench::{Bench, ran};

/// A proxy that lets nobody through, and a desktop whose settings name it.
struct Desk {
    bench: Bench,
    folder: TempDir,
    port: u16,
    heard: Arc<Mutex<String>>,
}

impl Desk {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::<Mutex<String>>::default();
        let ears = Arc::clone(&heard);
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut buffer = [0; 4096];
                let read = stream.read(&mut buffer).unwrap_or(0);
                ears.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
                // The client may have left.
                stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").ok();
            }
        });
        Self { bench: Bench::new(), folder: tempfile::tempdir().unwrap(), port, heard }
    }

    /// GNOME's program, which prints `lines` for the one schema that it is asked for.
    fn gnome(&self, lines: &str) {
        let program = self.folder.path().join("gsettings");
        let text = format!(
            "#!/bin/sh\n[ \"$*\" = 'list-recursively org.gnome.system.proxy' ] || exit 1\ncat <<'END'\n{lines}\nEND\n"
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn manual(&self) -> String {
        format!(
            "org.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy.https host '127.0.0.1'\n\
             org.gnome.system.proxy.https port {}",
            self.port
        )
    }

    fn kde(&self, lines: &str) {
        fs::write(self.folder.path().join("kioslaverc"), format!("[Proxy Settings]\n{lines}\n")).unwrap();
    }

    /// Has `command` run in a session of `desktop`.
    fn session(&self, command: &mut Command, desktop: &str) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.folder.path().display())).env("XDG_CURRENT_DESKTOP", desktop);
        command.env("XDG_CONFIG_HOME", self.folder.path()).env("XDG_CONFIG_DIRS", self.folder.path().join("none"));
    }

    /// A call to a far provider in a session of `desktop`; gives what the proxy heard of it, and what was said.
    fn call(&self, desktop: &str, change: impl FnOnce(&mut Command)) -> (String, String) {
        let mut command = self.bench.bosun();
        command.args(["run", "--project", self.bench.project.root_str(), "--model", "openai:m", "--no-store"]);
        command.args(["--base-url", "https://models.invalid/v1", "hello"]);
        command.env("OPENAI_API_KEY", "sk-canary-0123456789");
        self.session(&mut command, desktop);
        change(&mut command);
        let said = ran(&mut command).sentence().to_owned();
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        assert!(!heard.contains("canary") && !said.contains("canary"), "{heard}{said}");
        (heard, said)
    }
}

const ASKED: &str = "CONNECT models.invalid:443 ";

#[test]
fn the_proxy_of_gnomes_settings_is_asked_where_nothing_else_names_one() {
    let desk = Desk::new();
    desk.gnome(&desk.manual());
    let (heard, said) = desk.call("ubuntu:GNOME", |_| {});
    assert!(heard.starts_with(ASKED), "{heard}");
    assert!(said.contains("the proxy on the way to models.invalid does not let the request through"), "{said}");

    desk.gnome(&format!("{}\norg.gnome.system.proxy ignore-hosts ['models.invalid']", desk.manual()));
    assert_eq!(desk.call("GNOME", |_| {}).0, "");

    // The environment stands before it.
    desk.gnome(&desk.manual());
    let (heard, said) = desk.call("GNOME", |command| {
        command.env("HTTPS_PROXY", "http://127.0.0.1:9");
    });
    assert_eq!(heard, "");
    assert!(said.contains("cannot be reached"), "{said}");
}

#[test]
fn the_proxy_of_kdes_file_is_asked() {
    let desk = Desk::new();
    desk.gnome("org.gnome.system.proxy mode 'none'");
    desk.kde(&format!("ProxyType=1\nhttpsProxy=http://127.0.0.1 {}", desk.port));
    assert!(desk.call("KDE", |_| {}).0.starts_with(ASKED));
    assert_eq!(desk.call("GNOME", |_| {}).0, "", "the file of another desktop");
    desk.kde(&format!("ProxyType=0\nhttpsProxy=http://127.0.0.1 {}", desk.port));
    assert_eq!(desk.call("KDE", |_| {}).0, "");
}

/// A script is not run, and whoever cannot be reached without it is said to be.
#[test]
fn a_script_that_chooses_the_proxy_is_said_not_to_be_run() {
    let desk = Desk::new();
    desk.gnome("org.gnome.system.proxy mode 'auto'\norg.gnome.system.proxy autoconfig-url 'http://127.0.0.1:9/x.pac'");
    let (heard, said) = desk.call("GNOME", |_| {});
    assert_eq!(heard, "");
    assert!(
        said.contains("The settings of GNOME choose the proxy with a script (PAC), which Bosun does not run"),
        "{said}"
    );
}

/// What is on this machine is reached without asking anybody, and a program that does not end holds nothing up.
#[test]
fn nobody_is_asked_for_what_is_on_this_machine_and_a_program_that_hangs_is_left() {
    let desk = Desk::new();
    desk.gnome("END\ntouch \"$XDG_CONFIG_HOME/asked\"; sleep 600; cat <<'END'");
    let asked = desk.folder.path().join("asked");
    desk.bench.server.once(Reply::text("hello"));
    let mut near = desk.bench.run_command(&["hello"]);
    desk.session(&mut near, "GNOME");
    let near = ran(&mut near);
    assert_eq!(near.code, Some(0), "{}", near.err);
    assert!(!asked.exists());
    assert_eq!(desk.call("GNOME", |_| {}).0, "");
    assert!(asked.exists());
}
