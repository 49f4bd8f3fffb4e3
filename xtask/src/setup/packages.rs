//! The system packages, what each is for, and how to see that it is there.

use super::{apt, browser};
use crate::exec::{Program, find};
use crate::place::Place;

/// What a system package is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Compiling the desktop app. Nothing works without it.
    Build,
    /// Driving the built app in a real window under a virtual display, with pictures in which Chinese is legible.
    Window,
    /// A Secret Service for the tests that store a key.
    Keyring,
    /// Trying the screens in Chromium, with the accessibility rules of axe.
    Browser,
    /// Asking the official Python clients whether the test server speaks their wire format.
    Python,
    /// Real places for the agent's files: a sandbox, an SSH server, containers.
    Places,
    /// Checking the desktop entry of a package.
    Package,
    /// Opening a package for systems that are not Debian's.
    Rpm,
    /// The programs that benchmarks are measured beside.
    Bench,
}

impl Need {
    /// In the order they are told.
    pub const ALL: [Self; 9] = [
        Self::Build,
        Self::Places,
        Self::Window,
        Self::Keyring,
        Self::Browser,
        Self::Python,
        Self::Package,
        Self::Rpm,
        Self::Bench,
    ];

    /// What only Linux has: the other systems bring the web view, and the window is driven through WebKitGTK.
    pub const LINUX: [Self; 5] = [Self::Window, Self::Keyring, Self::Places, Self::Package, Self::Rpm];

    /// The end of a sentence: "packages are missing for …".
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Build => "building Bosun",
            Self::Window => "the real-window tests",
            Self::Keyring => "the keyring tests",
            Self::Browser => "the screens' test in a browser",
            Self::Python => "the check against the official model clients",
            Self::Places => "the tests over a sandbox, SSH and containers",
            Self::Package => "the check of the package's desktop entry",
            Self::Rpm => "looking into a package for rpm",
            Self::Bench => "the comparison in the benchmarks",
        }
    }
}

/// One system package.
#[derive(Debug)]
pub struct Package {
    /// Its name on Debian and Ubuntu.
    pub apt: &'static str,
    pub need: Need,
    /// A program that makes the package needless when it is on the PATH; empty when only the package itself will do.
    pub program: &'static str,
    /// Never installed on a person's machine: it brings a daemon that is started with the machine or with the desktop,
    /// or it is a whole program that a person chooses.
    pub ci_only: bool,
    /// What to look for on a Linux without apt.
    pub elsewhere: &'static str,
}

const fn package(need: Need, apt: &'static str, program: &'static str, elsewhere: &'static str) -> Package {
    Package { apt, need, program, ci_only: false, elsewhere }
}

/// A package that stays away from a person's machine.
const fn daemon(need: Need, apt: &'static str, program: &'static str, elsewhere: &'static str) -> Package {
    Package { apt, need, program, ci_only: true, elsewhere }
}

/// Everything any task may ask for.
static PACKAGES: [Package; 30] = [
    package(Need::Build, "gcc", "cc", "gcc"),
    package(Need::Build, "libc6-dev", "", "the C library's headers (Fedora: glibc-devel, Arch: glibc)"),
    package(Need::Build, "pkg-config", "pkg-config", "pkg-config (Fedora: pkgconf-pkg-config, Arch: pkgconf)"),
    package(
        Need::Build,
        "libwebkit2gtk-4.1-dev",
        "",
        "WebKitGTK 4.1 (Fedora: webkit2gtk4.1-devel, Arch: webkit2gtk-4.1, openSUSE: webkit2gtk3-devel)",
    ),
    package(Need::Build, "libdbus-1-dev", "", "D-Bus headers (Fedora: dbus-devel, Arch: dbus, openSUSE: dbus-1-devel)"),
    package(Need::Window, "xdotool", "xdotool", "xdotool"),
    package(Need::Window, "webkit2gtk-driver", "WebKitWebDriver", "WebKitWebDriver (with WebKitGTK)"),
    package(Need::Window, "xvfb", "Xvfb", "Xvfb"),
    package(Need::Window, "dbus-daemon", "dbus-daemon", "dbus-daemon"),
    package(Need::Window, "imagemagick", "import", "ImageMagick"),
    package(Need::Window, "fonts-noto-cjk", "", "Noto Sans CJK"),
    package(Need::Window, "fonts-inter", "", "Inter"),
    package(Need::Window, "fonts-jetbrains-mono", "", "JetBrains Mono"),
    Package {
        apt: "gnome-keyring",
        need: Need::Keyring,
        program: "gnome-keyring-daemon",
        ci_only: true,
        elsewhere: "gnome-keyring",
    },
    package(Need::Keyring, "libsecret-tools", "secret-tool", "secret-tool (libsecret)"),
    Package {
        apt: "chromium",
        need: Need::Browser,
        program: "chromium",
        ci_only: true,
        elsewhere: "Chromium or Google Chrome",
    },
    package(Need::Python, "python3", "python3", "Python 3.9 or newer"),
    package(Need::Python, "python3-venv", "", "Python's venv module"),
    package(Need::Places, "bubblewrap", "bwrap", "bubblewrap"),
    package(Need::Places, "openssh-client", "ssh", "an OpenSSH client"),
    daemon(Need::Places, "openssh-server", "sshd", "an OpenSSH server (the tests start their own)"),
    daemon(Need::Places, "podman", "podman", "Podman"),
    daemon(Need::Places, "runc", "runc", "runc"),
    daemon(Need::Places, "uidmap", "newuidmap", "newuidmap (shadow-utils)"),
    daemon(Need::Places, "busybox-static", "busybox", "a static busybox"),
    package(Need::Package, "desktop-file-utils", "desktop-file-validate", "desktop-file-utils"),
    package(Need::Rpm, "rpm2cpio", "rpm2cpio", "rpm2cpio"),
    package(Need::Rpm, "cpio", "cpio", "cpio"),
    package(Need::Bench, "ripgrep", "rg", "ripgrep"),
    package(Need::Bench, "fd-find", "fdfind", "fd"),
];

/// The packages behind `needs`.
pub fn of(needs: &[Need]) -> Vec<&'static Package> {
    PACKAGES.iter().filter(|package| needs.contains(&package.need)).collect()
}

/// Those that may be installed, and those that are left to the person: what brings a service or is a choice of theirs.
pub fn allowed(ci: bool, absent: Vec<&'static Package>) -> (Vec<&'static Package>, Vec<&'static Package>) {
    absent.into_iter().partition(|package| ci || !package.ci_only)
}

/// Whether the package's work is done by something that did not come from the package.
pub fn is_met_otherwise(place: &Place, package: &Package) -> bool {
    match package.apt {
        "chromium" => browser::find(place).is_some(),
        "python3-venv" => Program::new(place, "python3").args(["-c", "import ensurepip, venv"]).output().is_some(),
        _ => !package.program.is_empty() && find(package.program).is_some(),
    }
}

/// Without a package database: the needs that are not met, with one line per thing to install.
pub fn unmet(needs: &[Need], is_here: impl Fn(&Package) -> bool) -> Vec<(Need, String)> {
    let mut unmet = Vec::new();
    for &need in needs {
        let lacking = of(&[need]).into_iter().filter(|package| !is_here(package));
        let text: String = lacking.map(|package| format!("    {}\n", package.elsewhere)).collect();
        if !text.is_empty() {
            unmet.push((need, text));
        }
    }
    unmet
}

/// Whether the package's work is done on a system without apt.
pub fn is_here(place: &Place, package: &Package) -> bool {
    let library = |name: &str| Program::new(place, "pkg-config").args(["--exists", name]).output().is_some();
    match package.apt {
        "libwebkit2gtk-4.1-dev" => library("webkit2gtk-4.1"),
        "libdbus-1-dev" => library("dbus-1"),
        "libc6-dev" => true,
        "fd-find" => find("fd").is_some() || find("fdfind").is_some(),
        name if name.starts_with("fonts-") => true,
        _ => is_met_otherwise(place, package),
    }
}

/// What a person does to get `program`.
pub fn way_to(program: &str) -> String {
    way(program, apt::is_here())
}

fn way(program: &str, by_apt: bool) -> String {
    match PACKAGES.iter().find(|package| package.program == program) {
        Some(package) if by_apt => apt::command_for(&[package.apt]),
        Some(package) => format!("install {}", package.elsewhere),
        None => format!("install {program}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Need, PACKAGES, allowed, of, unmet, way};

    /// What starts with the machine or the desktop, and whole programs that a person chooses.
    const LEFT_TO_THE_PERSON: [&str; 7] =
        ["gnome-keyring", "chromium", "openssh-server", "podman", "runc", "uidmap", "busybox-static"];

    #[test]
    fn every_need_has_packages_and_every_package_is_told_once() {
        for need in Need::ALL {
            assert!(!of(&[need]).is_empty(), "{need:?} asks for nothing");
        }
        let mut names: Vec<_> = PACKAGES.iter().map(|package| package.apt).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PACKAGES.len());
        assert!(PACKAGES.iter().all(|package| Need::ALL.contains(&package.need)));
    }

    #[test]
    fn no_service_is_ever_installed_on_a_persons_machine() {
        let names = |packages: Vec<&super::Package>| packages.iter().map(|package| package.apt).collect::<Vec<_>>();
        let (installed, refused) = allowed(false, of(&Need::ALL));
        assert_eq!(names(refused), LEFT_TO_THE_PERSON);
        assert_eq!(installed.len() + LEFT_TO_THE_PERSON.len(), PACKAGES.len());
        let (installed, refused) = allowed(true, of(&Need::ALL));
        assert_eq!((installed.len(), names(refused)), (PACKAGES.len(), Vec::new()));
    }

    #[test]
    fn a_build_asks_for_nothing_that_is_left_to_the_person() {
        assert!(of(&[Need::Build, Need::Window, Need::Python, Need::Bench]).iter().all(|package| !package.ci_only));
    }

    #[test]
    fn without_a_package_database_each_thing_that_is_not_there_is_named() {
        assert_eq!(unmet(&Need::ALL, |_| true), []);
        assert_eq!(unmet(&[Need::Rpm], |package| package.apt == "cpio"), [(Need::Rpm, "    rpm2cpio\n".to_owned())]);
        let all = unmet(&Need::ALL, |_| false);
        assert_eq!(all.iter().map(|(need, _)| *need).collect::<Vec<_>>(), Need::ALL);
        for package in &PACKAGES {
            let line = format!("    {}\n", package.elsewhere);
            assert!(all.iter().any(|(need, text)| *need == package.need && text.contains(&line)), "{package:?}");
        }
    }

    #[test]
    fn the_way_to_a_program_is_that_of_the_system() {
        assert!(way("rg", true).ends_with("apt-get install --no-install-recommends ripgrep"));
        assert_eq!(way("rg", false), "install ripgrep");
        assert_eq!(way("bwrap", false), "install bubblewrap");
        assert_eq!(way("other", true), "install other");
    }
}
