use std::sync::Mutex;

use bosun_backend::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Expect, FileStamp, GlobQuery, GrepQuery, Listed,
    PlannedChange, ReadContent, ReadWindow, Replacement, TextPage, Unwitnessed, VirtualPath,
};
use tokio_util::sync::CancellationToken;

pub fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

/// Puts files there, whatever was there before.
pub async fn given(backend: &dyn Backend, files: &[(&str, &str)]) {
    let files = files.iter().map(|(name, text)| (path(name), text.as_bytes().to_vec())).collect();
    for answer in backend.upload(files).await {
        answer.unwrap();
    }
}

pub async fn bytes(backend: &dyn Backend, name: &str) -> Vec<u8> {
    backend.download(vec![path(name)]).await.remove(0).unwrap()
}

pub async fn text(backend: &dyn Backend, name: &str) -> String {
    String::from_utf8(bytes(backend, name).await).unwrap()
}

pub async fn page(backend: &dyn Backend, name: &str, offset: u64, limit: u64) -> Result<TextPage, BackendError> {
    match backend.read(&path(name), ReadWindow { offset, limit }).await?.content {
        ReadContent::Text(page) => Ok(page),
        ReadContent::Bytes { mime, .. } => panic!("{name} came as {mime}"),
    }
}

pub async fn stamp(backend: &dyn Backend, name: &str) -> FileStamp {
    backend.read(&path(name), ReadWindow { offset: 0, limit: 1 }).await.unwrap().stamp
}

pub async fn write(backend: &dyn Backend, name: &str, text: &str, expect: Expect) -> Result<Change, BackendError> {
    backend.write(&path(name), text.as_bytes().to_vec(), expect, &Unwitnessed).await
}

pub async fn edit(backend: &dyn Backend, name: &str, old: &str, new: &str) -> Result<Change, BackendError> {
    let replacement = Replacement { old, new, all: false };
    backend.edit(&path(name), replacement, Expect::Anything, &Unwitnessed).await
}

pub async fn names(backend: &dyn Backend, name: &str) -> Vec<String> {
    let rows = backend.ls(&path(name)).await.unwrap();
    rows.into_iter().map(|row| if row.is_dir { format!("{}/", row.path) } else { row.path.to_string() }).collect()
}

/// What a listing says that is wanted for names alone.
pub fn kinds(listed: &Listed) -> Vec<(VirtualPath, bool, bool)> {
    listed.iter().map(|row| (row.path.clone(), row.is_dir, row.is_link)).collect()
}

pub fn glob_query(pattern: &str, below: &str) -> GlobQuery {
    GlobQuery {
        pattern: pattern.to_owned(),
        path: path(below),
        include_ignored: false,
        cancel: CancellationToken::new(),
    }
}

pub async fn glob(backend: &dyn Backend, pattern: &str) -> Vec<String> {
    glob_below(backend, pattern, "/").await
}

pub async fn glob_below(backend: &dyn Backend, pattern: &str, below: &str) -> Vec<String> {
    let found = backend.glob(glob_query(pattern, below)).await.unwrap();
    assert_eq!(found.truncated, None);
    found.paths.iter().map(ToString::to_string).collect()
}

pub fn grep_query(pattern: &str) -> GrepQuery {
    GrepQuery::literal(pattern, 1000)
}

/// Rows as `path:line:text`.
pub async fn grep(backend: &dyn Backend, query: GrepQuery) -> Vec<String> {
    let found = backend.grep(query).await.unwrap();
    assert_eq!(found.truncated, None);
    found.matches.iter().map(|row| format!("{}:{}:{}", row.path, row.line, row.text)).collect()
}

/// Writes down what is intended, or refuses it.
#[derive(Default)]
pub struct Witness {
    pub seen: Mutex<Vec<PlannedChange>>,
    pub refuses: bool,
}

impl ChangeWitness for Witness {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        let path = change.path.clone();
        self.seen.lock().unwrap().push(change);
        let refuses = self.refuses;
        Box::pin(async move {
            if refuses { Err(BackendError::NotRecorded { path, reason: "no room".into() }) } else { Ok(()) }
        })
    }
}
