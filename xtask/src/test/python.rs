//! Virtual environments for the tests that want Python packages, kept in the cache folder.

use anyhow::{Context, Result};
use std::path::PathBuf;

use crate::exec::Program;
use crate::place::Place;
use crate::say;

/// The interpreter of the environment called `name` with what the file `requirements` of the repository lists, made anew
/// when that list changes. `what` names its content for people.
pub fn environment(place: &Place, name: &str, requirements: &str, what: &str) -> Result<PathBuf> {
    let dir = place.cache.join(name);
    let python = dir.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = std::fs::read_to_string(place.root.join(requirements))
        .with_context(|| format!("could not read {requirements}"))?;
    let stamp = dir.join("installed.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    say::timed(&format!("installing {what} into the cache folder"), || {
        Program::new(place, "python3").args(["-m", "venv", "--clear"]).arg(&dir).run()?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements];
        Program::new(place, &python).args(install).run()?;
        std::fs::write(&stamp, &wanted).with_context(|| format!("could not write {}", stamp.display()))
    })?;
    Ok(python)
}
