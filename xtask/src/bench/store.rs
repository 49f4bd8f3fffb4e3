//! Searching 100,000 files that live in the store. They are written once, by way of `bosun tools`, and kept in the cache
//! folder, because each is a durable write.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

use super::Bench;
use super::measure::Sample;
use super::table::{Row, Target};
use super::tools::{Reference, Tools};
use crate::say;

const FILES: u32 = 100_000;
const SEARCHES: usize = 100;
const SCANS: usize = 20;
/// The reference fetches a hundred files at a time and skips those before anew, so that all of them would take it minutes.
const REFERENCE_FILES: u32 = 10_000;
const REFERENCE_SEARCHES: usize = 3;
/// Changing what is written changes this, so that an old store is not measured.
const VERSION: &str = "2";
const STORE: [&str; 2] = ["--backend", "store:bench/notes"];

const WORDS: [&str; 16] = [
    "anchor", "ballast", "cleat", "davit", "ensign", "fathom", "gangway", "halyard", "jib", "keel", "lanyard", "mast",
    "oar", "pier", "quay", "rudder",
];

/// One search, and how much it finds.
struct Search {
    what: &'static str,
    tool: &'static str,
    /// What its answer counts.
    counts: &'static str,
    found: usize,
    /// What 95 of 100 are to stay under; none where no index can help and every file is looked at.
    target: Target,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let home = ready(bench)?;
    let mut tools = start(bench, &home)?;
    let mut rows = Vec::new();
    for (search, arguments) in searches() {
        let mut number = 0;
        let sample = Sample::take(if matches!(search.target, Target::None) { SCANS } else { SEARCHES }, || {
            number += 997;
            let arguments = arguments.replace("NUMBER", &format!("{:05}", number % FILES));
            let (time, found) = tools.counted(search.tool, &arguments, search.counts)?;
            if found != search.found {
                bail!("{} {arguments}: {found} {} were found, not {}", search.tool, search.counts, search.found);
            }
            Ok(time)
        })?;
        rows.push(Row::new(search.what, &sample, "ms", Target::None));
        let worst = Sample::from(vec![sample.percentile(95.0)]);
        rows.push(Row::new("  95 of 100 searches", &worst, "ms", search.target));
    }
    let mut reference = Reference::over_notes(&bench.place, REFERENCE_FILES)?;
    let greps = Sample::take(REFERENCE_SEARCHES, || reference.call("grep", r#"{"pattern":"note 00997 of"}"#))?;
    let globs = Sample::take(REFERENCE_SEARCHES, || reference.call("glob", r#"{"pattern":"/area7/*4207.md"}"#))?;
    rows.push(Row::new("the reference: grep for one of 10,000", &greps, "ms", Target::None));
    rows.push(Row::new("the reference: glob over 10,000", &globs, "ms", Target::None));
    Ok(rows)
}

/// With the arguments of each; `NUMBER` is another note every time.
fn searches() -> Vec<(Search, &'static str)> {
    let quick = Target::Under(20.0);
    let grep = |what, found, target| Search { what, tool: "grep", counts: "matches", found, target };
    let glob = |what| Search { what, tool: "glob", counts: "files", found: 10, target: quick };
    vec![
        (grep("grep for one of 100,000", 1, quick), r#"{"pattern":"note NUMBER of","output_mode":"content"}"#),
        (grep("grep for a common pair of words", 100, quick), r#"{"pattern":"halyard quay","max_count":100}"#),
        (grep("grep for a word of nearly all of them", 1_000, quick), r#"{"pattern":"halyard","max_count":1000}"#),
        (grep("grep for 10 of them in Chinese", 10, quick), r#"{"pattern":"航海日志"}"#),
        (
            grep("grep for a pattern with a text in it", 1, quick),
            r#"{"pattern":"note NUMBER o[a-f] the","regex":true}"#,
        ),
        (grep("grep for two characters of theirs", 10, quick), r#"{"pattern":"日志"}"#),
        (grep("grep for one letter of all of them", 1_000, quick), r#"{"pattern":"k","max_count":1000}"#),
        (grep("grep for a pattern with one character in it", 10, quick), r#"{"pattern":"海.志","regex":true}"#),
        (glob("glob for 10 of 100,000"), r#"{"pattern":"/area7/*4207.md"}"#),
        (glob("glob for 10 of 100,000, in any folder"), r#"{"pattern":"**/*4207.md"}"#),
    ]
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

/// A note of some 300 bytes; one of 10,000 has a line in Chinese.
fn note(number: u32) -> String {
    let word = |step: u32| {
        WORDS.get((number.wrapping_mul(2_654_435_761).rotate_left(step) % 16) as usize).copied().unwrap_or_default()
    };
    let body: Vec<&str> = (0..40).map(word).collect();
    let (area, body) = (number % 100, body.join(" "));
    let log = if number % 10_000 == 4_207 { r"航海日志\n" } else { "" };
    format!(
        r#"{{"file_path":"/area{area}/note{number:05}.md","content":"note {number:05} of the log\n{body}\n{log}"}}"#
    )
}
