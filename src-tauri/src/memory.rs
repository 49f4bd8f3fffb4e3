//! Keeps what the app takes of the machine's memory near what it needs.

use std::time::Duration;

/// WebKit lets garbage grow with the memory of the machine: while a long reply streams, by half a gigabyte. As on a machine of
/// so many bytes it is taken out while it is little. For the page's process, by way of the environment.
const PAGE: (&str, &str) = ("JSC_forceRAMSize", "134217728");

/// Places that allocated memory comes from. Each keeps what was freed in it for itself, and there would be eight for every
/// processor.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: i32 = 2;

/// How often what was freed goes back to the system: the beginning of a turn in a long session takes tens of megabytes for a
/// moment.
const GIVEN_BACK_EVERY: Duration = Duration::from_secs(20);

/// Variables to set for the page's process; what the user set, to whatever value, stays.
pub(crate) fn switches(variable: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    [PAGE].into_iter().filter(|(name, _)| !variable(name)).collect()
}

/// For the start of `main`: later on arenas are there.
#[allow(unsafe_code, reason = "the allocator is asked through the C library")]
pub(crate) fn few_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a number is set, before the first thread.
    if unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) } == 0 {
        eprintln!("Bosun: the memory allocator keeps its own number of arenas");
    }
}

/// Gives back what was freed, now and then, for as long as it is polled.
pub(crate) async fn give_back() {
    loop {
        tokio::time::sleep(GIVEN_BACK_EVERY).await;
        if let Err(error) = tokio::task::spawn_blocking(trim).await {
            tracing::debug!(%error, "freed memory was not given back");
        }
    }
}

#[allow(unsafe_code, reason = "the allocator is asked through the C library")]
fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_set_stays() {
        assert_eq!(switches(|_| false), [PAGE]);
        assert_eq!(switches(|name| name == PAGE.0), []);
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the system's own account of this process")]
    fn what_was_freed_goes_back_to_the_system() {
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        // Small pieces between which something stays: nothing of it is at the end of the heap.
        let mut pieces: Vec<Box<[u8; 1000]>> = (0..100_000).map(|_| Box::new([1; 1000])).collect();
        let last = pieces.pop();
        let before = resident();
        drop(pieces);
        trim();
        assert!(resident() + 50_000_000 < before, "{} {before}", resident());
        drop(last);
    }
}
