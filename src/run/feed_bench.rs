//! What a chunk costs a session feed. One thread does everything that is measured; variants take turns in a drawn order,
//! with a second copy of the first among them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::seq::SliceRandom;

use crate::probe::alloc::Allocations;
use crate::probe::cpu::thread_cpu;
use crate::probe::{Cores, NoScratch, Noise, Scratch};
use crate::record::feed_bench::FeedSettings;
use crate::seed::Seed;
use crate::session_feed::agent::Agent;
use crate::session_feed::bus::{ASSISTANT_STREAM, Listener, Payload, SESSION_EVENT, STREAM_CHUNK, Thrown};
use crate::session_feed::chunk::BlockKind;
use crate::session_feed::consumer::Feed;
use crate::session_feed::keeper::Keeper;
use crate::session_feed::play::{BEGINS, SESSION};
use crate::session_feed::store::{Coordinator, FlushPolicy, JsonlStore, LogFile, Memory, Store, StoreError};
use crate::session_feed::{Fault, Harness, Script, Variant};

/// A bench that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FeedBenchError {
    /// The store failed.
    #[error("the store of `{variant}` failed: {source}")]
    Store {
        /// The variant.
        variant: String,
        /// Why.
        source: StoreError,
    },
    /// There is no place for the stores.
    #[error(transparent)]
    Folder(#[from] NoScratch),
    /// Two blocks of the same lane counted differently.
    #[error(
        "`{variant}` with {listeners} listeners counted {what} differently in two blocks: the bench is at fault"
    )]
    Uneven {
        /// The variant.
        variant: String,
        /// Listeners.
        listeners: u32,
        /// What was counted.
        what: &'static str,
    },
}

/// One block: exact counts, and what the clocks said.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Block {
    /// Public emits.
    pub dispatches: u64,
    /// Calls of listeners.
    pub callbacks: u64,
    /// Bytes in the store.
    pub bytes: u64,
    /// Syncs.
    pub fsyncs: u64,
    /// Allocations.
    pub allocations: u64,
    /// Heap bytes held at the end.
    pub held: i64,
    /// CPU of the thread.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
}

/// The blocks of one variant with so many listeners.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// Its place among the variants asked for; the copy of the first has none.
    pub variant: Option<usize>,
    /// Plain listeners.
    pub listeners: u32,
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// Everything that was measured.
#[derive(Debug)]
pub struct Measured {
    /// The lanes: variants by listeners, then the copies.
    pub lanes: Vec<Lane>,
    /// UTF-8 bytes of text in a block.
    pub text_bytes: u64,
    /// Chunks in a block.
    pub chunks: u64,
    /// Whether nobody stopped it.
    pub complete: bool,
    /// What the machine was worth.
    pub noise: Option<f64>,
}

/// Measures every lane `repeats` times, in a drawn order each time.
pub fn measure(
    settings: &FeedSettings,
    variants: &[Variant],
    policy: FlushPolicy,
    stop: &AtomicBool,
    progress: &dyn Fn(usize, usize),
) -> Result<Measured, FeedBenchError> {
    let script = script(settings);
    let text: usize = script.chunks().filter_map(|c| c.delta()).map(|(_, _, text)| text.len()).sum();
    let chunks = script.chunks().count() as u64;
    let folder = (settings.store == "disk").then(|| Scratch::new("feed")).transpose()?;
    let folder = folder.as_ref();
    let mut lanes: Vec<Lane> = Vec::new();
    for listeners in &settings.listeners {
        let of = (0..variants.len()).map(Some).chain([None]);
        lanes.extend(of.map(|variant| Lane { variant, listeners: *listeners, blocks: Vec::new() }));
    }
    let mut rng = Seed(settings.seed).derive("order").rng();
    let mut noise = Noise::with_room(1024);
    let cores = Cores::split();
    let _one = cores.as_ref().map(Cores::take_one);
    let total = lanes.len() * settings.repeats as usize;
    let mut complete = true;
    // A first session of each variant warms what the others would pay for.
    for variant in variants {
        block(settings, variant, 0, policy, &script, folder)?;
    }
    'rounds: for round in 0..settings.repeats as usize {
        let mut order: Vec<usize> = (0..lanes.len()).collect();
        order.shuffle(&mut rng);
        for (nth, at) in order.into_iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                complete = false;
                break 'rounds;
            }
            noise.sample();
            let (variant, listeners) = (&variants[lanes[at].variant.unwrap_or(0)], lanes[at].listeners);
            let block = block(settings, variant, listeners, policy, &script, folder)?;
            if let Some(what) = lanes[at].blocks.first().and_then(|first| uneven(first, &block)) {
                return Err(FeedBenchError::Uneven { variant: variant.name.clone(), listeners, what });
            }
            lanes[at].blocks.push(block);
            progress(round * lanes.len() + nth + 1, total);
        }
    }
    Ok(Measured { lanes, text_bytes: text as u64, chunks, complete, noise: noise.score() })
}

/// Which exact count differs between two blocks of one lane. Allocations may: the file system's answers are not ours.
fn uneven(one: &Block, other: &Block) -> Option<&'static str> {
    let pairs = [
        ("dispatches", one.dispatches, other.dispatches),
        ("callbacks", one.callbacks, other.callbacks),
        ("bytes", one.bytes, other.bytes),
        ("syncs", one.fsyncs, other.fsyncs),
    ];
    pairs.into_iter().find(|(_, a, b)| a != b).map(|(what, ..)| what)
}

/// One session, one reply: as many chunks as asked for, in deltas of the payload's length.
fn script(settings: &FeedSettings) -> Script {
    let word: String = "abcdefgh".chars().cycle().take(settings.payload as usize).collect();
    // Block start and end, usage and finish are chunks too.
    let deltas = settings.chunks.saturating_sub(4).max(1);
    let pieces: Vec<(BlockKind, &str)> = (0..deltas).map(|_| (BlockKind::Text, word.as_str())).collect();
    Script::of("go", &pieces, settings.rate)
}

/// Hears and forgets, like a subscriber that filters.
struct Plain(Cell<u64>);

impl Listener for Plain {
    fn hear(&self, _: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        self.0.set(self.0.get() + u64::from(what.chunk().is_some()));
        Ok(())
    }
}

fn block(
    settings: &FeedSettings,
    variant: &Variant,
    listeners: u32,
    policy: FlushPolicy,
    script: &Script,
    folder: Option<&Scratch>,
) -> Result<Block, FeedBenchError> {
    let failed = |source| FeedBenchError::Store { variant: variant.name.clone(), source };
    match folder {
        None => {
            let store = JsonlStore::new(Memory::default(), SESSION, settings.packed);
            session(store, variant, listeners, policy, script).map_err(failed)
        }
        Some(folder) => {
            let path = folder.path().join("session.jsonl");
            let _ = std::fs::remove_file(&path);
            let store = JsonlStore::<LogFile>::create(&path, SESSION, settings.packed).map_err(failed)?;
            session(store, variant, listeners, policy, script).map_err(failed)
        }
    }
}

fn session<S: Store + 'static>(
    store: S,
    variant: &Variant,
    listeners: u32,
    policy: FlushPolicy,
    script: &Script,
) -> Result<Block, StoreError> {
    let traits = variant.traits();
    let (allocations, cpu, wall) = (Allocations::here(), thread_cpu(), Instant::now());
    let harness = Harness::new(traits.bus.clone(), BEGINS, false);
    let id = harness.open(Vec::new());
    let keeper = Keeper::new(id, Coordinator::new(store, policy));
    harness.on(SESSION_EVENT, keeper.clone());
    harness.add_timed(keeper.clone());
    let followed = if Feed::Log.streams(traits) {
        Feed::Log
    } else if Feed::Chunks.streams(traits) {
        Feed::Chunks
    } else {
        Feed::Frames
    };
    (0..listeners).for_each(|_| harness.on(followed.event(), Rc::new(Plain(Cell::new(0)))));
    // Beside the log, the live feed has the one listener that it had: the throwaway renderer.
    for (feed, name) in [(Feed::Chunks, STREAM_CHUNK), (Feed::Frames, ASSISTANT_STREAM)] {
        if followed == Feed::Log && feed.streams(traits) {
            harness.on(name, Rc::new(Plain(Cell::new(0))));
        }
    }
    Agent::new(&harness, id, traits, Fault::None, script.rate, None).play(script);
    harness.settle();
    keeper.close();
    if let Some(error) = keeper.take_failure() {
        return Err(error);
    }
    let (cpu, wall) = (thread_cpu().saturating_sub(cpu), wall.elapsed());
    let spent = Allocations::here().since(&allocations);
    let (counts, written) = (harness.bus().counts(), keeper.with(Coordinator::written));
    Ok(Block {
        dispatches: counts.dispatches,
        callbacks: counts.callbacks,
        bytes: written.bytes,
        fsyncs: written.fsyncs,
        allocations: spent.count,
        held: spent.live_bytes,
        cpu,
        wall,
    })
}
