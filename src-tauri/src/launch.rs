use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bosun_protocol::SessionId;
use tauri::Url;

use crate::activation::is_sound;
use crate::check;

/// The flag under which a start uses the slow and safe way of drawing.
pub(crate) const SAFE_GRAPHICS: &str = "--safe-graphics";

/// Before the token that a start hands over with its arguments. It is for nobody to write, and no help names it.
const TOKEN: &str = "--activation-token=";

/// Before the id of the session that a link names.
const LINK: &str = "bosun://session/";

/// The arguments of a start, its program's name first, with a token for the app that they are handed to.
pub(crate) fn with_token(mut arguments: Vec<String>, token: &str) -> Vec<String> {
    // In front: behind `--` it would be a folder.
    arguments.insert(1.min(arguments.len()), format!("{TOKEN}{token}"));
    arguments
}

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// A folder to open as a project, absolute.
    pub folder: Option<PathBuf>,
    /// A session to show, from a `bosun:` link.
    pub session: Option<SessionId>,
    pub safe_graphics: bool,
    /// What lets the window come to the front, from a start that handed itself over.
    pub token: Option<String>,
}

/// A command line that opens no window: what to print, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// On standard output; the exit code is 0.
    Answer(String),
    /// On standard error; the exit code is 1.
    Refusal(String),
}

impl Launch {
    /// Reads the arguments behind the program's name. Relative folders start at `here`.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>, here: &Path) -> Result<Self, Said> {
        let mut launch = Self::default();
        let mut only_folders = false;
        for argument in arguments {
            match argument.to_str() {
                Some("--") if !only_folders => only_folders = true,
                Some(SAFE_GRAPHICS) if !only_folders => launch.safe_graphics = true,
                Some(flag) if flag.starts_with(TOKEN) && !only_folders => {
                    launch.token = flag.strip_prefix(TOKEN).filter(|token| is_sound(token)).map(str::to_owned);
                }
                Some("--version" | "-V") if !only_folders => {
                    return Err(Said::Answer(format!("Bosun {}", env!("CARGO_PKG_VERSION"))));
                }
                Some("--help" | "-h") if !only_folders => return Err(Said::Answer(HELP.to_owned())),
                Some(flag) if flag.starts_with('-') && flag.len() > 1 && !only_folders => {
                    return Err(Said::Refusal(format!("bosun-desktop knows no {flag}; see bosun-desktop --help")));
                }
                Some(link) if is_link(link) && !only_folders => match session_in(link) {
                    Some(session) => launch.session = Some(session),
                    None => return Err(Said::Refusal("this link leads to no session of Bosun".to_owned())),
                },
                _ if launch.folder.is_some() => {
                    return Err(Said::Refusal("bosun-desktop opens one folder at a time".to_owned()));
                }
                // What a file manager hands over.
                Some(address) if address.starts_with("file://") && !only_folders => {
                    let path = Url::parse(address).ok().and_then(|url| url.to_file_path().ok());
                    let refusal = || Said::Refusal("this address names no folder of this machine".to_owned());
                    launch.folder = Some(path.ok_or_else(refusal)?);
                }
                _ => launch.folder = Some(here.join(argument)),
            }
        }
        Ok(launch)
    }
}

impl Launch {
    /// The command line of a start that was given the same, its program's name first.
    pub(crate) fn arguments(&self, program: OsString) -> Vec<OsString> {
        let mut arguments = vec![program];
        if self.safe_graphics {
            arguments.push(SAFE_GRAPHICS.into());
        }
        arguments.extend(self.session.iter().map(|session| format!("{LINK}{session}").into()));
        if let Some(folder) = &self.folder {
            arguments.extend(["--".into(), folder.into()]);
        }
        arguments
    }
}

fn is_link(argument: &str) -> bool {
    argument.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bosun:"))
}

/// The session that a link names. A link shows a session and does nothing else, whatever else is written in it.
fn session_in(link: &str) -> Option<SessionId> {
    let url = Url::parse(link).ok()?;
    let plain = !link.contains("..")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.port().is_none();
    let id = url.path().strip_prefix('/')?.trim_end_matches('/');
    let sound = plain && url.host_str() == Some("session") && check::id(id).is_ok();
    sound.then(|| SessionId::new(id))
}

const HELP: &str = "Bosun: a deep agent in your project folder, under your command.

Usage: bosun-desktop [--safe-graphics] [FOLDER | LINK]

  FOLDER            open this folder as a project
  LINK              show a session: bosun://session/ID
  --safe-graphics   draw without the graphics card (if the window stays blank)
  --version         print the version

The same agent without a window: bosun --help";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Launch, Said> {
        Launch::parse(arguments.iter().map(OsString::from), Path::new("/here"))
    }

    #[test]
    fn a_folder_and_the_switch_are_understood_in_any_order() {
        let wanted = Launch { folder: Some("/here/p".into()), session: None, safe_graphics: true, token: None };
        assert_eq!(parse(&["p", "--safe-graphics"]), Ok(wanted.clone()));
        assert_eq!(parse(&["--safe-graphics", "p"]), Ok(wanted));
        assert_eq!(parse(&["/abs"]).map(|launch| launch.folder), Ok(Some("/abs".into())));
        assert_eq!(parse(&[]), Ok(Launch::default()));
    }

    #[test]
    fn a_token_is_handed_over_before_everything_else() {
        let handed = |arguments: &[&str]| {
            let arguments = with_token(arguments.iter().map(|argument| (*argument).to_owned()).collect(), "t_TIME1");
            Launch::parse(arguments.into_iter().skip(1).map(OsString::from), Path::new("/here"))
        };
        let wanted = Launch { folder: Some("/here/--x".into()), token: Some("t_TIME1".into()), ..Launch::default() };
        assert_eq!(handed(&["bosun-desktop", "--", "--x"]), Ok(wanted));
        assert_eq!(handed(&["bosun-desktop"]).map(|launch| launch.folder), Ok(None));
        assert_eq!(parse(&["--activation-token=a b"]), Ok(Launch::default()), "that is none");
    }

    #[test]
    fn what_was_understood_is_understood_again() {
        let session = Some("0190a1b2c3d4e5f60718293a4b5c6d7e".into());
        for launch in [
            Launch::default(),
            Launch { folder: Some("/here/--x".into()), ..Launch::default() },
            Launch { session, folder: Some("/a b".into()), safe_graphics: true, ..Launch::default() },
        ] {
            let arguments = launch.arguments("bosun-desktop".into()).into_iter().skip(1);
            assert_eq!(Launch::parse(arguments, Path::new("/elsewhere")), Ok(launch));
        }
    }

    #[test]
    fn a_folder_may_begin_with_a_dash() {
        assert_eq!(parse(&["--", "--help"]).map(|launch| launch.folder), Ok(Some("/here/--help".into())));
    }

    #[test]
    fn a_link_names_a_session_and_nothing_else() {
        let session = |link: &str| parse(&[link]).map(|launch| launch.session);
        let id = "0190a1b2c3d4e5f60718293a4b5c6d7e";
        assert_eq!(session(&format!("bosun://session/{id}")), Ok(Some(id.into())));
        assert_eq!(session(&format!("BOSUN://session/{id}/")), Ok(Some(id.into())));
        let wrong = [
            "bosun:x",
            "bosun://session/",
            "bosun://session/../x",
            "bosun://session/a?approve=1",
            "bosun://run/a",
            "bosun://session/a/b",
            "bosun://u@session/a",
            "bosun://session/a#b",
            "bosun://session:1/a",
            "bosun://session/a b",
        ];
        for link in wrong {
            assert!(matches!(session(link), Err(Said::Refusal(_))), "{link}");
        }
    }

    #[test]
    fn a_file_manager_hands_over_an_address() {
        assert_eq!(parse(&["file:///a/b%20c"]).map(|launch| launch.folder), Ok(Some("/a/b c".into())));
        assert!(matches!(parse(&["file://host/a"]), Err(Said::Refusal(_))));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert!(matches!(parse(&["--fast"]), Err(Said::Refusal(said)) if said.contains("--fast")));
        assert!(matches!(parse(&["a", "b"]), Err(Said::Refusal(_))));
        assert!(matches!(parse(&["-h"]), Err(Said::Answer(said)) if said.contains("--safe-graphics")));
    }
}
