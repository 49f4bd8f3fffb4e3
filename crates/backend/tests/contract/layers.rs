//! What is laid over another backend, and what leads to one only later.

use std::path::Path;
use std::sync::Arc;

use bosun_backend::{
    Backend, BackendError, FilesystemBackend, FilesystemOptions, LateFolder, LocalExecutorOptions, SandboxBackend,
    VirtualPath, hand_on, late, local_process,
};
use bosun_harness::{MountNote, PathMode, PathOperation, PathPattern, PathRule, PathRules};

use crate::support::{given, path};

/// A backend that is shared, as what the cases ask.
pub struct Shared(Arc<dyn Backend>);

impl Backend for Shared {
    hand_on!(
        0: ls, names, stat, read, write, edit, grep, glob, upload, download, stamp, shell, deleter, modes, tidy, host_path,
        direct, resolve
    );
}

/// A folder that was not there when this was made.
pub fn late_folder(folder: &Path) -> LateFolder {
    let folder = folder.to_owned();
    LateFolder::new(move || FilesystemBackend::open(&folder, FilesystemOptions::default()).ok())
}

/// `inner` under rules that forbid everything below `/denied`, where no command comes.
pub fn permitted(inner: impl Backend + 'static) -> Shared {
    let rule = PathRule {
        operations: vec![PathOperation::Read, PathOperation::Write],
        paths: vec![PathPattern::try_from("/denied/**".to_owned()).unwrap()],
        mode: PathMode::Deny,
    };
    let mount = MountNote { path: path("/denied"), holds: "nothing".into(), host: None };
    Shared(PathRules::new(vec![rule]).hold(Arc::new(inner), &[mount]))
}

/// A place of this machine's that is led to when something needs it, with the name of its root or without.
pub async fn late_place(folder: &Path, named: bool) -> SandboxBackend {
    let folder = folder.to_owned();
    let place = late(Box::new(move || {
        let folder = folder.clone();
        Box::pin(async move { Ok(local_process(&folder, LocalExecutorOptions::default()).unwrap()) })
    }));
    if named { SandboxBackend::open(place).await } else { SandboxBackend::below(place) }
}

/// Who wants names alone does not make what is behind look at every file.
#[tokio::test]
async fn names_are_asked_for_as_names() {
    let folder = tempfile::tempdir().unwrap();
    let layers: [&dyn Backend; 2] = [&late_folder(folder.path()), &permitted(crate::files(&folder))];
    given(&crate::files(&folder), &[("/a.txt", "one\n"), ("/dir/b.txt", "two\n"), ("/denied/key", "s3cret")]).await;
    for (layer, shown) in layers.into_iter().zip([&["/a.txt", "/denied", "/dir"][..], &["/a.txt", "/dir"]]) {
        let named = layer.names(&VirtualPath::root()).await.unwrap();
        assert_eq!(named.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), shown);
        assert_eq!(named.iter().find(|row| !row.is_dir).unwrap().size, None);
    }
    let denied = path("/denied");
    assert_eq!(layers[1].names(&denied).await.unwrap_err(), BackendError::Forbidden { path: denied.clone() });
    assert_eq!(layers[1].stamp(&path("/denied/key")).await.unwrap_err().path_mut(), Some(&mut path("/denied/key")));
    assert!(matches!(layers[1].stamp(&path("/denied/key")).await, Err(BackendError::Forbidden { .. })));
}
