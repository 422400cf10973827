//! How fast a session log is written: chunk events through a coordinator into a file, as fast as it takes them.
//!
//! `cargo run --release --example feed_store -- [EVENTS] [POLICY] [packed|plain] [FILE]`

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use skewlab::session_feed::chunk::{BlockKind, Chunk};
use skewlab::session_feed::event::{Body, Event, Place};
use skewlab::session_feed::store::{Coordinator, FlushPolicy, JsonlStore, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let events: u64 = args.next().map_or(Ok(1_000_000), |n| n.parse())?;
    let policy: FlushPolicy = args.next().as_deref().unwrap_or("window-200ms").parse()?;
    let packed = args.next().is_none_or(|word| word == "packed");
    let unnamed = || std::env::temp_dir().join(format!("feed-store-{}.jsonl", std::process::id()));
    let file = args.next().map_or_else(unnamed, PathBuf::from);

    let mut writer = Coordinator::new(JsonlStore::create(&file, "example", packed)?, policy);
    let began = Instant::now();
    let (mut most, place) = (0, Place { turn: 1, step: 1 });
    for seq in 0..events {
        let now = u64::try_from(began.elapsed().as_millis())?;
        let body = Body::Chunk(place, Chunk::of(BlockKind::Text, 0, "word "));
        writer.offer(Rc::new(Event { seq, time: 1_790_000_000_000 + now, body, cites: None }), now)?;
        most = most.max(writer.pending());
    }
    writer.barrier()?;
    println!("wrote {events} events in {:.2?}, {policy}, packed: {packed}", began.elapsed());
    println!("{:?}; at most {most} events pending", writer.written());
    drop(writer);
    let began = Instant::now();
    println!("loaded {} events in {:.2?}", load(&file)?.stored.events, began.elapsed());
    std::fs::remove_file(&file)?;
    Ok(())
}
