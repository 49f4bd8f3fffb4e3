//! The web project: its packages and its build, each done only when something it depends on has changed.

use anyhow::{Context, Result, bail};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::exec::Program;
use crate::place::Place;
use crate::say;

/// Brings `node_modules` in step with the lock file. The stamp is a copy of the lock file it was installed from.
pub fn install(place: &Place) -> Result<()> {
    let lock = place.ui.join("package-lock.json");
    let wanted = std::fs::read(&lock).with_context(|| format!("could not read {}", lock.display()))?;
    let stamp = place.ui.join("node_modules/.bosun-installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say::timed("installing the UI's packages (npm ci)", || {
        // No chosen package needs an install script, so none gets to run one.
        Program::npm(place).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).run()?;
        std::fs::write(&stamp, &wanted).with_context(|| format!("could not write {}", stamp.display()))
    })
}

/// Builds `ui/dist`, which the desktop binary embeds.
pub fn build(place: &Place) -> Result<()> {
    let fingerprint = format!("{:016x}", fingerprint(&place.ui)?);
    let stamp = place.ui.join("node_modules/.bosun-built");
    let is_built = place.ui.join("dist/index.html").is_file()
        && std::fs::read_to_string(&stamp).is_ok_and(|built| built == fingerprint);
    if is_built {
        return Ok(());
    }
    say::timed("building the UI", || {
        Program::npm(place).args(["run", "--silent", "build"]).run()?;
        if !place.ui.join("dist/index.html").is_file() {
            bail!("`npm run build` succeeded but left no ui/dist/index.html");
        }
        std::fs::write(&stamp, &fingerprint).with_context(|| format!("could not write {}", stamp.display()))
    })
}

/// Names and bytes of everything in the web project that is not installed, built or a test's output.
fn fingerprint(ui: &Path) -> Result<u64> {
    let mut files = Vec::new();
    collect(ui, &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(ui).unwrap_or(&file).hash(&mut hasher);
        let bytes = std::fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
        bytes.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("could not list {}", dir.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_made =
            ["node_modules", "dist", "test-results", ".svelte-kit", "coverage"].iter().any(|made| name == *made);
        if is_made {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn the_fingerprint_follows_sources_and_ignores_what_is_made() {
        let dir = std::env::temp_dir().join(format!("bosun-xtask-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("src")).expect("a folder");
        std::fs::create_dir_all(dir.join("dist")).expect("a folder");
        std::fs::write(dir.join("src/a.ts"), "one").expect("a file");
        let first = fingerprint(&dir).expect("a fingerprint");
        std::fs::write(dir.join("dist/a.js"), "made").expect("a file");
        assert_eq!(fingerprint(&dir).expect("a fingerprint"), first);
        std::fs::write(dir.join("src/a.ts"), "two").expect("a file");
        let second = fingerprint(&dir).expect("a fingerprint");
        assert_ne!(second, first);
        std::fs::rename(dir.join("src/a.ts"), dir.join("src/b.ts")).expect("a rename");
        assert_ne!(fingerprint(&dir).expect("a fingerprint"), second);
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
