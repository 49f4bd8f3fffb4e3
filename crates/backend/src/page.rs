//! Bytes in memory as a page of a file.

use crate::media::media_type;
use crate::text::PageScan;
use crate::{BackendError, ReadContent, ReadWindow, VirtualPath};

/// What reading a file with these bytes gives: media whole, everything else as the window's lines.
pub(crate) fn content_of(path: &VirtualPath, bytes: Vec<u8>, window: ReadWindow) -> Result<ReadContent, BackendError> {
    match path.name().and_then(media_type) {
        Some(mime) if !bytes.is_empty() => Ok(ReadContent::Bytes { mime: mime.to_owned(), bytes: bytes.into() }),
        _ => {
            let mut scan = PageScan::new(window);
            scan.feed(&bytes).map_err(|reason| BackendError::NotText { path: path.clone(), reason })?;
            Ok(ReadContent::Text(scan.finish(path, window)?))
        }
    }
}
