//! `skewlab bench fanout`: what a token costs, and what another bus changes.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args as ClapArgs, ValueEnum};

use super::against::{self, Against};
use super::args::Format;
use super::error::CliError;
use super::shown::show_and_keep;
use super::{interrupt, plan};
use crate::agent_server::profile::server::{BusKind, DeltaClass, Encoding};
use crate::agent_server::profile::{Catalogue, Profile, ServerTraits};
use crate::judge::ExitCode;
use crate::record::bench::{Bench, Delivery, Settings};
use crate::record::interleaved::Interleaved;
use crate::report;
use crate::run::fanout::{GeneratorMutant, Options, Progress, Subject};
use crate::suite;
use crate::suite::against::Question;
use crate::swarm::Conduct;

/// Measure what a token costs a server: CPU, allocations, bytes and side effects, by bus and subscribers
#[derive(Debug, ClapArgs)]
pub(super) struct FanOut {
    /// Paths of a delta to compare; the first is what the others are compared with
    #[arg(long, value_enum, value_name = "BUS", value_delimiter = ',', num_args = 1..,
          default_values = ["shared", "opt-in", "widened", "split"])]
    bus: Vec<Bus>,
    /// Who turns a delta into JSON: each subscriber, as released servers do, or the first one for all
    #[arg(long, value_enum, value_name = "ENCODING", value_delimiter = ',', num_args = 1..,
          default_values = ["per-subscriber", "once"])]
    encoding: Vec<EncodingArg>,
    /// Numbers of subscribers
    #[arg(long, value_name = "N", value_delimiter = ',', num_args = 1.., allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(0..=50_000),
          default_values = ["0", "1", "10", "50", "200", "1000"])]
    subscribers: Vec<u32>,
    /// Chunks of the model in a block; a block is what is timed
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    tokens: u32,
    /// Bytes of text in a chunk; it is never shorter than its number
    #[arg(long, value_name = "BYTES", default_value_t = 16, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    payload: u32,
    /// Tokens of the model in a chunk
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: u32,
    /// Chunks a second, come what may [default: flat out]
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = rate)]
    rate: Option<f64>,
    /// Blocks of each server at each number of subscribers; fewer than 5 allow no claim [default: 7, and 15 where two are
    /// measured against each other]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: Option<u32>,
    /// The server whose other traits all of them have
    #[arg(long, value_name = "NAME", default_value = "1.58.2")]
    server: String,
    /// Measure this server against another one, each as it is, in turn: the one named here is what --server is held against
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bus", "encoding", "against"])]
    against_server: Option<String>,
    #[command(flatten)]
    against: Against,
    /// Leave out the reference, a thread that does nothing but write the same bytes
    #[arg(long)]
    no_reference: bool,
    /// Seed of ids, order and resampling
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write bench.json into this folder, or the file itself if the name ends in .json
    #[arg(long, value_name = "DIR|FILE.json")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Further subscribers of each server that never read; what is written to them is billed to the server
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(0..=10_000))]
    stalled: u32,
    /// A deliberate fault, to see that it is seen: the generator stands still for so many milliseconds in each block
    #[arg(long, hide = true, value_name = "MS", conflicts_with = "mutant_closed")]
    mutant_stall: Option<u32>,
    /// The same, and it then forgets that it is late
    #[arg(long, hide = true, value_name = "MS")]
    mutant_closed: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bus {
    /// One bus, everybody gets every delta (to 1.44.0)
    Shared,
    /// One bus, deltas only to those who ask (1.44.1)
    OptIn,
    /// One bus, typed wider than `Event` (stage A alone)
    Widened,
    /// A bus of its own (stage B)
    Split,
}

impl From<Bus> for BusKind {
    fn from(bus: Bus) -> BusKind {
        match bus {
            Bus::Shared => BusKind::Shared,
            Bus::OptIn => BusKind::OptIn,
            Bus::Widened => BusKind::Widened,
            Bus::Split => BusKind::Split,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EncodingArg {
    PerSubscriber,
    Once,
}

impl From<EncodingArg> for Encoding {
    fn from(encoding: EncodingArg) -> Encoding {
        match encoding {
            EncodingArg::PerSubscriber => Encoding::PerSubscriber,
            EncodingArg::Once => Encoding::Once,
        }
    }
}

/// The slowest rate: a chunk in 1000 s.
const SLOWEST: f64 = 1e-3;

/// A rate that means something: above 0, no faster than a clock can tell, and no slower than anybody waits.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (SLOWEST..=1e6).contains(&rate) => Ok(rate),
        _ => Err("expected chunks a second, a number above 0, from 0.001 to 1000000".to_owned()),
    }
}

pub(super) fn run(args: &FanOut) -> Result<ExitCode, CliError> {
    let catalogue = plan::catalogue(args.profiles.as_ref())?;
    let base = catalogue.server(&args.server)?;
    if base.traits.delta.class == DeltaClass::Withdrawn {
        return Err(CliError::Usage(format!(
            "--server {}: it publishes no deltas, so a token costs nothing",
            args.server
        )));
    }
    let mut subjects = Vec::new();
    for encoding in distinct(&args.encoding) {
        subjects.extend(distinct(&args.bus).map(|bus| Subject::of(&base, bus.into(), encoding.into())));
    }
    let in_turns = args.against_server.is_some() || args.against.against.is_some();
    let mut subscribers = args.subscribers.clone();
    subscribers.sort_unstable();
    subscribers.dedup();
    let settings = Settings {
        server: base.release_name.clone(),
        subscribers,
        tokens: args.tokens,
        payload_bytes: args.payload,
        batch: args.batch,
        rate: args.rate,
        repeats: args.repeats.unwrap_or(if in_turns { against::BLOCKS } else { 7 }),
        stalled: args.stalled,
        seed: args.seed,
    };
    if args.stalled > 0 && settings.subscribers.contains(&0) {
        return Err(CliError::Usage(
            "--stalled: with nobody who reads, nobody can say when a block is over; leave 0 out of --subscribers"
                .to_owned(),
        ));
    }
    let name = if in_turns { "interleaved.json" } else { "bench.json" };
    let out = args.out.as_deref().map(|out| file(out, name));
    if let Some(file) = &out {
        if file.is_dir() {
            let message = format!(
                "--out {}: it is a folder; a name that ends in .json is that of a file",
                file.display()
            );
            return Err(CliError::Usage(message));
        }
        // Better to know before the work than after it.
        let dir = file.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
        report::writable(dir).map_err(|e| CliError::Usage(e.to_string()))?;
    }
    let millis = |ms: u32| Duration::from_millis(ms.into());
    let stall = args.mutant_stall.map(|ms| GeneratorMutant::Stall(millis(ms)));
    let mutant = stall.or(args.mutant_closed.map(|ms| GeneratorMutant::Closed(millis(ms))));
    let unhealthy = vec![Conduct::Stalled; args.stalled as usize];
    let options = Options { subjects, settings, reference: !args.no_reference, unhealthy, mutant };
    let stop = interrupt::flag();
    if let Some(program) = &args.against.against {
        let (rounds, limits) = (options.settings.repeats, (args.against.smallest_effect, args.seed));
        let result = against::other_build(program, &one_block(args), rounds, limits, &stop)?;
        return against::conclude(&result, out.as_deref(), args.format);
    }
    if let Some(other) = &args.against_server {
        let result = in_turn(&catalogue, &base, other, options, args, &stop)?;
        return against::conclude(&result, out.as_deref(), args.format);
    }
    let bench = suite::fan_out(&options, &stop, &progress)?;
    clear();
    show_and_keep(&bench, out.as_deref(), args.format, report::bench_json, report::bench_table)?;
    Ok(code(&bench))
}

/// The server, held against another one.
fn in_turn(
    catalogue: &Catalogue,
    head: &Profile<ServerTraits>,
    other: &str,
    options: Options,
    args: &FanOut,
    stop: &AtomicBool,
) -> Result<Interleaved, CliError> {
    let base = catalogue.server(other)?;
    if base.traits.delta.class == DeltaClass::Withdrawn {
        let why = format!("--against-server {other}: it publishes no deltas, so a token costs nothing");
        return Err(CliError::Usage(why));
    }
    // Two servers may have the same bus; here they go by their places.
    let subject = |profile: &Profile<ServerTraits>, place: &str| {
        let subject = Subject::server(profile.clone());
        Subject { bus: place.to_owned(), ..subject }
    };
    let question = Question {
        base: format!("server {}", base.release_name),
        head: format!("server {}", head.release_name),
        smallest_effect: args.against.smallest_effect,
        seed: args.seed,
    };
    let subjects = vec![subject(&base, "base"), subject(head, "head")];
    let options = Options { subjects, reference: false, ..options };
    let result = suite::against::servers(&question, &options, stop, &progress);
    clear();
    Ok(result?)
}

/// The same bench with one block a point, printed as JSON: what both builds are asked.
fn one_block(args: &FanOut) -> Vec<OsString> {
    let words = |values: Vec<Option<PossibleValue>>| {
        let names = values.into_iter().flatten().map(|value| value.get_name().to_owned());
        names.collect::<Vec<_>>().join(",")
    };
    let numbers = args.subscribers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut all: Vec<OsString> = ["bench", "fanout", "--no-reference"].map(OsString::from).to_vec();
    let mut put = |name: &str, value: String| all.extend(against::option(name, [value]));
    put("--bus", words(args.bus.iter().map(Bus::to_possible_value).collect()));
    put("--encoding", words(args.encoding.iter().map(EncodingArg::to_possible_value).collect()));
    put("--subscribers", numbers);
    put("--tokens", args.tokens.to_string());
    put("--payload", args.payload.to_string());
    put("--batch", args.batch.to_string());
    if let Some(rate) = args.rate {
        put("--rate", rate.to_string());
    }
    put("--server", args.server.clone());
    put("--seed", args.seed.to_string());
    put("--stalled", args.stalled.to_string());
    put("--repeats", "1".to_owned());
    put("--format", "json".to_owned());
    if let Some(profiles) = &args.profiles {
        all.extend([OsString::from("--profiles"), profiles.into()]);
    }
    all
}

/// 13 for figures that may not be quoted, 10 where a delta did not reach a subscriber that it was due to.
fn code(bench: &Bench) -> ExitCode {
    if !bench.rig.valid || !bench.complete {
        ExitCode::RigInvalid
    } else if !bench.delivery.iter().all(Delivery::whole) {
        ExitCode::Unexpected
    } else {
        ExitCode::AllAsExpected
    }
}

/// Each once, in the order asked for.
fn distinct<T: Copy + PartialEq>(all: &[T]) -> impl Iterator<Item = T> {
    all.iter().enumerate().filter(|(n, item)| !all[..*n].contains(item)).map(|(_, item)| *item)
}

fn file(out: &Path, name: &str) -> PathBuf {
    if out.extension().is_some_and(|e| e == "json") { out.to_owned() } else { out.join(name) }
}

fn progress(progress: Progress) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{} of {} rounds, {} subscribers ", progress.done, progress.of, progress.subscribers);
    }
}

fn clear() {
    if std::io::stderr().is_terminal() {
        eprint!("\r{:width$}\r", "", width = 60);
    }
}
