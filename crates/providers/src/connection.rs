use std::sync::Arc;
use std::time::Duration;

use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use bytes::Bytes;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Request, Response, StatusCode, Url};
use secrecy::ExposeSecret;
use tokio::time::Instant;

use crate::adapter::{Adapter, LeftOut, adapter};
use crate::body::Memo;
use crate::client::Reach;
use crate::cloud::{Cloud, Signer};
use crate::desktop::Way;
use crate::driver::Framing;
use crate::endpoint::Endpoint;
use crate::origin::Origin;
use crate::summaries::Summaries;
use crate::{Family, Limits, ProviderConfig, failure, preset, vertex};

/// What is asked for whole, a list or a count, is small and comes at once where a server answers at all.
const WHOLE_WAIT: Duration = Duration::from_secs(30);
/// An error body is read this far, and for so long.
const ERROR_BODY: usize = 64 << 10;
const ERROR_WAIT: Duration = Duration::from_secs(10);

/// A way to speak to a server: what writes requests, what it wrote before, and the headers that it wants.
pub(crate) struct Spoken {
    pub(crate) left_out: LeftOut,
    pub(crate) adapter: Arc<dyn Adapter>,
    pub(crate) memo: Arc<Memo>,
    headers: HeaderMap,
}

/// A configured server: address, headers and adapter, checked once.
pub(crate) struct Connection {
    pub(crate) origin: Arc<Origin>,
    pub(crate) adapter: Arc<dyn Adapter>,
    pub(crate) limits: Limits,
    pub(crate) whole: Spoken,
    /// The wire without what may be refused.
    others: Vec<Spoken>,
    pub(crate) summaries: Summaries,
    endpoint: Endpoint,
    signer: Signer,
    reach: Reach,
}

impl Connection {
    /// For calls of `model`; any text where none is called.
    pub(crate) fn new(config: &ProviderConfig, model: &str, limits: Option<Limits>) -> Result<Self, ModelError> {
        let endpoint = Endpoint::parse(&config.id, config.family, &config.base_url)?;
        let origin = Arc::new(Origin::new(config, &endpoint));
        if let Some(place) = preset(&config.id).and_then(|preset| preset.place_in(&endpoint.host)) {
            let trouble = ModelTrouble::BaseUrlUnnamed { url: endpoint.shown(), place: place.to_owned() };
            return Err(origin.trouble(ModelErrorKind::NotFound, trouble));
        }
        let signer = Signer::of(config, &endpoint);
        signer.check(&origin)?;
        let project = config.cloud.as_ref().and_then(Cloud::project);
        if config.family == Family::Vertex && project.is_none() && !vertex::names_project(&endpoint) {
            return Err(origin.trouble(ModelErrorKind::InvalidRequest, ModelTrouble::VertexNoProject));
        }
        let adapter = adapter(&endpoint, config.family, model, project.as_deref());
        let spoken = |left_out, adapter: Arc<dyn Adapter>| {
            let headers = headers(config, &origin, &*adapter)?;
            Ok::<_, ModelError>(Spoken { left_out, adapter, memo: Arc::default(), headers })
        };
        let others = LeftOut::all().filter_map(|out| Some(spoken(out, adapter.leaving(out)?)));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let whole = spoken(LeftOut::default(), Arc::clone(&adapter))?;
        let limits = limits.unwrap_or_else(|| config.network.limits(Limits::of(&endpoint)));
        let reach = Reach::new(config.network.clone(), config.desktop.clone());
        let summaries = Summaries::of(&endpoint.host, config.key.as_ref());
        Ok(Self { origin, adapter, limits, whole, others, summaries, endpoint, signer, reach })
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The wire without `out`; `None` where there is no such.
    pub(crate) fn leaving(&self, out: LeftOut) -> Option<&Spoken> {
        self.others.iter().find(|spoken| spoken.left_out == out)
    }

    /// Posts a model call that `spoken` wrote and returns the reply once its status is known to be good. `deadline` is for
    /// its headers.
    pub(crate) async fn post(
        &self,
        spoken: &Spoken,
        model: &str,
        body: Bytes,
        deadline: Instant,
    ) -> Result<Response, ModelError> {
        let (path, query) = self.adapter.chat_path(model);
        let accept = match self.adapter.framing() {
            Framing::Events => "text/event-stream",
            Framing::Lines => "application/x-ndjson",
            Framing::Frames => "application/vnd.amazon.eventstream",
        };
        let address = self.address(&path, query);
        let (client, way) = self.reach.client(&address, &self.origin).await?;
        let request = client
            .post(address)
            .headers(spoken.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static(accept))
            // Compression would only hold deltas back; what comes compressed all the same is read.
            .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"))
            .body(body);
        self.send(request, &way, deadline, self.limits.first_byte).await
    }

    /// Gets a small answer whole.
    pub(crate) async fn get(&self, path: &str, query: Option<&str>, most: usize) -> Result<Vec<u8>, ModelError> {
        self.get_at(self.address(path, query), most).await
    }

    /// As [`Self::get`], of an address that is not below the base URL.
    pub(crate) async fn get_at(&self, address: Url, most: usize) -> Result<Vec<u8>, ModelError> {
        let (client, way) = self.reach.client(&address, &self.origin).await?;
        self.whole(client.get(address).headers(self.whole.headers.clone()), &way, most).await
    }

    /// Asks a small question in JSON and gets its answer whole.
    pub(crate) async fn ask(&self, path: &str, body: Vec<u8>, most: usize) -> Result<Vec<u8>, ModelError> {
        let address = self.address(path, None);
        let (client, way) = self.reach.client(&address, &self.origin).await?;
        let request = client.post(address).headers(self.whole.headers.clone());
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body);
        self.whole(request, &way, most).await
    }

    async fn whole(&self, request: reqwest::RequestBuilder, way: &Way, most: usize) -> Result<Vec<u8>, ModelError> {
        let wait = self.limits.first_byte.min(WHOLE_WAIT);
        let mut response = self.send(request, way, Instant::now() + wait, wait).await?;
        let body = tokio::time::timeout(wait, read_up_to(&mut response, most + 1)).await;
        let body = body.map_err(|_| {
            failure::timeout(&self.origin, |host, seconds| ModelTrouble::OnlyPart { host, seconds }, wait)
        })?;
        let body = body.map_err(|error| failure::transport(&self.origin, error))?;
        if failure::is_html(response.headers(), &body) || body.len() > most {
            return Err(failure::not_a_stream(&self.origin, &body));
        }
        Ok(body)
    }

    fn address(&self, path: &str, query: Option<&str>) -> Url {
        let mut url = self.endpoint.join(path);
        if let Some(query) = query {
            let both = url.query().map(|own| format!("{own}&{query}"));
            url.set_query(Some(both.as_deref().unwrap_or(query)));
        }
        url
    }

    /// The error for a page with a good status. Whatever of it comes in time is better than none.
    pub(crate) async fn web_page(&self, response: &mut Response) -> ModelError {
        let page = tokio::time::timeout(ERROR_WAIT, read_up_to(response, ERROR_BODY)).await;
        failure::web_page(&self.origin, &page.ok().and_then(Result::ok).unwrap_or_default())
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
        way: &Way,
        deadline: Instant,
        limit: Duration,
    ) -> Result<Response, ModelError> {
        let (client, request) = request.build_split();
        let request = request.map_err(|error| failure::transport(&self.origin, error))?;
        let again = request.try_clone();
        let late = |_| failure::timeout(&self.origin, |host, seconds| ModelTrouble::NoAnswer { host, seconds }, limit);
        let sent = tokio::time::timeout_at(deadline, self.sent(&client, request, way)).await;
        let (mut response, kept) = sent.map_err(late)??;
        // Keys that were kept may have been taken back; a request that was refused for them did nothing.
        let refused = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if let (true, Some(id), Some(request)) = (refused, kept, again) {
            self.signer.forget(&id).await;
            let sent = tokio::time::timeout_at(deadline, self.sent(&client, request, way)).await;
            (response, _) = sent.map_err(late)??;
        }
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = tokio::time::timeout(ERROR_WAIT, read_up_to(&mut response, ERROR_BODY)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        Err(failure::status(&self.origin, status, response.headers(), &body))
    }

    /// Signs and sends; with the id of the keys, where they were kept.
    async fn sent(
        &self,
        client: &Client,
        mut request: Request,
        way: &Way,
    ) -> Result<(Response, Option<String>), ModelError> {
        let kept = self.signer.sign(&mut request, &self.origin, &self.reach).await?;
        let response = client.execute(request).await.map_err(|error| match way {
            Way::Script(desktop) => failure::without_script(&self.origin, desktop, error),
            Way::Unsaid | Way::Through(_) => failure::transport(&self.origin, error),
        })?;
        Ok((response, kept))
    }
}

pub(crate) async fn read_up_to(response: &mut Response, most: usize) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend(chunk.iter().take(most - body.len()));
        if body.len() >= most {
            break;
        }
    }
    Ok(body)
}

fn headers(config: &ProviderConfig, origin: &Origin, adapter: &dyn Adapter) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    adapter.add_headers(&mut headers);
    if let Some(key) = config.key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty()) {
        let (name, value) = adapter.key_header(key);
        let wrong = |_| origin.trouble(ModelErrorKind::Unauthorized, ModelTrouble::KeyCharacters);
        let mut value = HeaderValue::try_from(value).map_err(wrong)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &config.headers {
        let (name, value) =
            header(name, value).map_err(|trouble| origin.trouble(ModelErrorKind::InvalidRequest, trouble))?;
        // A list: what Bosun itself asks for there stays.
        if name == "anthropic-beta" {
            headers.append(name, value);
        } else {
            headers.insert(name, value);
        }
    }
    Ok(headers)
}

/// Headers that say how a request is framed, which is not the user's to say.
const RESERVED: [&str; 8] = [
    "host",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "accept-encoding",
    "te",
];

/// A header of the user's, as it is sent.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ModelTrouble> {
    let given = || name.chars().take(80).collect::<String>();
    let parsed = HeaderName::try_from(name.trim()).map_err(|_| ModelTrouble::HeaderName { name: given() })?;
    if RESERVED.contains(&parsed.as_str()) {
        return Err(ModelTrouble::HeaderReserved { name: given() });
    }
    let mut value = HeaderValue::try_from(value.trim()).map_err(|_| ModelTrouble::HeaderValue { name: given() })?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Whether a header of the user's can be sent.
///
/// # Errors
/// What is wrong with it, without its value.
pub(crate) fn check_header(name: &str, value: &str) -> Result<(), ModelError> {
    header(name, value).map(drop).map_err(|trouble| ModelError::own(ModelErrorKind::InvalidRequest, "header", trouble))
}
