use std::sync::Arc;

use serde_json::{Value, json};
use tauri::ipc::InvokeResponseBody;
use tokio::sync::mpsc;
use tokio::time::{Instant, advance};

use super::*;

/// Numbers, drained as the session's stream is.
struct Numbers(mpsc::UnboundedReceiver<u32>);

impl Feed for Numbers {
    type Message = Vec<u32>;

    async fn next(&mut self) -> Option<Vec<u32>> {
        let mut batch = vec![self.0.recv().await?];
        while let Ok(next) = self.0.try_recv() {
            batch.push(next);
        }
        Some(batch)
    }
}

/// What arrived over a channel, and when.
type Arrived = Arc<Mutex<Vec<(Instant, Value)>>>;

fn channel(arrived: &Arrived) -> Channel<Vec<u32>> {
    let arrived = Arc::clone(arrived);
    Channel::new(move |body| {
        let InvokeResponseBody::Json(text) = body else { panic!("not JSON") };
        arrived.lock().unwrap().push((Instant::now(), serde_json::from_str(&text).unwrap()));
        Ok(())
    })
}

fn values(arrived: &Arrived) -> Vec<Value> {
    arrived.lock().unwrap().iter().map(|(_, value)| value.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_flood_becomes_one_array_per_frame_and_nothing_is_lost() {
    let (forwarders, arrived, (sender, receiver)) =
        (Forwarders::default(), Arrived::default(), mpsc::unbounded_channel());
    forwarders.start(Numbers(receiver), channel(&arrived), None).unwrap();
    for number in 0..1_000 {
        sender.send(number).unwrap();
        advance(Duration::from_micros(100)).await;
    }
    drop(sender);
    forwarders.tasks.close();
    forwarders.tasks.wait().await;
    let times: Vec<Instant> = arrived.lock().unwrap().iter().map(|(at, _)| *at).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= FRAME), "{times:?}");
    assert!(times.len() <= 9, "{} messages in 100 ms", times.len());
    let all: Vec<Value> = values(&arrived).into_iter().flat_map(|batch| batch.as_array().unwrap().clone()).collect();
    assert_eq!(all, (0..1_000).map(|number| json!(number)).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_first_event_after_a_pause_does_not_wait() {
    let (forwarders, arrived, (sender, receiver)) =
        (Forwarders::default(), Arrived::default(), mpsc::unbounded_channel());
    forwarders.start(Numbers(receiver), channel(&arrived), None).unwrap();
    advance(Duration::from_secs(1)).await;
    let sent = Instant::now();
    sender.send(7).unwrap();
    tokio::task::yield_now().await;
    assert_eq!(*arrived.lock().unwrap(), [(sent, json!([7]))]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_subscription_sends_nothing_more_and_lets_its_source_go() {
    let (forwarders, arrived, (sender, receiver)) =
        (Forwarders::default(), Arrived::default(), mpsc::unbounded_channel());
    let channel = channel(&arrived);
    let number = channel.id();
    forwarders.start(Numbers(receiver), channel, Some("s".into())).unwrap();
    tokio::task::yield_now().await;
    assert!(forwarders.shows(&"s".into()) && !forwarders.shows(&"another".into()));
    forwarders.stop(number);
    forwarders.stop(number);
    assert!(!forwarders.shows(&"s".into()), "a notice about it would be read by nobody else");
    sender.closed().await;
    assert_eq!(values(&arrived), [json!(null); 0]);
}

#[tokio::test(start_paused = true)]
async fn a_new_page_ends_all_and_the_number_of_subscriptions_is_bounded() {
    let (forwarders, arrived) = (Forwarders::default(), Arrived::default());
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..MOST).map(|_| mpsc::unbounded_channel()).unzip();
    for receiver in receivers {
        forwarders.start(Numbers(receiver), channel(&arrived), None).unwrap();
    }
    let one_more = forwarders.start(Numbers(mpsc::unbounded_channel().1), channel(&arrived), None);
    assert_eq!(one_more.unwrap_err().0.code, ErrorCode::Invalid);
    forwarders.stop_all();
    for sender in senders {
        sender.closed().await;
    }
    forwarders.start(Numbers(mpsc::unbounded_channel().1), channel(&arrived), None).unwrap();
    forwarders.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_gone_ends_its_subscription() {
    let (forwarders, (sender, receiver)) = (Forwarders::default(), mpsc::unbounded_channel());
    forwarders.start(Numbers(receiver), Channel::new(|_| Err(tauri::Error::WebviewNotFound)), None).unwrap();
    sender.send(1).unwrap();
    sender.closed().await;
}
