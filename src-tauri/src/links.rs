use bosun_protocol::{ErrorCode, Problem};
use tauri::Url;

use crate::error::Failure;

/// Longer addresses are no links that a person followed.
const LONGEST: usize = 4_096;

/// Reads the address of a link that a person pressed, as it will be handed to the system.
///
/// # Errors
/// Everything that is not plainly a web page or a mail address: other schemes start programs.
pub(crate) fn checked(link: &str) -> Result<Url, Failure> {
    let refused = |problem: Problem| Failure::new(ErrorCode::Invalid, problem);
    if link.len() > LONGEST {
        return Err(refused(Problem::LinkTooLong));
    }
    // The parser drops tabs and line ends silently; a link that has them wants to be misread.
    if link.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refused(Problem::LinkWithBlanks));
    }
    let url = Url::parse(link).map_err(|_| refused(Problem::LinkUnreadable))?;
    match url.scheme() {
        "http" | "https" if url.host_str().is_none_or(str::is_empty) => Err(refused(Problem::LinkWithoutHost)),
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => {
            Err(refused(Problem::LinkWithUser))
        }
        "http" | "https" | "mailto" => Ok(url),
        other => {
            let scheme: String = other.chars().take(20).collect();
            Err(refused(Problem::LinkScheme { scheme }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_and_mail_addresses_pass_in_their_normal_form() {
        let cases = [
            ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
            ("HTTP://EXAMPLE.org", "http://example.org/"),
            ("https://xn--80ak6aa92e.com/", "https://xn--80ak6aa92e.com/"),
            ("mailto:a@example.org?subject=x", "mailto:a@example.org?subject=x"),
        ];
        for (link, url) in cases {
            assert_eq!(checked(link).unwrap().as_str(), url);
        }
    }

    #[test]
    fn every_other_scheme_and_trick_is_refused() {
        let long = format!("https://example.org/{}", "a".repeat(LONGEST));
        let links = [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            "smb://host/share",
            "ms-msdt:/id",
            "x-apple.systempreferences:",
            "vscode://x",
            "tauri://localhost",
            "ipc://localhost/start",
            "asset://localhost/etc/passwd",
            "blob:https://example.org/1",
            "data:text/html,x",
            "javascript:alert(1)",
            "java\tscript:alert(1)",
            "ht\ntps://example.org",
            " https://example.org",
            "https://example.org@evil.example/",
            "https://",
            "/etc/passwd",
            "--help",
            "",
            long.as_str(),
        ];
        for link in links {
            let refused = checked(link).unwrap_err().0;
            assert_eq!(refused.code, ErrorCode::Invalid, "{link}");
            assert!(refused.message.len() < 200, "{}", refused.message);
        }
    }
}
