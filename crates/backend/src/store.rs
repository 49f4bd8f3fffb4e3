mod children;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BoxFuture, FileData, FileInfo};
pub(crate) use children::path_of;
pub use children::{ChildRows, NextKey};

/// A path of names under which values are kept, for example `["memories", "user"]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Namespace(Vec<String>);

impl Namespace {
    /// # Errors
    /// [`StoreError::BadNamespace`] unless there is at least one part and every part is non-empty and made of
    /// letters, digits and `- _ . @ + : ~`.
    pub fn new<I, S>(parts: I) -> Result<Self, StoreError>
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let parts: Vec<String> = parts.into_iter().map(Into::into).collect();
        let fits =
            |part: &String| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "-_.@+:~".contains(c));
        if parts.is_empty() || !parts.iter().all(fits) {
            return Err(StoreError::BadNamespace { given: parts.join("/") });
        }
        Ok(Self(parts))
    }

    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

/// Long-term memory: namespaced JSON values, with full-text search where the implementation has it.
///
/// Every method fails with [`StoreError::Unavailable`] where the database does not answer.
pub trait Store: Send + Sync {
    /// The item at `key`, where there is one.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoreItem>, StoreError>>;

    /// Creates or replaces; `created_at` survives a replacement.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn put<'a>(&'a self, namespace: &'a Namespace, key: &'a str, value: Value)
    -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns whether there was something to delete.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn delete<'a>(&'a self, namespace: &'a Namespace, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Puts `next` in the place of `current` (`None`: nothing), as [`Store::put`] and [`Store::delete`] would, where
    /// `current` still is what stands there. Compared and replaced in one step, whichever process writes at the same time.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; that something else stands there is [`Swap::Changed`].
    fn compare_and_swap<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        current: Option<Value>,
        next: Option<Value>,
    ) -> BoxFuture<'a, Result<Swap, StoreError>>;

    /// The items that `query` is about: with a text the best matches first, else in the order of keys.
    ///
    /// # Errors
    /// [`StoreError::BadQuery`] for a text that cannot be searched for, [`StoreError::Unavailable`].
    fn search(&self, query: StoreQuery) -> BoxFuture<'_, Result<Vec<StoreHit>, StoreError>>;

    /// The keys that begin with `prefix`, in order, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn keys<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let key_prefix = Some(prefix.to_owned());
        let query = StoreQuery { namespace: namespace.clone(), key_prefix, text: None, limit, offset: 0 };
        Box::pin(async move { Ok(self.search(query).await?.into_iter().map(|hit| hit.item.key).collect()) })
    }

    /// The files, and the folders with files in them, directly below `prefix`, which ends in a slash: at most `limit`,
    /// the first in the order of keys, sorted by path. What they hold is not held.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn children<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileInfo>, StoreError>> {
        let (namespace, key_prefix) = (namespace.clone(), Some(prefix.to_owned()));
        let query = StoreQuery { namespace, key_prefix, text: None, limit: usize::MAX, offset: 0 };
        Box::pin(async move {
            let mut rows = ChildRows::new(prefix, limit);
            for StoreItem { key, value, .. } in self.search(query).await?.into_iter().map(|hit| hit.item) {
                if rows.take(&key, || serde_json::from_value(value).ok()) == NextKey::None {
                    break;
                }
            }
            Ok(rows.finish())
        })
    }

    /// Those of `keys` that there are, in any order.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn get_many<'a>(
        &'a self,
        namespace: &'a Namespace,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<StoreItem>, StoreError>> {
        Box::pin(async move {
            let mut found = Vec::new();
            for key in keys {
                found.extend(self.get(namespace, key).await?);
            }
            Ok(found)
        })
    }

    /// At most `limit` of the items whose keys begin with `prefix` and come behind `after`, in the order of keys.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn page<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoreItem>, StoreError>> {
        let (namespace, key_prefix) = (namespace.clone(), Some(prefix.to_owned()));
        let query = StoreQuery { namespace, key_prefix, text: None, limit: usize::MAX, offset: 0 };
        Box::pin(async move {
            let items = self.search(query).await?.into_iter().map(|hit| hit.item);
            Ok(items.filter(|item| item.key.as_str() > after).take(limit).collect())
        })
    }

    /// As [`Store::page`], as files; `None` for a value that is none.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn files<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<FilesByKey, StoreError>> {
        Box::pin(async move {
            let items = self.page(namespace, prefix, after, limit).await?.into_iter();
            Ok(items.map(|item| (item.key, serde_json::from_value(item.value).ok())).collect())
        })
    }

    /// The keys that begin with `prefix` and hold the characters `run` one after another, and perhaps others, in order,
    /// where `most` or fewer of all keys hold it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; that no index can tell is [`Held::Unknown`].
    fn named<'a>(
        &'a self,
        _namespace: &'a Namespace,
        _prefix: &'a str,
        _run: &'a str,
        _most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<String>>, StoreError>> {
        Box::pin(async { Ok(Held::Unknown) })
    }

    /// Items by key whose text holds the characters `run` one after another, and perhaps others, where `most` or fewer of
    /// all items hold it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; that no index can tell is [`Held::Unknown`].
    fn holding<'a>(
        &'a self,
        _namespace: &'a Namespace,
        _prefix: &'a str,
        _run: &'a str,
        _most: usize,
    ) -> BoxFuture<'a, Result<Held<Vec<StoreItem>>, StoreError>> {
        Box::pin(async { Ok(Held::Unknown) })
    }

    /// The namespaces with something in them whose first parts are `prefix`, sorted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    fn list_namespaces<'a>(&'a self, prefix: &'a [String]) -> BoxFuture<'a, Result<Vec<Namespace>, StoreError>>;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreItem {
    pub key: String,
    pub value: Value,
    /// Milliseconds since 1970.
    pub created_at: i64,
    pub updated_at: i64,
}

/// Values by their keys, as files; `None` for a value that is none.
pub type FilesByKey = Vec<(String, Option<FileData>)>;

/// What came of a [`Store::compare_and_swap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Swap {
    Done,
    /// Something else stands there; it stays.
    Changed,
}

/// What an index knows of a run of characters.
#[derive(Clone, Debug, PartialEq)]
pub enum Held<T> {
    /// Nothing: there is none, or none for such a run.
    Unknown,
    /// More hold it than were asked for.
    Many,
    These(T),
}

/// Items of one namespace, by key prefix and, with `text`, by full text.
#[derive(Clone, Debug)]
pub struct StoreQuery {
    pub namespace: Namespace,
    pub key_prefix: Option<String>,
    pub text: Option<String>,
    pub limit: usize,
    pub offset: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoreHit {
    pub item: StoreItem,
    /// Better matches have the higher score; 0 where no text was asked for.
    pub score: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("'{given}' is not a namespace: use non-empty names of letters, digits and - _ . @ + : ~")]
    BadNamespace { given: String },
    #[error("the search text '{given}' cannot be used: {reason}")]
    BadQuery { given: String, reason: String },
    #[error("the database did not answer: {reason}")]
    Unavailable { reason: String },
}
