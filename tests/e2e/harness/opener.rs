//! What a desktop opens things with, in its place: a launcher and a file manager that write down what they were given, and
//! open nothing.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;

use super::{PATIENCE, wait};

/// The desktop's launcher, found before every other one.
pub struct Launcher(TempDir);

impl Launcher {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("bosun-launcher-").tempdir().expect("a temporary folder");
        // Root runs the tests where the app runs as a person: it has to come in.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("an open folder");
        let program = folder.path().join("xdg-open");
        let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", folder.path().join("opened").display());
        std::fs::write(&program, script).expect("a launcher");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a program");
        Self(folder)
    }

    /// The `PATH` on which it is found, for [`super::Plan::env`].
    pub fn path(&self) -> String {
        format!("{}:{}", self.0.path().display(), std::env::var("PATH").unwrap_or_default())
    }

    /// What it was to open, in order.
    pub fn opened(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.0.path().join("opened")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits until it was to open exactly these.
    #[track_caller]
    pub fn wait_for(&self, wanted: &[&str]) {
        let seen = wait(PATIENCE, || (self.opened() == wanted).then_some(()));
        seen.unwrap_or_else(|| panic!("not {wanted:?} was to be opened: {:?}", self.opened()));
    }
}

/// The desktop's file manager on a desk's bus; gone with this value.
pub struct FileManager {
    _connection: Connection,
    shown: Arc<Mutex<Vec<String>>>,
}

struct Service(Arc<Mutex<Vec<String>>>);

#[zbus::interface(name = "org.freedesktop.FileManager1")]
impl Service {
    fn show_items(&self, addresses: Vec<String>, _token: String) {
        self.0.lock().unwrap().extend(addresses);
    }
}

impl FileManager {
    /// `address` is the bus's.
    pub fn start(address: &str) -> Self {
        let shown: Arc<Mutex<Vec<String>>> = Arc::default();
        let builder =
            Builder::address(address).expect("an address").name("org.freedesktop.FileManager1").expect("a name");
        let service = Service(Arc::clone(&shown));
        let builder = builder.serve_at("/org/freedesktop/FileManager1", service).expect("a service");
        Self { _connection: builder.build().expect("a connection to the bus"), shown }
    }

    /// Waits until it was to show exactly these.
    #[track_caller]
    pub fn wait_for(&self, wanted: &[&str]) {
        let seen = wait(PATIENCE, || (*self.shown.lock().unwrap() == wanted).then_some(()));
        seen.unwrap_or_else(|| panic!("not {wanted:?} was to be shown: {:?}", self.shown.lock().unwrap()));
    }
}
