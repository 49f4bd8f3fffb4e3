use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest file of settings, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The text of a file of settings that a person named. Blocks on the disk for a moment.
///
/// # Errors
/// What the system says; what is no regular file, too long or not UTF-8 is not read.
pub fn settings_text(path: &Path) -> io::Result<String> {
    let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason.to_owned());
    let bytes = given_bytes(path, LONGEST)?.ok_or_else(|| invalid("it is longer than 1 MB"))?;
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is no UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The bytes of a file that a person named; `None` where there are more than `longest`. Blocks on the disk for a moment.
///
/// # Errors
/// What the system says; what is no regular file is not read.
pub fn given_bytes(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    // Asked before it is opened: a pipe would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(longest + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > longest { None } else { Some(bytes) })
}

#[cfg(test)]
mod tests {
    use super::settings_text;

    #[test]
    fn only_short_regular_text_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "\u{feff}a = 1\n").unwrap();
        assert_eq!(settings_text(&path).unwrap(), "a = 1\n");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(settings_text(&path).is_err());
        std::fs::write(&path, "x".repeat(1024 * 1024 + 1)).unwrap();
        assert!(settings_text(&path).unwrap_err().to_string().contains("1 MB"));
        assert!(settings_text(folder.path()).unwrap_err().to_string().contains("not a regular file"));
        assert!(settings_text("/dev/zero".as_ref()).is_err() && settings_text(&folder.path().join("b")).is_err());
    }
}
