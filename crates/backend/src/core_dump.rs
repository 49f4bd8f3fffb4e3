/// A crash writes no core file, which would have keys in it. Whatever this process starts is held to the same.
///
/// What the system itself does not let happen is only said: nothing else depends on it.
pub fn forbid_core_dumps() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        if let Err(error) = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }) {
            tracing::warn!(%error, "core files cannot be forbidden");
        }
    }
}

/// No other program of the same person looks into this process: neither a debugger, nor a command that an agent runs.
///
/// For programs without a window only. The portals of a desktop (its file dialogs among them) tell who asks by what stands
/// of that process in `/proc`, which is nobody's to read then.
pub fn forbid_looking_in() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "this process's memory cannot be closed to others");
        }
    }
}
