//! What can be typed.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::attach::Attach;
use super::bench_feed::BenchFeed;
use super::calibrate::Calibrate;
use super::contract::Contract;
use super::fanout::FanOut;
use super::feed::FeedCommand;
use super::generate::Generate;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use super::baseline;
use super::bench_client;
use super::compare;
use super::explore;
use super::idle;
use super::init::Init;
use super::judge;
use super::live::LiveCommand;
use super::model;
use super::replay;
use super::report;
use super::reports::Reports;
use super::talk::Shown;

/// Finds silent streaming loss between server and client releases before a release does.
#[derive(Debug, Parser)]
#[command(version, about, long_about = None, propagate_version = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say on standard error how each cell ended
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// How a run that goes on is shown on standard error
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Shown::Auto, global = true)]
    pub(super) progress: Shown,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run scenarios: every server against every client, judged
    Matrix(Matrix),
    /// Print the cells that `matrix` would run, and run nothing
    Plan(Plan),
    /// List what can be named
    List(List),
    /// Say what a verdict or a profile means and where its facts come from
    Explain(Explain),
    Explore(explore::Explore),
    Replay(replay::Replay),
    /// Say what each released client does with captured frames
    Check(Check),
    /// Say what a server advertises in /openapi.json that cannot be, and what a change of it breaks for whom
    Contract(Contract),
    /// Ask whether a server looks idle while it streams, and is reaped or evicted for it
    Idle(Idle),
    /// Run one emulated server alone
    Serve(Serve),
    /// Run the fake model alone: an OpenAI-compatible provider that streams a workload
    Model(Model),
    /// Attach emulated clients to a server that somebody else runs, and say what they missed
    Attach(Attach),
    /// The second subject: session logs and what is lost of them
    #[command(subcommand)]
    Feed(FeedCommand),
    /// Measure on the wall clock: what a token costs
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Run the released packages themselves
    #[command(subcommand)]
    Live(LiveCommand),
    /// Ask the released packages and our emulations of them the same, and say where they differ
    Calibrate(Calibrate),
    /// Judge a recorded live run by the rules of today
    Judge(judge::Judge),
    Report(report::Report),
    /// Start in a repository: a scenario that runs as it is, known failures, and a workflow
    Init(Init),
    /// JSON Schemas, shell completions and manual pages
    #[command(subcommand)]
    Generate(Generate),
    /// Say what changed between two results: verdicts first, then exact counts
    Compare(compare::Compare),
    /// Keep a run to compare later ones with
    #[command(subcommand)]
    Baseline(baseline::BaselineCommand),
}

#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    Fanout(FanOut),
    Feed(BenchFeed),
    /// Subscribe many sockets to a server, and say what reading cost and what was missing
    Client(BenchClient),
}

#[derive(Debug, ClapArgs)]
pub(super) struct BenchClient {
    /// Socket of one conversation: ws://127.0.0.1:PORT/sockets/events/ID or …/sockets/session/ID
    #[arg(value_name = "URL")]
    pub(super) url: String,
    /// Sockets to open
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) sockets: u32,
    /// How long to read once all sockets are ready: 10s, 500ms, 2m
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = bench_client::duration, allow_hyphen_values = true)]
    pub(super) lasting: Duration,
    /// Message of the user that starts a turn; sent on the first socket, and again after each reply
    #[arg(long, value_name = "TEXT")]
    pub(super) say: Option<String>,
    /// Only count bytes: the reference that reading frames is measured against
    #[arg(long, conflicts_with = "say")]
    pub(super) raw: bool,
    /// Environment variable that holds the session API key; sent as the first message
    #[arg(long, value_name = "VAR", conflicts_with = "key_file")]
    pub(super) key_env: Option<String>,
    /// File that holds the session API key and nothing else
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// Connections under way at once
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) in_flight: u16,
    /// Let the server be on another machine
    #[arg(long)]
    pub(super) allow_remote: bool,
    /// Write the JSON into this file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

/// Which cells.
#[derive(Debug, Clone, ClapArgs)]
pub(super) struct Cells {
    /// Scenarios, by name or file
    #[arg(value_name = "NAME|FILE", default_values = ["release-skew", "frame-mutants"])]
    pub(super) scenarios: Vec<String>,
    /// Only these servers: a name, a release, or a glob; of the session feed these variants; may be repeated
    #[arg(long = "server", visible_alias = "variant", value_name = "NAME")]
    pub(super) servers: Vec<String>,
    /// Only these clients: a name, a release, a glob, python@same; of the session feed these consumers; may be repeated
    #[arg(long = "client", visible_alias = "consumer", value_name = "NAME")]
    pub(super) clients: Vec<String>,
    /// Only cells whose id matches: a glob over the whole id, or without `/` over any part of it
    #[arg(long, value_name = "GLOB")]
    pub(super) only: Option<String>,
    /// Folder with more profiles: DIR/servers/*.toml and DIR/clients/*.toml
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Matrix {
    #[command(flatten)]
    pub(super) cells: Cells,
    /// The same seed gives the same result, times apart
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Worker threads [default: the machine's cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Paused time in memory, or real time on loopback sockets
    #[arg(long, value_enum, default_value_t = Clock::Virtual)]
    pub(super) clock: Clock,
    /// File of known failures, beside those that the scenarios list; an entry that is stale fails
    #[arg(long, value_name = "FILE")]
    pub(super) known: Option<PathBuf>,
    /// Write run.json into this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Go on with the run in this folder that was killed or stopped: cells that are finished do not run again
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(super) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(super) reports: Reports,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Plan {
    #[command(flatten)]
    pub(super) cells: Cells,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct List {
    /// What to list
    #[arg(value_enum)]
    pub(super) what: Listed,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Explain {
    /// A verdict (`silent_loss`), a server (1.44.1), a client (python-1.55.1), a variant (mirror-removed) or a consumer
    /// (stale-plugin) of the session feed
    #[arg(value_name = "VERDICT|PROFILE")]
    pub(super) what: String,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Check {
    /// One frame a line: {"name": …, "raw": …}, or the frame itself; `-` reads standard input
    #[arg(value_name = "FRAMES.jsonl")]
    pub(super) frames: PathBuf,
    /// Clients to ask [default: every profile]; names, releases or globs, several or separated by commas
    #[arg(long = "clients", alias = "client", value_name = "NAME", value_delimiter = ',', num_args = 1..)]
    pub(super) clients: Vec<String>,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Idle {
    /// Servers: a name, a release, or a glob; may be repeated [default: every one, what-ifs included]
    #[arg(long = "server", value_name = "NAME", default_values = ["*"], hide_default_value = true)]
    pub(super) servers: Vec<String>,
    /// Clients that watch: a name, a release, or a glob; may be repeated
    #[arg(long = "client", value_name = "NAME", default_values = ["python-1.58.2"])]
    pub(super) client_names: Vec<String>,
    /// Tokens a second
    #[arg(long, value_name = "R", default_value = "1", value_parser = idle::rate, allow_hyphen_values = true)]
    pub(super) rate: f64,
    /// How long text streams, as in 90s, 40m or 2h
    #[arg(long, value_name = "TIME", default_value = "40m", value_parser = idle::duration, allow_hyphen_values = true)]
    pub(super) duration: Duration,
    /// Idle time of the process after which the runtime reaps it
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = idle::duration, allow_hyphen_values = true)]
    pub(super) reap_after: Duration,
    /// Sockets that watch, taking the clients in turn [default: 4, or one a client if there are more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000), allow_negative_numbers = true)]
    pub(super) clients: Option<u16>,
    /// Tokens of a turn before it in the same conversation, at the same rate
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=200_000), allow_negative_numbers = true)]
    pub(super) warm_up: u32,
    /// Seed of the ids
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
    /// Write the JSON into this file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Serve {
    /// The server: a profile or a release
    #[arg(long, value_name = "NAME")]
    pub(super) server: String,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub(super) port: u16,
    /// Session API key that clients must show; may be repeated; none lets everybody in
    #[arg(long = "key", value_name = "KEY")]
    pub(super) keys: Vec<String>,
    /// Scenario whose workload is streamed in every turn, as NAME or NAME:WORKLOAD
    #[arg(long, value_name = "NAME[:WORKLOAD]", default_value = "release-skew")]
    pub(super) script: String,
    /// Subscribers that a conversation takes [default: as many as the release]; 0 for no limit
    #[arg(long, value_name = "N")]
    pub(super) max_subscribers: Option<usize>,
    /// Frame mutation applied to every delta of the legacy socket
    #[arg(long, value_name = "MUTATION", default_value = "none", allow_hyphen_values = true)]
    pub(super) mutation: String,
    /// Seed of the ids
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Model {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub(super) port: u16,
    /// Scenario whose workload is the reply, as NAME or NAME:WORKLOAD. A message may order its own instead:
    /// [[n=500 rate=100 reasoning=7]]
    #[arg(long, value_name = "NAME[:WORKLOAD]", default_value = "release-skew")]
    pub(super) script: String,
    /// Silence between the last token and the end of the stream
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = model::silence, allow_hyphen_values = true)]
    pub(super) tail: Duration,
    /// Cut the stream into writes of at most this many bytes, inside characters too
    #[arg(long, value_name = "N")]
    pub(super) chunk_bytes: Option<NonZeroUsize>,
    /// Folder with more profiles
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Clock {
    Virtual,
    Wall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Listed {
    Servers,
    Clients,
    /// Variants of the session feed
    Variants,
    /// Consumers of the session feed
    Consumers,
    /// Exact counts of the session feed, as `figures` in a scenario names them
    Figures,
    Scenarios,
    Verdicts,
}
