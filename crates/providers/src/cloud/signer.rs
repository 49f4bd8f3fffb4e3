use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use bosun_model::{ModelError, ModelErrorKind, ModelTrouble};
use reqwest::Request;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use super::{Cloud, aws, google};
use crate::client::Reach;
use crate::config::Family;
use crate::endpoint::Endpoint;
use crate::origin::Origin;
use crate::{ProviderConfig, bedrock};

/// How requests of a connection say who sends them, beside the headers that are always the same.
#[derive(Debug)]
pub(crate) enum Signer {
    /// The headers say it all.
    Headers,
    Aws {
        cloud: Cloud,
        region: String,
    },
    Google {
        cloud: Cloud,
    },
}

impl Signer {
    /// What signs for an account: nothing where it has a key, or where credentials must not go.
    pub(crate) fn of(config: &ProviderConfig, endpoint: &Endpoint) -> Self {
        let has_key = config.key.as_ref().is_some_and(|key| !key.expose_secret().trim().is_empty());
        let Some(cloud) = config.cloud.as_ref().filter(|_| !has_key) else { return Self::Headers };
        if !cloud.may_serve(config.family, &endpoint.host) {
            return Self::Headers;
        }
        let cloud = cloud.clone();
        match config.family {
            Family::Bedrock => {
                let region = bedrock::region_of(endpoint.name()).map(str::to_owned);
                let region = region.or_else(|| aws::region(&cloud)).unwrap_or_else(|| "us-east-1".to_owned());
                Self::Aws { cloud, region }
            }
            Family::Vertex => Self::Google { cloud },
            _ => Self::Headers,
        }
    }

    /// Fails where there is nothing to sign with, before anything is sent.
    pub(crate) fn check(&self, origin: &Origin) -> Result<(), ModelError> {
        match self {
            Self::Headers => Ok(()),
            Self::Aws { cloud, .. } => aws::find(cloud).map(drop).map_err(|trouble| refused(origin, trouble)),
            Self::Google { cloud } => google::file(cloud).map(drop).map_err(|trouble| refused(origin, trouble)),
        }
    }

    /// Signs `request`, which must not change after this. Gives the id of keys or of a token that were kept: if they are refused,
    /// newer ones may not be. Whoever has to be asked for a token is asked over `reach`.
    pub(crate) async fn sign(
        &self,
        request: &mut Request,
        origin: &Origin,
        reach: &Reach,
    ) -> Result<Option<String>, ModelError> {
        let (signed, kept) = match self {
            Self::Headers => return Ok(None),
            Self::Aws { cloud, region } => {
                let (keys, since) = keys(cloud).await.map_err(|trouble| refused(origin, trouble))?;
                let kept = (since == aws::Since::Before).then(|| keys.id.clone());
                // Errors about a signature repeat what was signed, the session's token too.
                origin.learn(&keys.secret);
                keys.session.iter().for_each(|token| origin.learn(token));
                let signed = signature_at(&keys, region, request, SystemTime::now());
                (signed.map_err(|trouble| refused(origin, trouble))?, kept)
            }
            Self::Google { cloud } => {
                let file = google::file(cloud).map_err(|trouble| refused(origin, trouble))?;
                google::headers(&file, origin, reach).await?
            }
        };
        for (name, mut value) in signed {
            value.set_sensitive(true);
            if let Some(name) = name {
                request.headers_mut().insert(name, value);
            }
        }
        Ok(kept)
    }

    /// The keys with this id were refused: they are not used again.
    pub(crate) async fn forget(&self, id: &str) {
        match self {
            Self::Headers => {}
            Self::Aws { cloud, .. } => {
                if let Ok(found) = aws::find(cloud) {
                    found.forget(id).await;
                }
            }
            Self::Google { cloud } => {
                if let Ok(file) = google::file(cloud) {
                    google::forget(&file, id).await;
                }
            }
        }
    }
}

fn refused(origin: &Origin, trouble: ModelTrouble) -> ModelError {
    origin.trouble(ModelErrorKind::Unauthorized, trouble)
}

/// Keys are looked for anew each time: those that are lent change under a long session.
async fn keys(cloud: &Cloud) -> Result<(aws::Keys, aws::Since), ModelTrouble> {
    aws::find(cloud)?.keys().await
}

/// The headers of AWS's signature.
fn signature_at(
    keys: &aws::Keys,
    region: &str,
    request: &Request,
    time: SystemTime,
) -> Result<HeaderMap, ModelTrouble> {
    let cannot = || ModelTrouble::AwsUnsigned;
    let session = keys.session.as_ref().map(|token| token.expose_secret().to_owned());
    let identity = Credentials::new(keys.id.as_str(), keys.secret.expose_secret(), session, None, "bosun").into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("bedrock")
        .time(time)
        .settings(SigningSettings::default());
    let params = params.build().map_err(|_| cannot())?.into();
    let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
    // Headers that a proxy may change are not signed.
    let content = request.headers().get("content-type").and_then(|value| value.to_str().ok());
    let headers = content.into_iter().map(|value| ("content-type", value));
    let whole =
        SignableRequest::new(request.method().as_str(), request.url().as_str(), headers, SignableBody::Bytes(body));
    let (instructions, _) = sign(whole.map_err(|_| cannot())?, &params).map_err(|_| cannot())?.into_parts();
    let mut signed = HeaderMap::new();
    for (name, value) in instructions.headers() {
        let name = HeaderName::try_from(name).map_err(|_| cannot())?;
        signed.insert(name, HeaderValue::try_from(value).map_err(|_| cannot())?);
    }
    Ok(signed)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use insta::assert_json_snapshot;
    use reqwest::Method;
    use serde_json::json;

    use super::*;

    /// The check with the vendors' own clients signs the same request with AWS's and compares (`tests/wire/clouds.py`).
    #[test]
    fn a_signed_request() {
        let url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/\
                   invoke-with-response-stream";
        let body = r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":16,"messages":[]}"#;
        let mut request = Request::new(Method::POST, url.parse().unwrap());
        request.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(body.into());
        let keys = aws::Keys {
            id: "AKIDCANARY0123456789".into(),
            secret: "canary/secret+0123456789/abcdefghijklmnop".into(),
            session: Some("canary-session-0123456789".into()),
            source: String::new(),
        };
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        let headers = signature_at(&keys, "eu-west-1", &request, time).unwrap();
        let signed: serde_json::Map<_, _> =
            headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().into())).collect();
        assert!(!format!("{signed:?}").contains("canary/secret"));
        assert_json_snapshot!(json!({
            "method": "POST", "url": url, "region": "eu-west-1", "content_type": "application/json", "body": body,
            "signed": signed,
        }));
    }
}
