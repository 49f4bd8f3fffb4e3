//! Bytes on disk against bytes of conversation, after a scripted turn of 400 steps. The conversation is what a person said,
//! what the model said, the arguments of its calls and the results it was given. On disk counts the whole data folder but
//! the write-ahead log, which does not grow with the conversation and is told by itself.

use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use super::Bench;
use super::desk::{Desk, STEPS, bare, task_of};
use super::measure::Sample;
use super::table::{Row, Target};

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let desk = Desk::set_up(bench, "database")?;
    let steps = STEPS.iter().copied().max().unwrap_or_default();
    desk.run(&task_of(steps))?;
    let (disk, log) = size(&desk.data())?;
    let said = task_of(steps).len() + "All read.".len();
    let mut conversation = said;
    for number in 0..steps {
        let arguments = format!(r#"{{"file_path":"/notes/{number}.txt"}}"#);
        conversation += "Reading on.".len() + arguments.len();
    }
    conversation += results(bench, &desk, steps)?;
    let ratio = Sample::from(vec![disk as f64 / conversation as f64]);
    Ok(vec![
        Row::new(
            format!("conversation of {steps} steps"),
            &Sample::from(vec![conversation as f64 / 1e6]),
            "MB",
            Target::None,
        ),
        Row::new("database and blobs against conversation", &ratio, "x", Target::Under(2.0)),
        Row::new("write-ahead log left behind", &Sample::from(vec![log as f64 / 1e6]), "MB", Target::None),
    ])
}

/// Bytes of the results of the turn's calls, asked of `bosun tools`.
fn results(bench: &Bench, desk: &Desk, steps: u32) -> Result<usize> {
    let folder = desk.data();
    let mut command = bare(&bench.bosun, folder.parent().unwrap_or(&folder));
    command.arg("tools").arg("--project").arg(desk.project());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("could not start bosun tools")?;
    let mut input = child.stdin.take().context("bosun tools has no input")?;
    let writer = std::thread::spawn(move || -> std::io::Result<()> {
        for number in 0..steps {
            writeln!(input, r#"{{"id":"{number}","tool":"read_file","args":{{"file_path":"/notes/{number}.txt"}}}}"#)?;
        }
        Ok(())
    });
    let output = child.wait_with_output()?;
    writer.join().ok().context("the writer of calls broke")??;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| content(line)).map(str::len).sum())
}

/// What stands in the answer's `content`, escapes counted as they are written.
fn content(line: &str) -> Option<&str> {
    let start = line.split_once(r#""content":"#)?.1;
    let end = start.find(r#","artifact""#).unwrap_or(start.len());
    start.get(..end)
}

/// Bytes below `dir`: what is kept, and the write-ahead log with its index.
fn size(dir: &Path) -> Result<(u64, u64)> {
    let (mut kept, mut log) = (0, 0);
    for entry in std::fs::read_dir(dir).with_context(|| format!("could not list {}", dir.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            let below = size(&entry.path())?;
            kept += below.0;
            log += below.1;
        } else if name.ends_with("-wal") || name.ends_with("-shm") {
            log += entry.metadata()?.len();
        } else {
            kept += entry.metadata()?.len();
        }
    }
    Ok((kept, log))
}

#[cfg(test)]
mod tests {
    use super::content;

    #[test]
    fn the_content_of_an_answer() {
        let line = r#"{"id":"1","status":"success","content":"a\nb","artifact":null}"#;
        assert_eq!(content(line), Some(r#""a\nb""#));
        assert_eq!(content("{}"), None);
    }
}
