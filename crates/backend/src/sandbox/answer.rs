//! What scripts answer.

use std::io::ErrorKind;

use super::{Cut, Finished, MAX_FILE};
use crate::{BackendError, FileStamp, VirtualPath};

/// Mode, size, time and number of names of an object, as `figures` of the scripts prints them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    mode: u32,
    pub(super) size: u64,
    pub(super) modified_ns: i64,
    names: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    Special,
}

/// The permission bits of a mode; none where nobody could tell it.
pub(super) fn permissions(mode: u32) -> Option<u32> {
    Some(mode & 0o7777).filter(|bits| *bits != 0)
}

impl Figures {
    /// Reads `MODE SIZE SECONDS NAMES`, and gives what follows.
    pub(super) fn parse(line: &str) -> Option<(Self, &str)> {
        let mut parts = line.trim_start().splitn(5, ' ');
        let mode = u32::from_str_radix(parts.next()?, 16).ok()?;
        let size = parts.next()?.parse().ok()?;
        let seconds: i64 = parts.next()?.parse().ok()?;
        let names = parts.next()?.trim_end().parse().ok()?;
        let figures = Self { mode, size, modified_ns: seconds.saturating_mul(1_000_000_000), names };
        Some((figures, parts.next().unwrap_or_default()))
    }

    pub(super) fn kind(&self) -> Kind {
        match self.mode & 0xf000 {
            0x8000 => Kind::File,
            0x4000 => Kind::Folder,
            0xa000 => Kind::Link,
            _ => Kind::Special,
        }
    }

    /// Permission bits, where the other side could tell them.
    pub(super) fn permissions(&self) -> Option<u32> {
        permissions(self.mode)
    }

    /// Whether hard links lead to it from elsewhere.
    pub(super) fn has_other_names(&self) -> bool {
        self.names > 1
    }

    pub(super) fn stamp(&self, bytes: &[u8]) -> FileStamp {
        FileStamp {
            device: 0,
            inode: 0,
            size: bytes.len() as u64,
            modified_ns: self.modified_ns,
            hash: Some(crate::ContentHash::of(bytes)),
        }
    }
}

/// What a script that did not do its work says about `path`. The codes are those of the scripts.
pub(super) fn refused(finished: &Finished, path: &VirtualPath) -> BackendError {
    let path = path.clone();
    match (finished.cut, finished.code) {
        (Some(Cut::Time), _) => io(path, ErrorKind::TimedOut, "it took too long there".to_owned()),
        (Some(Cut::Size), _) => io(path, ErrorKind::FileTooLarge, "there is more than can be taken".to_owned()),
        (Some(Cut::Wait), _) => io(path, ErrorKind::TimedOut, "there was no way there for too long".to_owned()),
        (Some(Cut::Line), _) => io(path, ErrorKind::ConnectionAborted, "the connection broke off".to_owned()),
        (None, Some(70)) => BackendError::RootGone,
        (None, Some(71)) => BackendError::NotFound { path },
        (None, Some(72)) => BackendError::NotADirectory { path },
        (None, Some(73)) => BackendError::IsADirectory { path },
        (None, Some(74)) => BackendError::OutsideRoot { path },
        (None, Some(75)) => BackendError::LinkLoop { path },
        (None, Some(76)) => BackendError::NotRegular { path, kind: "pipe, socket or device" },
        (None, Some(77)) => BackendError::Changed { path },
        (None, Some(78)) => BackendError::PermissionDenied { path },
        (None, Some(79)) => BackendError::ReadOnly { path },
        (None, Some(81)) => BackendError::LinkToProtected { path },
        (None, Some(80)) => {
            let size = String::from_utf8_lossy(&finished.output).trim().parse().unwrap_or(u64::MAX);
            BackendError::TooLarge { path, size, limit: MAX_FILE }
        }
        (None, Some(83)) => {
            io(path, ErrorKind::UnexpectedEof, "it did not arrive whole and was not changed".to_owned())
        }
        (None, code) => complained(path, code, &finished.complaint),
    }
}

/// As [`refused`], where a change was begun: what was not heard to its end may come to it by itself.
pub(super) fn unsure(finished: &Finished, path: &VirtualPath) -> BackendError {
    let reason = match finished.cut {
        Some(Cut::Time) => "it took too long there, and may go on",
        Some(Cut::Line) => "the connection broke off before the answer came",
        Some(Cut::Size | Cut::Wait) | None => return refused(finished, path),
    };
    BackendError::Unsure { path: path.clone(), reason: reason.to_owned() }
}

/// The words of the other side's programs, which are asked to speak English.
fn complained(path: VirtualPath, code: Option<i32>, complaint: &str) -> BackendError {
    let says = |words: &str| complaint.contains(words);
    if says("No space left") || says("quota exceeded") {
        return BackendError::DiskFull { path };
    }
    if says("Read-only file system") {
        return BackendError::ReadOnly { path };
    }
    if says("Permission denied") || says("Operation not permitted") {
        return BackendError::PermissionDenied { path };
    }
    if says("Not a directory") {
        return BackendError::NotADirectory { path };
    }
    if says("not empty") {
        return BackendError::Changed { path };
    }
    let last = complaint.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
    let code = code.map_or_else(|| "it was ended".to_owned(), |code| format!("exit code {code}"));
    io(path, ErrorKind::Other, format!("the place it is in could not do it ({code}): {last}"))
}

fn io(path: VirtualPath, kind: ErrorKind, reason: String) -> BackendError {
    BackendError::Io { path, kind, reason }
}

/// The POSIX checksum (`cksum`), which nearly every place has.
pub(super) fn cksum(bytes: &[u8]) -> u32 {
    let mut length = bytes.len();
    let mut counted = Vec::new();
    while length > 0 {
        counted.push((length & 0xff) as u8);
        length >>= 8;
    }
    let crc = bytes.iter().chain(&counted).fold(0_u32, |crc, byte| {
        let index = ((crc >> 24) ^ u32::from(*byte)) as usize & 0xff;
        (crc << 8) ^ TABLE.get(index).copied().unwrap_or_default()
    });
    !crc
}

const TABLE: [u32; 256] = table();

#[allow(clippy::indexing_slicing, reason = "the bounds are those of the loop, and this runs when it is compiled")]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000_0000 != 0 { (crc << 1) ^ 0x04c1_1db7 } else { crc << 1 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Figures, Kind, cksum};

    #[test]
    fn the_checksum_of_the_standard() {
        // As `printf … | cksum` says.
        assert_eq!(cksum(b""), 4_294_967_295);
        assert_eq!(cksum(b"123456789"), 930_766_865);
    }

    #[test]
    fn figures_of_several_systems() {
        let (gnu, rest) = Figures::parse("81a4 3 1700000000 2 ./a b\nc").unwrap();
        assert_eq!((gnu.kind(), gnu.size, rest), (Kind::File, 3, "./a b\nc"));
        assert!(gnu.has_other_names());
        assert_eq!((gnu.permissions(), gnu.modified_ns), (Some(0o644), 1_700_000_000_000_000_000));
        let (bare, _) = Figures::parse("4000 0 0 1\n").unwrap();
        assert_eq!((bare.kind(), bare.permissions()), (Kind::Folder, None));
        assert_eq!(Figures::parse("stat: cannot"), None);
    }
}
