use std::collections::BTreeMap;
use std::sync::Mutex;

use bosun_backend::{BoxFuture, Namespace, Store, StoreError, StoreHit, StoreItem, StoreQuery, Swap};
use serde_json::Value;

/// A store that forgets.
#[derive(Default)]
pub struct MemoryStore(Mutex<BTreeMap<(Namespace, String), Value>>);

fn item(key: &str, value: &Value) -> StoreItem {
    StoreItem { key: key.to_owned(), value: value.clone(), created_at: 0, updated_at: 0 }
}

impl Store for MemoryStore {
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoreItem>, StoreError>> {
        let found = self.0.lock().unwrap().get(&(namespace.clone(), key.to_owned())).map(|value| item(key, value));
        Box::pin(async move { Ok(found) })
    }

    fn put<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        value: Value,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.lock().unwrap().insert((namespace.clone(), key.to_owned()), value);
        Box::pin(async { Ok(()) })
    }

    fn delete<'a>(&'a self, namespace: &'a Namespace, key: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        let gone = self.0.lock().unwrap().remove(&(namespace.clone(), key.to_owned())).is_some();
        Box::pin(async move { Ok(gone) })
    }

    fn compare_and_swap<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        current: Option<Value>,
        next: Option<Value>,
    ) -> BoxFuture<'a, Result<Swap, StoreError>> {
        let (mut rows, place) = (self.0.lock().unwrap(), (namespace.clone(), key.to_owned()));
        let is_same = rows.get(&place) == current.as_ref();
        if is_same {
            match next {
                Some(next) => rows.insert(place, next),
                None => rows.remove(&place),
            };
        }
        Box::pin(async move { Ok(if is_same { Swap::Done } else { Swap::Changed }) })
    }

    fn search(&self, query: StoreQuery) -> BoxFuture<'_, Result<Vec<StoreHit>, StoreError>> {
        let prefix = query.key_prefix.unwrap_or_default();
        let rows = self.0.lock().unwrap();
        let found = rows
            .iter()
            .filter(|((namespace, key), _)| *namespace == query.namespace && key.starts_with(&prefix))
            .map(|((_, key), value)| StoreHit { item: item(key, value), score: 0.0 });
        let hits: Vec<_> = found.skip(query.offset).take(query.limit).collect();
        Box::pin(async move { Ok(hits) })
    }

    fn list_namespaces<'a>(&'a self, prefix: &'a [String]) -> BoxFuture<'a, Result<Vec<Namespace>, StoreError>> {
        let rows = self.0.lock().unwrap();
        let mut names: Vec<Namespace> = rows.keys().map(|(namespace, _)| namespace.clone()).collect();
        names.retain(|name| name.parts().starts_with(prefix));
        names.dedup();
        Box::pin(async move { Ok(names) })
    }
}
