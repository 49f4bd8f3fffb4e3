//! `cargo xtask bundle`: the packages people install, made by the Tauri CLI of the web project without a download.

use anyhow::{Result, bail};
use std::process::ExitCode;

use crate::exec::Program;
use crate::place::Place;
use crate::setup::{self, Need};
use crate::{say, ui};

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    if let Some(unknown) = arguments.first() {
        bail!("`cargo xtask bundle` takes no arguments, not {unknown:?}");
    }
    setup::check(place, &[Need::Build])?;
    ui::install(place)?;
    say::timed("building the packages (an optimised build: this takes a while)", || {
        let tauri = place.ui.join("node_modules/.bin/tauri");
        Program::new(place, tauri).args(["build", "--ci"]).env("CARGO_TARGET_DIR", &place.target).run()
    })?;
    say::note(&format!("they lie in {}", place.target.join("release/bundle").display()));
    Ok(ExitCode::SUCCESS)
}
