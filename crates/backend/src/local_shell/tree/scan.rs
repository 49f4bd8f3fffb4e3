use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::ProcessTree;

/// A process as `/proc` shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pid: Pid,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
    /// It has ended and waits for its parent to notice.
    ended: bool,
}

/// Looks in a row that have to find nobody where processes start all the time.
const LOOKS: u32 = 5;
/// Process numbers tried one by one.
const FEW: i32 = 2048;
/// More than any machine starts.
const STARTS_PER_SECOND: u64 = 50_000;

/// The living processes of `tree`. A look takes a moment, in which a process that was not read yet can start another
/// and end; so "nobody" counts when no process of the machine started meanwhile, or after several looks.
pub(super) fn members(tree: &ProcessTree) -> Vec<Process> {
    for _ in 1..LOOKS {
        let before = last_started();
        let found = look(tree);
        if !found.is_empty() || (before.is_some() && before == last_started()) {
            return found;
        }
    }
    look(tree)
}

/// The number of the newest process: the last figure of proc(5)'s load averages.
fn last_started() -> Option<u64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().last()?.parse().ok()
}

fn look(tree: &ProcessTree) -> Vec<Process> {
    let own = rustix::process::getpid();
    let candidates: Vec<Process> = candidates(tree)
        .into_iter()
        .filter_map(read)
        .filter(|process| process.started >= tree.started && process.pid != own && !process.ended)
        .collect();
    let leader = tree.leader.as_raw_nonzero().get();
    let mut members = Vec::new();
    let mut others = Vec::new();
    for process in candidates {
        let marked = process.session == leader || process.group == leader || carries(process.pid, tree);
        if marked { members.push(process) } else { others.push(process) }
    }
    // Children of members belong to them, also where the number could not be put on them.
    loop {
        let (found, rest): (Vec<Process>, Vec<Process>) = others
            .into_iter()
            .partition(|process| members.iter().any(|member| member.pid.as_raw_nonzero().get() == process.parent));
        if found.is_empty() {
            return members;
        }
        members.extend(found);
        others = rest;
    }
}

pub(super) fn started(pid: Pid) -> u64 {
    read(pid).map_or(0, |process| process.started)
}

impl Process {
    /// Signals this process and no other that got its number since.
    pub(super) fn signal(&self, signal: Signal) {
        let Ok(handle) = pidfd_open(self.pid, PidfdFlags::empty()) else { return };
        let same = read(self.pid).is_some_and(|now| now.started == self.started);
        if same && let Err(errno) = pidfd_send_signal(&handle, signal) {
            tracing::debug!(pid = %self.pid, %errno, "a process of a command could not be ended");
        }
    }
}

/// The processes that may belong to `tree`.
fn candidates(tree: &ProcessTree) -> Vec<Pid> {
    let leader = tree.leader.as_raw_nonzero().get();
    let newest = last_started().and_then(|last| i32::try_from(last).ok());
    match newest {
        // Numbers are given in order. Until they can have come round, nothing of the tree has a lower one than its
        // leader, and the few above it are tried faster than all processes of the machine are listed.
        Some(newest) if (leader..=leader.saturating_add(FEW)).contains(&newest) && !may_have_come_round(tree) => {
            (leader..=newest).filter_map(Pid::from_raw).collect()
        }
        _ => all().collect(),
    }
}

fn may_have_come_round(tree: &ProcessTree) -> bool {
    static NUMBERS: LazyLock<u64> = LazyLock::new(|| {
        let limit = fs::read_to_string("/proc/sys/kernel/pid_max");
        limit.ok().and_then(|limit| limit.trim().parse().ok()).unwrap_or(32_768)
    });
    tree.launched.elapsed() >= Duration::from_secs(*NUMBERS / STARTS_PER_SECOND)
}

fn all() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

fn read(pid: Pid) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name is in parentheses and may hold anything, parentheses too.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    // proc(5): the start is field 22, and session was field 6.
    let started = fields.nth(15)?.parse().ok()?;
    Some(Process { pid, parent, group, session, started, ended: matches!(state, "Z" | "X") })
}

fn carries(pid: Pid, tree: &ProcessTree) -> bool {
    let Ok(limits) = fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_nonzero())) else { return false };
    let hard = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max realtime timeout"))
        .and_then(|values| values.split_whitespace().nth(1)?.parse().ok());
    hard.is_some_and(|limit| tree.tag.covers(limit))
}
