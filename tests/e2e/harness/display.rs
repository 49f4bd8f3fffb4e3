//! A virtual display and pictures of it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::process::Owned;
use super::x11;

/// An Xvfb of its own size on a free display.
pub struct Display {
    /// As in the environment: `:1`.
    pub name: String,
    _server: Owned,
}

impl Display {
    pub fn start(width: u32, height: u32, log: Stdio, mark: (&str, &str)) -> Self {
        let screen = format!("{width}x{height}x24");
        let mut command = Command::new("Xvfb");
        // The server itself finds the free number and writes it where we tell it.
        command.args(["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-noreset", "-dpi", "96"]);
        let mut server =
            Owned::start(command.env(mark.0, mark.1).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log));
        let stdout = server.child().stdout.take().expect("piped");
        let mut number = String::new();
        BufReader::new(stdout).read_line(&mut number).expect("a display number");
        let number: u32 = number.trim().parse().unwrap_or_else(|_| panic!("Xvfb found no free display: {number:?}"));
        Self { name: format!(":{number}"), _server: server }
    }

    /// Writes what is on the screen to `file`. WebDriver's own screenshot never answers in safe rendering, which the app
    /// chooses on machines without a graphics device.
    pub fn picture(&self, file: &Path) {
        let output = Command::new("import")
            .args(["-display", &self.name, "-window", "root"])
            .arg(format!("png24:{}", file.display()))
            .output()
            .expect("ImageMagick's import is installed");
        assert!(output.status.success(), "no picture was taken: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Asks the app's window to close, as a click on its cross does.
    pub fn ask_to_close(&self) -> bool {
        x11::ask_to_close(&self.name).expect("the X server answers")
    }

    /// The token with which the app's window came to the front last.
    pub fn token(&self) -> String {
        x11::token(&self.name).expect("the X server answers")
    }

    /// The number of a visible window whose title begins like this.
    pub fn find(&self, title: &str) -> Option<String> {
        let said = self.xdotool(&["search", "--onlyvisible", "--name", &format!("^{title}")]);
        said.lines().next().map(str::to_owned)
    }

    /// Gives a window the keyboard; without one nobody has it.
    pub fn focus(&self, window: Option<&str>) {
        match window {
            Some(window) => drop(self.xdotool(&["windowfocus", "--sync", window])),
            None => x11::focus_nothing(&self.name).expect("the X server answers"),
        }
    }

    /// Presses a key for whoever has the keyboard.
    pub fn press(&self, key: &str) {
        self.xdotool(&["key", key]);
    }

    /// Types where the focus is, letter by letter.
    pub fn type_text(&self, text: &str) {
        self.xdotool(&["type", "--delay", "20", text]);
    }

    /// Clicks in a window, at a place of its width and height.
    pub fn click_in(&self, window: &str, place: impl FnOnce(u32, u32) -> (u32, u32)) {
        let said = self.xdotool(&["getwindowgeometry", "--shell", window]);
        let of = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).expect("a size");
        let (x, y) = place(of("WIDTH="), of("HEIGHT="));
        self.xdotool(&["mousemove", "--window", window, &x.to_string(), &y.to_string(), "click", "1"]);
    }

    fn xdotool(&self, arguments: &[&str]) -> String {
        let output = Command::new("xdotool").env("DISPLAY", &self.name).args(arguments).output();
        String::from_utf8_lossy(&output.expect("xdotool is installed").stdout).into_owned()
    }
}
