//! `cargo xtask bundle`: the packages people install, made by the Tauri CLI of the web project without a download.
//!
//! The programs are built by cargo as always; [`stage`] lays them out with what belongs beside them (manual pages,
//! completions, licence) and has them packed from there, so that the builds themselves stay as they are.

use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::place::Place;
use crate::setup::{self, Need};
use crate::{say, ui};

mod optional;
mod stage;

pub use stage::{Profile, Stage};

/// Most bytes that the installed app should take.
const LARGEST: u64 = 40_000_000;

/// What this system's packages are called by Tauri, the usual ones first. An AppImage is made on demand only: its tools
/// are downloaded.
fn kinds() -> (&'static [&'static str], &'static [&'static str]) {
    if cfg!(target_os = "windows") {
        (&["nsis", "msi"], &[])
    } else if cfg!(target_os = "macos") {
        (&["app", "dmg"], &[])
    } else {
        (&["deb", "rpm"], &["appimage"])
    }
}

fn chosen(arguments: &[String]) -> Result<Vec<&str>> {
    let (usual, more) = kinds();
    if let Some(unknown) = arguments.iter().find(|kind| !usual.iter().chain(more).any(|known| known == kind)) {
        let known = [usual, more].concat().join(", ");
        bail!("`cargo xtask bundle` makes {known} here, not {unknown:?}");
    }
    Ok(if arguments.is_empty() { usual.to_vec() } else { arguments.iter().map(String::as_str).collect() })
}

pub fn run(place: &Place, arguments: &[String]) -> Result<ExitCode> {
    let kinds = chosen(arguments)?;
    setup::check(place, &[Need::Build])?;
    ui::install(place)?;
    ui::build(place)?;
    let stage = say::timed("building what is packed (an optimised build: this takes a while)", || {
        Stage::lay_out(place, Profile::Release)
    })?;
    let packages = say::timed("packing", || stage.pack(place, &kinds))?;
    for package in &packages {
        say::note(&format!("{} ({})", package.display(), megabytes(std::fs::metadata(package)?.len())));
    }
    let installed = stage.bytes()?;
    say::note(&format!("installed it takes {}", megabytes(installed)));
    if installed > LARGEST {
        // The packages are whole and of use all the same.
        say::note(&format!("that is more than the {} that it should take at most", megabytes(LARGEST)));
    }
    Ok(ExitCode::SUCCESS)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Where packages lie once they are made.
pub fn folder(place: &Place) -> PathBuf {
    place.target.join("bundle")
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn packages_are_chosen_by_name() {
        assert!(!chosen(&[]).expect("the usual ones").contains(&"appimage"));
        assert!(chosen(&["snap".to_owned()]).is_err());
    }
}
