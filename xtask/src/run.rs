//! `cargo xtask run`: from a fresh machine to an open window.

use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

use crate::exec::Program;
use crate::place::Place;
use crate::setup::{self, Need};
use crate::{say, ui};

/// Tells cargo to embed the built page. Without it the window would look for a development server.
pub const EMBED_PAGE: [&str; 2] = ["--features", "bosun-desktop/custom-protocol"];

/// With these a test answers in a person's place and chooses how the window looks. Whoever opens the window here does both
/// themselves.
const FOR_TESTS: [&str; 7] = [
    "TAURI_WEBVIEW_AUTOMATION",
    "BOSUN_CONFIRM",
    "BOSUN_PICK_FOLDER",
    "BOSUN_THEME",
    "BOSUN_LANG",
    "BOSUN_BLANK",
    "BOSUN_LINGERS",
];

/// What the person asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options<'a> {
    release: bool,
    /// The arguments of the window's program.
    passed_on: &'a [String],
}

impl<'a> Options<'a> {
    fn read(arguments: &'a [String]) -> Result<Self> {
        let (own, passed_on) = match arguments.iter().position(|argument| argument == "--") {
            Some(at) => (arguments.get(..at).unwrap_or_default(), arguments.get(at + 1..).unwrap_or_default()),
            None => (arguments, &[][..]),
        };
        let release = match own {
            [] => false,
            [flag] if flag == "--release" => true,
            _ => bail!("`cargo xtask run` takes --release, and arguments for Bosun after --; not {:?}", own.join(" ")),
        };
        Ok(Self { release, passed_on })
    }
}

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    let window = prepared(place, arguments, &[])?;
    say::stage("opening the window");
    Ok(if window.status()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Installs and builds what the window takes, and gives back its program, about to be started. Cargo gets `more` with it.
pub fn prepared(place: &Place, arguments: &[String], more: &[&str]) -> Result<Program> {
    let options = Options::read(arguments)?;
    setup::check(place, &[Need::Build])?;
    ui::install(place)?;
    ui::build(place)?;
    let profile = if options.release { "release" } else { "debug" };
    say::timed("building Bosun (the first time takes some minutes)", || {
        let build = Program::cargo(place).args(["build", "--package", "bosun-desktop", "--bin", "bosun-desktop"]);
        build.args(EMBED_PAGE).args(options.release.then_some("--release")).args(more).run()
    })?;
    let binary = place.target.join(profile).join(format!("bosun-desktop{}", std::env::consts::EXE_SUFFIX));
    Ok(window(place, &binary, options.passed_on))
}

fn window(place: &Place, binary: &Path, arguments: &[String]) -> Program {
    let program = Program::new(place, binary).args(arguments);
    FOR_TESTS.iter().fold(program, |program, name| program.without(name))
}

#[cfg(test)]
mod tests {
    use super::{FOR_TESTS, Options, window};
    use crate::place::Place;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// What a person sets for the window.
    const FOR_PEOPLE: [&str; 1] = ["BOSUN_LOG"];

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn arguments_after_the_dashes_are_those_of_the_window() {
        let passed = words(&["--version", "--release", "--"]);
        for (arguments, release, passed_on) in [
            (words(&[]), false, &[][..]),
            (words(&["--release"]), true, &[]),
            (words(&["--"]), false, &[]),
            ([words(&["--"]), passed.clone()].concat(), false, &passed[..]),
            ([words(&["--release", "--"]), passed.clone()].concat(), true, &passed[..]),
        ] {
            assert_eq!(Options::read(&arguments).expect("options"), Options { release, passed_on }, "{arguments:?}");
        }
        for wrong in [&["--fast"][..], &["--version"], &["--release", "--release"], &["/a/folder"]] {
            assert!(Options::read(&words(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn nothing_that_answers_in_a_persons_place_reaches_the_window() {
        let place = Place::here().expect("a place");
        let program = window(&place, Path::new("/bosun-desktop"), &words(&["--version"]));
        assert_eq!(program.text(), "/bosun-desktop --version");
        assert_eq!(program.left_out(), BTreeSet::from(FOR_TESTS.map(str::to_owned)));
    }

    /// Every variable that the window's own sources name.
    #[test]
    fn what_the_window_reads_for_tests_is_known_here() {
        let folder = Place::here().expect("a place").root.join("src-tauri/src");
        let mut named = BTreeSet::new();
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).expect("a source");
                let quoted = text.split('"').filter(|word| word.starts_with("BOSUN_") || word.starts_with("TAURI_"));
                named.extend(quoted.map(str::to_owned));
            }
        }
        let known = FOR_TESTS.iter().chain(&FOR_PEOPLE).map(|name| (*name).to_owned());
        assert_eq!(named, known.collect());
    }
}
