//! Third-party builds kept between runs of continuous integration.

use anyhow::{Context, Result};
use std::path::Path;

use crate::exec::Program;
use crate::place::Place;
use crate::say;

/// Above this the kept builds are mostly those of dependencies nobody uses any more.
const LIMIT_BYTES: u64 = 20 << 30;

/// With CI, throws away every artefact of our own crates, so that no test can pass on what an earlier checkout built,
/// and everything once our folder has grown too big (one that the caller chose is theirs). Elsewhere it does nothing.
pub fn prepare(place: &Place) -> Result<()> {
    if !place.ci || !place.target.is_dir() {
        return Ok(());
    }
    if place.target.starts_with(&place.cache) && size(&place.target) > LIMIT_BYTES {
        say::note("the kept third-party builds have grown too big and are built anew");
        std::fs::remove_dir_all(&place.target)
            .with_context(|| format!("could not remove {}", place.target.display()))?;
        return Ok(());
    }
    Program::cargo(place).args(["clean", "--quiet", "--workspace"]).run()
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
