use bosun_protocol::SessionStatus;
use pretty_assertions::assert_eq;

use super::*;
use crate::herald;

/// A window that was asked to close, with something at work, and when the page was given the question.
fn asked() -> (Closing, Instant) {
    let (closing, now) = (Closing::default(), Instant::now());
    assert_eq!(closing.requested(now), Request::New);
    closing.looked(true, now);
    assert_eq!(*closing.stand(), Stand::Asked { since: now, shown: false });
    (closing, now)
}

fn stand(closing: &Closing) -> Stand {
    *closing.stand()
}

#[test]
fn without_anything_at_work_it_closes_and_is_not_asked_about() {
    let (closing, now) = (Closing::default(), Instant::now());
    assert_eq!(closing.requested(now), Request::New);
    closing.looked(false, now);
    assert_eq!(stand(&closing), Stand::Ending);
    assert_eq!(closing.requested(now), Request::Taken, "it is about to end");
}

#[test]
fn each_answer_leads_where_it_says() {
    let answers = [
        (CloseChoice::Stay, Stand::Open),
        (CloseChoice::WhenDone, Stand::Hidden),
        (CloseChoice::Stop, Stand::Stopping),
    ];
    for (answer, wanted) in answers {
        let (closing, _) = asked();
        closing.shown();
        closing.answered(answer);
        assert_eq!(stand(&closing), wanted);
    }
    let (closing, now) = asked();
    closing.answered(CloseChoice::Stay);
    assert_eq!(closing.requested(now), Request::New, "the next request asks anew");
}

#[test]
fn an_answer_to_nothing_means_nothing() {
    let closing = Closing::default();
    for choice in [CloseChoice::Stop, CloseChoice::WhenDone] {
        closing.shown();
        closing.answered(choice);
        closing.confirmed(choice);
        closing.done();
        closing.came_back();
        closing.looked(false, Instant::now());
        assert_eq!(stand(&closing), Stand::Open);
    }
}

#[test]
fn a_page_that_does_not_ask_gives_way_to_the_dialog_of_the_system() {
    let (closing, _) = asked();
    closing.not_shown();
    assert_eq!(stand(&closing), Stand::Dialog);
    closing.answered(CloseChoice::WhenDone);
    assert_eq!(stand(&closing), Stand::Dialog, "one question at a time");
    closing.confirmed(CloseChoice::Stop);
    assert_eq!(stand(&closing), Stand::Stopping);
    closing.done();
    assert_eq!(stand(&closing), Stand::Ending);

    let (closing, _) = asked();
    closing.shown();
    closing.not_shown();
    assert!(matches!(stand(&closing), Stand::Asked { shown: true, .. }), "it is shown");
}

#[test]
fn a_second_request_gives_way_to_the_dialog_but_a_double_click_does_not() {
    let (closing, now) = asked();
    closing.shown();
    assert_eq!(closing.requested(now + DOUBLE_CLICK / 2), Request::Taken);
    assert!(matches!(stand(&closing), Stand::Asked { .. }));
    assert_eq!(closing.requested(now + DOUBLE_CLICK * 2), Request::Taken);
    assert_eq!(stand(&closing), Stand::Dialog);
    assert_eq!(closing.requested(now + DOUBLE_CLICK * 4), Request::Taken, "it is asked already");
    assert_eq!(stand(&closing), Stand::Dialog);
}

#[test]
fn an_app_that_does_not_answer_is_closed_with_a_second_request() {
    let (closing, now) = (Closing::default(), Instant::now());
    assert_eq!(closing.requested(now), Request::New);
    assert_eq!(closing.requested(now + PATIENCE), Request::Taken);
    assert_eq!(closing.requested(now + PATIENCE * 3), Request::Unheard);
}

#[test]
fn a_page_that_begins_anew_asks_nothing_and_a_window_that_is_back_stays() {
    let (closing, now) = asked();
    closing.shown();
    closing.page_begins();
    assert_eq!(stand(&closing), Stand::Open);

    let (closing, _) = asked();
    closing.answered(CloseChoice::WhenDone);
    closing.page_begins();
    assert!(closing.is_hidden(), "its page is not looked at");
    closing.came_back();
    assert_eq!(stand(&closing), Stand::Open);
    closing.done();
    assert_eq!(stand(&closing), Stand::Open, "it was too late");
    assert_eq!(closing.requested(now), Request::New);
}

#[test]
fn whoever_comes_back_has_the_window_until_it_stops_what_is_at_work() {
    let (closing, now) = (Closing::default(), Instant::now());
    closing.requested(now);
    assert!(closing.came_back());
    closing.looked(false, now);
    assert_eq!(stand(&closing), Stand::Open, "it was only looked what is at work");
    let (closing, _) = asked();
    assert!(closing.came_back());
    closing.answered(CloseChoice::Stop);
    assert!(!closing.came_back());
    closing.done();
    assert!(!closing.came_back());
    let closing = Closing::default();
    closing.ends();
    assert!(!closing.came_back());
}

#[test]
fn out_of_sight_it_waits_for_what_was_at_work_and_for_what_that_asks() {
    let session = |id: &str| SessionSummary { id: id.into(), ..herald::tests::session(SessionStatus::Running, 0) };
    let asks = |who: &'static str| move |session: &SessionId| session.as_str() == who;
    let (nobody, a) = (HashSet::new(), HashSet::from(["a".into()]));
    let mut awaited = Awaited::default();
    assert_eq!(awaited.rest(&[session("a")], asks("-"), &nobody), Rest::Works);
    assert_eq!(awaited.rest(&[session("b")], asks("-"), &nobody), Rest::Works);
    assert_eq!(awaited.rest(&[], asks("-"), &nobody), Rest::Works, "the next of the queue may begin");
    assert_eq!(awaited.rest(&[session("a")], asks("-"), &nobody), Rest::Works);
    assert_eq!(awaited.rest(&[], asks("a"), &nobody), Rest::Works);
    for _ in 0..LOOKS * 2 {
        assert_eq!(awaited.rest(&[], asks("a"), &nobody), Rest::WaitsUntold, "it was at work and asks now");
        assert_eq!(awaited.rest(&[], asks("a"), &a), Rest::WaitsTold);
    }
    assert_eq!(awaited.rest(&[session("a")], asks("a"), &nobody), Rest::Works);
    assert_eq!(awaited.rest(&[], asks("c"), &nobody), Rest::Works);
    assert_eq!(awaited.rest(&[], asks("c"), &nobody), Rest::Over, "that one waited before");
}
