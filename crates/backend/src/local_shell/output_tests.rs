use std::sync::Mutex;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[derive(Default)]
struct Shown(Mutex<Vec<u8>>);

impl OutputSink for Shown {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }
}

fn woven(parts: &[(Stream, &str)]) -> String {
    let mut lines = Interleaver::default();
    let mut out = Vec::new();
    for (stream, text) in parts {
        lines.push(*stream, text.as_bytes(), &mut out);
    }
    lines.flush(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn lines_are_whole_and_marked() {
    use Stream::{Err, Out};
    assert_eq!(woven(&[(Out, "a\n"), (Err, "b\nc\n"), (Out, "d")]), "a\n[stderr] b\n[stderr] c\nd");
    assert_eq!(woven(&[(Out, "one "), (Err, "x\n"), (Out, "line\n")]), "[stderr] x\none line\n");
    assert_eq!(woven(&[(Out, "open"), (Err, "also")]), "open\n[stderr] also");
    assert_eq!(woven(&[(Err, "a\n\nb")]), "[stderr] a\n[stderr] \n[stderr] b");
    assert_eq!(woven(&[]), "");
}

async fn collected(parts: &[(Stream, Vec<u8>)]) -> (Collected, Vec<u8>) {
    let shown = Shown::default();
    let mut collector = Collector::new(&shown, std::env::temp_dir(), None);
    for (stream, bytes) in parts {
        collector.take(*stream, bytes);
        collector.spill().await;
    }
    let collected = collector.finish().await;
    (collected, shown.0.into_inner().unwrap())
}

#[tokio::test]
async fn up_to_the_limit_all_of_it_is_there() {
    let text = b"0123456789abcde\n".repeat((HEAD + TAIL) / 16);
    let (exact, _) = collected(&[(Stream::Out, text.clone())]).await;
    assert_eq!((exact.output.as_bytes() == text, exact.truncated, exact.kept), (true, false, None));
    let more = [(Stream::Out, text.clone()), (Stream::Out, b"!".to_vec())];
    let (over, _) = collected(&more).await;
    assert!(over.truncated && over.output.contains("[1 bytes left out here]"));
    assert_eq!(over.kept.unwrap().read(0, usize::MAX).unwrap(), [text, b"!".to_vec()].concat());
}

/// O01, the small form: what is held stays small, what is kept is bounded, what was written is counted.
#[tokio::test]
async fn endless_output_costs_no_memory() {
    let shown = Shown::default();
    let mut collector = Collector::new(&shown, std::env::temp_dir(), None);
    let chunk = b"y\n".repeat(64 * 1024);
    for _ in 0..1200 {
        collector.take(Stream::Out, &chunk);
        collector.spill().await;
        assert!(collector.spool.pending.capacity() <= 4 * SPOOL && collector.tail.capacity() <= 4 * TAIL);
        assert!(collector.spool.tail.capacity() <= KEPT_TAIL);
    }
    let collected = collector.finish().await;
    assert_eq!(collected.written, 1200 * chunk.len() as u64);
    assert_eq!(collected.kept.unwrap().len(), KEPT_HEAD + KEPT_TAIL as u64);
    assert!(collected.output.len() < HEAD + TAIL + 100);
    let live = shown.0.into_inner().unwrap();
    assert!(String::from_utf8(live).unwrap().contains("bytes not shown live"));
}

/// A build's error stands at the end of what it writes, however much that is.
#[tokio::test]
async fn of_more_than_can_be_kept_the_beginning_and_the_end_are() {
    let (first, last) = (b"the first line.\n".to_vec(), b"error: the end.\n".to_vec());
    let line = b"0123456789abcde\n";
    let most = KEPT_HEAD + KEPT_TAIL as u64;
    for more in [0, 3 << 20] {
        let mut parts = vec![(Stream::Out, first.clone())];
        let between = line.repeat((most + more) as usize / line.len() - 2);
        parts.extend(between.chunks(1 << 20).map(|part| (Stream::Out, part.to_vec())));
        parts.push((Stream::Out, last.clone()));
        let kept = collected(&parts).await.0.kept.unwrap();
        let ends = kept.ends(16, 16).unwrap();
        assert_eq!((ends.head, ends.left_out, ends.tail), (first.clone(), most + more - 32, last.clone()));
        let all = kept.ends(usize::MAX >> 1, usize::MAX >> 1).unwrap();
        assert_eq!((all.left_out, (all.head.len() + all.tail.len()) as u64), (more, most));
        assert!(all.head.starts_with(&first) && [all.head, all.tail].concat().ends_with(&last));
    }
}

#[tokio::test]
async fn cuts_do_not_fall_into_characters() {
    for shift in 0..3 {
        let text = format!("{}{}", "x".repeat(shift), "€".repeat(200_000));
        let (collected, _) = collected(&[(Stream::Out, text.into_bytes())]).await;
        assert!(!collected.output.contains('\u{fffd}'));
    }
}

/// Lines that say where they stand.
fn numbered(bytes: usize) -> Vec<u8> {
    (0..bytes / 16).flat_map(|number| format!("{number:015}\n").into_bytes()).collect()
}

#[tokio::test]
async fn a_disk_that_takes_nothing_leaves_the_ends() {
    let most = KEPT_TAIL;
    for (bytes, is_kept) in [(800_000, true), (most, true), (most + 16, false)] {
        let shown = Shown::default();
        let mut collector = Collector::new(&shown, "/nonexistent/folder".into(), None);
        let text = numbered(bytes);
        for part in text.chunks(1 << 20) {
            collector.take(Stream::Out, part);
            collector.spill().await;
        }
        let collected = collector.finish().await;
        let kept = collected.kept.map(|kept| kept.ends(most, most).unwrap());
        let whole = OutputEnds { head: text, left_out: 0, tail: Vec::new() };
        assert_eq!((kept, collected.truncated), (is_kept.then_some(whole), true));
        assert_eq!(collected.written, bytes as u64);
    }
}

/// F03: what a disk took before it was full is the beginning of what is kept, and the end is kept beside it; neither is
/// taken for the whole where something is missing.
#[test]
fn a_disk_that_fills_up_leaves_the_beginning_and_the_end() {
    const LIMITED: &str = "BOSUN_TEST_FULL_DISK";
    const ROOM: usize = 3 << 20;
    if std::env::var_os(LIMITED).is_none() {
        // A process of its own: the limit would hold for the other tests too.
        let test = "local_shell::output::tests::a_disk_that_fills_up_leaves_the_beginning_and_the_end";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(LIMITED, "1")
            .status();
        return assert!(child.unwrap().success());
    }
    // Files of this process end there, as on a full disk: its writes fail, once a part of them was taken.
    let room = libc::rlimit { rlim_cur: ROOM as libc::rlim_t, rlim_max: ROOM as libc::rlim_t };
    #[allow(unsafe_code, reason = "the only way to a disk that is full for this process alone")]
    // SAFETY: the structure is whole, and a signal that is passed over runs nothing.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const room), 0);
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        // Up to the limit, so far over it that nothing is lost, and further.
        for (bytes, is_whole) in [(ROOM, true), (ROOM + KEPT_TAIL - (2 << 20), true), (40 << 20, false)] {
            let text = numbered(bytes);
            let parts: Vec<_> = text.chunks(64 << 10).map(|part| (Stream::Out, part.to_vec())).collect();
            let collected = collected(&parts).await.0;
            let kept = collected.kept.unwrap();
            let ends = kept.ends(usize::MAX >> 1, usize::MAX >> 1).unwrap();
            assert_eq!((ends.left_out == 0, collected.written), (is_whole, bytes as u64));
            assert_eq!(ends.head.len() as u64 + ends.left_out + ends.tail.len() as u64, bytes as u64);
            assert!(text.starts_with(&ends.head) && text.ends_with(&ends.tail));
            assert!(is_whole || ends.head.len() > ROOM / 2 && ends.tail.len() == KEPT_TAIL);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn one_stream_alone_is_not_touched(parts in proptest::collection::vec("[a\n]{0,9}", 0..12)) {
        let all: Vec<_> = parts.iter().map(|part| (Stream::Out, part.as_str())).collect();
        prop_assert_eq!(woven(&all), parts.concat());
    }

    #[test]
    fn every_line_keeps_its_text_and_its_stream(parts in proptest::collection::vec((any::<bool>(), "[ab]{0,3}\n?"), 0..16)) {
        let all: Vec<_> =
            parts.iter().map(|(err, text)| (if *err { Stream::Err } else { Stream::Out }, text.as_str())).collect();
        let woven = woven(&all);
        let of = |wanted: bool| parts.iter().filter(|(err, _)| *err == wanted).map(|(_, text)| text.as_str()).collect::<String>();
        let (err, out): (Vec<&str>, Vec<&str>) = woven.lines().partition(|line| line.starts_with("[stderr] "));
        let err: Vec<&str> = err.iter().filter_map(|line| line.strip_prefix("[stderr] ")).collect();
        let (all_out, all_err) = (of(false), of(true));
        prop_assert_eq!(out, all_out.lines().collect::<Vec<_>>());
        prop_assert_eq!(err, all_err.lines().collect::<Vec<_>>());
    }
}
