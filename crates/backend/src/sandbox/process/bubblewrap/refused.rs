//! What the system refuses to a command in the sandbox: namespaces hide no virtual machine's host (a vsock socket reaches
//! it), no socket of a program outside that lies in the project, and none of what makes the kernel's own surface wide
//! (security.md, section 9, step 3). Loopback stays, which is the sandbox's own; so does `ptrace`, which reaches no
//! process outside, and without which no debugger and no leak check runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use rustix::fs::MemfdFlags;
use rustix::io::FdFlags;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use tokio::process::Command;

/// Calls that nothing needs that is built, tested or looked at.
const CALLS: [libc::c_long; 27] = [
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    // Among what it does for others is making sockets.
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];
/// The bit of a call by the numbers of x32, whose architecture has the name of x86-64.
#[cfg(target_arch = "x86_64")]
const X32: libc::c_long = 0x4000_0000;

/// Has bubblewrap refuse it all to what it starts.
///
/// # Errors
/// Where it cannot be handed over; then nothing may start.
#[allow(unsafe_code, reason = "the only way to let one child alone inherit a handle")]
pub(super) fn refuse(program: &mut Command) -> io::Result<()> {
    let mut file = File::from(rustix::fs::memfd_create("refused", MemfdFlags::CLOEXEC)?);
    file.write_all(filter()?)?;
    file.rewind()?;
    program.arg("--seccomp").arg(file.as_raw_fd().to_string());
    // SAFETY: the closure makes one system call with a handle that it owns; it allocates nothing and takes no lock.
    unsafe { program.pre_exec(move || Ok(rustix::io::fcntl_setfd(&file, FdFlags::empty())?)) };
    Ok(())
}

/// The filter as bubblewrap reads it: the kernel's instructions, one after the other.
fn filter() -> io::Result<&'static [u8]> {
    static FILTER: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    let made = FILTER.get_or_init(|| {
        let program: BpfProgram = rules().and_then(compiled).map_err(|error| error.to_string())?;
        let bytes = |line: &seccompiler::sock_filter| {
            let [code, jump] = [line.code.to_ne_bytes(), [line.jt, line.jf]];
            [code, jump].into_iter().flatten().chain(line.k.to_ne_bytes())
        };
        Ok(program.iter().flat_map(bytes).collect())
    });
    made.as_deref().map_err(|error| io::Error::other(error.clone()))
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn compiled(rules: Rules) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuses = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuses, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// A call without a rule is refused whatever it is called with.
fn rules() -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = CALLS.into_iter().map(|call| (call, Vec::new())).collect();
    // Routes are asked about by what lists a machine's addresses.
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let transports = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];
    let of = |family| argument(0, SeccompCmpOp::Eq, family);
    let mut refused = vec![none_of(0, &families)?];
    for family in [libc::AF_INET, libc::AF_INET6] {
        refused.push([vec![of(family)?], none_of(2, &transports)?].concat());
    }
    refused.push(vec![of(libc::AF_NETLINK)?, argument(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE)?]);
    let sockets = refused.into_iter().map(SeccompRule::new).collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, sockets);
    #[cfg(target_arch = "x86_64")]
    for call in rules.keys().copied().collect::<Vec<_>>() {
        rules.insert(call | X32, Vec::new());
    }
    Ok(rules)
}

fn none_of(place: u8, values: &[libc::c_int]) -> Result<Vec<SeccompCondition>, seccompiler::BackendError> {
    values.iter().map(|value| argument(place, SeccompCmpOp::Ne, *value)).collect()
}

fn argument(
    place: u8,
    compared: SeccompCmpOp,
    value: libc::c_int,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(place, SeccompCmpArgLen::Dword, compared, u64::from(value.unsigned_abs()))
}
