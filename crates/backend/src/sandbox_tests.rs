use std::sync::Arc;

use super::{LocalExecutorOptions, SandboxBackend, local_process};

#[test]
fn an_executor_is_shared() {
    let folder = tempfile::tempdir().unwrap();
    let executor = local_process(folder.path(), LocalExecutorOptions::default()).unwrap();
    let backend = SandboxBackend::new(Arc::clone(&executor));
    assert_eq!(Arc::strong_count(&executor), 2);
    drop(backend);
}
