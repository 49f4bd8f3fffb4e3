use std::collections::BTreeMap;

use bosun_backend::{FileInfo, GlobQuery, VirtualPath};
use bosun_protocol::FileEntry;
use tokio_util::sync::CancellationToken;

use crate::SessionError;
use crate::actor::Actor;

/// Files of one session that can be found by typing; of more the first.
const MOST: usize = 100_000;

/// A file or folder of the path space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub path: VirtualPath,
    pub is_folder: bool,
}

/// All that can be found by its name.
pub(crate) struct Paths {
    pub spots: Vec<Spot>,
    /// Not everything was looked through.
    pub partial: bool,
}

impl Actor {
    /// The files of the path space with their folders, mounts included; what is ignored is left out below the top.
    pub(crate) async fn paths(&self) -> Result<Paths, SessionError> {
        let backend = self.backend().await?;
        let root = VirtualPath::root();
        let cancel = CancellationToken::new();
        let query = GlobQuery { pattern: "**/*".into(), path: root.clone(), include_ignored: false, cancel };
        let found = backend.glob(query).await?;
        let partial = found.is_partial() || found.paths.len() > MOST;
        let mut spots: BTreeMap<VirtualPath, bool> = BTreeMap::new();
        for path in found.paths.into_iter().take(MOST) {
            let mut above = path.parent();
            while let Some(folder) = above.filter(|folder| !folder.is_root() && !spots.contains_key(folder)) {
                above = folder.parent();
                spots.insert(folder, true);
            }
            spots.insert(path, false);
        }
        for info in backend.names(&root).await? {
            spots.entry(info.path).or_insert(info.is_dir);
        }
        let spots = spots.into_iter().map(|(path, is_folder)| Spot { path, is_folder });
        Ok(Paths { spots: spots.collect(), partial })
    }

    /// These as they are listed, without their sizes.
    pub(crate) async fn entries(&self, spots: Vec<Spot>) -> Result<Vec<FileEntry>, SessionError> {
        let looked = self.looked().await?;
        let entry = |Spot { path, is_folder }| {
            looked.entry(FileInfo { path, is_link: false, is_dir: is_folder, size: None, modified_ns: None })
        };
        Ok(spots.into_iter().map(entry).collect())
    }
}
