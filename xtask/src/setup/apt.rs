//! Debian and Ubuntu: asking dpkg, installing with apt.

use anyhow::{Result, bail};
use std::io::IsTerminal;
use std::path::Path;

use super::packages::{Package, is_met_otherwise};
use crate::exec::{Program, find};
use crate::place::Place;
use crate::say;

/// Where Debian looks for a policy of services.
const GUARD: &str = "/usr/sbin/policy-rc.d";

/// The line that tells our guard from a policy of the machine's owner.
const MARK: &str = "# Bosun, while apt installs: nothing is started.";

/// Keeps apt from starting anything: `policy-rc.d` answering 101 is Debian's own way to say "not now" to every package
/// that wants to start a service, and `NEEDRESTART_SUSPEND` stops Ubuntu from restarting running ones. A policy that
/// is already there belongs to the machine's owner: it is set aside and put back. A guard of ours that is already there was
/// left behind when the power went, and goes. Without a name this only clears up.
const INSTALL: &str = r#"
set -e
guard=/usr/sbin/policy-rc.d
aside="$guard.before-bosun"
new="$guard.bosun"
mark='# Bosun, while apt installs: nothing is started.'
# One at a time: a second run would take the guard of the first for one that was left behind.
exec 9<"${guard%/*}"
flock -w 600 9 || { echo "another install by Bosun does not come to its end" >&2; exit 1; }
is_ours() { [ -f "$guard" ] && grep -qxF "$mark" "$guard"; }
restore() {
  rm -f "$new"
  if is_ours; then rm -f "$guard"; fi
  [ -e "$guard" ] || [ ! -e "$aside" ] || mv "$aside" "$guard"
}
trap restore EXIT
trap 'exit 130' HUP INT PIPE QUIT TERM
restore
[ $# -gt 0 ] || exit 0
# In place whole or not at all, whenever the power goes.
printf '#!/bin/sh\n%s\nexit 101\n' "$mark" > "$new"
chmod 755 "$new"
sync "$new"
[ ! -e "$guard" ] || mv -f "$guard" "$aside"
mv "$new" "$guard"
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
# The lock is this script's alone: what apt starts must not keep it.
apt-get update -qq 9<&- || echo "the package lists could not be refreshed; going on with those that are here" >&2
# A name this release does not have would make apt refuse the others as well.
for name in "$@"; do
  shift
  if apt-cache show "$name" >/dev/null 2>&1; then set -- "$@" "$name"; else echo "apt has no package $name here" >&2; fi
done
[ $# -gt 0 ] || exit 1
apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" 9<&-
"#;

/// Whether this machine's packages are managed by apt.
pub fn is_here() -> bool {
    Path::new("/usr/bin/dpkg-query").exists() && Path::new("/usr/bin/apt-get").exists()
}

/// Whether this is Ubuntu, whose apt has some programs as snaps only.
pub fn is_ubuntu() -> bool {
    std::fs::read_to_string("/etc/os-release").is_ok_and(|text| text.lines().any(|line| line == "ID=ubuntu"))
}

/// Those of `packages` that are neither installed nor replaced by something else on this machine.
pub fn absent(place: &Place, packages: &[&'static Package]) -> Vec<&'static Package> {
    if packages.is_empty() {
        return Vec::new();
    }
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
    let Some(program) = installer(place) else { return Ok(()) };
    say::stage(&format!("installing missing system packages {}", how()));
    for name in &names {
        say::note(name);
    }
    say::note("nothing is started: packages that bring services are left out or kept from running");
    if !program.args(&names).status()? && place.ci {
        bail!("apt could not install {}; its own words stand above", names.join(", "));
    }
    Ok(())
}

/// Takes away what an install left behind that was killed: while our guard stands, no package starts its service.
pub fn clear_up(place: &Place) -> Result<()> {
    if !is_left_behind(Path::new(GUARD)) {
        return Ok(());
    }
    let Some(program) = installer(place) else {
        say::note(&format!("an install that was killed left its marks at {GUARD}; run this once as root to mend it"));
        return Ok(());
    };
    say::stage(&format!("clearing up after an install that was killed, {}", how()));
    program.run()
}

fn is_left_behind(guard: &Path) -> bool {
    match std::fs::read_to_string(guard) {
        Ok(text) => text.lines().any(|line| line == MARK),
        Err(_) => !guard.exists() && guard.with_file_name("policy-rc.d.before-bosun").exists(),
    }
}

/// The script that installs what it is given as arguments, with the rights for it.
fn installer(place: &Place) -> Option<Program> {
    let script = ["-c", INSTALL, "sh"];
    if is_root() {
        Some(Program::new(place, "sh").args(script))
    } else if may_sudo(place) {
        Some(Program::new(place, "sudo").arg("sh").args(script))
    } else {
        None
    }
}

fn how() -> &'static str {
    if is_root() { "as root" } else { "with sudo (it may ask for your password)" }
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

#[cfg(target_os = "linux")]
#[cfg(test)]
#[path = "apt_tests.rs"]
mod tests;
