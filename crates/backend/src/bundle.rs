//! Files that a person brings in or takes out as a folder or a zip archive. What comes in is hostile until it was
//! looked at: bounded, without links, nowhere outside itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::VirtualPath;

/// Most files, bytes of one and bytes of all together.
const MOST_FILES: usize = 500;
const LARGEST_FILE: u64 = crate::StoreBackend::LARGEST_FILE;
const LARGEST: u64 = 16 << 20;
/// How deep folders may lie in each other.
const DEEPEST: usize = 16;
/// Most folders of one name that are told apart by a number.
const MOST_OF_A_NAME: u32 = 1_000;

/// Files by their path within the folder or archive, with forward slashes and sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    pub files: Vec<(String, Vec<u8>)>,
}

/// Why files do not come in or go out. Nothing was kept then.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("'{name}' leads outside the folder or archive it is in, so nothing was imported; leave it out")]
    Escapes { name: String },
    #[error("'{name}' is a link, so nothing was imported; import the file it leads to instead")]
    Link { name: String },
    #[error("'{name}' is not a regular file, so nothing was imported; leave it out")]
    NotRegular { name: String },
    #[error("'{name}' is larger than {} MB; leave it out", LARGEST_FILE >> 20)]
    TooLarge { name: String },
    #[error("it contains more than {MOST_FILES} files or {} MB; import less at once", LARGEST >> 20)]
    TooMuch,
    #[error("'{name}' is in there twice; leave one of them out")]
    Twice { name: String },
    #[error("{} is neither a folder nor a zip archive that can be read: {reason}", path.display())]
    NoArchive { path: PathBuf, reason: String },
    #[error("{} cannot be used: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl BundleError {
    /// Bytes of one file, bytes of all, and files, at most.
    pub const LARGEST_FILE: u64 = LARGEST_FILE;
    pub const LARGEST: u64 = LARGEST;
    pub const MOST_FILES: usize = MOST_FILES;
}

impl Bundle {
    fn add(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), BundleError> {
        let size: usize = self.files.iter().map(|(_, bytes)| bytes.len()).sum();
        if self.files.len() >= MOST_FILES || (size + bytes.len()) as u64 > LARGEST {
            return Err(BundleError::TooMuch);
        }
        self.files.push((name.to_owned(), bytes));
        Ok(())
    }
}

/// Reads the folder or zip archive at `path`. Blocks on the disk.
///
/// # Errors
/// [`BundleError`] for the first thing that is not as it should be.
pub fn read_bundle(path: &Path) -> Result<Bundle, BundleError> {
    let wrap = |source| BundleError::Io { path: path.to_owned(), source };
    let mut bundle = Bundle::default();
    if fs::metadata(path).map_err(wrap)?.is_dir() {
        read_folder(path, "", 0, &mut bundle)?;
    } else {
        let file = open(path).map_err(wrap)?;
        read_zip(file, path, &mut bundle)?;
    }
    sorted(bundle)
}

/// Reads a zip archive that is in memory.
///
/// # Errors
/// As [`read_bundle`].
pub fn read_archive(bytes: &[u8]) -> Result<Bundle, BundleError> {
    let mut bundle = Bundle::default();
    read_zip(io::Cursor::new(bytes), Path::new("the file"), &mut bundle)?;
    sorted(bundle)
}

fn sorted(mut bundle: Bundle) -> Result<Bundle, BundleError> {
    bundle.files.sort();
    let mut names = bundle.files.iter().zip(bundle.files.iter().skip(1));
    match names.find(|((a, _), (b, _))| a == b) {
        Some(((name, _), _)) => Err(BundleError::Twice { name: name.clone() }),
        None => Ok(bundle),
    }
}

fn read_folder(folder: &Path, within: &str, depth: usize, bundle: &mut Bundle) -> Result<(), BundleError> {
    let wrap = |source| BundleError::Io { path: folder.to_owned(), source };
    if depth > DEEPEST {
        return Err(BundleError::TooMuch);
    }
    for entry in fs::read_dir(folder).map_err(wrap)? {
        let entry = entry.map_err(wrap)?;
        let own = entry.file_name();
        let name = join(within, &own.to_string_lossy());
        if is_litter(&name) {
            continue;
        }
        let kind = entry.file_type().map_err(wrap)?;
        if kind.is_symlink() {
            return Err(BundleError::Link { name });
        }
        if kind.is_dir() {
            read_folder(&entry.path(), &name, depth + 1, bundle)?;
        } else if kind.is_file() {
            check_name(&name)?;
            let file = open(&entry.path()).map_err(wrap)?;
            bundle.add(&name, read_all(file, &name)?)?;
        } else {
            return Err(BundleError::NotRegular { name });
        }
    }
    Ok(())
}

fn read_zip(file: impl Read + io::Seek, path: &Path, bundle: &mut Bundle) -> Result<(), BundleError> {
    let wrong = |reason: String| BundleError::NoArchive { path: path.to_owned(), reason };
    let mut archive = zip::ZipArchive::new(file).map_err(|error| wrong(error.to_string()))?;
    // Folders are entries too.
    if archive.len() > MOST_FILES * 2 {
        return Err(BundleError::TooMuch);
    }
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| wrong(error.to_string()))?;
        let name = entry.name().map_err(|error| wrong(error.to_string()))?.into_owned();
        if entry.is_symlink() {
            return Err(BundleError::Link { name });
        }
        check_name(name.trim_end_matches('/'))?;
        if entry.is_dir() || is_litter(&name) {
            continue;
        }
        if entry.size() > LARGEST_FILE {
            return Err(BundleError::TooLarge { name });
        }
        let bytes = read_all(entry, &name)?;
        bundle.add(&name, bytes)?;
    }
    Ok(())
}

/// Reads to the end, whatever size was said before.
fn read_all(reader: impl Read, name: &str) -> Result<Vec<u8>, BundleError> {
    let mut bytes = Vec::new();
    let read = reader.take(LARGEST_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|source| BundleError::Io { path: PathBuf::from(name), source })?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(BundleError::TooLarge { name: name.to_owned() });
    }
    Ok(bytes)
}

/// A file itself, never what a link put in its place leads to.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nofollow());
    options.open(path)
}

#[cfg(unix)]
fn nofollow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// What systems leave behind, and hidden folders of tools.
fn is_litter(name: &str) -> bool {
    name.split('/').any(|part| part == "__MACOSX" || part == ".DS_Store" || part == ".git" || part == "Thumbs.db")
}

fn check_name(name: &str) -> Result<(), BundleError> {
    let sound = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(|c| c.is_control() || c == '\\');
    let escapes =
        name.starts_with('/') || !name.split('/').all(sound) || VirtualPath::parse(&format!("/{name}")).is_err();
    if escapes { Err(BundleError::Escapes { name: name.to_owned() }) } else { Ok(()) }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Writes `bundle` into a new folder called `name`, or `name-2` and so on, in `folder`. Blocks on the disk.
///
/// # Errors
/// [`BundleError`]; what was written until then stays.
pub fn write_bundle(folder: &Path, name: &str, bundle: &Bundle) -> Result<PathBuf, BundleError> {
    let target = new_folder(folder, name)?;
    for (name, bytes) in &bundle.files {
        check_name(name)?;
        let path = target.join(name);
        let wrap = |source| BundleError::Io { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(wrap)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(wrap)?;
        file.write_all(bytes).map_err(wrap)?;
    }
    Ok(target)
}

fn new_folder(folder: &Path, name: &str) -> Result<PathBuf, BundleError> {
    check_name(name)?;
    for number in 1..MOST_OF_A_NAME {
        let path = folder.join(if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(BundleError::Io { path, source }),
        }
    }
    let source = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(BundleError::Io { path: folder.join(name), source })
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
