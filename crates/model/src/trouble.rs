use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What Bosun itself says of a call that failed, where the provider has no words for it or some advice goes with them, and
/// of what a person enters that no call could be made with.
/// The [`std::fmt::Display`] form is the English sentence; `detail` is what the provider or the system said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "trouble", rename_all = "snake_case")]
pub enum ModelTrouble {
    #[error("{host} refused the key (status {status}); enter another")]
    KeyRefused { host: String, status: u16 },
    #[error(
        "{host} has nothing at this address (status {status}): asked at {address}; check the base URL and the model"
    )]
    NothingAtAddress { host: String, status: u16, address: String },
    #[error(
        "{host} has nothing at this address (status {status}): {address} does not end in /v1, which most servers need; check the base URL and the model"
    )]
    NothingWithoutVersion { host: String, status: u16, address: String },
    #[error("{host} asks for fewer requests (status {status}); wait a little, then try again")]
    FewerRequests { host: String, status: u16 },
    #[error("{host} asks for payment first (status {status}); add credit there, or choose another model")]
    PayFirst { host: String, status: u16 },
    #[error("{host} failed or is overloaded (status {status}); try again later")]
    Overloaded { host: String, status: u16 },
    #[error(
        "{host} refused the request (status {status}) without saying why; choose another model, or check the provider's settings"
    )]
    RefusedSilently { host: String, status: u16 },
    #[error("{detail} (asked at {address}; check the base URL)")]
    AddressWrong { detail: String, address: String },
    #[error("{detail} ({address} does not end in /v1, which most servers need)")]
    AddressWithoutVersion { detail: String, address: String },
    #[error("{detail} (an agent works with tools: choose a model that takes them)")]
    WithoutTools { detail: String },
    #[error("{host} reported an error without explaining it; try again, or choose another model")]
    ErrorWithoutWords { host: String },
    #[error(
        "{address} answered with JSON that is not a model's reply instead of a stream of events; check the base URL, and whether this network wants you to sign in first"
    )]
    OtherJson { address: String },
    #[error(
        "{address} answered with JSON that is not a model's reply instead of a stream of events; the base URL of most servers ends in /v1, and some networks want you to sign in first"
    )]
    OtherJsonWithoutVersion { address: String },
    #[error(
        "{address} answered with something else instead of a stream of events; check the base URL, and whether this network wants you to sign in first"
    )]
    SomethingElse { address: String },
    #[error(
        "{address} answered with something else instead of a stream of events; the base URL of most servers ends in /v1, and some networks want you to sign in first"
    )]
    SomethingElseWithoutVersion { address: String },
    #[error(
        "{address} answered with a web page{title}, not as a model server; check the base URL, and whether this network wants you to sign in first"
    )]
    WebPage { address: String, title: String },
    #[error(
        "{address} answered with a web page{title}, not as a model server; the base URL of most servers ends in /v1, and some networks want you to sign in first"
    )]
    WebPageWithoutVersion { address: String, title: String },
    #[error("the certificate of {host} cannot be trusted ({detail}); check this computer's date and time")]
    CertificateDate { host: String, detail: String },
    #[error(
        "the certificate of {host} cannot be trusted ({detail}); something on the network may be intercepting the connection: check the network, or add its certificate in Settings, Models"
    )]
    Certificate { host: String, detail: String },
    #[error(
        "no secure connection to {address} could be made ({detail}); check the base URL, and any proxy or firewall in between"
    )]
    NotSecure { address: String, detail: String },
    #[error("{address} did not accept a connection in time; try again, or check the base URL and the network")]
    NotAccepted { address: String },
    #[error("the host {host} cannot be found ({detail}); check the base URL and the network")]
    HostUnknown { host: String, detail: String },
    #[error("nothing answers at {address} ({detail}); check that the server is running there")]
    NothingAnswers { address: String, detail: String },
    #[error(
        "the proxy on the way to {host} requires a name and a password; enter both beside the proxy in Settings, Models, or start Bosun with HTTPS_PROXY set to both (http://NAME:PASSWORD@PROXY:PORT)"
    )]
    ProxyWantsPassword { host: String },
    #[error(
        "the proxy on the way to {host} does not let the request through ({detail}); ask whoever runs it, or check the proxy in Settings, Models"
    )]
    ProxyRefused { host: String, detail: String },
    #[error(
        "the proxy on the way to {host} cannot be reached ({detail}); check the proxy in Settings, Models, in HTTPS_PROXY, and in the settings of the desktop"
    )]
    ProxyUnreached { host: String, detail: String },
    #[error(
        "{host} cannot be reached without a proxy ({detail}). The settings of {desktop} choose the proxy with a script (PAC), which Bosun does not run: enter the proxy in Settings, Models, or set HTTPS_PROXY"
    )]
    ProxyScript { host: String, desktop: String, detail: String },
    #[error("the connection to {address} broke before a reply came ({detail}); try again")]
    BrokeBeforeReply { address: String, detail: String },
    #[error(
        "{host} sent only part of an answer for {seconds} s, so Bosun stopped waiting; try again, or choose another model"
    )]
    OnlyPart { host: String, seconds: String },
    #[error("{host} sent no answer for {seconds} s, so Bosun stopped waiting; try again, or choose another model")]
    NoAnswer { host: String, seconds: String },
    #[error(
        "{host} was still sending the same reply after {seconds} s, so Bosun stopped waiting; try again, or choose another model"
    )]
    StillSending { host: String, seconds: String },
    #[error("{host} sent nothing for {seconds} s, so Bosun stopped waiting; try again, or choose another model")]
    SentNothing { host: String, seconds: String },
    #[error("{host} sent nothing more for {seconds} s, so Bosun stopped waiting; try again, or choose another model")]
    SentNothingMore { host: String, seconds: String },
    #[error(
        "{address} redirects requests to {to}. Bosun does not follow redirects, so that a key only goes where it was entered for; if you trust that address, make it the base URL"
    )]
    Redirected { address: String, to: String },
    #[error("the reply from {host} broke off before it was complete; try again")]
    ReplyCut { host: String },
    #[error("the reply from {host} broke off before it was complete ({detail}); try again")]
    ReplyBroken { host: String, detail: String },
    #[error("the reply ended before it was complete; try again")]
    ReplyUnfinished,
    #[error("the reply from {host} is not in the expected format: {detail}; try again, or choose another model")]
    BadFormat { host: String, detail: String },
    #[error(
        "this system's network settings cannot be used: {detail}; check the proxy and the certificates in Settings, Models"
    )]
    NetworkUnusable { detail: String },
    #[error("the key contains characters that no key has (perhaps a line break); enter it again")]
    KeyCharacters,
    #[error("this is not a key: it is too long, or contains spaces or line breaks; enter it again")]
    NoKey,
    #[error("a provider needs a name of 1 to 80 characters")]
    ProviderLabel,
    #[error("the kind of a built-in provider cannot be changed; add a new provider instead")]
    FamilyFixed,
    #[error("the header \"{name}\" has a name that HTTP does not allow; use letters, digits and hyphens")]
    HeaderName { name: String },
    #[error("the header \"{name}\" has a value that HTTP does not allow; leave out line breaks and control characters")]
    HeaderValue { name: String },
    #[error("the header \"{name}\" is sent by Bosun itself; leave it out")]
    HeaderReserved { name: String },
    #[error("the value of a header can have at most {most} bytes; shorten it")]
    HeaderTooLong { most: u32 },
    #[error("a provider can have at most {most} headers, and this one has as many; remove one first")]
    HeadersFull { most: u32 },
    #[error("no model was named; choose one")]
    NoModelNamed,
    #[error("the base URL \"{url}\" has no http:// or https:// in front; it should look like {example}")]
    BaseUrlScheme { url: String, example: String },
    #[error("the base URL \"{url}\" cannot be read ({detail}); it should look like {example}")]
    BaseUrlUnreadable { url: String, detail: String, example: String },
    #[error("the base URL \"{url}\" is neither http nor https but {scheme}; it should look like {example}")]
    BaseUrlOther { url: String, scheme: String, example: String },
    #[error("the base URL \"{url}\" names no host; it should look like {example}")]
    BaseUrlHostless { url: String, example: String },
    #[error("the base URL \"{url}\" still lacks the name that your account has there; put it in place of {place}")]
    BaseUrlUnnamed { url: String, place: String },
    #[error("the base URL contains a user name or password; enter the key in its own field instead")]
    BaseUrlSecret,
    #[error("the base URL is too long; it should look like https://models.example/v1")]
    BaseUrlTooLong,
    #[error(
        "the base URL has \"{name}\" in its query, which would be stored in plain text. Leave it out; enter what the gateway identifies you by as a custom header of the provider, which is kept in the keyring"
    )]
    BaseUrlQuery { name: String },
    #[error("the proxy \"{address}\" is not an address; it should look like http://proxy.example:3128")]
    ProxyAddress { address: String },
    #[error("the proxy uses {scheme}, but Bosun supports only http, https and socks5 proxies; enter another")]
    ProxyScheme { scheme: String },
    #[error(
        "the proxy address contains a user name or password; enter them in their own fields, so that they are kept in the keyring"
    )]
    ProxySecret,
    #[error("the proxy \"{address}\" cannot be used; it should look like http://proxy.example:3128")]
    ProxyUnusable { address: String },
    #[error("the certificates cannot be read as PEM; paste them whole, from BEGIN CERTIFICATE to END CERTIFICATE")]
    CertificatesUnreadable,
    #[error("this text contains no certificate; paste it whole, from BEGIN CERTIFICATE to END CERTIFICATE")]
    CertificatesNone,
    #[error(
        "the AWS profile {profile} signs in with SSO, for which Bosun needs the AWS CLI; install it and run `aws sso login --profile {profile}`, or enter a Bedrock API key"
    )]
    AwsProfileSso { profile: String },
    #[error(
        "the AWS profile {profile} signs in with the console, for which Bosun needs the AWS CLI; install it and run `aws login --profile {profile}`, or enter a Bedrock API key"
    )]
    AwsProfileConsole { profile: String },
    #[error(
        "the program that the AWS profile {profile} names gave no keys: {detail}; run it in a terminal, or enter a Bedrock API key"
    )]
    AwsProfileProgram { profile: String, detail: String },
    #[error(
        "the AWS profile {profile} assumes a role, for which Bosun needs the AWS CLI; install it, or enter a Bedrock API key"
    )]
    AwsProfileRole { profile: String },
    #[error(
        "the AWS CLI gave no keys for the profile {profile}: {detail}; try `aws sts get-caller-identity --profile {profile}`, or enter a Bedrock API key"
    )]
    AwsCliFailed { profile: String, detail: String },
    #[error("the sign-in of the AWS profile {profile} has expired, or there was none; run `{command}`, then try again")]
    AwsLoginEnded { profile: String, command: String },
    #[error(
        "the AWS profile {profile} has no keys; start Bosun with the variables that `aws configure export-credentials --format env` prints, or enter a Bedrock API key"
    )]
    AwsProfileEmpty { profile: String },
    #[error(
        "there are no AWS credentials: no Bedrock API key, no AWS_ACCESS_KEY_ID, and no profile {profile} in ~/.aws; enter a Bedrock API key, or run `aws configure`"
    )]
    AwsNothing { profile: String },
    #[error("the request cannot be signed for AWS; check the base URL")]
    AwsUnsigned,
    #[error("GOOGLE_APPLICATION_CREDENTIALS names {path}, which cannot be read; set it to a credentials file")]
    GoogleFileUnreadable { path: String },
    #[error(
        "there are no Google credentials: no GOOGLE_APPLICATION_CREDENTIALS and no application-default credentials; run `gcloud auth application-default login`"
    )]
    GoogleNothing,
    #[error("{path} is not a Google credentials file; set GOOGLE_APPLICATION_CREDENTIALS to one")]
    GoogleFileForeign { path: String },
    #[error(
        "{path} has credentials of the type \"{given}\"; use authorized_user, service_account or impersonated_service_account, which Bosun supports"
    )]
    GoogleFileKind { path: String, given: String },
    #[error("{path} has credentials of the type {given} that cannot be used; create the file again")]
    GoogleFileUnusable { path: String, given: String },
    #[error("{path} gave no token; run `gcloud auth application-default login` again")]
    GoogleNoToken { path: String },
    #[error("Google gave no token for {path} ({detail}); check the network and try again")]
    GoogleUnreached { path: String, detail: String },
    #[error("Google does not accept the credentials of {path}; run `gcloud auth application-default login` again")]
    GoogleRefused { path: String },
    #[error(
        "Vertex AI needs to know which project to bill: set GOOGLE_CLOUD_PROJECT, or write it into the base URL, as in https://us-east5-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-east5"
    )]
    VertexNoProject,
    #[error("the request cannot be written: {detail}; change the message, or start a new session")]
    RequestUnwritable { detail: String },
}

impl ModelTrouble {
    /// The same with every argument that is text as `map` makes it.
    pub fn map_words(self, map: impl Fn(String) -> String) -> Self {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&self) else { return self };
        for (name, value) in &mut fields {
            if let (Value::String(words), true) = (value, name != TAG) {
                *words = map(std::mem::take(words));
            }
        }
        serde_json::from_value(Value::Object(fields)).unwrap_or(self)
    }
}

/// The field of the code.
const TAG: &str = "trouble";

/// As it was stored; what a newer Bosun had to say is left to the sentence beside it.
pub(crate) fn known<'de, D: Deserializer<'de>>(stored: D) -> Result<Option<Box<ModelTrouble>>, D::Error> {
    let value = Option::<Value>::deserialize(stored)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::{ModelError, ModelErrorKind};

    #[test]
    fn every_word_goes_through_the_map_and_the_code_does_not() {
        let trouble = ModelTrouble::NothingAtAddress { host: "h".into(), status: 404, address: "a".into() };
        let mapped = trouble.map_words(|words| format!("<{words}>"));
        let expected = ModelTrouble::NothingAtAddress { host: "<h>".into(), status: 404, address: "<a>".into() };
        assert_eq!(mapped, expected);
        assert_eq!(ModelTrouble::KeyCharacters.map_words(|_| String::new()), ModelTrouble::KeyCharacters);
    }

    #[test]
    fn what_a_newer_bosun_said_is_left_to_its_sentence() {
        let own = ModelError::own(ModelErrorKind::Network, "p", ModelTrouble::NotAccepted { address: "a".into() });
        let mut stored = serde_json::to_value(&own).unwrap();
        assert_eq!(serde_json::from_value::<ModelError>(stored.clone()).unwrap(), own);
        stored["trouble"] = json!({ "trouble": "of_tomorrow", "planet": "mars" });
        let read = serde_json::from_value::<ModelError>(stored).unwrap();
        assert_eq!((read.trouble, read.message), (None, own.message));
    }
}
