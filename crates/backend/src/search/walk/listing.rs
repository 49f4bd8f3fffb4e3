use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

/// The entries of an open folder. Names that are not UTF-8 cannot be paths here and are passed over.
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

    pub(super) fn next(&mut self) -> Option<Result<(String, FileType), Errno>> {
        loop {
            match self.entries.next()? {
                Err(errno) => return Some(Err(errno)),
                Ok(entry) => match entry.file_name().to_str() {
                    Ok("." | "..") | Err(_) => {}
                    Ok(name) => return Some(Ok((name.to_owned(), entry.file_type()))),
                },
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl<'a> Listing<'a> {
    pub(super) fn open(folder: &'a OwnedFd, _buffer: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { entries: rustix::fs::Dir::read_from(folder).map_err(Some), buffer: std::marker::PhantomData }
    }

    pub(super) fn next(&mut self) -> Option<Result<(String, FileType), Errno>> {
        let entries = match &mut self.entries {
            Ok(entries) => entries,
            Err(errno) => return errno.take().map(Err),
        };
        loop {
            match entries.next()? {
                Err(errno) => return Some(Err(errno)),
                Ok(entry) => match entry.file_name().to_str() {
                    Ok("." | "..") | Err(_) => {}
                    Ok(name) => return Some(Ok((name.to_owned(), entry.file_type()))),
                },
            }
        }
    }
}
