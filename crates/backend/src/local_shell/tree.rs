//! All processes that a command has started, also those that left its process group, its session and its parents.
//!
//! A process can leave every one of these, and can drop its environment; what it cannot do by accident is change a
//! resource limit that nothing uses. So each command gets a number of its own as its limit for real-time computing,
//! far beyond any use, which every descendant inherits, whoever adopts it. The processes of the machine are then
//! looked through for it. Elsewhere than on Linux the process group has to do.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

#[cfg(target_os = "linux")]
mod scan;

/// Time that processes have to end by themselves before they are killed.
const PATIENCE: Duration = Duration::from_millis(200);
/// Time after which a process that does not even die is left to the kernel.
const LIMIT: Duration = Duration::from_millis(1500);
const STEP: Duration = Duration::from_millis(5);

/// The number that a command's processes carry. Processes of a Bosun that runs inside the command carry lower numbers
/// of the same block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    top: u64,
    width: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessTree {
    leader: Pid,
    tag: Tag,
    /// Clock ticks since the machine's start: nothing older belongs to the tree.
    started: u64,
    launched: Instant,
}

impl Tag {
    pub(super) fn fresh() -> Self {
        // The second half of such an id is chance.
        let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
        Self::below(limit_of_this_process(), random)
    }

    fn below(limit: Option<u64>, random: u64) -> Self {
        const BLOCK: u64 = 1 << 40;
        const INNER: u64 = 1 << 20;
        match limit {
            None => Self { top: (1 << 61) + (random % (1 << 20)) * BLOCK + (BLOCK - 1), width: BLOCK },
            // Inside a command of another Bosun: a place in its block.
            Some(limit) if limit > BLOCK => Self { top: limit - 1 - random % (BLOCK / 2), width: INNER },
            Some(limit) => Self { top: limit.saturating_sub(1 + random % 512), width: 1 },
        }
    }

    fn covers(self, limit: u64) -> bool {
        limit <= self.top && self.top - limit < self.width
    }

    /// Makes one system call and nothing else: it runs between fork and exec.
    #[cfg(target_os = "linux")]
    pub(super) fn put_on_this_process(self) {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = Rlimit { current: Some(self.top), maximum: Some(self.top) };
        // Where it cannot be set, sessions and parents still tell most of the tree.
        if setrlimit(Resource::Rttime, limit).is_err() {}
    }
}

#[cfg(target_os = "linux")]
fn limit_of_this_process() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Rttime).maximum
}

#[cfg(not(target_os = "linux"))]
fn limit_of_this_process() -> Option<u64> {
    None
}

impl ProcessTree {
    pub(super) fn of(leader: u32, tag: Tag) -> Option<Self> {
        let leader = i32::try_from(leader).ok().and_then(Pid::from_raw)?;
        Some(Self { leader, tag, started: start_of(leader), launched: Instant::now() })
    }

    /// Ends every process of the tree: asks first, then kills. Blocks for up to about [`PATIENCE`], a moment more
    /// where something resists. Returns whether there was anything to end.
    pub(super) fn end(&self) -> bool {
        if !self.signal(Signal::TERM) {
            return false;
        }
        // One that is stopped cannot hear.
        self.signal(Signal::CONT);
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE {
            std::thread::sleep(STEP);
            if !self.lives() {
                return true;
            }
        }
        self.kill();
        true
    }

    /// Kills every process of the tree, and those that it starts meanwhile.
    pub(super) fn kill(&self) {
        let begun = Instant::now();
        while self.signal(Signal::KILL) && begun.elapsed() < LIMIT {
            std::thread::sleep(STEP);
        }
    }

    /// Kills what is there now, without waiting.
    pub(super) fn kill_once(&self) -> bool {
        self.signal(Signal::KILL)
    }

    fn lives(&self) -> bool {
        !self.members().is_empty()
    }

    /// Returns whether there was anybody.
    fn signal(&self, signal: Signal) -> bool {
        let members = self.members();
        for member in &members {
            member.signal(signal);
        }
        !members.is_empty()
    }
}

#[cfg(target_os = "linux")]
impl ProcessTree {
    fn members(&self) -> Vec<scan::Process> {
        scan::members(self)
    }
}

#[cfg(target_os = "linux")]
fn start_of(leader: Pid) -> u64 {
    scan::started(leader)
}

#[cfg(not(target_os = "linux"))]
struct Group(Pid);

#[cfg(not(target_os = "linux"))]
impl Group {
    fn signal(&self, signal: Signal) {
        if rustix::process::kill_process_group(self.0, signal).is_err() {}
    }
}

#[cfg(not(target_os = "linux"))]
impl ProcessTree {
    fn members(&self) -> Vec<Group> {
        match rustix::process::test_kill_process_group(self.leader) {
            Ok(()) => vec![Group(self.leader)],
            Err(_) => Vec::new(),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn start_of(_leader: Pid) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::Tag;

    #[test]
    fn tags_of_a_nested_app_stay_in_the_block_of_the_outer_one() {
        for random in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            let outer = Tag::below(None, random);
            let inner = Tag::below(Some(outer.top), random.rotate_left(17));
            let innermost = Tag::below(Some(inner.top), random.rotate_left(34));
            assert!(outer.covers(outer.top) && outer.covers(inner.top), "{outer:?} {inner:?}");
            assert!(!inner.covers(outer.top) && innermost.top < inner.top);
        }
    }

    #[test]
    fn a_low_limit_still_gives_a_number() {
        assert_eq!(Tag::below(Some(200_000), 3), Tag { top: 199_996, width: 1 });
        assert!(!Tag::below(None, 7).covers(u64::MAX));
    }
}
