use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::{FIRST, Rows, Shelf};
use crate::{Backend, BackendError, BoxFuture, FileData, GrepQuery, Held, StateBackend, VirtualPath};

/// Gives its files page by page, has an index of them, and counts what is asked of both.
struct Indexed {
    files: StateBackend,
    asked: AtomicUsize,
    fetched: AtomicUsize,
}

impl Shelf for Indexed {
    fn lock(&self) -> BoxFuture<'_, OwnedMutexGuard<()>> {
        self.files.lock()
    }

    fn rows<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Rows, BackendError>> {
        self.files.rows(path)
    }

    fn get<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<Arc<FileData>>, BackendError>> {
        self.files.get(path)
    }

    fn page<'a>(
        &'a self,
        path: &'a VirtualPath,
        after: Option<&'a VirtualPath>,
        most: usize,
    ) -> BoxFuture<'a, Result<Rows, BackendError>> {
        Box::pin(async move {
            let rows = self.files.rows(path).await?;
            let next = rows.into_iter().filter(|(found, _)| after.is_none_or(|after| found > after));
            let next: Rows = next.take(most).collect();
            self.fetched.fetch_add(next.len(), Ordering::Relaxed);
            Ok(next)
        })
    }

    fn holding<'a>(
        &'a self,
        path: &'a VirtualPath,
        run: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Held<Rows>, BackendError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let mut rows = self.files.rows(path).await?;
            rows.retain(|(_, data)| String::from_utf8(data.bytes().unwrap()).unwrap().contains(run));
            Ok(if rows.len() > most { Held::Many } else { Held::These(rows) })
        })
    }

    fn is_folder<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<bool, BackendError>> {
        self.files.is_folder(path)
    }

    fn set<'a>(
        &'a self,
        path: &'a VirtualPath,
        current: Option<&'a FileData>,
        data: Option<Arc<FileData>>,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        self.files.set(path, current, data)
    }

    fn now(&self) -> i64 {
        self.files.now()
    }

    fn is_state(&self) -> bool {
        false
    }
}

impl Indexed {
    /// The lines that hold `pattern`, how often the index was asked, and how many files were gone through.
    async fn grep(&self, pattern: &str, max_count: usize) -> (usize, usize, usize) {
        let query = GrepQuery {
            pattern: pattern.into(),
            regex: false,
            path: VirtualPath::root(),
            glob: None,
            include_ignored: false,
            max_count,
            until: None,
            cancel: CancellationToken::new(),
        };
        let found = Backend::grep(self, query).await.unwrap().matches.len();
        (found, self.asked.swap(0, Ordering::Relaxed), self.fetched.swap(0, Ordering::Relaxed))
    }
}

/// A word of nearly all files has enough at once; of one that is rare the index says where it is.
#[tokio::test]
async fn an_index_is_asked_only_where_the_first_files_do_not_have_enough() {
    let file = |number: usize| {
        let half = if number.is_multiple_of(2) { " even" } else { "" };
        let text = format!("note {number:05} of all{half}\n");
        (VirtualPath::parse(&format!("/area/{number:05}")).unwrap(), FileData::of(text.as_bytes(), None, 0))
    };
    let files = StateBackend::new((0..10_000).map(file));
    let shelf = Indexed { files, asked: AtomicUsize::new(0), fetched: AtomicUsize::new(0) };
    assert_eq!(shelf.grep("of all", 100).await, (100, 0, FIRST));
    assert_eq!(shelf.grep("of all", 500).await, (500, 0, FIRST + super::PAGE));
    assert_eq!(shelf.grep(" even", 100).await, (100, 0, FIRST + super::PAGE));
    assert_eq!(shelf.grep("note 09999", 100).await, (1, 1, FIRST));
    assert_eq!(shelf.grep("of nobody", 100).await, (0, 1, FIRST));
    // Both ways find the same.
    assert_eq!(shelf.grep("of all", 10_000).await.0, 10_000);
    let rules = FileData::of(b"00001\n", None, 0);
    shelf.set(&VirtualPath::parse("/area/.ignore").unwrap(), None, Some(Arc::new(rules))).await.unwrap();
    assert_eq!(shelf.grep("of all", 20_000).await.0, 9_999);
}
