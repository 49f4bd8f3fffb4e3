use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::LocalShellOptions;

/// For an app that was started without a search path.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Taken from the app's environment as they are.
const PASSED: &[&str] = &["HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"];
/// Parts of names that secrets have. The second net only: what is not listed is not passed in the first place.
const SECRET: &[&str] = &["KEY", "SECRET", "TOKEN", "PASSW", "CREDENTIAL", "AUTH"];

/// The environment of commands, built from nothing (security.md, section 11).
pub(crate) fn build(
    own: impl Iterator<Item = (OsString, OsString)>,
    options: &LocalShellOptions,
    root: &Path,
) -> Vec<(OsString, OsString)> {
    let mut built: Vec<(OsString, OsString)> = vec![("TERM".into(), "dumb".into())];
    let mut path = None;
    for (name, value) in own {
        match name.to_str() {
            Some("PATH") => path = search_path(&value, root),
            Some(text) if passes(text, &options.pass_environment) => built.push((name, value)),
            _ => {}
        }
    }
    built.push(("PATH".into(), path.unwrap_or_else(|| USUAL_PATH.into())));
    for (name, value) in &options.set_environment {
        let usable = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        if usable {
            built.retain(|(taken, _)| taken != OsStr::new(name));
            built.push((name.into(), value.into()));
        }
    }
    built
}

fn passes(name: &str, listed: &[String]) -> bool {
    let known = PASSED.contains(&name) || name.starts_with("LC_");
    let wanted = listed.iter().any(|listed| listed == name);
    let upper = name.to_ascii_uppercase();
    (known || wanted) && !SECRET.iter().any(|part| upper.contains(part))
}

/// Without what a project could put in front of the system's programs: relative entries and its own folders.
fn search_path(value: &OsStr, root: &Path) -> Option<OsString> {
    let kept = std::env::split_paths(value).filter(|entry| entry.is_absolute() && !entry.starts_with(root));
    std::env::join_paths(kept).ok().filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn built(own: &[(&str, &str)], options: &LocalShellOptions) -> Vec<(String, String)> {
        let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut built: Vec<_> = build(own, options, Path::new("/proj"))
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect();
        built.sort();
        built
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_what_is_listed_comes_through() {
        let own = [
            ("HOME", "/home/me"),
            ("LC_ALL", "C.UTF-8"),
            ("OPENAI_API_KEY", "k"),
            ("SSH_AUTH_SOCK", "s"),
            ("DBUS_SESSION_BUS_ADDRESS", "d"),
            ("EDITOR", "vi"),
            ("TERM", "xterm"),
            ("PATH", "bin:/proj/bin:/usr/bin::/bin"),
        ];
        let expected = [("HOME", "/home/me"), ("LC_ALL", "C.UTF-8"), ("PATH", "/usr/bin:/bin"), ("TERM", "dumb")];
        assert_eq!(built(&own, &LocalShellOptions::default()), pairs(&expected));
    }

    #[test]
    fn a_listed_name_passes_unless_it_looks_like_a_secret() {
        let options = LocalShellOptions {
            pass_environment: vec!["EDITOR".into(), "GITHUB_TOKEN".into(), "my_api_key".into()],
            set_environment: vec![("EDITOR".into(), "ed".into()), ("A=B".into(), "x".into())],
            ..LocalShellOptions::default()
        };
        let own = [("EDITOR", "vi"), ("GITHUB_TOKEN", "t"), ("my_api_key", "k")];
        assert_eq!(built(&own, &options), pairs(&[("EDITOR", "ed"), ("PATH", USUAL_PATH), ("TERM", "dumb")]));
    }
}
