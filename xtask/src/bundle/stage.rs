//! The programs as they are packed, with what belongs beside them.

use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::exec::{Program, script};
use crate::place::Place;

/// Which build is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Release,
    /// The build of the tests, without its symbols: a package to try, not to ship.
    Debug,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Debug => "debug",
        }
    }
}

/// A folder that looks to Tauri's packer like cargo's target folder, and the files that go into the packages beside the
/// program it finds there.
pub struct Stage {
    profile: Profile,
    /// The folder named like cargo's target folder.
    target: PathBuf,
    desktop: PathBuf,
    /// Where each file goes, and where it lies.
    files: Vec<(String, PathBuf)>,
}

impl Stage {
    /// Lays out the programs of `profile`, which are built.
    pub fn lay_out(place: &Place, profile: Profile) -> Result<Self> {
        let target = super::folder(place).join(profile.name());
        if target.exists() {
            std::fs::remove_dir_all(&target).with_context(|| format!("could not empty {}", target.display()))?;
        }
        let built = place.target.join(profile.name());
        let name = |program: &str| format!("{program}{}", std::env::consts::EXE_SUFFIX);
        let desktop = target.join(profile.name()).join(name("bosun-desktop"));
        let bosun = target.join("files").join(name("bosun"));
        copied(&built.join(name("bosun-desktop")), &desktop)?;
        copied(&built.join(name("bosun")), &bosun)?;
        if profile == Profile::Debug {
            Program::new(place, "strip").arg(&desktop).arg(&bosun).run()?;
        }
        let mut stage = Self { profile, target, desktop, files: vec![("/usr/bin/bosun".into(), bosun)] };
        if cfg!(target_os = "linux") {
            stage.add_manual(place)?;
            stage.add_completions(place)?;
            stage.add_papers(place)?;
        }
        Ok(stage)
    }

    /// Packs, and tells where the packages are.
    pub fn pack(&self, place: &Place, kinds: &[&str]) -> Result<Vec<PathBuf>> {
        let config = self.target.join("files.json");
        std::fs::write(&config, self.config())?;
        let tauri = place.ui.join("node_modules/.bin").join(script("tauri"));
        let debug = (self.profile == Profile::Debug).then_some("--debug");
        let packing = Program::new(place, tauri).args(["bundle", "--ci", "--bundles", &kinds.join(",")]).args(debug);
        packing.arg("--config").arg(&config).env("CARGO_TARGET_DIR", &self.target).run()?;
        let made = self.target.join(self.profile.name()).join("bundle");
        let mut packages = Vec::new();
        for kind in kinds {
            let ending = match *kind {
                "appimage" => "AppImage",
                "nsis" => "exe",
                other => other,
            };
            packages.push(self.taken(&made.join(if *kind == "app" { "macos" } else { kind }), ending)?);
        }
        Ok(packages)
    }

    /// Bytes of everything that is installed.
    pub fn bytes(&self) -> Result<u64> {
        let files = std::iter::once(&self.desktop).chain(self.files.iter().map(|(_, file)| file));
        files.map(|file| Ok(std::fs::metadata(file)?.len())).sum()
    }

    fn add_manual(&mut self, place: &Place) -> Result<()> {
        let folder = self.target.join("files/man");
        std::fs::create_dir_all(&folder)?;
        Program::new(place, self.target.join("files/bosun")).arg("manual").arg(&folder).run()?;
        copied(&place.root.join("src-tauri/packaging/bosun-desktop.1"), &folder.join("bosun-desktop.1"))?;
        for page in sorted(&folder)? {
            Program::new(place, "gzip").args(["-9", "-n"]).arg(&page).run()?;
            let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.files.push((format!("/usr/share/man/man1/{name}.gz"), folder.join(format!("{name}.gz"))));
        }
        Ok(())
    }

    fn add_completions(&mut self, place: &Place) -> Result<()> {
        let folder = self.target.join("files/completions");
        std::fs::create_dir_all(&folder)?;
        let shells = [
            ("bash", "/usr/share/bash-completion/completions/bosun"),
            ("zsh", "/usr/share/zsh/vendor-completions/_bosun"),
            ("fish", "/usr/share/fish/vendor_completions.d/bosun.fish"),
        ];
        for (shell, goes_to) in shells {
            let script = Program::new(place, self.target.join("files/bosun")).args(["completions", shell]).output();
            let script = script.with_context(|| format!("`bosun completions {shell}` failed"))?;
            let file = folder.join(shell);
            std::fs::write(&file, script)?;
            self.files.push((goes_to.to_owned(), file));
        }
        Ok(())
    }

    fn add_papers(&mut self, place: &Place) -> Result<()> {
        for (from, goes_to) in [
            ("LICENSE", "/usr/share/doc/bosun/copyright"),
            (
                "src-tauri/packaging/app.bosun.desktop.metainfo.xml",
                "/usr/share/metainfo/app.bosun.desktop.metainfo.xml",
            ),
        ] {
            let file = self.target.join("files").join(Path::new(goes_to).file_name().unwrap_or_default());
            copied(&place.root.join(from), &file)?;
            self.files.push((goes_to.to_owned(), file));
        }
        Ok(())
    }

    /// What is laid over `tauri.conf.json`: the files of this very build.
    fn config(&self) -> String {
        let mut files = String::new();
        for (index, (goes_to, file)) in self.files.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a string cannot fail.
            write!(files, "{comma}{}:{}", quoted(goes_to), quoted(&file.to_string_lossy())).ok();
        }
        // The strongest compression takes a minute; what is only tried does without.
        let quick = r#","compression":{"type":"zstd","level":1}"#;
        let quick = if self.profile == Profile::Debug { quick } else { "" };
        // Debian leaves zsh's own folder to people; elsewhere packages use it.
        let rpm = files.replace("/zsh/vendor-completions/", "/zsh/site-functions/");
        format!(
            r#"{{"bundle":{{"linux":{{"deb":{{"files":{{{files}}}}},"rpm":{{"files":{{{rpm}}}{quick}}},"appimage":{{"files":{{{files}}}}}}}}}}}"#
        )
    }

    /// The one package in `folder`, moved to where people look for it.
    fn taken(&self, folder: &Path, ending: &str) -> Result<PathBuf> {
        let packages = sorted(folder).with_context(|| format!("nothing was packed into {}", folder.display()))?;
        let package = packages.iter().find(|path| path.extension().is_some_and(|extension| extension == ending));
        let Some(package) = package else { bail!("no .{ending} was packed into {}", folder.display()) };
        // A package to try stays where it is, so that nobody ships it by mistake.
        if self.profile == Profile::Debug {
            return Ok(package.clone());
        }
        let place = self.target.with_file_name(package.file_name().unwrap_or_default());
        if place.is_dir() {
            std::fs::remove_dir_all(&place)?;
        }
        std::fs::rename(package, &place).with_context(|| format!("could not move {}", package.display()))?;
        Ok(place)
    }
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(from, to).with_context(|| format!("could not copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// A JSON string. Paths hold no control characters here.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
