//! What a search has to read of a shelf. Ignore files decide what it meets, so they are always among it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Rows, Shelf};
use crate::search::listed::{Wanted, ancestors, ignore_files};
use crate::{BackendError, FileData, GrepQuery, VirtualPath};

/// The files in which `query` may find something, with all that decide whether it meets them.
pub(super) async fn rows(shelf: &dyn Shelf, query: &GrepQuery) -> Result<Rows, BackendError> {
    if !query.regex
        && let Some(rows) = shelf.holding(&query.path, &query.pattern).await?
    {
        let folders: BTreeSet<VirtualPath> = rows.iter().flat_map(|(path, _)| ancestors(path)).collect();
        let guides = folders.iter().flat_map(ignore_files).collect();
        // Where there are ignore files it also counts what is beside them.
        if query.include_ignored || shelf.get_many(&guides).await?.is_empty() {
            return Ok(rows);
        }
    }
    shelf.rows(&VirtualPath::root()).await
}

/// The paths at or below `start`, sorted, with the ignore files among them and above it, and what is in those.
pub(super) async fn paths(shelf: &dyn Shelf, start: &VirtualPath) -> Result<(Vec<VirtualPath>, Rows), BackendError> {
    let mut paths = shelf.paths(start).await?;
    let folders = ancestors(start).into_iter().chain([start.clone()]);
    let mut guides: BTreeSet<VirtualPath> = folders.flat_map(|folder| ignore_files(&folder)).collect();
    guides.extend(paths.iter().filter(|path| is_ignore_file(path)).cloned());
    let guides = shelf.get_many(&guides).await?;
    if guides.iter().any(|(path, _)| !path.starts_with(start)) {
        // Rules from above count in a repository only, and what makes one stands beside them.
        paths = shelf.paths(&VirtualPath::root()).await?;
    }
    Ok((paths, guides))
}

fn is_ignore_file(path: &VirtualPath) -> bool {
    let Some(name) = path.name() else { return false };
    match name {
        "exclude" => path.as_str().ends_with("/.git/info/exclude"),
        name => name.starts_with('.') && name.ends_with("ignore"),
    }
}

pub(super) fn select(wanted: &Wanted, rows: &Rows) -> Vec<VirtualPath> {
    let paths: Vec<VirtualPath> = rows.iter().map(|(path, _)| path.clone()).collect();
    wanted.select(&paths, &|path| find(rows, path)?.bytes().ok())
}

pub(super) fn find<'a>(rows: &'a Rows, path: &VirtualPath) -> Option<&'a Arc<FileData>> {
    let at = rows.binary_search_by(|(found, _)| found.cmp(path)).ok()?;
    rows.get(at).map(|(_, data)| data)
}
