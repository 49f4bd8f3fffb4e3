//! The app's window: what a person does in it and sees in it.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::desk::Desk;
use super::element::{Element, Query};
use super::process::marked;
use super::usage;
use super::webdriver::{Driver, Refusal, Session};
use super::{PATIENCE, wait};

/// Names of keys in a chord such as `Control+Shift+d`, with WebDriver's code for each.
const KEYS: [(&str, &str); 18] = [
    ("Control", "\u{e009}"),
    ("Shift", "\u{e008}"),
    ("Alt", "\u{e00a}"),
    ("Meta", "\u{e03d}"),
    ("Enter", "\u{e007}"),
    ("Escape", "\u{e00c}"),
    ("Tab", "\u{e004}"),
    ("Backspace", "\u{e003}"),
    ("Delete", "\u{e017}"),
    ("Home", "\u{e011}"),
    ("End", "\u{e010}"),
    ("PageUp", "\u{e00e}"),
    ("PageDown", "\u{e00f}"),
    ("Left", "\u{e012}"),
    ("Up", "\u{e013}"),
    ("Right", "\u{e014}"),
    ("Down", "\u{e015}"),
    ("Space", " "),
];

/// Resolves when the page has come to rest: fonts are there, finite animations are over, two frames were drawn.
const AT_REST: &str = "
const done = arguments[arguments.length - 1];
const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const finite = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime ?? Infinity);
const settle = (animation) => animation.finished.catch(() => null);
document.fonts.ready
  .then(frame)
  .then(() => Promise.all(document.getAnimations().filter(finite).map(settle)))
  .then(frame).then(frame).then(() => done(true));
";

/// The open window of the app under test.
pub struct Window<'d> {
    desk: &'d Desk,
    binary: PathBuf,
    session: Session,
    _driver: Driver,
}

impl<'d> Window<'d> {
    /// Starts `binary` on `desk` and waits for its page.
    #[track_caller]
    pub fn open(desk: &'d Desk, binary: &Path, arguments: &[&str]) -> Self {
        let driver = Driver::start(desk.command_of_a_person("WebKitWebDriver"), desk.log());
        let session = match driver.open(binary, arguments, &|| running(desk, binary).is_some()) {
            Ok(session) => session,
            Err(refusal) => {
                desk.keep_evidence();
                panic!("the app did not open a window: {refusal}\n{}", desk.said());
            }
        };
        Self { desk, binary: binary.to_path_buf(), session, _driver: driver }
    }

    /// Gives the window a size, at the screen's top left corner.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32) {
        let rect = json!({ "x": 0, "y": 0, "width": width, "height": height });
        self.told(self.session.post("/window/rect", &rect));
        let fits = wait(PATIENCE, || {
            let size = self.session.script("return [innerWidth, innerHeight]", &[]).ok()?;
            (size[0] == width).then_some(())
        });
        assert!(fits.is_some(), "the window did not become {width} pixels wide");
    }

    /// The button of this name.
    #[track_caller]
    pub fn button(&self, label: &str) -> Element<'_> {
        self.by_role("button", label)
    }

    /// The text field of this name.
    #[track_caller]
    pub fn field(&self, label: &str) -> Element<'_> {
        self.by_role("textbox", label)
    }

    /// The element of this role and accessible name.
    #[track_caller]
    pub fn by_role(&self, role: &'static str, label: &str) -> Element<'_> {
        let query = Query { role: Some(role), label: Some(label.to_owned()), ..Query::default() };
        Element::wait_for(&self.session, query)
    }

    /// The element of this accessible name, whatever its role.
    #[track_caller]
    pub fn by_label(&self, label: &str) -> Element<'_> {
        Element::wait_for(&self.session, Query { label: Some(label.to_owned()), ..Query::default() })
    }

    /// The first visible element that matches.
    #[track_caller]
    pub fn by_css(&self, css: &str) -> Element<'_> {
        Element::wait_for(&self.session, Query { css: Some(css.to_owned()), ..Query::default() })
    }

    /// How many elements match now, visible or not.
    #[track_caller]
    pub fn count(&self, css: &str) -> usize {
        let count = self.script("return document.querySelectorAll(arguments[0]).length", &[json!(css)]);
        usize::try_from(count.as_u64().unwrap_or_default()).unwrap_or_default()
    }

    /// Whether there is a visible element of this role and name now.
    pub fn has(&self, role: &'static str, label: &str) -> bool {
        let query = Query { role: Some(role), label: Some(label.to_owned()), ..Query::default() };
        query.find(&self.session).is_some()
    }

    /// All text on the page as it is shown.
    pub fn text(&self) -> String {
        // Between two pages there is no document to ask.
        let text = self.session.script("return document.body ? document.body.innerText : ''", &[]);
        text.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        let found = wait(PATIENCE, || self.text().contains(text).then_some(()));
        assert!(found.is_some(), "{text:?} did not appear; the page reads:\n{}", self.text());
    }

    #[track_caller]
    pub fn wait_until_gone(&self, text: &str) {
        let gone = wait(PATIENCE, || (!self.text().contains(text)).then_some(()));
        assert!(gone.is_some(), "{text:?} did not go away; the page reads:\n{}", self.text());
    }

    /// Waits until `condition`, the body of a function, returns true.
    #[track_caller]
    pub fn wait_until(&self, condition: &str) {
        let met = wait(PATIENCE, || (self.session.script(condition, &[]).ok()? == true).then_some(()));
        assert!(met.is_some(), "`{condition}` did not come true; the page reads:\n{}", self.text());
    }

    /// Presses a key or a chord (`Escape`, `Control+k`) where the focus is.
    #[track_caller]
    pub fn press(&self, chord: &str) {
        let code = |name: &str| {
            KEYS.iter().find(|(key, _)| *key == name).map_or_else(|| name.to_owned(), |(_, code)| (*code).to_owned())
        };
        let keys: Vec<String> = chord.split('+').map(code).collect();
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let actions: Vec<Value> = down.chain(up).collect();
        let body = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.told(self.session.post("/actions", &body));
    }

    /// Loads the page anew, as after a crash of its process; the app itself goes on.
    #[track_caller]
    pub fn reload(&self) {
        self.told(self.session.post("/refresh", &json!({})));
    }

    /// Runs the body of a function in the page.
    #[track_caller]
    pub fn script(&self, body: &str, arguments: &[Value]) -> Value {
        self.told(self.session.script(body, arguments))
    }

    /// The same with a function whose last argument is called with the result.
    #[track_caller]
    pub fn script_async(&self, body: &str, arguments: &[Value]) -> Value {
        self.told(self.session.script_async(body, arguments))
    }

    /// Processor time that the app's processes have used so far.
    pub fn cpu(&self) -> Duration {
        usage::cpu(&self.processes())
    }

    /// Bytes of memory that the app's processes take, what they share counted once.
    pub fn memory(&self) -> u64 {
        usage::memory(&self.processes())
    }

    /// The app and the processes of its page.
    fn processes(&self) -> Vec<Pid> {
        let is_ours = |program: &Path| {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            program == self.binary || (name.starts_with("WebKit") && name != "WebKitWebDriver")
        };
        marked(self.desk.mark()).into_iter().filter(|(_, program)| is_ours(program)).map(|(pid, _)| pid).collect()
    }

    /// Takes a picture once the page has come to rest: `tests/e2e/shots/<desk>/<number>-<name>.png`.
    #[track_caller]
    pub fn shot(&self, name: &str) -> PathBuf {
        self.told(self.session.script_async(AT_REST, &[]));
        self.desk.picture(name)
    }

    /// Closes the window as a person does and waits until the app has ended by itself.
    #[track_caller]
    pub fn close(self) {
        assert!(self.desk.ask_to_close(), "there is no window to close\n{}", self.desk.said());
        self.wait_for_end();
    }

    /// Waits until the app has ended by itself.
    #[track_caller]
    pub fn wait_for_end(self) {
        let ended = self.ends_within(PATIENCE);
        assert!(ended, "the app goes on running after its window was closed\n{}", self.desk.said());
    }

    /// Whether the app ends by itself before `time` is over.
    pub fn ends_within(&self, time: Duration) -> bool {
        wait(time, || self.app().is_none().then_some(())).is_some()
    }

    /// Ends the app at once, as a crash or a power cut does.
    #[track_caller]
    pub fn crash(self) {
        let Some(app) = self.app() else { panic!("the app is not running\n{}", self.desk.said()) };
        kill_process(app, Signal::KILL).expect("the app can be killed");
        assert!(wait(PATIENCE, || self.app().is_none().then_some(())).is_some(), "the app survived SIGKILL");
    }

    fn app(&self) -> Option<Pid> {
        running(self.desk, &self.binary)
    }

    #[track_caller]
    fn told(&self, answer: Result<Value, Refusal>) -> Value {
        answer.unwrap_or_else(|refusal| panic!("{refusal}\n{}", self.desk.said()))
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.desk.keep_evidence();
        }
        // Ends the app if it still runs; the desk ends whatever does not listen.
        drop(self.session.delete(""));
        let ended = wait(Duration::from_secs(5), || self.app().is_none().then_some(()));
        if let (None, Some(app)) = (ended, self.app()) {
            kill_process(app, Signal::KILL).ok();
        }
    }
}

/// The process of `binary` on `desk`.
fn running(desk: &Desk, binary: &Path) -> Option<Pid> {
    marked(desk.mark()).into_iter().find(|(_, program)| program == binary).map(|(pid, _)| pid)
}
