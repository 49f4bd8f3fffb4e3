use std::path::{Path, PathBuf};

use bosun_backend::{Bundle, BundleError, FileData, read_archive, read_bundle, write_bundle};
use bosun_protocol::Problem;

use crate::{Explain, SessionError};

/// Where files come from that a person brings in.
#[derive(Clone, Debug)]
pub enum ImportFrom {
    /// A folder or a zip archive on disk.
    Path(PathBuf),
    /// A zip archive in base64.
    Archive(String),
}

/// The files of a folder or a zip archive that a person picked, checked.
pub(super) async fn read(from: ImportFrom) -> Result<Bundle, SessionError> {
    let read = tokio::task::spawn_blocking(move || match from {
        ImportFrom::Path(path) => read_bundle(&path),
        ImportFrom::Archive(data) => {
            let data =
                FileData { content: data.into(), encoding: "base64".into(), created_at: None, modified_at: None };
            let no_archive = |reason| BundleError::NoArchive { path: PathBuf::from("the file"), reason };
            read_archive(&data.bytes().map_err(no_archive)?)
        }
    });
    let read = read.await;
    read.map_err(SessionError::internal)?.map_err(invalid)
}

/// Writes files into a new folder called `name`, or `name-2` and so on, in `folder`; gives its path.
pub(super) async fn write(folder: &Path, name: &str, bundle: Bundle) -> Result<PathBuf, SessionError> {
    if bundle.files.is_empty() {
        return Err(SessionError::invalid(Problem::NothingToWrite));
    }
    let (folder, name) = (folder.to_owned(), name.to_owned());
    let written = tokio::task::spawn_blocking(move || write_bundle(&folder, &name, &bundle)).await;
    written.map_err(SessionError::internal)?.map_err(invalid)
}

fn invalid(error: BundleError) -> SessionError {
    SessionError::invalid(error.problem())
}
