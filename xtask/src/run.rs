//! `cargo xtask run`: from a fresh machine to an open window.

use anyhow::{Result, bail};
use std::process::ExitCode;

use crate::exec::Program;
use crate::place::Place;
use crate::setup::{self, Need};
use crate::{say, ui};

/// Tells cargo to embed the built page. Without it the window would look for a development server.
pub const EMBED_PAGE: [&str; 2] = ["--features", "bosun-desktop/custom-protocol"];

/// With these a test answers in a person's place. Whoever opens the window here answers for themselves.
const FOR_TESTS: [&str; 3] = ["TAURI_WEBVIEW_AUTOMATION", "BOSUN_CONFIRM", "BOSUN_PICK_FOLDER"];

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    let (own, passed_on) = match arguments.iter().position(|argument| argument == "--") {
        Some(at) => (arguments.get(..at).unwrap_or_default(), arguments.get(at + 1..).unwrap_or_default()),
        None => (arguments, &[][..]),
    };
    let release = match own {
        [] => false,
        [flag] if flag == "--release" => true,
        _ => bail!("`cargo xtask run` takes --release, and arguments for Bosun after --; not {:?}", own.join(" ")),
    };
    setup::check(place, &[Need::Build])?;
    ui::install(place)?;
    ui::build(place)?;
    let profile = if release { "release" } else { "debug" };
    say::timed("building Bosun (the first time takes some minutes)", || {
        let build = Program::cargo(place).args(["build", "--package", "bosun-desktop", "--bin", "bosun-desktop"]);
        build.args(EMBED_PAGE).args(release.then_some("--release")).run()
    })?;
    say::stage("opening the window");
    let binary = place.target.join(profile).join(format!("bosun-desktop{}", std::env::consts::EXE_SUFFIX));
    let window = Program::new(place, binary).args(passed_on);
    let closed_well = FOR_TESTS.iter().fold(window, |window, name| window.without(name)).status()?;
    Ok(if closed_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
