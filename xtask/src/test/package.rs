//! The Debian package as a person meets it: installed, its programs asked, its desktop entry's command opening a window,
//! the tour taken in it, removed without leftovers. It is made of the tests' own build, so that nothing is compiled for it.
//!
//! With `CI=true` apt installs and removes it. Elsewhere it is unpacked beside the machine's own programs, which are left
//! alone. The long profile also opens the package for systems with rpm: it brings the same.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Tally;
use super::report::Report;
use super::rust::Runner;
use crate::bench::window;
use crate::bundle::{Profile, Stage};
use crate::exec::Program;
use crate::place::Place;
use crate::say;
use crate::setup::{Missing, Need, apt};

pub const STEP: &str = "package: its window opens";
const ENTRY: &str = "package: its desktop entry";
const RPM: &str = "package: the one for rpm brings the same";
const PACKAGE: &str = "bosun";
/// What must lie beside the programs.
const PAPERS: [&str; 7] = [
    "/usr/share/man/man1/bosun.1.gz",
    "/usr/share/man/man1/bosun-run.1.gz",
    "/usr/share/man/man1/bosun-desktop.1.gz",
    "/usr/share/bash-completion/completions/bosun",
    "/usr/share/zsh/vendor-completions/_bosun",
    "/usr/share/fish/vendor_completions.d/bosun.fish",
    "/usr/share/doc/bosun/copyright",
];

/// The test of the window that goes from the first run to a changed file.
const TOUR: &str = "the_tour_ends_with_a_repaired_file";

pub fn stage(place: &Place, runner: &Runner, missing: &Missing, report: &mut Report) {
    if !apt::is_here() {
        return report.skip(STEP, "only Debian and Ubuntu can try a Debian package");
    }
    let (mut installed, mut rpm) = (None, None);
    report.step("package: made and installed", || {
        let mut packages = Stage::lay_out(place, Profile::Debug)?.pack(place, &["deb", "rpm"])?.into_iter();
        installed = Some(Installed::from(place, &packages.next().context("no package was made")?)?);
        rpm = packages.next();
        Ok(Tally::of_check(true))
    });
    let Some(installed) = installed else { return };
    match missing.reason(Need::Package) {
        Some(reason) => report.skip(ENTRY, reason),
        None => report.step(ENTRY, || {
            let entry = installed.entry()?;
            Program::new(place, "desktop-file-validate").arg(entry).status().map(Tally::of_check)
        }),
    }
    let mut desktop = None;
    report.step(STEP, || {
        installed.look(place)?;
        let program = installed.desktop()?;
        let (_, standing) = window::open(&program, &crate::bundle::folder(place).join("opened"))?;
        say::note(&format!("{} stands after {:.1} s", program.display(), standing / 1000.0));
        desktop = Some(program);
        Ok(Tally::of_check(true))
    });
    if let Some(desktop) = desktop {
        report.counted("package: used", || {
            runner.tests(place, &["--test", "window", TOUR]).env("BOSUN_DESKTOP", desktop)
        });
    }
    report.step("package: removed", || installed.remove(place).map(|()| Tally::of_check(true)));
    if !runner.long {
        return;
    }
    if let Some(reason) = missing.reason(Need::Rpm) {
        return report.skip(RPM, reason);
    }
    report.step(RPM, || {
        let opened = Installed::opened(place, &rpm.context("no package for rpm was made")?)?;
        // By their names: systems keep completions in folders of their own.
        let (ours, theirs) = (installed.names(), opened.names());
        if ours != theirs {
            bail!("one of the packages alone brings {:?}", ours.symmetric_difference(&theirs));
        }
        opened.answers(place)?;
        opened.remove(place).map(|()| Tally::of_check(true))
    });
}

/// A package on this machine.
struct Installed {
    /// `/`, or the folder it was unpacked into.
    root: PathBuf,
    /// Its files, as the package names them.
    files: Vec<String>,
    by_apt: bool,
}

impl Installed {
    fn from(place: &Place, package: &Path) -> Result<Self> {
        let list = Program::new(place, "sh").args(["-c", r#"dpkg-deb --fsys-tarfile "$1" | tar --list"#, "sh"]);
        let names = list.arg(package).output();
        let files = files_of(&names.context("the package cannot be listed")?);
        if !place.ci {
            let root = package.with_extension("unpacked");
            Program::new(place, "dpkg-deb").arg("--extract").arg(package).arg(&root).run()?;
            return Ok(Self { root, files, by_apt: false });
        }
        let install = ["install", "--yes", "-q", "--no-install-recommends", "--reinstall", "--allow-downgrades"];
        apt::get(place).args(install).arg(package).run()?;
        Ok(Self { root: PathBuf::from("/"), files, by_apt: true })
    }

    /// What is in a package for rpm, beside it.
    fn opened(place: &Place, package: &Path) -> Result<Self> {
        let list = Program::new(place, "sh").args(["-c", r#"rpm2cpio "$1" | cpio --list --quiet"#, "sh"]).arg(package);
        let files = files_of(&list.output().context("the package cannot be listed")?);
        let root = package.with_extension("unpacked");
        std::fs::create_dir_all(&root).with_context(|| format!("could not make {}", root.display()))?;
        let open = r#"cd "$2" && rpm2cpio "$1" | cpio --extract --make-directories --unconditional --quiet"#;
        Program::new(place, "sh").args(["-c", open, "sh"]).arg(package).arg(&root).run()?;
        Ok(Self { root, files, by_apt: false })
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn entry(&self) -> Result<PathBuf> {
        let entry = self.files.iter().find(|file| file.starts_with("/usr/share/applications/"));
        Ok(self.at(entry.context("the package brings no desktop entry")?))
    }

    /// The program that the desktop entry starts.
    fn desktop(&self) -> Result<PathBuf> {
        let entry = self.entry()?;
        let text = std::fs::read_to_string(&entry).with_context(|| format!("could not read {}", entry.display()))?;
        let program = program_of(&text).with_context(|| format!("{} starts nothing", entry.display()))?;
        let path = if program.contains('/') { program.to_owned() } else { format!("/usr/bin/{program}") };
        let path = self.at(&path);
        if !path.is_file() {
            bail!("{} starts {program}, which the package does not bring", entry.display());
        }
        Ok(path)
    }

    /// Its papers are in it and its programs answer.
    fn look(&self, place: &Place) -> Result<()> {
        for paper in PAPERS {
            // Not on disk: small systems leave manuals and papers of every package out.
            if !self.files.iter().any(|file| file == paper) {
                bail!("the package brings no {paper}");
            }
        }
        self.answers(place)
    }

    /// The names of its files. The list may name folders as if they were files.
    fn names(&self) -> BTreeSet<&str> {
        let is_folder = |path: &str| self.files.iter().any(|file| file.starts_with(&format!("{path}/")));
        let files = self.files.iter().filter(|file| !is_folder(file));
        files.filter_map(|file| file.rsplit('/').next()).collect()
    }

    fn answers(&self, place: &Place) -> Result<()> {
        for (program, said) in [("/usr/bin/bosun", "bosun "), ("/usr/bin/bosun-desktop", "Bosun ")] {
            let answer = Program::new(place, self.at(program)).arg("--version").output().unwrap_or_default();
            if !answer.starts_with(said) {
                bail!("{program} --version answers {answer:?}");
            }
        }
        Ok(())
    }

    /// Takes it away again; nothing of it may stay behind.
    fn remove(&self, place: &Place) -> Result<()> {
        if !self.by_apt {
            return Ok(std::fs::remove_dir_all(&self.root)?);
        }
        let purge = ["purge", "--yes", "-q", PACKAGE];
        apt::get(place).args(purge).run()?;
        // The list may name folders as if they were files, and those of the system stay.
        let stays = |file: &&String| self.at(file).exists() && !self.at(file).is_dir();
        let mut left: Vec<String> = self.files.iter().filter(stays).cloned().collect();
        for folder in ["/usr/share/doc/bosun", "/etc/bosun", "/var/lib/bosun", "/var/cache/bosun"] {
            if Path::new(folder).exists() {
                left.push(folder.to_owned());
            }
        }
        if !left.is_empty() {
            bail!("it left behind: {}", left.join(", "));
        }
        say::note("nothing of it stays behind");
        Ok(())
    }
}

/// The files that an archive lists, from the root.
fn files_of(listed: &str) -> Vec<String> {
    let files = listed.lines().filter(|name| !name.ends_with('/'));
    files.map(|name| format!("/{}", name.trim_start_matches("./").trim_start_matches('/'))).collect()
}

/// The first word of a desktop entry's command.
fn program_of(entry: &str) -> Option<&str> {
    let command = entry.lines().find_map(|line| line.strip_prefix("Exec="))?;
    command.split_whitespace().next().map(|word| word.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::program_of;

    #[test]
    fn a_desktop_entry_starts_its_first_word() {
        let entry = "[Desktop Entry]\nName=Bosun\nExec=bosun-desktop %f\n";
        assert_eq!(program_of(entry), Some("bosun-desktop"));
        assert_eq!(program_of("Exec=\"/opt/a/b\" %u"), Some("/opt/a/b"));
        assert_eq!(program_of("Name=Bosun"), None);
    }
}
