use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bosun_agent::SystemClock;
use bosun_backend::{
    Backend, BoxFuture, Expect, FileData, FileInfo, GrepQuery, Held, Namespace, StateBackend, Store, StoreBackend,
    StoreError, StoreHit, StoreItem, StoreQuery, Swap, Truncation, Unwitnessed, VirtualPath,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{HOLDING, KeyValueStore};
use crate::Database;

fn store() -> (tempfile::TempDir, KeyValueStore) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    (folder, KeyValueStore::new(database, Arc::new(SystemClock)))
}

fn namespace(parts: &[&str]) -> Namespace {
    Namespace::new(parts.iter().copied()).unwrap()
}

async fn found(store: &KeyValueStore, text: &str) -> Vec<String> {
    let query = StoreQuery {
        namespace: namespace(&["memories"]),
        key_prefix: None,
        text: Some(text.into()),
        limit: 10,
        offset: 0,
    };
    store.search(query).await.unwrap().into_iter().map(|hit| hit.item.key).collect()
}

#[tokio::test]
async fn values_come_back_and_keep_their_birth() {
    let (_folder, store) = store();
    let space = namespace(&["memories", "user"]);
    store.put(&space, "/a.md", json!({"content": "one"})).await.unwrap();
    let first = store.get(&space, "/a.md").await.unwrap().unwrap();
    store.put(&space, "/a.md", json!({"content": "two"})).await.unwrap();
    let second = store.get(&space, "/a.md").await.unwrap().unwrap();
    assert_eq!((second.value, second.created_at), (json!({"content": "two"}), first.created_at));
    assert!(store.delete(&space, "/a.md").await.unwrap());
    assert!(!store.delete(&space, "/a.md").await.unwrap());
    assert_eq!(store.get(&space, "/a.md").await.unwrap(), None);
}

#[tokio::test]
async fn text_is_found_in_words_and_in_chinese_and_hostile_syntax_is_only_text() {
    let (_folder, store) = store();
    let space = namespace(&["memories"]);
    store.put(&space, "prose", json!("Prefers résumés in plain text")).await.unwrap();
    store.put(&space, "zh", json!("发布说明写在变更记录里")).await.unwrap();
    assert_eq!(found(&store, "resumes plain").await, ["prose"]);
    assert_eq!(found(&store, "变更记录").await, ["zh"]);
    assert_eq!(found(&store, "记录").await, ["zh"], "two characters in the middle");
    assert_eq!(found(&store, "录里").await, ["zh"], "two at the end");
    assert_eq!(found(&store, "写 录里 说明").await, ["zh"], "in any order, and one alone");
    assert_eq!(found(&store, "记事").await, Vec::<String>::new());
    store.put(&space, "both", json!("部署用deploy脚本 Go")).await.unwrap();
    assert_eq!(found(&store, "Deploy").await, ["both"], "between characters of a script without spaces");
    assert_eq!(found(&store, "脚本 GO").await, ["both"]);
    for hostile in ["\"", "a AND", "NEAR(", "*", "name:x", "-", "' OR 1=1", "(", "变更\""] {
        found(&store, hostile).await;
    }
}

#[tokio::test]
async fn namespaces_are_listed_by_whole_parts() {
    let (_folder, store) = store();
    for parts in [&["memories", "user"][..], &["memories", "p1"], &["memories_evil"]] {
        store.put(&namespace(parts), "k", json!(1)).await.unwrap();
    }
    let listed = store.list_namespaces(&["memories".to_owned()]).await.unwrap();
    assert_eq!(listed, [namespace(&["memories", "p1"]), namespace(&["memories", "user"])]);
}

#[tokio::test]
async fn a_file_is_found_by_its_words_alone_and_at_the_beginning_of_a_line() {
    let (_folder, store) = store();
    let space = namespace(&["memories"]);
    store.put(&space, "/a.md", json!({"content": "first\nsecond \"third\"", "encoding": "utf-8"})).await.unwrap();
    assert_eq!(found(&store, "second").await, ["/a.md"]);
    assert_eq!(found(&store, "encoding").await, Vec::<String>::new());
    store.put(&space, "/a.md", json!({"content": "other", "encoding": "utf-8"})).await.unwrap();
    assert_eq!(found(&store, "second").await, Vec::<String>::new());
    assert_eq!(found(&store, "other").await, ["/a.md"]);
}

#[tokio::test]
async fn the_index_of_runs_is_asked_once_and_not_for_every_file() {
    let (_folder, store) = store();
    let plan = store.database.read(|connection| {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {HOLDING}"))?;
        let rows = explain.query_map(["n", "/", "0", "words : \"abc\""], |row| row.get::<_, String>(3))?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?)
    });
    let plan = plan.await.unwrap();
    let position = |what: &str| plan.iter().position(|step| step.contains(what));
    let index = position("SCAN found VIRTUAL TABLE INDEX");
    let files = position("SEARCH kv USING INTEGER PRIMARY KEY");
    assert!(index.is_some() && index < files, "{plan:#?}");
    assert!(position("USING INDEX key_values_unindexed").is_some(), "{plan:#?}");
}

#[tokio::test]
async fn pages_follow_each_other_in_the_order_of_keys() {
    let (_folder, store) = store();
    let space = namespace(&["memories"]);
    for key in ["/a", "/a-b", "/a/1", "/a/2", "/a/é", "/b"] {
        store.put(&space, key, json!(key)).await.unwrap();
    }
    let page = async |prefix: &str, after: &str, limit| {
        let items = store.page(&space, prefix, after, limit).await.unwrap();
        items.into_iter().map(|item| item.key).collect::<Vec<_>>()
    };
    assert_eq!(page("/", "", 3).await, ["/a", "/a-b", "/a/1"]);
    assert_eq!(page("/", "/a/1", 3).await, ["/a/2", "/a/é", "/b"]);
    assert_eq!(page("/a/", "", 9).await, ["/a/1", "/a/2", "/a/é"]);
    assert_eq!(page("/a/", "/a/2", 9).await, ["/a/é"]);
    assert_eq!(page("/a/", "/b", 9).await, Vec::<String>::new());
}

/// Counts the items that are fetched, and how often the index is asked.
struct Counted(KeyValueStore, AtomicUsize, AtomicUsize);

impl Counted {
    fn fetched(&self, items: &[StoreItem]) {
        self.1.fetch_add(items.len(), Ordering::Relaxed);
    }
}

impl Store for Counted {
    fn get<'a>(&'a self, space: &'a Namespace, key: &'a str) -> BoxFuture<'a, Result<Option<StoreItem>, StoreError>> {
        self.0.get(space, key)
    }

    fn put<'a>(&'a self, space: &'a Namespace, key: &'a str, value: Value) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.put(space, key, value)
    }

    fn delete<'a>(&'a self, space: &'a Namespace, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.delete(space, key)
    }

    fn compare_and_swap<'a>(
        &'a self,
        space: &'a Namespace,
        key: &'a str,
        current: Option<Value>,
        next: Option<Value>,
    ) -> BoxFuture<'a, Result<Swap, StoreError>> {
        self.0.compare_and_swap(space, key, current, next)
    }

    fn search(&self, query: StoreQuery) -> BoxFuture<'_, Result<Vec<StoreHit>, StoreError>> {
        Box::pin(async move {
            let hits = self.0.search(query).await?;
            self.1.fetch_add(hits.len(), Ordering::Relaxed);
            Ok(hits)
        })
    }

    fn keys<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        self.0.keys(space, prefix, limit)
    }

    fn children<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileInfo>, StoreError>> {
        self.0.children(space, prefix, limit)
    }

    fn get_many<'a>(
        &'a self,
        space: &'a Namespace,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<StoreItem>, StoreError>> {
        Box::pin(async move { self.0.get_many(space, keys).await.inspect(|items| self.fetched(items)) })
    }

    fn page<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoreItem>, StoreError>> {
        Box::pin(async move { self.0.page(space, prefix, after, limit).await.inspect(|items| self.fetched(items)) })
    }

    fn holding<'a>(
        &'a self,
        space: &'a Namespace,
        prefix: &'a str,
        run: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<StoreItem>>, StoreError>> {
        self.2.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let held = self.0.holding(space, prefix, run, most).await?;
            if let Held::These(items) = &held {
                self.fetched(items);
            }
            Ok(held)
        })
    }

    fn list_namespaces<'a>(&'a self, prefix: &'a [String]) -> BoxFuture<'a, Result<Vec<Namespace>, StoreError>> {
        self.0.list_namespaces(prefix)
    }
}

/// More than are gone through one by one before the index is asked.
const MANY: usize = 12_000;
/// More than several batches.
const SOME: usize = 2_600;

/// Two files of three have `common`, one has `rare`, and those at the end alone have `late` in a number over all bounds.
/// The first is full of `heap`, which one other has.
fn content(at: usize, files: usize) -> String {
    let word = if at.is_multiple_of(3) { "other" } else { "common" };
    let late = if at * 4 > files * 3 { "late" } else { "early" };
    let rare = if at == files - 889 { "rare" } else { "usual" };
    let heap = if at == 0 { "heap\n".repeat(200) } else { String::new() };
    let one = if at == files - 880 { "heap" } else { "" };
    format!("first line\n{word} {late} {rare}{one}\n{heap}")
}

/// Two backends with the same files: one over the database, one in memory.
async fn both(files: usize) -> (tempfile::TempDir, Arc<Counted>, StoreBackend, StateBackend) {
    let (folder, store) = store();
    let space = namespace(&["notes"]);
    let files: Vec<(VirtualPath, FileData)> = (0..files)
        .map(|at| {
            let name = format!("/area{}/n{at:05}.{}", at % 7, if at % 5 == 0 { "txt" } else { "md" });
            (VirtualPath::parse(&name).unwrap(), FileData::of(content(at, files).as_bytes(), None, 0))
        })
        .collect();
    let rows: Vec<(String, String)> =
        files.iter().map(|(path, data)| (path.to_string(), serde_json::to_string(data).unwrap())).collect();
    let fill = move |connection: &rusqlite::Connection| {
        let sql =
            "INSERT INTO key_values (namespace, name, value, created_at, updated_at) VALUES ('notes', ?1, ?2, 0, 0)";
        let mut insert = connection.prepare(sql)?;
        for (name, value) in &rows {
            insert.execute([name, value])?;
        }
        Ok(())
    };
    store.database.write(fill).await.unwrap();
    let counted = Arc::new(Counted(store, AtomicUsize::new(0), AtomicUsize::new(0)));
    let backend = StoreBackend::new(Arc::clone(&counted) as Arc<dyn Store>, space);
    (folder, counted, backend, StateBackend::new(files))
}

/// A listing is what one of the files themselves gives, and fetches none of them; a folder goes page by page.
#[tokio::test]
async fn a_folder_is_listed_without_what_its_files_hold() {
    let (_folder, counted, stored, held) = both(SOME).await;
    let space = namespace(&["notes"]);
    for (name, bytes) in [("/area3-b", &b"text"[..]), ("/area3/deep/er/x", b"\xff\x00"), ("/zero", b"")] {
        for backend in [&stored as &dyn Backend, &held] {
            backend.upload(vec![(VirtualPath::parse(name).unwrap(), bytes.to_vec())]).await.remove(0).unwrap();
        }
    }
    // What is no file is no reason for a folder, and stands before one that is.
    for key in ["/none/x", "/some/a", "no path"] {
        counted.put(&space, key, json!({ "no": "file" })).await.unwrap();
    }
    for backend in [&stored as &dyn Backend, &held] {
        let file = VirtualPath::parse("/some/b").unwrap();
        backend.upload(vec![(file, b"b".to_vec())]).await.remove(0).unwrap();
    }
    let before = counted.1.load(Ordering::Relaxed);
    for folder in ["/", "/area3", "/area3/deep", "/area3/deep/er", "/some", "/none", "/zero", "/nowhere"] {
        let folder = VirtualPath::parse(folder).unwrap();
        let figures = |listed: bosun_backend::Listed| {
            listed.into_iter().map(|row| (row.path, row.is_dir, row.size)).collect::<Vec<_>>()
        };
        let there = stored.ls(&folder).await.map(figures);
        assert_eq!(there, held.ls(&folder).await.map(figures), "{folder}");
        let found = stored.stat(&folder).await.map(|found| (found.is_dir, found.size));
        assert_eq!(found, held.stat(&folder).await.map(|found| (found.is_dir, found.size)), "{folder}");
    }
    let fetched = counted.1.load(Ordering::Relaxed) - before;
    assert!(fetched <= 8, "{fetched} files for a listing");
    let gone = VirtualPath::parse("/area3").unwrap();
    let number = stored.deleter().unwrap().delete(&gone, Expect::Anything, &Unwitnessed).await.unwrap().len();
    let other = held.deleter().unwrap().delete(&gone, Expect::Anything, &Unwitnessed).await.unwrap().len();
    assert_eq!((number, stored.ls(&gone).await.is_err()), (other, true));
    assert_eq!(
        stored.ls(&VirtualPath::root()).await.unwrap().len(),
        held.ls(&VirtualPath::root()).await.unwrap().len()
    );
}

/// What is shown is found without fetching what is not, and is what a search of all the files finds.
#[tokio::test]
async fn a_word_that_is_everywhere_costs_what_is_shown_of_it() {
    let (_folder, counted, stored, held) = both(MANY).await;
    let query = |pattern: &str, max_count| GrepQuery::literal(pattern, max_count);
    let fetched = async |query: GrepQuery| {
        let (before, asked) = (counted.1.load(Ordering::Relaxed), counted.2.load(Ordering::Relaxed));
        let found = stored.grep(query.clone()).await.unwrap();
        assert_eq!(found, held.grep(query).await.unwrap());
        let cost = counted.1.load(Ordering::Relaxed) - before;
        (found.matches.len(), found.truncated, cost, counted.2.load(Ordering::Relaxed) - asked)
    };
    // So many are looked at before the index is asked, which a word of most of them is not.
    let first = 128;
    let all_shown = Some(Truncation::Count);
    assert_eq!(fetched(query("common", 50)).await, (50, all_shown, first, 0));
    assert_eq!(fetched(query("common", 100)).await, (100, all_shown, first + 512, 0));
    let (shown, _, cost, asked) = fetched(query("common", 1_000)).await;
    assert!(shown == 1_000 && cost <= first + 2_048, "{cost} files for 1,000 lines");
    assert_eq!(asked, 0);
    assert_eq!(fetched(query("rare", 100)).await, (1, None, first + 1, 1));
    assert_eq!(fetched(query("nowhere at all", 100)).await, (0, None, first, 1));
    // Many lines of one file say nothing about the others.
    assert_eq!(fetched(query("heap", 1_000)).await, (201, None, first + 2, 1));
    // Many files hold it, far behind: after a while the index is asked again, and nothing is left out.
    let (shown, truncated, _, asked) = fetched(query("late", 100_000)).await;
    assert_eq!((shown, truncated, asked), (MANY - 9_001, None, 2));
    // Filters, a folder, patterns, and all of it.
    let (_other, counted, stored, held) = both(SOME).await;
    let fetched = async |query: GrepQuery| {
        let before = counted.1.load(Ordering::Relaxed);
        let found = stored.grep(query.clone()).await.unwrap();
        assert_eq!(found, held.grep(query).await.unwrap());
        assert!(counted.1.load(Ordering::Relaxed) - before <= SOME);
    };
    fetched(GrepQuery { glob: Some("*.txt".into()), ..query("common", 50) }).await;
    fetched(GrepQuery { path: VirtualPath::parse("/area3").unwrap(), ..query("common", 200) }).await;
    fetched(GrepQuery { path: VirtualPath::parse("/area3/n00003.md").unwrap(), ..query("other", 5) }).await;
    fetched(GrepQuery { regex: true, ..query("l.te$|rare", 3_000) }).await;
    fetched(query("co", 700)).await;
}

/// An index of a text ends at a NUL in it; a search does not.
#[tokio::test]
async fn what_stands_behind_a_nul_is_found_among_many_files() {
    let (_folder, counted, stored, held) = both(SOME).await;
    let log = format!("{}\0\0\nbehind it all\n", "a line of a log\n".repeat(1_000));
    for backend in [&stored as &dyn Backend, &held] {
        let file = VirtualPath::parse("/zzz.log").unwrap();
        backend.upload(vec![(file, log.clone().into_bytes())]).await.remove(0).unwrap();
    }
    let query = || GrepQuery::literal("behind it all", 10);
    let before = counted.2.load(Ordering::Relaxed);
    let found = stored.grep(query()).await.unwrap();
    assert_eq!((found.matches.len(), counted.2.load(Ordering::Relaxed) - before), (1, 1), "the index was asked");
    assert_eq!(found, held.grep(query()).await.unwrap());
}

/// Ignore files count wherever they stand: beside what is found, above it, and behind what was gone through already.
#[tokio::test]
async fn ignore_files_count_in_every_way_through_the_files() {
    let (some, many) = (both(SOME).await, both(MANY).await);
    for (name, text) in [("/area5/.gitignore", "*.txt\n"), ("/.ignore", "area2/\n")] {
        for (_, _, stored, held) in [&some, &many] {
            let file = || vec![(VirtualPath::parse(name).unwrap(), text.as_bytes().to_vec())];
            stored.upload(file()).await.remove(0).unwrap();
            held.upload(file()).await.remove(0).unwrap();
        }
        for ((_, _, stored, held), pattern, path, max_count) in [
            (&some, "common", "/", 300),
            (&some, "common", "/area5", 100_000),
            (&some, "common", "/area2", 10),
            (&some, "rare", "/", 10),
            (&some, "late", "/", 50_000),
            (&many, "late", "/", 50_000),
        ] {
            let ways: &[bool] = if pattern == "rare" { &[false, true] } else { &[false] };
            for &include_ignored in ways {
                let below = VirtualPath::parse(path).unwrap();
                let query = GrepQuery { path: below, include_ignored, ..GrepQuery::literal(pattern, max_count) };
                assert_eq!(
                    stored.grep(query.clone()).await.unwrap(),
                    held.grep(query).await.unwrap(),
                    "{pattern} {path}"
                );
            }
        }
    }
}
