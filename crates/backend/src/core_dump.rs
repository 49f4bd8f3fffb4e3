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
