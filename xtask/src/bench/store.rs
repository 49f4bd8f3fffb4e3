//! Searching 100,000 files that live in the store. They are written once, by way of `bosun tools`, and kept in the cache
//! folder, because each is a durable write.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

use super::Bench;
use super::measure::Sample;
use super::table::{Row, Target};
use super::tools::{Reference, Tools};
use crate::say;

const FILES: u32 = 100_000;
const SEARCHES: usize = 100;
/// The reference fetches a hundred files at a time and skips those before anew, so that all of them would take it minutes.
const REFERENCE_FILES: u32 = 10_000;
const REFERENCE_SEARCHES: usize = 3;
/// Changing what is written changes this, so that an old store is not measured.
const VERSION: &str = "1";
const STORE: [&str; 2] = ["--backend", "store:bench/notes"];

const WORDS: [&str; 16] = [
    "anchor", "ballast", "cleat", "davit", "ensign", "fathom", "gangway", "halyard", "jib", "keel", "lanyard", "mast",
    "oar", "pier", "quay", "rudder",
];

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let home = ready(bench)?;
    let mut tools = start(bench, &home)?;
    let mut number = 0;
    let rare = Sample::take(SEARCHES, || {
        number += 997;
        let pattern = format!("note {:05} of", number % FILES);
        tools.call("grep", &format!(r#"{{"pattern":"{pattern}","output_mode":"content"}}"#))
    })?;
    let common = Sample::take(SEARCHES, || tools.call("grep", r#"{"pattern":"halyard quay","max_count":100}"#))?;
    let everywhere = Sample::take(SEARCHES, || tools.call("grep", r#"{"pattern":"halyard"}"#))?;
    let found = Sample::take(SEARCHES, || tools.call("glob", r#"{"pattern":"/area7/*42.md"}"#))?;
    let mut reference = Reference::over_notes(&bench.place, REFERENCE_FILES)?;
    let greps = Sample::take(REFERENCE_SEARCHES, || reference.call("grep", r#"{"pattern":"note 00997 of"}"#))?;
    let globs = Sample::take(REFERENCE_SEARCHES, || reference.call("glob", r#"{"pattern":"/area7/*42.md"}"#))?;
    let worst = |sample: &Sample| Sample::from(vec![sample.percentile(95.0)]);
    Ok(vec![
        Row::new("grep for one of 100,000", &rare, "ms", Target::None),
        Row::new("  95 of 100 searches", &worst(&rare), "ms", Target::Under(20.0)),
        Row::new("  the reference for one of 10,000", &greps, "ms", Target::None),
        Row::new("grep for a common pair of words", &common, "ms", Target::None),
        Row::new("  95 of 100 searches", &worst(&common), "ms", Target::Under(20.0)),
        Row::new("grep for a word of nearly all of them", &everywhere, "ms", Target::None),
        Row::new("  95 of 100 searches", &worst(&everywhere), "ms", Target::Under(20.0)),
        Row::new("glob for 10 of 100,000", &found, "ms", Target::None),
        Row::new("  95 of 100 searches", &worst(&found), "ms", Target::Under(20.0)),
        Row::new("  the reference over 10,000", &globs, "ms", Target::None),
    ])
}

fn start(bench: &Bench, home: &Path) -> Result<Tools> {
    let project = home.join("project");
    std::fs::create_dir_all(&project).with_context(|| format!("could not make {}", project.display()))?;
    Tools::start(&bench.bosun, &project, home, &STORE)
}

fn ready(bench: &Bench) -> Result<PathBuf> {
    let home = bench.place.cache.join("bench-store");
    let stamp = home.join("version");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        return Ok(home);
    }
    say::timed("writing 100,000 files into a store (some minutes, once)", || {
        if home.exists() {
            std::fs::remove_dir_all(&home)?;
        }
        let mut tools = start(bench, &home)?;
        for number in 0..FILES {
            tools.call("write_file", &note(number))?;
        }
        std::fs::write(&stamp, VERSION).with_context(|| format!("could not write {}", stamp.display()))
    })?;
    Ok(home)
}

/// A note of some 300 bytes.
fn note(number: u32) -> String {
    let word = |step: u32| {
        WORDS.get((number.wrapping_mul(2_654_435_761).rotate_left(step) % 16) as usize).copied().unwrap_or_default()
    };
    let body: Vec<&str> = (0..40).map(word).collect();
    let (area, body) = (number % 100, body.join(" "));
    format!(r#"{{"file_path":"/area{area}/note{number:05}.md","content":"note {number:05} of the log\n{body}\n"}}"#)
}
