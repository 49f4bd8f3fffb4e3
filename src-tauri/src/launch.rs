use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The flag under which a start uses the slow and safe way of drawing.
pub(crate) const SAFE_GRAPHICS: &str = "--safe-graphics";

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// A folder to open as a project, absolute.
    pub folder: Option<PathBuf>,
    pub safe_graphics: bool,
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
                Some("--version" | "-V") if !only_folders => {
                    return Err(Said::Answer(format!("Bosun {}", env!("CARGO_PKG_VERSION"))));
                }
                Some("--help" | "-h") if !only_folders => return Err(Said::Answer(HELP.to_owned())),
                Some(flag) if flag.starts_with('-') && flag.len() > 1 && !only_folders => {
                    return Err(Said::Refusal(format!("bosun-desktop knows no {flag}; see bosun-desktop --help")));
                }
                _ if launch.folder.is_some() => {
                    return Err(Said::Refusal("bosun-desktop opens one folder at a time".to_owned()));
                }
                _ => launch.folder = Some(here.join(argument)),
            }
        }
        Ok(launch)
    }
}

const HELP: &str = "Bosun: a deep agent in your project folder, under your command.

Usage: bosun-desktop [--safe-graphics] [FOLDER]

  FOLDER            open this folder as a project
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
        let wanted = Launch { folder: Some("/here/p".into()), safe_graphics: true };
        assert_eq!(parse(&["p", "--safe-graphics"]), Ok(wanted.clone()));
        assert_eq!(parse(&["--safe-graphics", "p"]), Ok(wanted));
        assert_eq!(parse(&["/abs"]).map(|launch| launch.folder), Ok(Some("/abs".into())));
        assert_eq!(parse(&[]), Ok(Launch::default()));
    }

    #[test]
    fn a_folder_may_begin_with_a_dash() {
        assert_eq!(parse(&["--", "--help"]).map(|launch| launch.folder), Ok(Some("/here/--help".into())));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert!(matches!(parse(&["--fast"]), Err(Said::Refusal(said)) if said.contains("--fast")));
        assert!(matches!(parse(&["a", "b"]), Err(Said::Refusal(_))));
        assert!(matches!(parse(&["-h"]), Err(Said::Answer(said)) if said.contains("--safe-graphics")));
    }
}
