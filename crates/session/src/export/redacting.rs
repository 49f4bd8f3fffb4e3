//! What leaves the app as a file holds no key.

use serde_json::Value;

use super::Archive;
use crate::SessionError;

/// Whatever takes keys out of a text.
pub(crate) type Mask<'a> = &'a (dyn Fn(&str) -> String + Send + Sync);

/// The field with the bytes of a picture, in which a key could only seem to stand.
const PICTURE: &str = "image";

impl Archive {
    /// Without keys, and the number of texts that held one. Every text is looked at, whatever field it stands in, so that
    /// a field that is added is too.
    pub(crate) fn redacted(self, mask: Mask<'_>) -> Result<(Self, u32), SessionError> {
        let mut value = serde_json::to_value(&self).map_err(SessionError::internal)?;
        match redact(&mut value, mask) {
            0 => Ok((self, 0)),
            count => Ok((serde_json::from_value(value).map_err(SessionError::internal)?, count)),
        }
    }
}

/// Takes keys out of all texts of `value`, names of fields included. Gives the number of texts that held one.
pub(crate) fn redact(value: &mut Value, mask: Mask<'_>) -> u32 {
    match value {
        Value::String(text) => text_without(text, mask),
        Value::Array(values) => values.iter_mut().map(|value| redact(value, mask)).sum(),
        Value::Object(fields) => {
            let mut count = 0;
            for (mut name, mut field) in std::mem::take(fields) {
                if name != PICTURE {
                    count += redact(&mut field, mask);
                }
                count += text_without(&mut name, mask);
                fields.insert(name, field);
            }
            count
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// One word of small letters is left: it may well be a name of the format's own, and keys are made of more.
fn text_without(text: &mut String, mask: Mask<'_>) -> u32 {
    if text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
        return 0;
    }
    let masked = mask(text);
    if masked == *text {
        return 0;
    }
    *text = masked;
    1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_is_looked_at_and_no_other_value() {
        let mut value = json!({
            "kind": "secret", "text": "a SECRET b", "nested": [{ "SECRET": 1 }, "SECRET"], "image": "SECRET", "n": 7,
        });
        let mask = |text: &str| text.replace("SECRET", "[redacted]").replace("secret", "[redacted]");
        assert_eq!(redact(&mut value, &mask), 3);
        let wanted = json!({
            "kind": "secret", "text": "a [redacted] b", "nested": [{ "[redacted]": 1 }, "[redacted]"],
            "image": "SECRET", "n": 7,
        });
        assert_eq!(value, wanted);
    }
}
