mod data;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::VirtualPath;
pub use data::{FileContent, FileData};

/// BLAKE3 of a file's bytes, as 64 hex characters. Also the name of its blob.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(Arc<str>);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_blake3(blake3::hash(bytes))
    }

    pub fn from_blake3(hash: blake3::Hash) -> Self {
        Self(hash.to_hex().as_str().into())
    }

    /// A hash as it was written down; `None` for text that is none.
    pub fn from_hex(text: &str) -> Option<Self> {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get(..12).unwrap_or(&self.0))
    }
}

/// Which object, in which state: what "unchanged since it was read" is decided by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    pub device: u64,
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970; 0 where the backend has no clock of its own.
    pub modified_ns: i64,
    /// `None` where the file was too large to hash for a page of it.
    pub hash: Option<ContentHash>,
}

impl FileStamp {
    /// By content alone, for bytes that came without one.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self { device: 0, inode: 0, size: bytes.len() as u64, modified_ns: 0, hash: Some(ContentHash::of(bytes)) }
    }

    /// Whether `self` and `other` are the same content: by hash where both have one, else by the object's figures.
    pub fn same_content(&self, other: &Self) -> bool {
        match (&self.hash, &other.hash) {
            (Some(a), Some(b)) => a == b,
            _ => {
                (self.device, self.inode, self.size, self.modified_ns)
                    == (other.device, other.inode, other.size, other.modified_ns)
            }
        }
    }
}

/// One row of `ls`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    pub path: VirtualPath,
    /// The name is a link, and all else here is of what it leads to, where that is there.
    #[serde(default)]
    pub is_link: bool,
    pub is_dir: bool,
    /// Bytes; `None` for directories, broken links and special files.
    pub size: Option<u64>,
    /// Nanoseconds since 1970.
    pub modified_ns: Option<i64>,
}

impl FileInfo {
    /// A folder of which only the name is known.
    pub(crate) fn folder(path: VirtualPath) -> Self {
        Self { path, is_link: false, is_dir: true, size: None, modified_ns: None }
    }

    /// A file that is kept whole.
    pub(crate) fn stored(path: VirtualPath, data: &FileData) -> Self {
        let (size, modified_ns) = (Some(data.size()), Some(data.modified_ns()));
        Self { path, is_link: false, is_dir: false, size, modified_ns }
    }
}

/// What is wanted of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    All,
    /// Not what only a look at the entry itself tells.
    Names,
}

/// What is directly in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Sorted by path.
    pub rows: Vec<FileInfo>,
    /// How many more there are whose names are not text, so that no path says them.
    pub left_out: usize,
    /// There are more than these, beyond what one listing holds: the first in order as far as could be told.
    pub cut: bool,
}

impl Listed {
    /// Rows of one listing. A folder with a million files costs bounded memory, and no caller shows this many.
    pub(crate) const MOST: usize = 100_000;
}

/// The first of them in the order they have.
impl From<Vec<FileInfo>> for Listed {
    fn from(mut rows: Vec<FileInfo>) -> Self {
        let cut = rows.len() > Self::MOST;
        rows.truncate(Self::MOST);
        Self { rows, left_out: 0, cut }
    }
}

impl std::ops::Deref for Listed {
    type Target = [FileInfo];

    fn deref(&self) -> &[FileInfo] {
        &self.rows
    }
}

impl IntoIterator for Listed {
    type Item = FileInfo;
    type IntoIter = std::vec::IntoIter<FileInfo>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

/// Which lines to read: `offset` is 0-based, `limit` counts lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadWindow {
    pub offset: u64,
    pub limit: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadResult {
    pub content: ReadContent,
    pub stamp: FileStamp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReadContent {
    Text(TextPage),
    /// Not text, or of a media type: the whole bytes.
    Bytes {
        mime: String,
        bytes: Arc<[u8]>,
    },
}

/// A window of a text file. Line ends are LF here whatever the file has; lines are split at LF, CRLF and CR only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPage {
    /// The window's lines, without line ends. Fewer than asked for where a page would grow past a few megabytes.
    pub lines: Vec<String>,
    /// The last line in `lines` is longer than a page may be and is cut.
    pub cut: bool,
    /// 1-based number of the first line in `lines`.
    pub start_line: u64,
    pub total_lines: u64,
    /// The file holds nothing, or nothing but white space.
    pub blank: bool,
}
