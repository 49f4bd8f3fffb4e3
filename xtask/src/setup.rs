//! The set-up check: what a task needs on this machine, and installing what is missing.
//!
//! Costs one `dpkg-query` and one `node --version` when nothing is missing. System packages are installed on Debian and
//! Ubuntu only, as root or with sudo, after saying so. On a person's machine no package that brings a service is ever
//! installed: what it is for is skipped, with the command that adds it.

use anyhow::{Result, bail};

use crate::place::Place;
use crate::say;

pub mod apt;
pub mod browser;
mod node;
mod packages;

use packages::Package;
pub use packages::{Need, way_to};

/// What stays missing after the check, each with the command that adds it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Missing {
    unmet: Vec<(Need, String)>,
    /// Whether packages were installed.
    installed: bool,
}

impl Missing {
    /// Why `need` cannot be met, if it cannot.
    pub fn reason(&self, need: Need) -> Option<&str> {
        self.unmet.iter().find(|(missing, _)| *missing == need).map(|(_, reason)| reason.as_str())
    }

    /// Whether everything was there from the start.
    pub fn was_nothing(&self) -> bool {
        self.unmet.is_empty() && !self.installed
    }
}

/// Checks Node and the system packages behind `needs`, installs what may be installed, and returns the rest. A need the
/// task cannot do without, or any need with `CI=true`, is an error instead.
pub fn check(place: &Place, needs: &[Need]) -> Result<Missing> {
    node::check(place)?;
    let is_here = |package: &Package| packages::is_here(place, package);
    if !cfg!(target_os = "linux") {
        return Ok(elsewhere(needs, is_here));
    }
    if !apt::is_here() {
        return on_other_linux(place.ci, packages::unmet(needs, is_here));
    }
    let (allowed, refused) = packages::allowed(place.ci, apt::absent(place, &packages::of(needs)));
    if allowed.is_empty() {
        apt::clear_up(place)?;
    } else {
        apt::install(place, &allowed)?;
    }
    let still = apt::absent(place, &allowed);
    let missing = settle(place.ci, still.into_iter().chain(refused).collect(), apt::is_ubuntu())?;
    Ok(Missing { installed: !allowed.is_empty(), ..missing })
}

/// Required needs end the task; optional ones are returned with their way out.
fn settle(ci: bool, absent: Vec<&'static Package>, ubuntu: bool) -> Result<Missing> {
    let mut missing = Missing::default();
    for need in Need::ALL {
        let names: Vec<&str> =
            absent.iter().filter(|package| package.need == need).map(|package| package.apt).collect();
        if names.is_empty() {
            continue;
        }
        let way_out = match need {
            Need::Browser if ubuntu => browser::ON_UBUNTU.to_owned(),
            _ => apt::command_for(&names),
        };
        if ci || need == Need::Build {
            bail!("system packages are missing for {}:\n    {way_out}", need.purpose());
        }
        missing.unmet.push((need, format!("system packages are missing for {}: {way_out}", need.purpose())));
    }
    Ok(missing)
}

/// Linux without apt: name what is needed, stop if the build cannot do without it.
fn on_other_linux(ci: bool, lacking: Vec<(Need, String)>) -> Result<Missing> {
    if let Some((need, text)) = lacking.iter().find(|(need, _)| ci || *need == Need::Build) {
        bail!("missing for {}; install with your system's own package tool:\n{text}", need.purpose());
    }
    Ok(Missing { unmet: lacking.into_iter().map(told).collect(), installed: false })
}

/// macOS and Windows bring what a build takes; the real-window tests are driven through WebKitGTK and run on Linux.
fn elsewhere(needs: &[Need], is_here: impl Fn(&Package) -> bool) -> Missing {
    let (on_linux, anywhere): (Vec<Need>, Vec<Need>) =
        needs.iter().filter(|need| **need != Need::Build).partition(|need| Need::LINUX.contains(need));
    let on_linux = on_linux.into_iter().map(|need| (need, format!("{}: on Linux only", need.purpose())));
    let lacking = packages::unmet(&anywhere, is_here).into_iter().map(told);
    Missing { unmet: on_linux.chain(lacking).collect(), installed: false }
}

/// What is missing, in one line.
fn told((need, text): (Need, String)) -> (Need, String) {
    let names = text.lines().map(str::trim).collect::<Vec<_>>().join(", ");
    (need, format!("missing for {}: {names}", need.purpose()))
}

/// Tells what is left out.
pub fn tell(missing: &Missing) {
    for (_, reason) in &missing.unmet {
        say::skipped(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::{Missing, Need, elsewhere, on_other_linux, packages, settle};

    /// Needs that a test run asks for, without the build that nothing works without.
    fn optional() -> Vec<Need> {
        Need::ALL.into_iter().filter(|need| *need != Need::Build).collect()
    }

    #[test]
    fn what_apt_could_not_add_is_left_out_with_its_command_and_with_ci_ends_the_task() {
        for need in Need::ALL {
            let absent = || packages::of(&[need]);
            let named = |said: &str| {
                let command = said.split_once("apt-get install --no-install-recommends ").map(|(_, names)| names);
                assert!(said.contains(need.purpose()), "{said}");
                assert_eq!(
                    command.map(|names| names.split(' ').collect::<Vec<_>>()),
                    Some(absent().iter().map(|package| package.apt).collect::<Vec<_>>()),
                    "{said}"
                );
            };
            named(&settle(true, absent(), false).expect_err("nothing may be missing with CI").to_string());
            match settle(false, absent(), false) {
                Err(error) if need == Need::Build => named(&error.to_string()),
                Ok(missing) if need != Need::Build => {
                    named(missing.reason(need).expect("a reason"));
                    assert_eq!(missing.unmet.len(), 1);
                    assert!(!missing.was_nothing());
                }
                other => panic!("{need:?}: {other:?}"),
            }
        }
        for ci in [false, true] {
            assert_eq!(settle(ci, Vec::new(), false).expect("nothing is missing"), Missing::default());
        }
    }

    #[test]
    fn on_ubuntu_nobody_is_sent_to_a_package_that_is_a_snap() {
        let absent = || packages::of(&[Need::Browser, Need::Rpm]);
        let missing = settle(false, absent(), true).expect("both are left out");
        let browser = missing.reason(Need::Browser).expect("a reason");
        assert!(browser.contains("Google Chrome") && !browser.contains("apt-get"), "{browser}");
        assert!(missing.reason(Need::Rpm).expect("a reason").contains("apt-get"), "{missing:?}");
        let error = settle(true, absent(), true).expect_err("nothing may be missing with CI").to_string();
        assert!(error.contains("Google Chrome"), "{error}");
    }

    #[test]
    fn another_linux_names_what_is_missing_and_stops_where_it_must() {
        let lacking = |needs: &[Need]| packages::unmet(needs, |_| false);
        let error = on_other_linux(false, lacking(&Need::ALL)).expect_err("a build cannot do without").to_string();
        assert!(error.contains("Fedora: webkit2gtk4.1-devel, Arch: webkit2gtk-4.1"), "{error}");
        let error =
            on_other_linux(true, lacking(&[Need::Rpm])).expect_err("nothing may be missing with CI").to_string();
        assert!(error.contains("rpm2cpio") && error.contains(Need::Rpm.purpose()), "{error}");
        let missing = on_other_linux(false, lacking(&optional())).expect("all of these are left out");
        let reason = |need| missing.reason(need).expect("a reason");
        assert_eq!(reason(Need::Bench), "missing for the comparison in the benchmarks: ripgrep, fd");
        assert!(optional().into_iter().all(|need| reason(need).contains(need.purpose())), "{missing:?}");
        assert_eq!(on_other_linux(true, Vec::new()).expect("nothing is missing"), Missing::default());
    }

    #[test]
    fn other_systems_leave_out_what_only_linux_has_and_look_for_the_rest() {
        let missing = elsewhere(&Need::ALL, |_| true);
        for need in Need::ALL {
            let expected = Need::LINUX.contains(&need).then(|| format!("{}: on Linux only", need.purpose()));
            assert_eq!(missing.reason(need), expected.as_deref());
        }
        let missing = elsewhere(&Need::ALL, |_| false);
        assert_eq!(missing.reason(Need::Build), None);
        assert_eq!(
            missing.reason(Need::Browser),
            Some("missing for the screens' test in a browser: Chromium or Google Chrome")
        );
        let python =
            "missing for the check against the official model clients: Python 3.9 or newer, Python's venv module";
        assert_eq!(missing.reason(Need::Python), Some(python));
        assert!(optional().into_iter().all(|need| missing.reason(need).is_some()), "{missing:?}");
    }

    #[test]
    fn a_set_up_that_installed_something_did_more_than_look() {
        assert!(Missing::default().was_nothing());
        assert!(!Missing { installed: true, ..Missing::default() }.was_nothing());
    }
}
