//! Where we are: the repository, the folders of builds and caches, and whether continuous integration runs us.

use anyhow::{Context, Result};
use std::ffi::OsString;
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
    /// Whether `CARGO_TARGET_DIR` names the target folder.
    pub target_is_chosen: bool,
    /// Nothing may be skipped, and third-party builds outlive the checkout.
    pub ci: bool,
}

impl Place {
    /// Reads the place from the environment.
    pub fn here() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the xtask package has no parent folder")?;
        Self::of(root, std::env::home_dir(), |name| std::env::var_os(name))
    }

    fn of(root: &Path, home: Option<PathBuf>, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let cache = cache_folder(variable("XDG_CACHE_HOME"), home)?.join("bosun");
        let chosen = variable("CARGO_TARGET_DIR").map(|dir| root.join(dir));
        let place = Self {
            root: root.to_path_buf(),
            ui: root.join("ui"),
            cache,
            target_is_chosen: chosen.is_some(),
            target: chosen.unwrap_or_else(|| root.join("target")),
            ci: false,
        };
        let ci = variable("CI").is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no));
        Ok(if ci { place.with_ci_rules() } else { place })
    }

    /// The same place with the rules of continuous integration. A target folder the caller chose is kept.
    pub fn with_ci_rules(mut self) -> Self {
        self.ci = true;
        if !self.target_is_chosen {
            self.target = self.cache.join("target");
        }
        self
    }
}

fn cache_folder(named: Option<OsString>, home: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(dir) = named.map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        return Ok(dir);
    }
    let home = home.context("there is no home folder; set HOME or XDG_CACHE_HOME")?;
    Ok(if cfg!(target_os = "macos") { home.join("Library/Caches") } else { home.join(".cache") })
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::Place;
    use std::path::Path;

    fn place(variables: &[(&str, &str)]) -> Place {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Place::of(Path::new("/repository"), Some("/home/me".into()), variable).expect("a place")
    }

    #[test]
    fn continuous_integration_is_known_by_its_variable() {
        for (value, ci) in [("true", true), ("1", true), ("yes", true), ("", false), ("0", false), ("false", false)] {
            assert_eq!(place(&[("CI", value)]).ci, ci, "{value:?}");
        }
        assert!(!place(&[]).ci && place(&[]).with_ci_rules().ci);
    }

    #[test]
    fn builds_are_kept_with_ci_unless_the_caller_chose_a_folder() {
        let target = |variables: &[(&str, &str)]| place(variables).target;
        assert_eq!(target(&[]), Path::new("/repository/target"));
        assert_eq!(target(&[("CI", "true")]), Path::new("/home/me/.cache/bosun/target"));
        assert_eq!(place(&[]).with_ci_rules().target, Path::new("/home/me/.cache/bosun/target"));
        for ci in ["false", "true"] {
            assert_eq!(target(&[("CI", ci), ("CARGO_TARGET_DIR", "/mine")]), Path::new("/mine"));
            assert_eq!(target(&[("CI", ci), ("CARGO_TARGET_DIR", "mine")]), Path::new("/repository/mine"));
        }
        assert_eq!(place(&[("CARGO_TARGET_DIR", "/mine")]).with_ci_rules().target, Path::new("/mine"));
    }

    #[test]
    fn the_cache_folder_is_the_users_own() {
        let cache = |variables: &[(&str, &str)]| place(variables).cache;
        assert_eq!(cache(&[("XDG_CACHE_HOME", "/cache")]), Path::new("/cache/bosun"));
        assert_eq!(cache(&[("XDG_CACHE_HOME", "cache")]), Path::new("/home/me/.cache/bosun"));
        assert!(Place::of(Path::new("/repository"), None, |_| None).is_err());
    }
}
