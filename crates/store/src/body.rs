use std::cell::RefCell;

use bosun_agent::EntryBody;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};
use zstd::bulk::Compressor;

/// Shorter bodies gain nothing from packing.
const SHORT: usize = 200;
/// The quickest: twice the effort saves a few hundredths.
const LEVEL: i32 = 1;
/// More than any entry has: what claims to be longer is damaged.
const LONGEST: usize = 1 << 28;

/// An entry as it is stored: JSON, packed where that is smaller. Results of tools are most of a journal and pack well, so
/// that a session takes less room on disk than its words do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoredBody {
    Plain(String),
    Packed(Vec<u8>),
}

impl StoredBody {
    pub(crate) fn of(body: &EntryBody) -> serde_json::Result<Self> {
        let json = serde_json::to_string(body)?;
        if json.len() < SHORT {
            return Ok(Self::Plain(json));
        }
        Ok(match packed(json.as_bytes()) {
            Ok(packed) if packed.len() < json.len() => Self::Packed(packed),
            _ => Self::Plain(json),
        })
    }
}

/// A packer is made once for each thread: to make one takes longer than to pack an ordinary entry.
fn packed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    }
    PACKER.with_borrow_mut(|kept| {
        let packer = match kept {
            Some(packer) => packer,
            None => kept.insert(Compressor::new(LEVEL)?),
        };
        packer.compress(bytes)
    })
}

impl ToSql for StoredBody {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Plain(json) => ValueRef::Text(json.as_bytes()),
            Self::Packed(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The entry in a column, or why it cannot be read.
pub(crate) fn read_body(value: ValueRef<'_>) -> Result<EntryBody, String> {
    serde_json::from_slice(&text_of_body(value)?).map_err(|error| error.to_string())
}

/// The JSON in a column, or why it cannot be read.
pub(crate) fn text_of_body(value: ValueRef<'_>) -> Result<std::borrow::Cow<'_, [u8]>, String> {
    match value {
        ValueRef::Text(json) => Ok(json.into()),
        ValueRef::Blob(packed) => Ok(unpacked(packed)?.into()),
        other => Err(format!("it is stored as {}", other.data_type())),
    }
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, String> {
    let length = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    let length = length.and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= LONGEST);
    let length = length.ok_or("it is packed in a way that is not ours")?;
    zstd::bulk::decompress(packed, length).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn titled(title: String) -> EntryBody {
        EntryBody::Titled { title }
    }

    fn value(stored: &StoredBody) -> ValueRef<'_> {
        match stored {
            StoredBody::Plain(json) => ValueRef::Text(json.as_bytes()),
            StoredBody::Packed(bytes) => ValueRef::Blob(bytes),
        }
    }

    #[test]
    fn short_bodies_stay_readable_and_long_ones_are_packed() {
        let short = titled("eight bells".to_owned());
        let stored = StoredBody::of(&short).unwrap();
        assert!(matches!(&stored, StoredBody::Plain(_)));
        assert_eq!(read_body(value(&stored)), Ok(short));
        let long = titled("all hands stand by 值班\n".repeat(500));
        let stored = StoredBody::of(&long).unwrap();
        assert!(matches!(&stored, StoredBody::Packed(bytes) if bytes.len() < 500), "{stored:?}");
        assert_eq!(read_body(value(&stored)), Ok(long));
    }

    #[test]
    fn what_does_not_pack_is_kept_as_it_is() {
        let noise: String =
            (0_u32..400).map(|n| char::from(33 + (n.wrapping_mul(2_654_435_761) >> 25) as u8 % 90)).collect();
        let entry = titled(noise);
        assert_eq!(read_body(value(&StoredBody::of(&entry).unwrap())), Ok(entry));
    }

    #[test]
    fn damage_is_told() {
        assert!(read_body(ValueRef::Blob(b"not packed")).is_err());
        assert!(read_body(ValueRef::Null).is_err());
        let StoredBody::Packed(mut bytes) = StoredBody::of(&titled("stand by ".repeat(100))).unwrap() else { panic!() };
        bytes.truncate(bytes.len() - 4);
        assert!(read_body(ValueRef::Blob(&bytes)).is_err());
    }
}
