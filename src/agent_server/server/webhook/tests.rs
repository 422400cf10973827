//! The bounds, the timer, the retries, and what each era does differently.

use std::num::NonZeroUsize;

use super::*;
use crate::probe::trace::Origin;
use crate::unit::Seconds;
use crate::wire::{Event, EventBody, Source};

fn traits() -> WebhookTraits {
    WebhookTraits {
        event_buffer_size: NonZeroUsize::new(5).unwrap(),
        flush_delay_s: Seconds::new(30.0).unwrap(),
        num_retries: 3,
        retry_delay_s: Seconds::new(5.0).unwrap(),
        max_queue_size: 1000,
        max_batch_bytes: 5 << 20,
        max_queue_bytes: 50 << 20,
        one_in_flight: true,
        rechecks_after_post: true,
    }
}

fn delta(text: &str) -> Published {
    let body = EventBody::StreamingDelta { content: Some(text.to_owned()), reasoning_content: None };
    let event = Event {
        id: String::new(),
        timestamp: String::new(),
        source: Source::Agent,
        parent_id: None,
        body,
    };
    Published::new(Arc::new(event), Origin::Other, None)
}

fn slow(seconds: u64) -> SinkModel {
    SinkModel { latency: Duration::from_secs(seconds), ..SinkModel::default() }
}

fn webhook(traits: &WebhookTraits, sink: SinkModel) -> Arc<Webhook> {
    let around = Surroundings { clock: Clock::fixed(), costs: Arc::default(), keeps_posts: true };
    Arc::new(Webhook::new(traits, Dialect::CURRENT.webhook(), sink, around))
}

async fn after(traits: WebhookTraits, sink: SinkModel, events: usize, wait: u64) -> WebhookCount {
    let webhook = webhook(&traits, sink);
    for _ in 0..events {
        tokio::spawn({
            let webhook = webhook.clone();
            async move { webhook.deliver(&delta("x")).await }
        });
    }
    sleep(Duration::from_secs(wait)).await;
    webhook.count()
}

#[tokio::test(start_paused = true)]
async fn a_full_buffer_posts_and_the_rest_waits_for_the_timer() {
    let early = after(traits(), SinkModel::default(), 12, 29).await;
    assert_eq!((early.posts, early.events), (2, 10));
    let late = after(traits(), SinkModel::default(), 12, 31).await;
    assert_eq!((late.posts, late.events, late.deltas), (3, 12, 12));
}

#[tokio::test(start_paused = true)]
async fn a_post_for_a_full_buffer_cancels_the_timer() {
    // One event, then four more just before the timer is due, then one: the timer starts anew with it.
    let webhook = webhook(&traits(), SinkModel::default());
    webhook.clone().deliver(&delta("x")).await;
    sleep(Duration::from_secs(29)).await;
    for _ in 0..5 {
        webhook.clone().deliver(&delta("x")).await;
    }
    sleep(Duration::from_secs(5)).await;
    assert_eq!(webhook.count().posts, 1);
    sleep(Duration::from_secs(26)).await;
    assert_eq!(webhook.count().posts, 2);
}

/// Posts and seconds until the last one, for a stream of `n` deltas at `rate` a second.
async fn stream(traits: WebhookTraits, sink: SinkModel, n: u32, rate: u32) -> (u64, u64) {
    let webhook = webhook(&traits, sink);
    let start = tokio::time::Instant::now();
    for i in 0..n {
        tokio::time::sleep_until(start + Duration::from_secs(1) * i / rate).await;
        let webhook = webhook.clone();
        tokio::spawn(async move { webhook.deliver(&delta("x")).await });
    }
    while webhook.count().events < u64::from(n) {
        sleep(Duration::from_millis(100)).await;
    }
    (webhook.count().posts, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_slow_sink_keeps_the_posts_coming_long_after_the_stream() {
    // Measured on 1.43.1: 300 tokens in 6 s, a sink that takes 1 s: 65 posts, the last after 78 s.
    let slow = slow(1);
    let before = WebhookTraits { rechecks_after_post: false, ..traits() };
    let (posts, seconds) = stream(before, slow.clone(), 300, 50).await;
    assert!((60..=66).contains(&posts) && seconds > 60, "{posts} posts, {seconds} s");
    let (posts, _) = stream(traits(), slow, 300, 50).await;
    assert!((60..=66).contains(&posts), "{posts} posts");
}

#[tokio::test(start_paused = true)]
async fn before_the_lock_a_post_takes_the_whole_queue() {
    let old = WebhookTraits { one_in_flight: false, max_batch_bytes: 0, max_queue_bytes: 0, ..traits() };
    let slow = slow(1);
    let (posts, seconds) = stream(old, slow, 300, 50).await;
    assert_eq!((posts, seconds), (60, 7), "posts run side by side");
}

#[tokio::test(start_paused = true)]
async fn a_refusing_sink_is_tried_again_and_nothing_is_lost_within_the_bounds() {
    let refusing = SinkModel { refuse_first: 6, ..SinkModel::default() };
    let count = after(traits(), refusing, 5, 300).await;
    assert_eq!((count.failed_posts, count.posts, count.events, count.dropped), (6, 1, 5, 0));
}

#[tokio::test(start_paused = true)]
async fn the_queue_drops_its_oldest_beyond_its_bounds() {
    let dead = SinkModel { refuse_first: u64::MAX, ..SinkModel::default() };
    let small = WebhookTraits { max_queue_size: 8, ..traits() };
    assert_eq!(after(small, dead.clone(), 20, 40).await.dropped, 12);
    let bytes = WebhookTraits { max_queue_bytes: 1, ..traits() };
    assert_eq!(after(bytes, dead, 20, 40).await.dropped, 20, "one event alone is too much");
}

#[tokio::test(start_paused = true)]
async fn a_body_holds_no_more_bytes_than_it_may() {
    let tiny = WebhookTraits { max_batch_bytes: 1, ..traits() };
    assert_eq!(after(tiny, SinkModel::default(), 5, 40).await.posts, 5);
}
