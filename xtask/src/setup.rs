//! The set-up check: what a task needs on this machine, and installing what is missing.
//!
//! Costs one `dpkg-query` and one `node --version` when nothing is missing. System packages are installed on Debian and
//! Ubuntu only, as root or with sudo, after saying so. On a person's machine no package that brings a service is ever
//! installed: what it is for is skipped, with the command that adds it.

use anyhow::{Result, bail};

use crate::place::Place;
use crate::say;

pub mod apt;
mod node;
mod packages;

pub use packages::Need;

/// What stays missing after the check, each with the command that adds it.
#[derive(Debug, Default)]
pub struct Missing(Vec<(Need, String)>);

impl Missing {
    /// Why `need` cannot be met, if it cannot.
    pub fn reason(&self, need: Need) -> Option<&str> {
        self.0.iter().find(|(missing, _)| *missing == need).map(|(_, reason)| reason.as_str())
    }
}

/// Checks Node and the system packages behind `needs`, installs what may be installed, and returns the rest. A need the
/// task cannot do without, or any need with `CI=true`, is an error instead.
pub fn check(place: &Place, needs: &[Need]) -> Result<Missing> {
    node::check(place)?;
    if !cfg!(target_os = "linux") {
        return Ok(elsewhere(needs));
    }
    let wanted = packages::of(needs);
    if !apt::is_here() {
        return on_other_linux(place, needs);
    }
    let absent = apt::absent(place, &wanted);
    let (allowed, refused): (Vec<_>, Vec<_>) = absent.into_iter().partition(|package| place.ci || !package.ci_only);
    if allowed.is_empty() {
        apt::clear_up(place)?;
    } else {
        apt::install(place, &allowed)?;
    }
    let still = apt::absent(place, &allowed);
    settle(place, still.into_iter().chain(refused).collect())
}

/// Required needs end the task; optional ones are returned with their way out.
fn settle(place: &Place, absent: Vec<&'static packages::Package>) -> Result<Missing> {
    let mut missing = Missing::default();
    for need in Need::ALL {
        let names: Vec<&str> =
            absent.iter().filter(|package| package.need == need).map(|package| package.apt).collect();
        if names.is_empty() {
            continue;
        }
        let command = apt::command_for(&names);
        if place.ci || need == Need::Build {
            bail!("system packages are missing for {}; add them with\n    {command}", need.purpose());
        }
        missing.0.push((need, format!("system packages are missing for {}: {command}", need.purpose())));
    }
    Ok(missing)
}

/// Linux without apt: name what is needed, stop if the build cannot do without it.
fn on_other_linux(place: &Place, needs: &[Need]) -> Result<Missing> {
    let lacking = packages::unmet_elsewhere(place, needs);
    let mut missing = Missing::default();
    for (need, text) in lacking {
        if place.ci || need == Need::Build {
            bail!("missing for {}; install with your system's own package tool:\n{text}", need.purpose());
        }
        let names = text.lines().map(str::trim).collect::<Vec<_>>().join(", ");
        missing.0.push((need, format!("missing for {}: {names}", need.purpose())));
    }
    Ok(missing)
}

/// macOS and Windows bring the web view; the real-window tests are driven through WebKitGTK and run on Linux.
fn elsewhere(needs: &[Need]) -> Missing {
    let linux_only = [Need::Window, Need::Keyring, Need::Places];
    let reason = |need: &Need| (*need, format!("{}: on Linux only", need.purpose()));
    Missing(needs.iter().filter(|need| linux_only.contains(need)).map(reason).collect())
}

/// Tells what is left out.
pub fn tell(missing: &Missing) {
    for (_, reason) in &missing.0 {
        say::skipped(reason);
    }
}
