use std::fmt::Formatter;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{BlobError, BlobStore, ContentHash};

const TEXT: &str = "utf-8";
const BYTES: &str = "base64";
/// Bytes of a file that are held with it. What is larger is a blob where there is a place for blobs: a journal names it in
/// every entry that hands the file on.
const MOST_HELD: usize = 64 * 1024;

/// A file kept in a session's state or in the store, not on disk (behaviour.md, Part B 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileData {
    pub content: FileContent,
    /// `utf-8`, or `base64` where the content is no text.
    #[serde(default = "text")]
    pub encoding: String,
    /// ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<String>,
}

impl FileData {
    /// Keeps `bytes` as text where they are text and an index of it would know all of it, which ends at a NUL.
    /// `created_at`: that of the file replaced; `now` in milliseconds since 1970.
    pub fn of(bytes: &[u8], created_at: Option<String>, now: i64) -> Self {
        let (content, encoding) = match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => (text.into(), TEXT),
            _ => (STANDARD.encode(bytes).into(), BYTES),
        };
        Self { encoding: encoding.to_owned(), ..Self::with(content, created_at, now) }
    }

    /// As [`Self::of`], with the content in `blobs` where it is large.
    pub(crate) async fn kept(
        bytes: &Arc<[u8]>,
        created_at: Option<String>,
        now: i64,
        blobs: Option<&BlobStore>,
    ) -> Result<Self, BlobError> {
        let Some(blobs) = blobs.filter(|_| bytes.len() > MOST_HELD) else {
            return Ok(Self::of(bytes, created_at, now));
        };
        let encoding = if std::str::from_utf8(bytes).is_ok() { TEXT } else { BYTES };
        let content = FileContent::Kept { blob: blobs.put(Arc::clone(bytes)).await?, size: bytes.len() as u64 };
        Ok(Self { encoding: encoding.to_owned(), ..Self::with(content, created_at, now) })
    }

    fn with(content: FileContent, created_at: Option<String>, now: i64) -> Self {
        let now = jiff::Timestamp::from_millisecond(now).ok().map(|now| now.to_string());
        Self { content, encoding: text(), created_at: created_at.or_else(|| now.clone()), modified_at: now }
    }

    /// Moves a large content that is held into `blobs`: files of older journals hold all of theirs.
    ///
    /// # Errors
    /// [`BlobError`]: it is held as before.
    pub async fn keep_in(&mut self, blobs: &BlobStore) -> Result<(), BlobError> {
        if let FileContent::Held(text) = &self.content
            && text.len() > MOST_HELD
            && let Ok(bytes) = self.bytes()
        {
            let size = bytes.len() as u64;
            self.content = FileContent::Kept { blob: blobs.put(bytes.into()).await?, size };
        }
        Ok(())
    }

    /// The bytes of a file that holds its content, as one in the store does.
    ///
    /// # Errors
    /// What keeps the content from being decoded, in words.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        self.bytes_with(None)
    }

    /// The bytes, from `blobs` where they are kept there. Blocks on the disk then: call it on the blocking pool.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub(crate) fn bytes_with(&self, blobs: Option<&BlobStore>) -> Result<Vec<u8>, String> {
        match (&self.content, self.encoding.as_str()) {
            (FileContent::Kept { blob, .. }, _) => match blobs {
                Some(blobs) => blobs.get_now(blob).map_err(|error| error.to_string()),
                None => Err(format!("its content {blob} is kept in another place, which is not open here")),
            },
            (FileContent::Held(text), TEXT) => Ok(text.as_bytes().to_vec()),
            (FileContent::Held(text), BYTES) => {
                STANDARD.decode(&**text).map_err(|error| format!("its base64 is damaged: {error}"))
            }
            (_, other) => Err(format!("it is kept as '{other}', which is not known here")),
        }
    }

    /// The text that is held, where it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            FileContent::Held(text) if self.encoding == TEXT => Some(text),
            _ => None,
        }
    }

    /// Bytes of the file, where its content can be decoded.
    pub fn size(&self) -> u64 {
        match (&self.content, self.encoding.as_str()) {
            (FileContent::Kept { size, .. }, _) => *size,
            (_, BYTES) => self.bytes().map_or(0, |bytes| bytes.len() as u64),
            (FileContent::Held(text), _) => text.len() as u64,
        }
    }

    /// Whether both are the same content, whenever it was written and wherever it is.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (FileContent::Held(one), FileContent::Held(two)) => one == two && self.encoding == other.encoding,
            _ => matches!((self.hash(), other.hash()), (Some(one), Some(two)) if one == two),
        }
    }

    /// The hash of the bytes, where these can be decoded.
    pub(crate) fn hash(&self) -> Option<ContentHash> {
        match &self.content {
            FileContent::Kept { blob, .. } => Some(blob.clone()),
            FileContent::Held(_) => Some(ContentHash::of(&self.bytes().ok()?)),
        }
    }

    /// Nanoseconds since 1970; 0 where it is not known.
    pub fn modified_ns(&self) -> i64 {
        let modified = self.modified_at.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
        modified.and_then(|at| i64::try_from(at.as_nanosecond()).ok()).unwrap_or(0)
    }
}

fn text() -> String {
    TEXT.to_owned()
}

/// What a file holds. Clones are the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FileContent {
    /// Its text, or the base64 of what is none.
    Held(Arc<str>),
    /// Its bytes are a blob.
    Kept { blob: ContentHash, size: u64 },
}

impl From<&str> for FileContent {
    fn from(text: &str) -> Self {
        Self::Held(text.into())
    }
}

impl From<String> for FileContent {
    fn from(text: String) -> Self {
        Self::Held(text.into())
    }
}

impl<'de> Deserialize<'de> for FileContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Content)
    }
}

/// Takes a content as it comes: a search reads thousands, and to hold each in between would cost as much as to look in it.
struct Content;

impl<'de> Visitor<'de> for Content {
    type Value = FileContent;

    fn expecting(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str("a text, its lines, or the blob and the size of what is kept")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FileContent, E> {
        Ok(text.into())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<FileContent, E> {
        Ok(text.into())
    }

    /// Files of older agents; they are joined.
    fn visit_seq<A: SeqAccess<'de>>(self, lines: A) -> Result<FileContent, A::Error> {
        let lines = Vec::<String>::deserialize(SeqAccessDeserializer::new(lines))?;
        Ok(lines.join("\n").into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FileContent, A::Error> {
        #[derive(Deserialize)]
        struct Kept {
            blob: ContentHash,
            size: u64,
        }
        let Kept { blob, size } = Kept::deserialize(MapAccessDeserializer::new(map))?;
        Ok(FileContent::Kept { blob, size })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{FileContent, FileData, MOST_HELD};
    use crate::BlobStore;

    #[test]
    fn files_of_older_agents_are_read() {
        let old: FileData = serde_json::from_value(json!({"content": ["a", "b"], "created_at": "x"})).unwrap();
        assert_eq!((old.bytes(), old.modified_ns()), (Ok(b"a\nb".to_vec()), 0));
    }

    #[test]
    fn bytes_come_back_as_they_were() {
        for bytes in [&b"text\r\n"[..], b"\xff\x00", b""] {
            let data = FileData::of(bytes, None, 1_500);
            assert_eq!(data.bytes().as_deref(), Ok(bytes));
            assert_eq!((data.size(), data.modified_ns()), (bytes.len() as u64, 1_500_000_000));
        }
        let unknown = FileData { encoding: "rot13".into(), ..FileData::of(b"", None, 0) };
        assert!(unknown.bytes().is_err());
    }

    #[tokio::test]
    async fn what_is_large_is_a_blob_and_named_where_it_is_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobStore::open(folder.path()).unwrap();
        for large in [vec![b'x'; MOST_HELD + 1], vec![0xff; MOST_HELD + 1]] {
            let mut held = FileData::of(&large, None, 1_500);
            let kept = FileData::kept(&large.clone().into(), None, 1_500, Some(&blobs)).await.unwrap();
            assert!(held != kept && held.is_same(&kept) && kept.is_same(&held));
            assert_eq!((kept.size(), kept.bytes_with(Some(&blobs))), (large.len() as u64, Ok(large)));
            assert!(kept.bytes().is_err(), "it is not at hand");
            let written = serde_json::to_string(&kept).unwrap();
            assert!(written.len() < 300 && written.contains(kept.hash().unwrap().as_str()), "{written}");
            assert_eq!(serde_json::from_str::<FileData>(&written).unwrap(), kept);
            held.keep_in(&blobs).await.unwrap();
            assert_eq!(held, kept);
        }
        let mut small = FileData::kept(&vec![b'x'; MOST_HELD].into(), None, 0, Some(&blobs)).await.unwrap();
        assert!(matches!(&small.content, FileContent::Held(_)) && blobs.usage().await.unwrap().blobs == 2);
        small.keep_in(&blobs).await.unwrap();
        let none = FileData::kept(&vec![b'y'; 2 * MOST_HELD].into(), None, 0, None).await.unwrap();
        assert!(matches!((&small.content, &none.content), (FileContent::Held(_), FileContent::Held(_))));
    }
}
