//! Searches of many files in the store: what they find is what a search of all the files finds, and an index spares them
//! going through all.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail like the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosun_agent::SystemClock;
use bosun_backend::{
    Backend, BoxFuture, FileData, FilesByKey, GlobQuery, GrepQuery, Held, Namespace, StateBackend, Store, StoreBackend,
    StoreError, StoreHit, StoreItem, StoreQuery, StoreScope, Swap, VirtualPath,
};
use bosun_store::{Database, KeyValueStore};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::Value;

/// More than are gone through before an index is asked.
const FILES: usize = 1_500;

/// A store that counts the files that are gone through in their order, and the names that are listed.
struct Counted {
    store: KeyValueStore,
    files: AtomicUsize,
    names: AtomicUsize,
}

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

impl Store for Counted {
    fn get<'a>(&'a self, space: &'a Namespace, key: &'a str) -> Answer<'a, Option<StoreItem>> {
        self.store.get(space, key)
    }

    fn put<'a>(&'a self, space: &'a Namespace, key: &'a str, value: Value) -> Answer<'a, ()> {
        self.store.put(space, key, value)
    }

    fn delete<'a>(&'a self, space: &'a Namespace, key: &'a str) -> Answer<'a, bool> {
        self.store.delete(space, key)
    }

    fn compare_and_swap<'a>(
        &'a self,
        space: &'a Namespace,
        key: &'a str,
        current: Option<Value>,
        next: Option<Value>,
    ) -> Answer<'a, Swap> {
        self.store.compare_and_swap(space, key, current, next)
    }

    fn search(&self, query: StoreQuery) -> Answer<'_, Vec<StoreHit>> {
        self.store.search(query)
    }

    fn keys<'a>(&'a self, space: &'a Namespace, prefix: &'a str, limit: usize) -> Answer<'a, Vec<String>> {
        Box::pin(async move {
            let keys = self.store.keys(space, prefix, limit).await?;
            self.names.fetch_add(keys.len(), Ordering::Relaxed);
            Ok(keys)
        })
    }

    fn get_many<'a>(&'a self, space: &'a Namespace, keys: &'a [String]) -> Answer<'a, Vec<StoreItem>> {
        self.store.get_many(space, keys)
    }

    fn files<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> Answer<'a, FilesByKey> {
        Box::pin(async move {
            let files = self.store.files(space, prefix, after, limit).await?;
            self.files.fetch_add(files.len(), Ordering::Relaxed);
            Ok(files)
        })
    }

    fn named<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        run: &'a str,
        most: usize,
    ) -> Answer<'a, Held<Vec<String>>> {
        self.store.named(space, prefix, run, most)
    }

    fn holding<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        run: &'a str,
        most: usize,
    ) -> Answer<'a, Held<Vec<StoreItem>>> {
        self.store.holding(space, prefix, run, most)
    }

    fn list_namespaces<'a>(&'a self, prefix: &'a [String]) -> Answer<'a, Vec<Namespace>> {
        self.store.list_namespaces(prefix)
    }
}

fn path(path: &str) -> VirtualPath {
    VirtualPath::parse(path).unwrap()
}

/// The same files in a database and in memory.
struct Both {
    counted: Arc<Counted>,
    stored: StoreBackend,
    held: StateBackend,
}

impl Both {
    async fn with(files: Vec<(VirtualPath, FileData)>) -> Self {
        let store = KeyValueStore::new(Database::in_memory().unwrap(), Arc::new(SystemClock));
        let space = StoreScope::User.namespace("notes").unwrap();
        for (path, data) in &files {
            store.put(&space, path.as_str(), serde_json::to_value(data).unwrap()).await.unwrap();
        }
        let counted = Arc::new(Counted { store, files: AtomicUsize::new(0), names: AtomicUsize::new(0) });
        let stored = StoreBackend::new(Arc::clone(&counted) as Arc<dyn Store>, space);
        Self { counted, stored, held: StateBackend::new(files) }
    }

    /// What was found, and how many files were gone through for it.
    async fn grep(&self, query: GrepQuery) -> (usize, usize) {
        let before = self.counted.files.load(Ordering::Relaxed);
        let found = self.stored.grep(query.clone()).await.unwrap();
        assert_eq!(found, self.held.grep(query).await.unwrap());
        (found.matches.len(), self.counted.files.load(Ordering::Relaxed) - before)
    }

    /// What was found, and how many names were listed for it.
    async fn glob(&self, pattern: &str, below: &str) -> (usize, usize) {
        let query = GlobQuery {
            pattern: pattern.to_owned(),
            path: path(below),
            include_ignored: false,
            cancel: GrepQuery::literal("", 0).cancel,
        };
        let before = self.counted.names.load(Ordering::Relaxed);
        let found = self.stored.glob(query.clone()).await.unwrap();
        assert_eq!(found, self.held.glob(query).await.unwrap(), "{pattern} below {below}");
        (found.paths.len(), self.counted.names.load(Ordering::Relaxed) - before)
    }
}

fn note(at: usize) -> (VirtualPath, FileData) {
    let rare = if at == FILES - 7 {
        "航海日志，第二天\nÀ bâbord! STRASSE Straße ǅ\nfn hoist_the_jib() {}\n"
    } else {
        ""
    };
    let text = format!("note {at:05} of the log\nhalyard quay\n{rare}");
    (path(&format!("/area{}/note{at:05}.md", at % 7)), FileData::of(text.as_bytes(), None, 0))
}

#[tokio::test]
async fn an_index_is_asked_for_other_letters_patterns_and_names() {
    let both = Both::with((0..FILES).map(note).collect()).await;
    let regex = |pattern: &str| GrepQuery { regex: true, ..GrepQuery::literal(pattern, 100) };
    // So many are looked at before the index is asked.
    let first = 128;
    for pattern in ["航海日志", "海日志，第二", "À bâbord", "Straße", "STRASSE", "日志", "天", "()", "二天"]
    {
        assert_eq!(both.grep(GrepQuery::literal(pattern, 100)).await, (1, first), "{pattern}");
    }
    // The index takes either case for the other, the search does not.
    assert_eq!(both.grep(GrepQuery::literal("à bâbord", 100)).await, (0, first));
    assert_eq!(both.grep(GrepQuery::literal("FN", 100)).await, (0, first));
    for (pattern, found) in
        [("fn hoist\\w+\\(", 1), ("^航海日.*天$", 1), ("note 00[0-9]42 of", 10), ("hoist|lower_the", 1)]
    {
        let (lines, through) = both.grep(regex(pattern)).await;
        let all = pattern.contains('|');
        assert_eq!((lines, through), (found, if all { FILES } else { first }), "{pattern}");
    }
    assert_eq!(both.grep(GrepQuery::literal("ǅ", 100)).await, (1, FILES), "neither small nor capital");
    // Whose other case the index may see otherwise.
    assert_eq!(both.grep(GrepQuery::literal("À", 100)).await, (1, FILES));
    assert_eq!(both.glob("*0042.md", "/").await, (1, 0));
    assert_eq!(both.glob("**/*[0-9]?*", "/").await.1, FILES);
    assert_eq!(both.glob("/area?/note0004?.md", "/").await, (10, 0));
    assert_eq!(both.glob("note0004?.md", "/area3").await.1, 0);
    assert_eq!(both.glob("*0045.md", "/area3/note00045.md").await, (1, 0));
    assert_eq!(both.glob("*nowhere*", "/").await, (0, 0));
    for pattern in ["*00{42,43}.md", "note0004[2-5].md", "*.md", "!note00042.md", "NOTE00042.md", "note\\00042.md"] {
        both.glob(pattern, "/").await;
    }
}

/// What is left out by an ignore file stays so, on the way by names too.
#[tokio::test]
async fn ignore_files_count_in_a_search_by_names() {
    let ignores = [("/area3/.gitignore", "*42.md\n"), ("/.ignore", "area2/\n")].into_iter();
    let ignores = ignores.map(|(name, text)| (path(name), FileData::of(text.as_bytes(), None, 0)));
    let mut both = Both::with((0..300).map(note).chain(ignores).collect()).await;
    for pattern in ["*0042.md", "*0045.md", "note0004?.md", "/area2/*.md", ".gitignore"] {
        both.glob(pattern, "/").await;
        both.glob(pattern, "/area3").await;
    }
    both =
        Both::with((0..300).map(note).chain([(path("/.git/notes.md"), FileData::of(b"x", None, 0))]).collect()).await;
    for pattern in ["**/notes.md", "/.git/notes.md", "notes.md"] {
        both.glob(pattern, "/").await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The index holds whatever it is asked for: letters of any script, in any case, beside anything.
    #[test]
    fn the_index_knows_every_run(before in "\\PC{0,5}", run in "\\PC{3,8}", after in "\\PC{0,5}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = KeyValueStore::new(Database::in_memory().unwrap(), Arc::new(SystemClock));
            let space = StoreScope::User.namespace("notes").unwrap();
            let data = FileData::of(format!("{before}{run}{after}").as_bytes(), None, 0);
            store.put(&space, "/a", serde_json::to_value(data).unwrap()).await.unwrap();
            let Held::These(found) = store.holding(&space, "/", &run, 9).await.unwrap() else {
                panic!("the index was not asked for {run:?}");
            };
            assert_eq!(found.len(), 1, "{run:?}");
        });
    }
}
