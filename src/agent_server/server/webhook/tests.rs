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
    let event =
        Event { id: text.to_owned(), timestamp: String::new(), source: Source::Agent, parent_id: None, body };
    Published::new(Arc::new(event), Origin::Other, None)
}

fn slow(seconds: u64) -> SinkModel {
    SinkModel { latency: Duration::from_secs(seconds), ..SinkModel::default() }
}

fn webhook(traits: &WebhookTraits, sink: SinkModel) -> Arc<Webhook> {
    with_faults(traits, sink, &Arc::default())
}

fn with_faults(traits: &WebhookTraits, sink: SinkModel, faults: &Arc<StreamFaults>) -> Arc<Webhook> {
    let (clock, costs, faults) = (Clock::fixed(), Arc::default(), faults.clone());
    let around = Surroundings { clock, costs, faults, keeps_posts: true };
    Arc::new(Webhook::new(traits, Dialect::CURRENT.webhook(), sink, around))
}

/// The ids of the events that the sink took, in order.
fn taken(webhook: &Webhook) -> Vec<String> {
    let posts = webhook.posts().into_iter().filter(|p| p.accepted);
    posts.flat_map(|p| p.events).map(|e| e.id).collect()
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

/// The era before 1.40.1: no lock, no byte bounds.
fn unlocked() -> WebhookTraits {
    WebhookTraits {
        one_in_flight: false,
        rechecks_after_post: false,
        max_batch_bytes: 0,
        max_queue_bytes: 0,
        ..traits()
    }
}

/// 1.40.1 to 1.55.1.
fn locked() -> WebhookTraits {
    WebhookTraits { rechecks_after_post: false, ..traits() }
}

async fn send(webhook: &Arc<Webhook>, events: usize) {
    for _ in 0..events {
        let webhook = webhook.clone();
        tokio::spawn(async move { webhook.deliver(&delta("x")).await });
    }
    tokio::task::yield_now().await;
}

/// One event, whose timer posts it to a slow sink; in the middle of that post a buffer fills.
async fn filled_during_the_timers_post(traits: &WebhookTraits) -> WebhookCount {
    let webhook = webhook(traits, slow(10));
    send(&webhook, 1).await;
    sleep(Duration::from_secs(35)).await;
    send(&webhook, 5).await;
    sleep(Duration::from_mins(5)).await;
    webhook.count()
}

#[tokio::test(start_paused = true)]
async fn before_the_lock_a_full_buffer_breaks_the_timers_post_off_and_its_events_are_lost() {
    let old = filled_during_the_timers_post(&unlocked()).await;
    assert_eq!((old.events, old.dropped, old.failed_posts), (5, 1, 0), "read in 1.21.0 and 1.40.0");
    for traits in [locked(), traits()] {
        let new = filled_during_the_timers_post(&traits).await;
        assert_eq!((new.events, new.dropped), (6, 0), "a full buffer leaves a locked post alone");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_only_waits_is_cancelled_without_a_loss_in_every_era() {
    for traits in [unlocked(), locked(), traits()] {
        let webhook = webhook(&traits, SinkModel::default());
        send(&webhook, 1).await;
        sleep(Duration::from_secs(29)).await;
        send(&webhook, 4).await;
        sleep(Duration::from_mins(1)).await;
        assert_eq!((webhook.count().posts, webhook.count().events, webhook.count().dropped), (1, 5, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn closing_breaks_the_timers_post_off_in_every_era() {
    for traits in [unlocked(), locked(), traits()] {
        let webhook = webhook(&traits, slow(10));
        send(&webhook, 2).await;
        sleep(Duration::from_secs(35)).await;
        send(&webhook, 1).await;
        webhook.close().await;
        assert_eq!((webhook.count().events, webhook.count().dropped), (1, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_close_no_timer_starts_from_1_40_1_on() {
    for (traits, posted) in [(unlocked(), 1), (locked(), 0), (traits(), 0)] {
        let webhook = webhook(&traits, SinkModel::default());
        webhook.close().await;
        send(&webhook, 1).await;
        sleep(Duration::from_mins(1)).await;
        assert_eq!(webhook.count().events, posted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_post_of_a_full_buffer_waits_for_the_next_event_until_1_56_0() {
    // Four attempts, 5 s apart, are over at 15 s; the fifth would be taken.
    let refusing = SinkModel { refuse_first: 4, ..SinkModel::default() };
    for (traits, alone) in [(unlocked(), 0), (locked(), 0), (traits(), 5)] {
        let webhook = webhook(&traits, refusing.clone());
        send(&webhook, 5).await;
        sleep(Duration::from_mins(10)).await;
        assert_eq!((webhook.count().events, webhook.count().failed_posts), (alone, 4));
        send(&webhook, 1).await;
        sleep(Duration::from_mins(1)).await;
        assert_eq!((webhook.count().events, webhook.count().dropped), (6, 0), "nothing is lost, only late");
    }
}

#[tokio::test(start_paused = true)]
async fn what_failed_comes_first_again_from_1_40_1_on_and_last_before() {
    // The first body fails for good while six more events arrive.
    let refusing = SinkModel { refuse_first: 1, latency: Duration::from_secs(1), ..SinkModel::default() };
    let once = |traits| WebhookTraits { num_retries: 0, ..traits };
    for (traits, first) in [(once(locked()), ["a"; 5]), (once(unlocked()), ["b"; 5])] {
        let webhook = webhook(&traits, refusing.clone());
        for (text, events) in [("a", 5), ("b", 6)] {
            for _ in 0..events {
                let webhook = webhook.clone();
                tokio::spawn(async move { webhook.deliver(&delta(text)).await });
            }
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_mins(2)).await;
        let posted = taken(&webhook);
        assert_eq!(posted[..5], first, "{posted:?}");
        assert_eq!(posted.len(), 11);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_ends_and_a_sink_that_is_too_slow_never_answers() {
    let out = SinkModel { fails_between: Some(toml_outage("[0, 12]")), ..SinkModel::default() };
    let count = after(traits(), out, 5, 300).await;
    assert_eq!((count.failed_posts, count.posts, count.events), (3, 1, 5), "at 0, 5 and 10 s");
    let count = after(WebhookTraits { num_retries: 0, ..locked() }, slow(31), 5, 29).await;
    assert_eq!((count.failed_posts, count.posts), (0, 0), "given up at 30 s, not before");
    let count = after(WebhookTraits { num_retries: 0, ..locked() }, slow(31), 5, 31).await;
    assert_eq!((count.failed_posts, count.posts), (1, 0));
}

fn toml_outage(text: &str) -> Outage {
    #[derive(serde::Deserialize)]
    struct Table {
        outage: Outage,
    }
    toml::from_str::<Table>(&format!("outage = {text}")).unwrap().outage
}

#[tokio::test(start_paused = true)]
async fn the_oldest_go_and_the_newest_stay() {
    let dead = SinkModel { fails_between: Some(toml_outage("[0, 100]")), ..SinkModel::default() };
    let small =
        WebhookTraits { max_queue_size: 3, event_buffer_size: NonZeroUsize::new(9).unwrap(), ..traits() };
    let webhook = webhook(&small, dead);
    for text in ["a", "b", "c", "d", "e"] {
        webhook.clone().deliver(&delta(text)).await;
    }
    sleep(Duration::from_secs(200)).await;
    assert_eq!((taken(&webhook), webhook.count().dropped), (["c", "d", "e"].map(str::to_owned).to_vec(), 2));
}

/// Before 1.22.0 nothing bounds the queue; from there to 1.40.0 a failed post does, and only that.
#[tokio::test(start_paused = true)]
async fn before_1_40_1_the_queue_is_bounded_by_a_failed_post_alone() {
    let dead = SinkModel { refuse_first: u64::MAX, ..SinkModel::default() };
    let of = |most| WebhookTraits { max_queue_size: most, num_retries: 0, ..unlocked() };
    assert_eq!(after(of(0), dead.clone(), 20, 40).await.dropped, 0);
    assert_eq!(after(of(8), dead, 20, 40).await.dropped, 12);
    assert_eq!(after(of(8), SinkModel::default(), 4, 20).await.dropped, 0);
}

/// Seconds at which the posts of 300 deltas in 6 s arrived, when the sink takes a second from `from` on for `lasts` seconds.
async fn slow_from(from: u64, lasts: Option<u64>) -> (Vec<u64>, Arc<StreamFaults>) {
    let faults = Arc::<StreamFaults>::default();
    let webhook = with_faults(&traits(), SinkModel::default(), &faults);
    let start = tokio::time::Instant::now();
    for i in 0..300 {
        let at = start + Duration::from_millis(20) * i;
        tokio::time::sleep_until(at).await;
        if Duration::from_secs(from) == at - start {
            faults.slow_sink(3, Duration::from_secs(1), lasts.map(Duration::from_secs));
        }
        let webhook = webhook.clone();
        tokio::spawn(async move { webhook.deliver(&delta("x")).await });
    }
    sleep(Duration::from_secs(200)).await;
    assert_eq!((webhook.count().events, webhook.count().dropped), (300, 0));
    (webhook.posts().iter().map(|post| post.at.as_secs()).collect(), faults)
}

#[tokio::test(start_paused = true)]
async fn a_sink_may_become_slow_while_it_is_posted_to_and_quick_again() {
    let (start, faults) = slow_from(0, None).await;
    assert_eq!(faults.fired().into_iter().collect::<Vec<_>>(), [3]);
    let (later, _) = slow_from(3, None).await;
    let (a_while, _) = slow_from(3, Some(2)).await;
    let within =
        |posts: &[u64], seconds: std::ops::Range<u64>| posts.iter().filter(|at| seconds.contains(at)).count();
    // Fifty deltas a second are ten posts, and one where each takes its second.
    assert_eq!((within(&start, 0..3), within(&later, 0..3)), (3, 30));
    assert_eq!((within(&later, 4..6), within(&a_while, 4..5)), (2, 1));
    assert!(within(&a_while, 5..7) > 15, "what was held up goes out: {a_while:?}");
    assert!(start.last() > later.last());
    assert_eq!(within(&a_while, 8..30), 0, "nothing waits any more: {a_while:?}");
    assert!(within(&later, 8..30) > 20);
}
