//! Everything a scenario needs to drive the built app in a real window: a [`Desk`] (virtual display, private bus with an
//! unlocked keyring, private folders) and the [`Window`] opened on it.
//!
//! ```ignore
//! let desk = Desk::plan("approve-an-edit").small().theme("dark").set_up();
//! let window = desk.open();
//! window.field("Message").write("Rename it");
//! window.button("Send").click();
//! window.wait_for_text("waiting for you");
//! window.shot("card");
//! ```
//!
//! A desk ends every process it started when it is dropped, also when the test fails. Pictures are taken from the X
//! server into `tests/e2e/shots/<desk>/`; a failing test leaves `failed.png` there, and the app's log.

mod bus;
mod desk;
mod display;
mod element;
mod http;
mod notices;
mod opener;
mod process;
mod usage;
mod webdriver;
mod window;
mod x11;

pub use desk::{Desk, Plan};
pub use notices::Notices;
pub use opener::{FileManager, Launcher};
pub use process::{marked, running_with};
#[allow(unused_imports, reason = "names for the signatures of scenarios' own helpers")]
pub use {element::Element, window::Window};

use std::time::{Duration, Instant};

/// How long a scenario waits for something to become true before it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Asks until `question` has an answer, or gives up after `patience`. There is no event to wait for on the far side of a
/// window, so this is the one place that looks again and again.
pub fn wait<T>(patience: Duration, mut question: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + patience;
    loop {
        if let Some(answer) = question() {
            return Some(answer);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(40));
    }
}
