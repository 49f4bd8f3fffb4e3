//! Third-party builds kept between runs of continuous integration.

use anyhow::{Context, Result};
use std::path::Path;

use crate::exec::Program;
use crate::place::Place;
use crate::say;

/// Above this the kept builds are mostly those of dependencies nobody uses any more.
const LIMIT_BYTES: u64 = 20 << 30;

/// What of the kept builds has to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    Nothing,
    /// What was built of our own crates.
    Own,
    Everything,
}

/// With CI, throws away every artefact of our own crates, so that no test can pass on what an earlier checkout built,
/// and everything once our folder has grown too big (one that the caller chose is theirs). Elsewhere it does nothing.
pub fn prepare(place: &Place) -> Result<()> {
    match stale(place, size) {
        Stale::Nothing => Ok(()),
        Stale::Own => Program::cargo(place).args(["clean", "--quiet", "--workspace"]).run(),
        Stale::Everything => {
            say::note("the kept third-party builds have grown too big and are built anew");
            std::fs::remove_dir_all(&place.target)
                .with_context(|| format!("could not remove {}", place.target.display()))
        }
    }
}

fn stale(place: &Place, size: impl FnOnce(&Path) -> u64) -> Stale {
    if !place.ci || !place.target.is_dir() {
        Stale::Nothing
    } else if place.target.starts_with(&place.cache) && size(&place.target) > LIMIT_BYTES {
        Stale::Everything
    } else {
        Stale::Own
    }
}

/// Bytes below `dir`; what cannot be read counts as nothing.
fn size(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let of_entry = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        Ok(kind) => kind.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(of_entry).sum()
}

#[cfg(test)]
mod tests {
    use super::{LIMIT_BYTES, Stale, prepare, size, stale};
    use crate::exec::Program;
    use crate::place::Place;
    use std::path::{Path, PathBuf};

    /// A workspace with a crate of its own and one of somebody else's, and its folders.
    struct Checkout(Place);

    impl Checkout {
        fn new(name: &str, ci: bool) -> Self {
            let root = std::env::temp_dir().join(format!("bosun-cache-{name}-{}", std::process::id()));
            let (cache, target) = (root.join("cache"), root.join("cache/target"));
            for krate in ["own", "others"] {
                std::fs::create_dir_all(root.join(krate).join("src")).expect("a folder");
                std::fs::write(root.join(krate).join("src/lib.rs"), "").expect("a file");
            }
            let package =
                |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
            let own = format!("{}[dependencies]\nothers = {{ path = \"../others\" }}\n", package("own"));
            std::fs::write(root.join("own/Cargo.toml"), own).expect("a file");
            std::fs::write(root.join("others/Cargo.toml"), package("others")).expect("a file");
            let workspace = "[workspace]\nmembers = [\"own\"]\nexclude = [\"others\"]\nresolver = \"3\"\n";
            std::fs::write(root.join("Cargo.toml"), workspace).expect("a file");
            Self(Place { ui: root.join("ui"), cache, target, target_is_chosen: false, ci, root })
        }

        /// What the builds left of `krate`.
        fn built(&self, krate: &str) -> Vec<PathBuf> {
            let mut found = Vec::new();
            let mut folders = vec![self.0.target.clone()];
            while let Some(folder) = folders.pop() {
                for entry in std::fs::read_dir(folder).expect("a folder") {
                    let path = entry.expect("an entry").path();
                    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                    if name.trim_start_matches("lib").starts_with(krate) {
                        found.push(path.clone());
                    }
                    if path.is_dir() {
                        folders.push(path);
                    }
                }
            }
            found.sort();
            found
        }
    }

    impl Drop for Checkout {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0.root).expect("removed");
        }
    }

    #[test]
    fn what_goes_before_a_run() {
        let kept = Checkout::new("stale", true);
        std::fs::create_dir_all(&kept.0.target).expect("a folder");
        let chosen = Place { target: kept.0.root.clone(), ..kept.0.clone() };
        let persons = Place { ci: false, ..kept.0.clone() };
        let fresh = Place { target: kept.0.cache.join("none"), ..kept.0.clone() };
        for (place, bytes, expected) in [
            (&kept.0, LIMIT_BYTES, Stale::Own),
            (&kept.0, LIMIT_BYTES + 1, Stale::Everything),
            (&chosen, LIMIT_BYTES + 1, Stale::Own),
            (&persons, LIMIT_BYTES + 1, Stale::Nothing),
            (&fresh, LIMIT_BYTES + 1, Stale::Nothing),
        ] {
            assert_eq!(stale(place, |_: &Path| bytes), expected, "{place:?} with {bytes} bytes");
        }
    }

    #[test]
    fn with_ci_nothing_of_our_own_crates_is_kept_and_the_rest_is() {
        for (name, ci) in [("kept", false), ("ci", true)] {
            let checkout = Checkout::new(name, ci);
            Program::cargo(&checkout.0).args(["build", "--quiet", "--offline"]).run().expect("a build");
            let others = checkout.built("others");
            assert!(!others.is_empty() && !checkout.built("own").is_empty(), "nothing was built");
            prepare(&checkout.0).expect("prepared");
            assert_eq!(checkout.built("own").is_empty(), ci, "{:?}", checkout.built("own"));
            assert_eq!(checkout.built("others"), others);
        }
    }

    #[test]
    fn the_size_is_that_of_every_file_below() {
        let checkout = Checkout::new("size", false);
        let before = size(&checkout.0.root);
        std::fs::write(checkout.0.root.join("own/src/more.rs"), [b' '; 1000]).expect("a file");
        assert_eq!(size(&checkout.0.root), before + 1000);
        assert_eq!(size(Path::new("/nonexistent")), 0);
    }
}
