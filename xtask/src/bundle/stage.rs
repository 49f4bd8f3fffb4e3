//! The programs as they are packed, with what belongs beside them.

use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::optional;
use crate::exec::{Program, script};
use crate::place::Place;
use crate::run::EMBED_PAGE;
use crate::test::rust::AS_TESTS;

/// Both programs.
const LIBRARY: &str = "libbosun.so";

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

    /// Cargo, told to build it of these targets.
    fn cargo<'a>(self, place: &Place, packages: &[&'a str], targets: impl IntoIterator<Item = &'a str>) -> Program {
        let build = Program::cargo(place).arg("build").args(EMBED_PAGE).args(targets);
        match self {
            Self::Release => build.args(["--release", "--locked"]).args(packages.iter().flat_map(|name| ["-p", name])),
            Self::Debug => build.args(AS_TESTS),
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
    /// Builds the programs of `profile` and lays them out.
    pub fn lay_out(place: &Place, profile: Profile) -> Result<Self> {
        let target = super::folder(place).join(profile.name());
        if target.exists() {
            std::fs::remove_dir_all(&target).with_context(|| format!("could not empty {}", target.display()))?;
        }
        let [bosun, desktop] = Self::programs(place, profile);
        let mut stage = Self { profile, target, desktop, files: vec![("/usr/bin/bosun".into(), bosun.clone())] };
        if cfg!(target_os = "linux") {
            stage.add_library(place, &bosun)?;
            stage.add_manual(place)?;
            stage.add_completions(place)?;
            stage.add_papers(place)?;
            return Ok(stage);
        }
        let bins = ["--bin", "bosun", "--bin", "bosun-desktop"];
        profile.cargo(place, &["bosun-desktop", "bosun-cli"], bins).run()?;
        for program in [&bosun, &stage.desktop] {
            let name = program.file_name().unwrap_or_default();
            copied(&place.target.join(profile.name()).join(name), program)?;
        }
        Ok(stage)
    }

    /// Where `bosun` and `bosun-desktop` are once they are laid out.
    pub fn programs(place: &Place, profile: Profile) -> [PathBuf; 2] {
        let target = super::folder(place).join(profile.name());
        let at = |folder: &str, name: &str| target.join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        [at("bin", "bosun"), at(profile.name(), "bosun-desktop")]
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

    /// The library with both programs in it, and the small programs that begin in it: what both have in common is
    /// installed once.
    fn add_library(&mut self, place: &Place, bosun: &Path) -> Result<()> {
        self.profile.cargo(place, &["bosun-programs", "bosun-desktop"], ["--lib"]).run()?;
        let library = self.target.join("lib/bosun").join(LIBRARY);
        copied(&place.target.join(self.profile.name()).join(LIBRARY), &library)?;
        if self.profile == Profile::Debug {
            Program::new(place, "strip").arg("--strip-unneeded").arg(&library).run()?;
        }
        let window = optional::make_optional(&library)?;
        let needs = window.iter().map(|name| format!("-l:{name}")).collect::<Vec<_>>().join(",");
        let needs = format!("link-arg=-Wl,--no-as-needed,{needs}");
        self.launcher(place, bosun, &[])?;
        self.launcher(place, &self.desktop, &["--cfg", "window", "-C", &needs])?;
        self.files.push((format!("/usr/lib/bosun/{LIBRARY}"), library));
        Ok(())
    }

    /// Builds the program that begins in the library.
    fn launcher(&self, place: &Place, program: &Path, more: &[&str]) -> Result<()> {
        if let Some(folder) = program.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let rustc = Program::new(place, "rustc").args(["crates/programs/launcher.rs", "--edition", "2024"]);
        let small = ["-C", "opt-level=z", "-C", "lto=fat", "-C", "panic=abort", "-C", "strip=symbols"];
        // Where the library is installed, as seen from there.
        let place_of_library = "link-arg=-Wl,-rpath,$ORIGIN/../lib/bosun,--allow-shlib-undefined";
        let rustc = rustc.args(small).args(["-C", place_of_library]).args(more).arg("-L");
        rustc.arg(self.target.join("lib/bosun")).arg("-o").arg(program).run()
    }

    fn add_manual(&mut self, place: &Place) -> Result<()> {
        let folder = self.target.join("files/man");
        std::fs::create_dir_all(&folder)?;
        Program::new(place, self.target.join("bin/bosun")).arg("manual").arg(&folder).run()?;
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
            let script = Program::new(place, self.target.join("bin/bosun")).args(["completions", shell]).output();
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
