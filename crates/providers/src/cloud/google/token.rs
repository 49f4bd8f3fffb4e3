//! Tokens for what Google's file of credentials says.
//!
//! Who is asked for one is asked over the same clients as the models: by the proxy and with the certificates of the settings.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::{Duration, SystemTime};

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use google_cloud_auth::credentials::{CacheableResource, Credentials, service_account};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::super::{BEFORE_END, WITHOUT_END};
use super::File;
use crate::client::{Reach, install_crypto};
use crate::connection::read_up_to;
use crate::desktop::Way;
use crate::failure;
use crate::origin::Origin;

/// What tokens are asked for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// Where a person's token is asked for, unless the file names another place.
const TOKENS: &str = "https://oauth2.googleapis.com/token";
/// How long a token that is lent shall hold.
const LENT_FOR: &str = "3600s";
/// Who is asked for a token answers in that time.
const LIMIT: Duration = Duration::from_secs(20);
/// More of an answer is not read.
const LARGEST: usize = 64 << 10;
/// More files than a person has are not kept.
const MOST: usize = 8;

/// A person, as `gcloud` writes them down.
#[derive(Deserialize)]
struct Person {
    client_id: String,
    client_secret: SecretString,
    refresh_token: SecretString,
    token_uri: Option<String>,
    quota_project_id: Option<String>,
}

/// Somebody who stands in for a service account.
#[derive(Deserialize)]
struct StandIn {
    service_account_impersonation_url: String,
    source_credentials: Value,
    #[serde(default)]
    delegates: Vec<String>,
    quota_project_id: Option<String>,
}

#[derive(Deserialize)]
struct Given {
    access_token: SecretString,
    expires_in: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lent {
    access_token: SecretString,
    expire_time: String,
}

/// Headers with a token, and until when they are used.
#[derive(Clone)]
struct Kept {
    headers: HeaderMap,
    until: SystemTime,
    /// Which one this is, of all that were given.
    number: u64,
}

impl Kept {
    fn new(headers: HeaderMap, until: SystemTime) -> Self {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        Self { headers, until, number: GIVEN.fetch_add(1, Ordering::Relaxed) }
    }
}

/// A file's token. Whoever asks for the same meanwhile waits.
type Place = Arc<Mutex<Option<Kept>>>;

/// What was given, and what signs, by the file it was for.
static KEPT: LazyLock<std::sync::Mutex<HashMap<String, Place>>> = LazyLock::new(Default::default);
static SIGNING: LazyLock<Mutex<HashMap<String, Credentials>>> = LazyLock::new(Mutex::default);

/// The headers with Google's access token, asked for where the last one ended. With them its id, where it is one of before:
/// if it is refused, a newer one may not be.
///
/// # Errors
/// Why there is none, without a trace of what the file holds.
pub(in crate::cloud) async fn headers(
    file: &File,
    origin: &Origin,
    reach: &Reach,
) -> Result<(HeaderMap, Option<String>), ModelError> {
    let asked = Asked { path: &file.source, origin, reach };
    let said = serde_json::from_str::<Value>(&file.text)
        .map_err(|_| asked.refused(ModelTrouble::GoogleFileForeign { path: file.source.clone() }))?;
    // What signs keeps its own tokens.
    if kind(&said) == "service_account" {
        let headers = asked.signed(said).await?;
        learn(origin, &headers);
        return Ok((headers, None));
    }
    let place = place(&file.text);
    let mut kept = place.lock().await;
    if let Some(known) = kept.as_ref().filter(|known| known.until > SystemTime::now()) {
        learn(origin, &known.headers);
        return Ok((known.headers.clone(), Some(known.number.to_string())));
    }
    let made = match kind(&said) {
        "authorized_user" => asked.of_a_person(said).await?,
        "impersonated_service_account" => asked.lent(said).await?,
        given => {
            let (path, given) = (file.source.clone(), given.to_owned());
            return Err(asked.refused(ModelTrouble::GoogleFileKind { path, given }));
        }
    };
    learn(origin, &made.headers);
    Ok((kept.insert(made).headers.clone(), None))
}

/// The token with this id was refused: another is asked for the next time.
pub(in crate::cloud) async fn forget(file: &File, id: &str) {
    let place = place(&file.text);
    let mut kept = place.lock().await;
    // That of another request may be newer.
    if kept.as_ref().is_some_and(|known| known.number.to_string() == id) {
        *kept = None;
    }
}

fn place(text: &str) -> Place {
    let mut places = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(place) = places.get(text) {
        return Arc::clone(place);
    }
    let place = Place::default();
    keep(&mut places, text, Arc::clone(&place));
    place
}

/// Each connection has errors of its own, in which a token must not stand.
fn learn(origin: &Origin, headers: &HeaderMap) {
    let token = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    token.into_iter().for_each(|token| origin.learn(&token.into()));
}

fn kind(said: &Value) -> &str {
    said.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn keep<T>(kept: &mut HashMap<String, T>, text: &str, made: T) {
    if kept.len() >= MOST {
        kept.clear();
    }
    kept.insert(text.to_owned(), made);
}

/// Who asks, for the file at `path`.
struct Asked<'a> {
    path: &'a str,
    origin: &'a Origin,
    reach: &'a Reach,
}

impl Asked<'_> {
    /// What a service account signs itself: nobody is asked for it.
    async fn signed(&self, said: Value) -> Result<HeaderMap, ModelError> {
        let text = said.to_string();
        let mut signing = SIGNING.lock().await;
        let signer = match signing.get(&text) {
            Some(signer) => signer.clone(),
            None => {
                install_crypto();
                let access = service_account::AccessSpecifier::from_scopes([SCOPE]);
                // What the crate says may quote the file.
                let built = service_account::Builder::new(said).with_access_specifier(access).build();
                let built = built.map_err(|_| self.unusable("service_account"))?;
                keep(&mut signing, &text, built.clone());
                built
            }
        };
        match signer.headers(Default::default()).await {
            Ok(CacheableResource::New { data, .. }) if data.contains_key(AUTHORIZATION) => Ok(data),
            Ok(_) => Err(self.refused(ModelTrouble::GoogleNoToken { path: self.path.to_owned() })),
            Err(_) => {
                // What failed once would fail for ever: it keeps its failure.
                signing.remove(&text);
                Err(self.refused(ModelTrouble::GoogleRefused { path: self.path.to_owned() }))
            }
        }
    }

    async fn of_a_person(&self, said: Value) -> Result<Kept, ModelError> {
        let person = Person::deserialize(said).map_err(|_| self.unusable("authorized_user"))?;
        let body = json!({
            "grant_type": "refresh_token", "client_id": person.client_id,
            "client_secret": person.client_secret.expose_secret(),
            "refresh_token": person.refresh_token.expose_secret(),
        });
        let address = person.token_uri.as_deref().unwrap_or(TOKENS);
        let given: Given = self.ask(address, HeaderMap::new(), &body).await?;
        let lasts = given.expires_in.map(Duration::from_secs);
        let lasts = lasts.map_or(WITHOUT_END, |lasts| lasts.saturating_sub(BEFORE_END));
        let headers = self.headers(&given.access_token, person.quota_project_id.as_deref())?;
        Ok(Kept::new(headers, SystemTime::now() + lasts))
    }

    async fn lent(&self, said: Value) -> Result<Kept, ModelError> {
        let unusable = || self.unusable("impersonated_service_account");
        let stand_in = StandIn::deserialize(said).map_err(|_| unusable())?;
        let source = stand_in.source_credentials;
        let own = match kind(&source) {
            "authorized_user" => self.of_a_person(source).await?.headers,
            "service_account" => self.signed(source).await?,
            _ => return Err(unusable()),
        };
        let body = json!({ "delegates": stand_in.delegates, "scope": [SCOPE], "lifetime": LENT_FOR });
        let lent: Lent = self.ask(&stand_in.service_account_impersonation_url, own, &body).await?;
        let now = SystemTime::now();
        let end = lent.expire_time.parse::<jiff::Timestamp>().ok().map(SystemTime::from);
        let until = end.map_or(now + WITHOUT_END, |end| end.checked_sub(BEFORE_END).unwrap_or(now));
        let headers = self.headers(&lent.access_token, stand_in.quota_project_id.as_deref())?;
        Ok(Kept::new(headers, until))
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        address: &str,
        headers: HeaderMap,
        body: &Value,
    ) -> Result<T, ModelError> {
        let address = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let address = address.ok_or_else(|| self.unusable("token"))?;
        let host = address.host_str().unwrap_or_default().to_owned();
        let (client, way) = self.reach.client(&address, self.origin).await?;
        let asking = async {
            let mut answer = client.post(address).headers(headers).json(body).send().await?;
            let status = answer.status();
            reqwest::Result::Ok((status, read_up_to(&mut answer, LARGEST).await?))
        };
        let (status, answer) = match tokio::time::timeout(LIMIT, asking).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.unreached(host, &way, &error.without_url())),
            Err(elapsed) => return Err(self.unreached(host, &way, &elapsed)),
        };
        match status {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                let trouble = ModelTrouble::ProxyWantsPassword { host };
                Err(self.origin.trouble(ModelErrorKind::NotAModelServer, trouble))
            }
            // What it says is not shown: it may quote what it was sent.
            status if status.is_success() => serde_json::from_slice(&answer)
                .map_err(|_| self.refused(ModelTrouble::GoogleNoToken { path: self.path.to_owned() })),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Err(self.unanswered(status)),
            status if status.is_client_error() => {
                Err(self.refused(ModelTrouble::GoogleRefused { path: self.path.to_owned() }))
            }
            status => Err(self.unanswered(status)),
        }
    }

    fn headers(&self, token: &SecretString, quota: Option<&str>) -> Result<HeaderMap, ModelError> {
        let no_token = || self.refused(ModelTrouble::GoogleNoToken { path: self.path.to_owned() });
        let bearer = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()));
        let mut bearer = bearer.map_err(|_| no_token())?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
        if let Some(quota) = quota.and_then(|quota| HeaderValue::try_from(quota).ok()) {
            headers.insert(HeaderName::from_static("x-goog-user-project"), quota);
        }
        Ok(headers)
    }

    fn unreached(&self, host: String, way: &Way, error: &(dyn std::error::Error + 'static)) -> ModelError {
        let detail = failure::innermost(error);
        let trouble = match way {
            Way::Script(desktop) => ModelTrouble::ProxyScript { host, desktop: (*desktop).to_owned(), detail },
            Way::Unsaid | Way::Through(_) => ModelTrouble::GoogleUnreached { path: self.path.to_owned(), detail },
        };
        self.origin.trouble(ModelErrorKind::Network, trouble)
    }

    fn unanswered(&self, status: StatusCode) -> ModelError {
        let trouble = ModelTrouble::GoogleUnreached { path: self.path.to_owned(), detail: status.to_string() };
        self.origin.trouble(ModelErrorKind::Network, trouble)
    }

    fn unusable(&self, given: &str) -> ModelError {
        self.refused(ModelTrouble::GoogleFileUnusable { path: self.path.to_owned(), given: given.to_owned() })
    }

    fn refused(&self, trouble: ModelTrouble) -> ModelError {
        self.origin.trouble(ModelErrorKind::Unauthorized, trouble)
    }
}
