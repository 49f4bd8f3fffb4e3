//! A desk: a display, a bus, a keyring and folders that belong to one test.

use std::cell::Cell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::bus::{Bus, Keyring};
use super::display::Display;
use super::process::{MARK, end_all, marked};
use super::window::Window;

/// The app under test: the one built with the tests, or what `BOSUN_DESKTOP` names.
fn binary() -> PathBuf {
    std::env::var_os("BOSUN_DESKTOP").map_or_else(|| env!("CARGO_BIN_EXE_bosun-desktop").into(), PathBuf::from)
}

/// What a desk will be; [`Plan::set_up`] makes it.
pub struct Plan {
    name: &'static str,
    size: (u32, u32),
    keyring: bool,
    blinks: bool,
    environment: Vec<(String, String)>,
}

impl Plan {
    /// A screen of 1024x700 instead of 1440x900.
    pub fn small(mut self) -> Self {
        self.size = (1024, 700);
        self
    }

    /// `light` or `dark`.
    pub fn theme(self, theme: &str) -> Self {
        self.env("BOSUN_THEME", theme)
    }

    /// `en` or `zh-CN`.
    pub fn language(self, language: &str) -> Self {
        self.env("BOSUN_LANG", language)
    }

    /// A machine on which no Secret Service answers.
    pub fn without_keyring(mut self) -> Self {
        self.keyring = false;
        self
    }

    /// The caret blinks, as it does for most people.
    pub fn with_blinking_caret(mut self) -> Self {
        self.blinks = true;
        self
    }

    /// A variable of the app's environment. Nothing but PATH is taken over from the test's own.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts the display, the bus and the keyring.
    pub fn set_up(self) -> Desk {
        Desk::set_up(self)
    }
}

/// One test's display, bus, keyring and folders.
pub struct Desk {
    /// The folder of its pictures.
    pub name: &'static str,
    /// The screen in pixels; the window fills it.
    pub size: (u32, u32),
    environment: Vec<(String, String)>,
    mark: String,
    keyring: Option<Keyring>,
    bus: Bus,
    display: Display,
    root: TempDir,
    pictures: Cell<u32>,
}

impl Desk {
    /// A desk of 1440x900 with a keyring. `name` must be the test's own.
    pub fn plan(name: &'static str) -> Plan {
        Plan { name, size: (1440, 900), keyring: true, blinks: false, environment: Vec::new() }
    }

    fn set_up(plan: Plan) -> Self {
        let root = tempfile::Builder::new().prefix("bosun-desk-").tempdir().expect("a temporary folder");
        for folder in ["home", "run", "data", "project"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder of the desk");
        }
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(root.path().join("run"), private).expect("a private folder");
        // A caret that blinks would make every picture a matter of luck.
        let settings = root.path().join("home/.config/gtk-3.0");
        std::fs::create_dir_all(&settings).expect("a folder of settings");
        let blink = i32::from(plan.blinks);
        std::fs::write(settings.join("settings.ini"), format!("[Settings]\ngtk-cursor-blink={blink}\n"))
            .expect("GTK's settings");
        // What an earlier run left would pass for this run's.
        std::fs::remove_dir_all(shots_of(plan.name)).ok();
        let mark = root.path().to_string_lossy().into_owned();
        let log = || log_of(root.path());
        let display = Display::start(plan.size.0, plan.size.1, log(), (MARK, &mark));
        let bus = Bus::start(&root.path().join("run"), log(), (MARK, &mark));
        let mut desk = Self {
            name: plan.name,
            size: plan.size,
            environment: plan.environment,
            mark,
            keyring: None,
            bus,
            display,
            root,
            pictures: Cell::new(0),
        };
        if plan.keyring && Keyring::is_installed() {
            desk.keyring = Some(Keyring::start(&|program| desk.command(program), desk.log()));
        }
        let may_skip = std::env::var("CI").map_or(true, |ci| matches!(ci.as_str(), "" | "0" | "false"));
        assert!(
            !plan.keyring || desk.has_keyring() || may_skip,
            "CI=true: gnome-keyring and libsecret-tools are missing"
        );
        desk
    }

    /// Whether a Secret Service answers. On a person's machine one may be missing; a test of keys then returns early.
    pub fn has_keyring(&self) -> bool {
        self.keyring.is_some()
    }

    /// An empty folder for a project.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// The app's data folder. It outlives the window.
    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// The desk's private home folder.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// What the native dialog for a folder answers from now on, in place of the person, whom WebDriver cannot play there
    /// (debug builds of the app only). The app is given a link, so that the answer can change while it runs.
    pub fn pick(&self, folder: &Path) {
        let link = self.picked();
        std::fs::remove_file(&link).ok();
        std::os::unix::fs::symlink(folder, link).expect("a link can be made");
    }

    fn picked(&self) -> PathBuf {
        self.root.path().join("picked")
    }

    /// Starts the app a second time while its window is open, and waits until that start is over.
    pub fn start_again(&self, arguments: &[&str]) -> ExitStatus {
        self.start(arguments).wait().expect("the app can be waited for")
    }

    /// The same where a desktop starts it, which gives it a variable.
    pub fn start_again_with(&self, arguments: &[&str], variable: (&str, &str)) -> ExitStatus {
        let mut app = self.command(&binary().to_string_lossy());
        app.args(arguments).env(variable.0, variable.1).stdin(Stdio::null()).stdout(self.log()).stderr(self.log());
        app.status().expect("the app can be started")
    }

    /// Starts the app with nobody at its page.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut app = self.command(&binary().to_string_lossy());
        app.args(arguments).stdin(Stdio::null()).stdout(self.log()).stderr(self.log());
        app.spawn().expect("the app can be started")
    }

    /// Starts the app and waits for its page.
    #[track_caller]
    pub fn open(&self) -> Window<'_> {
        self.open_with(&[])
    }

    /// The same with arguments on its command line.
    #[track_caller]
    pub fn open_with(&self, arguments: &[&str]) -> Window<'_> {
        let window = self.open_as_left(arguments);
        window.resize(self.size.0, self.size.1);
        window
    }

    /// The same without making the window fill the screen.
    #[track_caller]
    pub fn open_as_left(&self, arguments: &[&str]) -> Window<'_> {
        Window::open(self, &binary(), arguments)
    }

    /// A program in the desk's environment.
    pub fn command(&self, program: &str) -> Command {
        let home = self.home();
        let mut command = Command::new(program);
        command.env_clear().current_dir(&home).env(MARK, &self.mark).env("HOME", &home);
        command.envs(["PATH", "RUST_BACKTRACE"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("DISPLAY", &self.display.name).env("GDK_BACKEND", "x11");
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address).env("XDG_RUNTIME_DIR", self.root.path().join("run"));
        command.env("XDG_CACHE_HOME", home.join(".cache")).env("XDG_CONFIG_HOME", home.join(".config"));
        command.env("XDG_DATA_HOME", home.join(".local/share")).env("BOSUN_DATA_DIR", self.data());
        // Stable pictures: one language, one time zone, no settings of a desktop, no bridge to a screen reader.
        command.env("LANG", "C.UTF-8").env("TZ", "UTC").env("GSETTINGS_BACKEND", "memory").env("NO_AT_BRIDGE", "1");
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").env("BOSUN_PICK_FOLDER", self.picked());
        // WebDriver reaches the page alone; a test that is about the system's dialog takes this out.
        command.env("BOSUN_CONFIRM", "yes");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The same with no more rights over files than a person has, also where root runs the tests: for root without these two
    /// capabilities a closed folder is closed.
    pub fn command_of_a_person(&self, program: &str) -> Command {
        if !rustix::process::geteuid().is_root() {
            return self.command(program);
        }
        let without = "-dac_override,-dac_read_search";
        let mut command = self.command("setpriv");
        command.args(["--bounding-set", without, "--inh-caps", without, "--", program]);
        command
    }

    /// The address of the desk's bus.
    pub fn bus(&self) -> &str {
        &self.bus.address
    }

    /// The person looks at nothing: no window has the keyboard.
    pub fn look_away(&self) {
        self.display.focus(None);
    }

    /// The person looks at the app's window.
    pub fn look_at_window(&self) {
        let window = self.wait_for_window("Bosun");
        self.display.focus(Some(&window));
    }

    /// Waits for a window of the screen with this title; its number.
    #[track_caller]
    pub fn wait_for_window(&self, title: &str) -> String {
        let found = super::wait(std::time::Duration::from_secs(20), || self.display.find(title));
        found.unwrap_or_else(|| panic!("there is no window {title:?}\n{}", self.said()))
    }

    /// Waits until there is none.
    #[track_caller]
    pub fn wait_for_no_window(&self, title: &str) {
        let is_gone = self.is_gone_within(title, std::time::Duration::from_secs(20));
        assert!(is_gone, "the window {title:?} stays\n{}", self.said());
    }

    /// Whether there is none before `time` is over.
    pub fn is_gone_within(&self, title: &str, time: std::time::Duration) -> bool {
        super::wait(time, || self.display.find(title).is_none().then_some(())).is_some()
    }

    /// Presses a key in a window of the screen, as a person at the keyboard does.
    pub fn press_in(&self, window: &str, key: &str) {
        self.display.focus(Some(window));
        self.display.press(key);
    }

    /// Types into a window of the screen.
    pub fn type_in(&self, window: &str, text: &str) {
        self.display.focus(Some(window));
        self.display.type_text(text);
    }

    /// The process of the app's page, if there is one.
    fn page(&self) -> Option<Pid> {
        let is_page = |program: &Path| program.file_name().is_some_and(|name| name == "WebKitWebProcess");
        marked(&self.mark).into_iter().find(|(_, program)| is_page(program)).map(|(page, _)| page)
    }

    /// Ends that process at once, as the system does where memory runs out.
    #[track_caller]
    pub fn crash_page(&self) {
        let Some(page) = self.page() else { panic!("there is no page\n{}", self.said()) };
        kill_process(page, Signal::KILL).expect("the page's process can be killed");
        let is_gone = super::wait(std::time::Duration::from_secs(5), || (self.page() != Some(page)).then_some(()));
        assert!(is_gone.is_some(), "the page's process survived SIGKILL");
    }

    /// Clicks the left one of the two buttons of a system's dialog, which share its lowest row.
    pub fn choose_yes_in(&self, dialog: &str) {
        self.display.click_in(dialog, |width, height| (width / 4, height - 17));
    }

    /// Where what the desk's programs say is kept.
    pub fn log(&self) -> Stdio {
        log_of(self.root.path())
    }

    /// What they have said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.root.path().join("log.txt")).unwrap_or_default()
    }

    /// Marks the processes of this desk, for [`super::process::marked`].
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Takes a picture of the whole screen into `tests/e2e/shots/<desk>/`, numbered in the order they are taken.
    pub fn picture(&self, name: &str) -> PathBuf {
        let number = self.pictures.get() + 1;
        self.pictures.set(number);
        let file = self.shots().join(format!("{number:02}-{name}.png"));
        self.display.picture(&file);
        file
    }

    /// Asks the app's window to close; `false` if there is none.
    pub fn ask_to_close(&self) -> bool {
        self.display.ask_to_close()
    }

    /// Waits until the app's window came to the front with this token.
    #[track_caller]
    pub fn wait_for_token(&self, token: &str) {
        let came = super::wait(std::time::Duration::from_secs(20), || (self.display.token() == token).then_some(()));
        assert!(came.is_some(), "the window has the token {:?}\n{}", self.display.token(), self.said());
    }

    /// Keeps what tells why a test failed.
    pub fn keep_evidence(&self) {
        let folder = self.shots();
        self.display.picture(&folder.join("failed.png"));
        std::fs::write(folder.join("failed.log"), self.said()).expect("the log can be kept");
        eprintln!("the screen and the log at the time of the failure are in {}", folder.display());
    }

    fn shots(&self) -> PathBuf {
        let folder = shots_of(self.name);
        std::fs::create_dir_all(&folder).expect("the folder of pictures");
        folder
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        end_all(&self.mark);
    }
}

fn shots_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/shots").join(name)
}

fn log_of(root: &Path) -> Stdio {
    let file = File::options().create(true).append(true).open(root.join("log.txt"));
    file.expect("the desk's log").into()
}
