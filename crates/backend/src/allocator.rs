/// Places that allocated memory comes from. Each keeps what was freed in it for itself, and there would be eight for every
/// processor.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: i32 = 2;

/// Bytes from which a piece of memory is the system's own again as soon as it is freed. Left to itself the allocator raises
/// this to 32 MB with the first large piece that is freed, such as a long session's request, and keeps all that come after.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GIVEN_BACK_FROM: i32 = 128 * 1024;

/// For the start of `main`, before the first thread: later on arenas are there.
#[allow(unsafe_code, reason = "the allocator is asked through the C library")]
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (what, number) in [
        (libc::M_ARENA_MAX, ARENAS),
        (libc::M_MMAP_THRESHOLD, GIVEN_BACK_FROM),
        (libc::M_TRIM_THRESHOLD, GIVEN_BACK_FROM),
    ] {
        // SAFETY: a number is set.
        if unsafe { libc::mallopt(what, number) } == 0 {
            tracing::debug!(what, "the allocator keeps its own number");
        }
    }
}

/// Gives memory that was freed back to the system; takes some milliseconds.
#[allow(unsafe_code, reason = "the allocator is asked through the C library")]
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0)
    };
}

#[cfg(test)]
mod tests {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the system's own account of this process")]
    fn what_was_freed_goes_back_to_the_system() {
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        // Small pieces below one that stays, so that nothing of them is at the end of the heap.
        let mut pieces: Vec<Box<[u8; 1000]>> = (0..100_000).map(|_| Box::new([1; 1000])).collect();
        let last = pieces.pop();
        let before = resident();
        drop(pieces);
        super::give_back_memory();
        assert!(resident() + 50_000_000 < before, "{} {before}", resident());
        drop(last);
    }
}
