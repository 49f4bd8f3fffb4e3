//! Signatures of AWS (version 4), computed again from the vendor's description to judge a client's.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::http::Request;

/// The account that signs for this server. The secret never crosses the wire.
pub const AWS_ACCESS_KEY: &str = "AKIDCANARY0123456789";
pub const AWS_SECRET_KEY: &str = "canary/secret+0123456789/abcdefghijklmnop";
/// For the same account, as one that is lent for some hours.
pub const AWS_SESSION_TOKEN: &str = "canary-session-0123456789";

/// Whether the request is signed by [`AWS_ACCESS_KEY`], whole as it came.
pub(super) fn verify(request: &Request) -> Result<(), String> {
    let parts = Parts::read(request.header("authorization").unwrap_or_default())?;
    let (account, scope) = parts.credential.split_once('/').ok_or("the credential has no scope")?;
    if account != AWS_ACCESS_KEY {
        return Err("The security token included in the request is invalid.".to_owned());
    }
    let named: Vec<&str> = parts.signed_headers.split(';').collect();
    for needed in ["host", "x-amz-date"] {
        if !named.contains(&needed) {
            return Err(format!("the header {needed} must be signed"));
        }
    }
    if let Some(token) = request.header("x-amz-security-token")
        && (token != AWS_SESSION_TOKEN || !named.contains(&"x-amz-security-token"))
    {
        return Err("the session token is another, or is not signed".to_owned());
    }
    let [date, region, service, "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
        return Err(format!("{scope} is no scope"));
    };
    if service != "bedrock" {
        return Err(format!("Credential should be scoped to correct service: 'bedrock', not {service}"));
    }
    let time = request.header("x-amz-date").ok_or("there is no x-amz-date")?;
    if !time.starts_with(date) {
        return Err("the scope has another day than x-amz-date".to_owned());
    }
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical(request, &named)?)));
    let key = [date, region, service, "aws4_request"]
        .iter()
        .fold(format!("AWS4{AWS_SECRET_KEY}").into_bytes(), |key, part| hmac(&key, part));
    if hex(&hmac(&key, &text)) != parts.signature {
        return Err("The request signature we calculated does not match the signature you provided.".to_owned());
    }
    Ok(())
}

struct Parts<'a> {
    credential: &'a str,
    signed_headers: &'a str,
    signature: &'a str,
}

impl<'a> Parts<'a> {
    fn read(header: &'a str) -> Result<Self, String> {
        let fields = header.strip_prefix("AWS4-HMAC-SHA256 ").ok_or("it is signed in another way")?;
        let field = |name: &str| {
            let found = fields.split(", ").find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
            found.ok_or_else(|| format!("the signature has no {name}"))
        };
        Ok(Self {
            credential: field("Credential")?,
            signed_headers: field("SignedHeaders")?,
            signature: field("Signature")?,
        })
    }
}

/// The request in the one form that both sides hash.
fn canonical(request: &Request, named: &[&str]) -> Result<String, String> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    // Whatever the path escapes is escaped once more.
    let path: Vec<String> = path.split('/').map(escaped).collect();
    let mut query: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") })
        .collect();
    query.sort();
    let mut headers = String::new();
    for name in named {
        let value = request.header(name).ok_or_else(|| format!("the header {name} is signed and not there"))?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        headers.push_str(&format!("{name}:{value}\n"));
    }
    let body = hex(&Sha256::digest(&request.body));
    Ok(format!("{}\n{}\n{}\n{headers}\n{}\n{body}", request.method, path.join("/"), query.join("&"), named.join(";")))
}

fn escaped(part: &str) -> String {
    part.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
