//! The browser that the screens are tried in.

use std::path::PathBuf;

use crate::exec::{self, Program};
use crate::place::Place;

/// Names the browser, for us and for the runner of its tests.
pub const VARIABLE: &str = "BOSUN_BROWSER";

/// What adds one on Ubuntu.
pub const ON_UBUNTU: &str = "install Google Chrome (https://www.google.com/chrome), or name another Chromium in \
                             BOSUN_BROWSER; apt's package on Ubuntu only fetches a snap";

/// On the PATH. The first is never a snap, which has a temporary folder of its own.
const PROGRAMS: [&str; 3] = ["google-chrome", "chromium", "chromium-browser"];

/// Where macOS and Windows have theirs.
const PLACES: [&str; 3] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
];

/// The one that the person names, else the first that is here and answers.
pub fn find(place: &Place) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let programs = PROGRAMS.iter().filter_map(|name| exec::find(name));
    let places = PLACES.iter().map(PathBuf::from).filter(|place| place.is_file());
    first(place, programs.chain(places))
}

/// Ubuntu's `chromium-browser` may be a script that only says how to install a snap. On Windows a browser that is asked
/// for its version opens.
fn first(place: &Place, mut programs: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let answers = |program: &PathBuf| Program::new(place, program).arg("--version").output().is_some();
    programs.find(|program| cfg!(windows) || answers(program))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::first;
    use crate::place::Place;

    #[test]
    fn a_browser_that_does_not_answer_is_none() {
        let place = Place::here().expect("a place");
        let among = |programs: &[&str]| first(&place, programs.iter().map(Into::into));
        assert_eq!(among(&["/nonexistent/chromium", "/bin/false", "/bin/true"]), Some("/bin/true".into()));
        assert_eq!(among(&["/nonexistent/chromium", "/bin/false"]), None);
    }
}
