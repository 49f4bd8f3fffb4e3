//! Single file operations as the agent calls them, beside the reference's: listing a folder of 5,000 files, a page at the end
//! of a long file, an edit of a large one with everything the journal's promise asks for (a synced file and folder).
//!
//! Where the reference listed the folder in 185 ms and read the page in 75, Bosun was to take less than 12 and 15 ms: as a
//! share of the reference's, which does the same in the same run, that is asked on a machine of any speed. The reference
//! does not sync what it writes, so that an edit stands beside the same bytes written, synced and renamed by hand.

use anyhow::{Context, Result};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use super::Bench;
use super::measure::{Sample, millis};
use super::table::{Row, Target};
use super::tools::{Reference, Tools};

const ROUNDS: usize = 15;
const LISTED: u32 = 5_000;
const LINE: &str = "the watch changes at eight bells, all hands stand by and nobody sleeps on deck\n";
const MEGABYTE: usize = 1_000_000;
/// Lines of the page that is read.
const PAGE: usize = 100;

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folder = bench.place.target.join("bench/files");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("could not empty {}", folder.display()))?;
    }
    let project = folder.join("project");
    lay_out(&project)?;
    let rows = rows(bench, &project, &folder.join("home"));
    std::fs::remove_dir_all(&folder)?;
    rows
}

fn rows(bench: &Bench, project: &Path, home: &Path) -> Result<Vec<Row>> {
    let mut tools = Tools::start(&bench.bosun, project, home, &[])?;
    let mut reference = Reference::start(&bench.place, project)?;
    let offset = 20 * MEGABYTE / LINE.len() - PAGE;
    let last_page = |file: &str, offset| format!(r#"{{"file_path":"/{file}","offset":{offset},"limit":{PAGE}}}"#);
    let mut rows = Vec::new();

    let list = r#"{"path":"/many"}"#;
    let ours = Sample::take(ROUNDS, || tools.call("ls", list))?;
    let theirs = Sample::take(ROUNDS, || reference.call("ls", list))?;
    rows.extend(against("ls of 5,000 files", &ours, &theirs, (12.0, 185.0)));

    let page = last_page("long.txt", offset);
    let ours = Sample::take(ROUNDS, || tools.call("read_file", &page))?;
    let theirs = Sample::take(ROUNDS, || reference.call("read", &page))?;
    rows.extend(against("last page of a 20 MB file", &ours, &theirs, (15.0, 75.0)));

    let huge = last_page("huge.txt", 1_000 * MEGABYTE / LINE.len() - PAGE);
    let before = tools.peak()? as f64;
    let read = Sample::take(3, || tools.call("read_file", &huge))?;
    rows.push(Row::new("last page of a 1 GB file", &read, "ms", Target::None));
    let growth = Sample::from(vec![tools.peak()? as f64 / before]);
    rows.push(Row::new("  peak memory against the 20 MB file", &growth, "x", Target::Under(1.1)));

    tools.call("read_file", r#"{"file_path":"/large.txt","limit":1}"#)?;
    let mut at = 0;
    let ours = Sample::take(ROUNDS, || tools.call("edit_file", &edit(&mut at)))?;
    rows.push(Row::new("edit_file in a 10 MB file", &ours, "ms", Target::Under(60.0)));
    let bytes = std::fs::read(project.join("large.txt"))?;
    let by_hand = Sample::take(ROUNDS, || written_by_hand(project, &bytes))?;
    rows.push(Row::new("  its bytes written, synced and renamed by hand", &by_hand, "ms", Target::None));
    let theirs = Sample::take(ROUNDS, || reference.call("edit", &edit(&mut at)))?;
    rows.push(beside(&theirs));
    Ok(rows)
}

/// `ours` under `set.0` milliseconds, which was set where the reference took `set.1`.
fn against(name: &str, ours: &Sample, theirs: &Sample, set: (f64, f64)) -> [Row; 3] {
    let share = Sample::from(vec![ours.median() / theirs.median() * 100.0]);
    [
        Row::new(name, ours, "ms", Target::Under(set.0)),
        beside(theirs),
        Row::new("  share of the reference's", &share, "%", Target::Under(set.0 / set.1 * 100.0)),
    ]
}

/// Milliseconds that nothing but durability costs for a file of these bytes.
fn written_by_hand(project: &Path, bytes: &[u8]) -> Result<f64> {
    let (fresh, kept) = (project.join("by-hand.new"), project.join("by-hand.txt"));
    let begun = Instant::now();
    let mut file = std::fs::File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, &kept)?;
    std::fs::File::open(project)?.sync_all()?;
    Ok(millis(begun.elapsed()))
}

fn beside(sample: &Sample) -> Row {
    Row::new("  the reference on the same", sample, "ms", Target::None)
}

/// The next of an endless row of edits, each of which finds what the one before wrote.
fn edit(at: &mut u32) -> String {
    *at += 1;
    format!(r#"{{"file_path":"/large.txt","old_string":"mark {:06}","new_string":"mark {at:06}"}}"#, *at - 1)
}

fn lay_out(project: &Path) -> Result<()> {
    let many = project.join("many");
    std::fs::create_dir_all(&many).with_context(|| format!("could not make {}", many.display()))?;
    for number in 0..LISTED {
        std::fs::write(many.join(format!("file{number:04}.txt")), LINE)?;
    }
    lines(&project.join("long.txt"), "", 20 * MEGABYTE)?;
    lines(&project.join("huge.txt"), "", 1_000 * MEGABYTE)?;
    lines(&project.join("large.txt"), "mark 000000\n", 10 * MEGABYTE)
}

/// A file of about `bytes` bytes that begins with `first`.
fn lines(path: &Path, first: &str, bytes: usize) -> Result<()> {
    let file = std::fs::File::create(path).with_context(|| format!("could not make {}", path.display()))?;
    let mut file = BufWriter::new(file);
    file.write_all(first.as_bytes())?;
    for _ in 0..bytes / LINE.len() {
        file.write_all(LINE.as_bytes())?;
    }
    Ok(file.flush()?)
}
