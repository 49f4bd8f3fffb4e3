use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

/// An entry as its folder lists it.
pub(super) struct Listed {
    /// As well as it can be said, where it is not UTF-8 and so no path here.
    pub(super) name: String,
    pub(super) is_text: bool,
    pub(super) kind: FileType,
}

impl Listed {
    /// `None` for the folder itself and the one above.
    fn of(name: &CStr, kind: FileType) -> Option<Self> {
        match name.to_str() {
            Ok("." | "..") => None,
            Ok(name) => Some(Self { name: name.to_owned(), is_text: true, kind }),
            Err(_) => Some(Self { name: name.to_string_lossy().into_owned(), is_text: false, kind }),
        }
    }
}

/// The entries of an open folder.
pub(super) struct Listing<'a> {
    #[cfg(target_os = "linux")]
    entries: rustix::fs::RawDir<'a, &'a OwnedFd>,
    #[cfg(not(target_os = "linux"))]
    entries: Result<rustix::fs::Dir, Option<Errno>>,
    #[cfg(not(target_os = "linux"))]
    buffer: std::marker::PhantomData<&'a ()>,
}

#[cfg(target_os = "linux")]
impl<'a> Listing<'a> {
    pub(super) fn open(folder: &'a OwnedFd, buffer: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { entries: rustix::fs::RawDir::new(folder, buffer) }
    }

    pub(super) fn next(&mut self) -> Option<Result<Listed, Errno>> {
        loop {
            match self.entries.next()? {
                Err(errno) => return Some(Err(errno)),
                Ok(entry) => {
                    if let Some(listed) = Listed::of(entry.file_name(), entry.file_type()) {
                        return Some(Ok(listed));
                    }
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl<'a> Listing<'a> {
    pub(super) fn open(folder: &'a OwnedFd, _buffer: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { entries: rustix::fs::Dir::read_from(folder).map_err(Some), buffer: std::marker::PhantomData }
    }

    pub(super) fn next(&mut self) -> Option<Result<Listed, Errno>> {
        let entries = match &mut self.entries {
            Ok(entries) => entries,
            Err(errno) => return errno.take().map(Err),
        };
        loop {
            match entries.next()? {
                Err(errno) => return Some(Err(errno)),
                Ok(entry) => {
                    if let Some(listed) = Listed::of(entry.file_name(), entry.file_type()) {
                        return Some(Ok(listed));
                    }
                }
            }
        }
    }
}
