#![allow(clippy::disallowed_methods, reason = "the log files are the shell's own")]

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file is put aside when it is longer.
const LONGEST: u64 = 2 << 20;
/// Files kept beside the one that is written.
const KEPT: u32 = 3;

/// `bosun.log`, put aside as `bosun.log.1` … `bosun.log.3` when it gets long; the oldest goes.
#[derive(Debug)]
pub(crate) struct CappedFile {
    path: PathBuf,
    file: File,
    length: u64,
    longest: u64,
}

impl CappedFile {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        Self::open_with(folder, LONGEST)
    }

    fn open_with(folder: &Path, longest: u64) -> io::Result<Self> {
        make_private(folder)?;
        let path = folder.join("bosun.log");
        let file = private_file(&path)?;
        let length = file.metadata()?.len();
        Ok(Self { path, file, length, longest })
    }

    fn aside(&self, number: u32) -> PathBuf {
        self.path.with_extension(format!("log.{number}"))
    }

    fn put_aside(&mut self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            rename(&self.aside(number), &self.aside(number + 1))?;
        }
        rename(&self.path, &self.aside(1))?;
        self.file = private_file(&self.path)?;
        self.length = 0;
        Ok(())
    }
}

/// The last `most` bytes of the log in `folder`, from the beginning of a line.
pub(crate) fn end(folder: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(folder.join("bosun.log"))?;
    let from = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match text.split_once('\n') {
        Some((_, rest)) if from > 0 => rest.to_owned(),
        _ => text,
    })
}

impl Write for CappedFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.length > 0 && self.length + line.len() as u64 > self.longest {
            self.put_aside()?;
        }
        let written = self.file.write(line)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_put_aside_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = CappedFile::open_with(folder.path(), 10).unwrap();
        for line in ["one\n", "two\n", "three\n", "four\n", "five\n", "six-seven\n", "eight-nine\n", "ten\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        assert_eq!(read("bosun.log"), "ten\n");
        assert_eq!(
            [read("bosun.log.1"), read("bosun.log.2"), read("bosun.log.3")],
            ["eight-nine\n", "six-seven\n", "four\nfive\n"]
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_second_start_goes_on_where_the_first_ended() {
        let folder = tempfile::tempdir().unwrap();
        CappedFile::open_with(folder.path(), 10).unwrap().write_all(b"one\n").unwrap();
        let mut log = CappedFile::open_with(folder.path(), 10).unwrap();
        log.write_all(b"two-three\n").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("bosun.log.1")).unwrap(), "one\n");
    }
}
