use std::ffi::OsString;
use std::path::PathBuf;

/// The data folder of this process: [`default_data_folder`] over its environment.
pub fn data_folder() -> Option<PathBuf> {
    default_data_folder(|name| std::env::var_os(name))
}

/// `BOSUN_DATA_DIR`, else the platform's place for application data: `$XDG_DATA_HOME/bosun` (by default
/// `~/.local/share/bosun`), `~/Library/Application Support/Bosun`, `%LOCALAPPDATA%\Bosun`. `None` where not even a home
/// folder is known.
pub fn default_data_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("BOSUN_DATA_DIR") {
        return Some(folder);
    }
    if cfg!(target_os = "macos") {
        return Some(set("HOME")?.join("Library/Application Support/Bosun"));
    }
    if cfg!(windows) {
        return Some(set("LOCALAPPDATA")?.join("Bosun"));
    }
    // The XDG specification says that a relative path is to be ignored.
    let data = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    Some(data.or_else(|| Some(set("HOME")?.join(".local/share")))?.join("bosun"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn folder(variables: &[(&str, &str)]) -> Option<PathBuf> {
        default_data_folder(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_nearest_setting_wins() {
        assert_eq!(folder(&[("HOME", "/h")]), Some("/h/.local/share/bosun".into()));
        assert_eq!(folder(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Some("/x/bosun".into()));
        assert_eq!(folder(&[("HOME", "/h"), ("XDG_DATA_HOME", "x")]), Some("/h/.local/share/bosun".into()));
        assert_eq!(folder(&[("XDG_DATA_HOME", "/x"), ("BOSUN_DATA_DIR", "/b")]), Some("/b".into()));
        assert_eq!(folder(&[]), None);
    }
}
