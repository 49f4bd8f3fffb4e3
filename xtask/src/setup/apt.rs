//! Debian and Ubuntu: asking dpkg, installing with apt.

use anyhow::{Result, bail};
use std::io::IsTerminal;
use std::path::Path;

use super::packages::{Package, is_met_otherwise};
use crate::exec::{Program, find};
use crate::place::Place;
use crate::say;

/// Keeps apt from starting anything: `policy-rc.d` answering 101 is Debian's own way to say "not now" to every package
/// that wants to start a service, and `NEEDRESTART_SUSPEND` stops Ubuntu from restarting running ones. A policy that
/// is already there belongs to the machine's owner: it is set aside and put back.
const INSTALL: &str = r#"
set -e
guard=/usr/sbin/policy-rc.d
[ ! -e "$guard" ] || [ -e "$guard.before-bosun" ] || mv "$guard" "$guard.before-bosun"
restore() { rm -f "$guard"; [ ! -e "$guard.before-bosun" ] || mv -f "$guard.before-bosun" "$guard"; }
trap restore EXIT
trap 'exit 130' INT TERM
printf '#!/bin/sh\nexit 101\n' > "$guard"
chmod 755 "$guard"
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
apt-get update -qq || echo "the package lists could not be refreshed; going on with those that are here" >&2
# A name this release does not have would make apt refuse the others as well.
for name in "$@"; do
  shift
  if apt-cache show "$name" >/dev/null 2>&1; then set -- "$@" "$name"; else echo "apt has no package $name here" >&2; fi
done
[ $# -gt 0 ] || exit 1
apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
"#;

/// Whether this machine's packages are managed by apt.
pub fn is_here() -> bool {
    Path::new("/usr/bin/dpkg-query").exists() && Path::new("/usr/bin/apt-get").exists()
}

/// Those of `packages` that are neither installed nor replaced by something else on this machine.
pub fn absent(place: &Place, packages: &[&'static Package]) -> Vec<&'static Package> {
    let names = packages.iter().map(|package| package.apt);
    // dpkg-query fails as soon as one name is unknown, so its answer is read whatever its exit code is.
    let listing = Program::new(place, "sh")
        .args(["-c", r#"dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null; true"#, "sh"])
        .args(names)
        .output()
        .unwrap_or_default();
    let installed: Vec<&str> = listing.lines().filter_map(|line| line.strip_prefix("installed ")).collect();
    let here = |package: &Package| installed.contains(&package.apt) || is_met_otherwise(place, package);
    packages.iter().copied().filter(|package| !here(package)).collect()
}

/// `apt-get` with the rights to change the machine's packages, asking nothing.
pub fn get(place: &Place) -> Program {
    let program = if is_root() { Program::new(place, "env") } else { Program::new(place, "sudo").arg("env") };
    program.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"])
}

/// What a person types to add `names`.
pub fn command_for(names: &[&str]) -> String {
    let sudo = if is_root() { "" } else { "sudo " };
    format!("{sudo}apt-get install --no-install-recommends {}", names.join(" "))
}

/// Installs `packages` as root or with sudo, after saying so. Where neither is possible nothing happens: the caller
/// looks again and tells what is missing.
pub fn install(place: &Place, packages: &[&'static Package]) -> Result<()> {
    let names: Vec<&str> = packages.iter().map(|package| package.apt).collect();
    let script = ["-c", INSTALL, "sh"];
    let program = if is_root() {
        Program::new(place, "sh").args(script)
    } else if may_sudo(place) {
        Program::new(place, "sudo").arg("sh").args(script)
    } else {
        return Ok(());
    };
    let how = if is_root() { "as root" } else { "with sudo (it may ask for your password)" };
    say::stage(&format!("installing missing system packages {how}"));
    for name in &names {
        say::note(name);
    }
    say::note("nothing is started: packages that bring services are left out or kept from running");
    if !program.args(&names).status()? && place.ci {
        bail!("apt could not install {}; its own words stand above", names.join(", "));
    }
    Ok(())
}

fn is_root() -> bool {
    // The owner of our own entry in /proc is the effective user.
    #[cfg(unix)]
    return std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    #[cfg(not(unix))]
    return false;
}

fn may_sudo(place: &Place) -> bool {
    let without_password = || Program::new(place, "sudo").args(["-n", "true"]).output().is_some();
    find("sudo").is_some() && (std::io::stdin().is_terminal() || without_password())
}
