use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};

use super::{Key, KeyError, Keys, name};
use crate::DatabaseError;

/// The names of the headers of each account, by `account@host`. Their values are where keys are: what a gateway wants in a
/// header is as good as a key.
const NAMES: &str = "provider_headers";

type Names = BTreeMap<String, Vec<String>>;

/// A header of the person's own, for every request to a provider.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: String,
    /// Never [`Key::Missing`].
    pub value: Key,
}

impl Keys {
    /// The headers of `account` for `host`, in the order they were added; those for another host are not found, and
    /// neither are those of an earlier run that no keyring took.
    pub async fn headers(&self, account: &str, host: &str) -> Result<Vec<Header>, DatabaseError> {
        let mut headers = Vec::new();
        for header in self.header_names(account, host).await? {
            match self.get(&slot(account, &header), host).await? {
                Key::Missing => {}
                value => headers.push(Header { name: header, value }),
            }
        }
        Ok(headers)
    }

    /// The names of [`Self::headers`]: those that are shown, and that count.
    pub async fn shown_headers(&self, account: &str, host: &str) -> Result<Vec<String>, DatabaseError> {
        Ok(self.headers(account, host).await?.into_iter().map(|header| header.name).collect())
    }

    /// Keeps a header; one whose value is empty is removed. Names are compared without regard to case. What comes back says
    /// where its value is now.
    pub async fn set_header(
        &self,
        account: &str,
        host: &str,
        header: &str,
        value: SecretString,
    ) -> Result<Key, KeyError> {
        let stays = !value.expose_secret().trim().is_empty();
        let kept = self.set(&slot(account, header), host, value).await?;
        let (place, header) = (name(account, host), header.to_owned());
        self.change_names(move |names| {
            let known = names.entry(place.clone()).or_default();
            match known.iter().position(|known| known.eq_ignore_ascii_case(&header)) {
                Some(_) if stays => {}
                Some(at) => drop(known.remove(at)),
                None if stays => known.push(header),
                None => {}
            }
            if known.is_empty() {
                names.remove(&place);
            }
        })
        .await?;
        Ok(kept)
    }

    /// What the values of the headers of `account` for `host` are kept under.
    pub(super) async fn slots(&self, account: &str, host: &str) -> Result<Vec<String>, DatabaseError> {
        Ok(self.header_names(account, host).await?.iter().map(|header| slot(account, header)).collect())
    }

    pub(super) async fn forget_headers(&self, account: &str, host: &str) -> Result<(), DatabaseError> {
        let place = name(account, host);
        self.change_names(move |names| drop(names.remove(&place))).await
    }

    /// The names of the headers of `account` for `host`, without asking the keyring for what they hold: also of those of an
    /// earlier run that no keyring took.
    pub async fn header_names(&self, account: &str, host: &str) -> Result<Vec<String>, DatabaseError> {
        let Some(database) = &self.database else { return Ok(Vec::new()) };
        let mut names: Names = database.setting(NAMES).await?.unwrap_or_default();
        Ok(names.remove(&name(account, host)).unwrap_or_default())
    }

    async fn change_names(&self, change: impl FnOnce(&mut Names) + Send + 'static) -> Result<(), DatabaseError> {
        let Some(database) = &self.database else { return Ok(()) };
        let change = move |names: &mut Names| -> Result<(), std::convert::Infallible> {
            change(names);
            Ok(())
        };
        match database.change_setting(NAMES, change).await? {
            Ok(_) => Ok(()),
            Err(never) => match never {},
        }
    }
}

/// What a header's value is kept under; no account has `#` in its name.
fn slot(account: &str, header: &str) -> String {
    format!("{account}#{}", header.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::{Database, MemorySecrets};

    async fn shown(keys: &Keys, host: &str) -> Vec<(String, String)> {
        let headers = keys.headers("own", host).await.unwrap();
        let value = |header: &Header| header.value.secret().unwrap().expose_secret().to_owned();
        headers.iter().map(|header| (header.name.clone(), value(header))).collect()
    }

    #[tokio::test]
    async fn headers_are_kept_for_their_host_changed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let keys = Keys::new(Arc::new(MemorySecrets::default()), Some(Arc::clone(&database)));
        keys.set_header("own", "h", "X-Team", "red-canary".into()).await.unwrap();
        keys.set_header("own", "h", "X-Trace", "1".into()).await.unwrap();
        keys.set_header("own", "h", "x-team", "blue-canary".into()).await.unwrap();
        let both = [("X-Team", "blue-canary"), ("X-Trace", "1")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(shown(&keys, "h").await, both);
        assert_eq!(shown(&keys, "evil.example").await, []);
        assert_eq!(keys.get("own", "h").await.unwrap().secret().map(|_| ()), None, "a header is no key");
        let stored: Option<serde_json::Value> = database.setting(NAMES).await.unwrap();
        assert_eq!(stored.unwrap().to_string(), r#"{"own@h":["X-Team","X-Trace"]}"#);

        keys.set_header("own", "h", "X-TRACE", "".into()).await.unwrap();
        assert_eq!(shown(&keys, "h").await, both[..1]);
        keys.let_go("own", "h").await.unwrap();
        assert_eq!(shown(&keys, "h").await, []);
        assert_eq!(database.setting::<serde_json::Value>(NAMES).await.unwrap().unwrap().to_string(), "{}");
    }
}
