//! Keeps what the app takes of the machine's memory near what it needs.

use std::time::Duration;

/// How the engine of the page goes about memory, by way of the environment of its process. It lets garbage grow with the
/// memory of the machine, while a long reply streams by half a gigabyte: as on a machine of so many bytes, and from so many
/// bytes of garbage on, it is taken out while it is little. The last of its compilers takes more memory than it gives time:
/// of what the page runs nothing runs for long. Without the one before it keys would be felt. Each message to the page is a
/// script that runs once, so that what it keeps of the last two thousand of them serves nobody.
const PAGE: [(&str, &str); 4] = [
    ("JSC_forceRAMSize", "67108864"),
    ("JSC_largeHeapSize", "4194304"),
    ("JSC_useFTLJIT", "false"),
    ("JSC_useCodeCache", "false"),
];

/// How often what was freed goes back to the system: the beginning of a turn in a long session takes tens of megabytes for a
/// moment.
const GIVEN_BACK_EVERY: Duration = Duration::from_secs(20);

/// Variables to set for the page's process; what the user set, to whatever value, stays.
pub(crate) fn switches(variable: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    PAGE.into_iter().filter(|(name, _)| !variable(name)).collect()
}

/// Gives back what was freed, now and then, for as long as it is polled.
pub(crate) async fn give_back() {
    loop {
        tokio::time::sleep(GIVEN_BACK_EVERY).await;
        if let Err(error) = tokio::task::spawn_blocking(bosun_backend::give_back_memory).await {
            tracing::debug!(%error, "freed memory was not given back");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_set_stays() {
        assert_eq!(switches(|_| false), PAGE);
        assert_eq!(switches(|name| name == PAGE[0].0), PAGE[1..]);
    }
}
