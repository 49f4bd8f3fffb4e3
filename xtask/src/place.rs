//! Where we are: the repository, the folders of builds and caches, and whether continuous integration runs us.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The folders every task works in.
#[derive(Debug, Clone)]
pub struct Place {
    /// The repository.
    pub root: PathBuf,
    /// The web project.
    pub ui: PathBuf,
    /// Bosun's folder below the user's cache folder: virtual environments, and with `ci` the builds.
    pub cache: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// Nothing may be skipped, and third-party builds outlive the checkout.
    pub ci: bool,
}

impl Place {
    /// Reads the place from the environment.
    pub fn here() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("the xtask package has no parent folder")?
            .to_path_buf();
        let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        let place = Self { ui: root.join("ui"), cache: cache_folder()?.join("bosun"), target, ci: false, root };
        Ok(if ci { place.with_ci_rules() } else { place })
    }

    /// The same place with the rules of continuous integration. A target folder the caller chose is kept.
    pub fn with_ci_rules(mut self) -> Self {
        self.ci = true;
        if std::env::var_os("CARGO_TARGET_DIR").is_none() {
            self.target = self.cache.join("target");
        }
        self
    }
}

fn cache_folder() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        return Ok(dir);
    }
    let home = std::env::home_dir().context("there is no home folder; set HOME or XDG_CACHE_HOME")?;
    Ok(if cfg!(target_os = "macos") { home.join("Library/Caches") } else { home.join(".cache") })
}
