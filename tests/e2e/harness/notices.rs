//! The desktop's notification service on a desk's bus, with a hand that presses, and the launcher beside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zbus::blocking::connection::Builder;
use zbus::blocking::{Connection, MessageIterator};
use zbus::zvariant::OwnedValue;
use zbus::{MatchRule, message};

use super::wait;

const PATH: &str = "/org/freedesktop/Notifications";
const NAME: &str = "org.freedesktop.Notifications";

/// What was to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: u32,
    /// The notice that this one takes the place of; 0 for none.
    pub replaces: u32,
    pub summary: String,
    pub body: String,
    pub actions: Vec<String>,
    pub entry: String,
}

/// The service; gone with this value.
pub struct Notices {
    connection: Connection,
    shown: Arc<Mutex<Vec<Notice>>>,
    withdrawn: Arc<Mutex<Vec<u32>>>,
    counted: Arc<Mutex<Vec<(String, i64)>>>,
}

struct Service {
    shown: Arc<Mutex<Vec<Notice>>>,
    withdrawn: Arc<Mutex<Vec<u32>>>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Service {
    #[expect(clippy::too_many_arguments, reason = "the service's own signature")]
    fn notify(
        &self,
        _app_name: String,
        replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        let mut shown = self.shown.lock().unwrap();
        let id = if replaces == 0 { u32::try_from(shown.len()).unwrap() + 11 } else { replaces };
        let entry = hints.get("desktop-entry").and_then(|value| value.downcast_ref::<String>().ok());
        shown.push(Notice { id, replaces, summary, body, actions, entry: entry.unwrap_or_default() });
        id
    }

    fn get_capabilities(&self) -> Vec<String> {
        vec!["actions".into(), "body".into()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("desk".into(), "bosun".into(), "1".into(), "1.2".into())
    }

    fn close_notification(&self, id: u32) {
        self.withdrawn.lock().unwrap().push(id);
    }
}

impl Notices {
    /// `address` is the bus's.
    pub fn start(address: &str) -> Self {
        let shown: Arc<Mutex<Vec<Notice>>> = Arc::default();
        let withdrawn: Arc<Mutex<Vec<u32>>> = Arc::default();
        let service = Service { shown: Arc::clone(&shown), withdrawn: Arc::clone(&withdrawn) };
        let builder = Builder::address(address).expect("an address").name(NAME).expect("a name");
        let connection = builder.serve_at(PATH, service).expect("a service").build().expect("a connection to the bus");
        let counted = Arc::default();
        listen(address, Arc::clone(&counted));
        Self { connection, shown, withdrawn, counted }
    }

    /// Waits until the launcher shows `count` beside the app's entry.
    #[track_caller]
    pub fn wait_for_badge(&self, count: i64) {
        let wanted = Some(("application://Bosun.desktop".to_owned(), count));
        let seen =
            wait(Duration::from_secs(20), || (self.counted.lock().unwrap().last().cloned() == wanted).then_some(()));
        seen.unwrap_or_else(|| panic!("the launcher was not told {count}: {:?}", self.counted.lock().unwrap()));
    }

    /// Waits until so many were to be shown; the last of them.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> Notice {
        let last = wait(Duration::from_secs(20), || {
            let shown = self.shown.lock().unwrap();
            if shown.len() >= count { shown.get(count - 1).cloned() } else { None }
        });
        last.unwrap_or_else(|| panic!("{count} notices did not come: {:?}", self.shown.lock().unwrap()))
    }

    pub fn count(&self) -> usize {
        self.shown.lock().unwrap().len()
    }

    /// Waits until the notices that were taken back are these.
    #[track_caller]
    pub fn wait_for_withdrawn(&self, ids: &[u32]) {
        let seen = wait(Duration::from_secs(20), || (*self.withdrawn.lock().unwrap() == ids).then_some(()));
        seen.unwrap_or_else(|| panic!("not {ids:?} were taken back: {:?}", self.withdrawn.lock().unwrap()));
    }

    /// Presses a notice, as a person does on a desktop that lends the window a token.
    pub fn press_with(&self, id: u32, token: &str) {
        let lent = self.connection.emit_signal(None::<&str>, PATH, NAME, "ActivationToken", &(id, token));
        lent.expect("the token is told");
        self.press(id);
    }

    /// Presses a notice, as a person does.
    pub fn press(&self, id: u32) {
        let pressed = self.connection.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &(id, "default"));
        pressed.expect("the press is told");
    }
}

/// What the launcher is told to count, until the bus is gone.
fn listen(address: &str, counted: Arc<Mutex<Vec<(String, i64)>>>) {
    let rule = MatchRule::builder().msg_type(message::Type::Signal);
    let rule = rule.interface("com.canonical.Unity.LauncherEntry").expect("a name").member("Update").expect("a name");
    let connection = Builder::address(address).expect("an address").build().expect("a connection to the bus");
    let updates = MessageIterator::for_match_rule(rule.build(), &connection, None).expect("a rule");
    std::thread::spawn(move || {
        for update in updates.flatten() {
            let body = update.body();
            let (entry, shown): (String, HashMap<String, OwnedValue>) = body.deserialize().expect("an update");
            let number = shown["count"].downcast_ref::<i64>().expect("a number");
            assert_eq!(shown["count-visible"].downcast_ref::<bool>().expect("a mark"), number > 0);
            counted.lock().unwrap().push((entry, number));
        }
    });
}
