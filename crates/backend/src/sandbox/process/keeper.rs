use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};

/// Work for the thread that starts programs.
type Work = Box<dyn FnOnce() + Send>;

/// `None` where the thread cannot be had.
static KEEPER: LazyLock<Option<Sender<Work>>> = LazyLock::new(|| {
    let (sender, works) = channel::<Work>();
    let thread = std::thread::Builder::new().name("starts programs".to_owned());
    thread.spawn(move || works.into_iter().for_each(|work| work())).ok().map(|_| sender)
});

/// Starts a program on a thread that lives as long as the app: "die with the parent" follows the thread that started
/// it, and those of a pool come and go. `None` where that thread has broken off.
pub(super) async fn started<T: Send + 'static>(start: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let Some(keeper) = &*KEEPER else { return Some(start()) };
    let (answer, answered) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let work: Work = Box::new(move || {
        let _entered = runtime.enter();
        if answer.send(start()).is_err() {
            tracing::debug!("nobody waits any more for a program that was started");
        }
    });
    keeper.send(work).ok()?;
    answered.await.ok()
}
