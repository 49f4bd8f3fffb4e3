use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize};

const TEXT: &str = "utf-8";
const BYTES: &str = "base64";

/// A file kept in a session's state or in the store, not on disk (behaviour.md, Part B 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileData {
    /// Files of older agents have a list of lines here; they are joined.
    #[serde(deserialize_with = "content")]
    pub content: String,
    /// `utf-8` or `base64`.
    #[serde(default = "text")]
    pub encoding: String,
    /// ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<String>,
}

impl FileData {
    /// Keeps `bytes` as text where they are text. `created_at`: that of the file replaced; `now` in milliseconds since
    /// 1970.
    pub fn of(bytes: &[u8], created_at: Option<String>, now: i64) -> Self {
        let (content, encoding) = match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), TEXT),
            Err(_) => (STANDARD.encode(bytes), BYTES),
        };
        let now = jiff::Timestamp::from_millisecond(now).ok().map(|now| now.to_string());
        Self {
            content,
            encoding: encoding.to_owned(),
            created_at: created_at.or_else(|| now.clone()),
            modified_at: now,
        }
    }

    /// # Errors
    /// What keeps the content from being decoded, in words.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        match self.encoding.as_str() {
            TEXT => Ok(self.content.clone().into_bytes()),
            BYTES => STANDARD.decode(&self.content).map_err(|error| format!("its base64 is damaged: {error}")),
            other => Err(format!("it is kept as '{other}', which is not known here")),
        }
    }

    /// Bytes of the file, where its content can be decoded.
    pub fn size(&self) -> u64 {
        match self.encoding.as_str() {
            BYTES => self.bytes().map_or(0, |bytes| bytes.len() as u64),
            _ => self.content.len() as u64,
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

fn content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Content {
        Whole(String),
        Lines(Vec<String>),
    }
    Ok(match Content::deserialize(deserializer)? {
        Content::Whole(text) => text,
        Content::Lines(lines) => lines.join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::FileData;

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
}
