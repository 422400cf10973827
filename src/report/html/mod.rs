//! One HTML file that holds everything: no request leaves it, nothing in it runs but its own script.
//!
//! The verdicts, grids, findings, charts and tables are markup and need no script. The script adds filters, arrow keys and
//! the detail of a cell, which it makes from data when it is asked for. Captured text reaches the page as escaped markup or
//! as JSON, and the document in both cases as text.

mod advice;
mod bench;
mod chart;
mod compared;
mod data;
mod frame;
mod idle;
mod live;
mod measured;
mod policy;
mod run;
mod searched;
mod subscribers;
mod timeline;
mod visible;
mod wording;

use std::collections::BTreeSet;
use std::io::{self, Write};

use askama::Template;

use crate::record::{Document, Ran, Run, Subject};
use data::Data;
use policy::{Assets, assets};
use visible::visible;

/// One result in the page.
struct Section {
    /// Its id in the page.
    id: String,
    /// What it is.
    title: String,
    tone: Tone,
    /// What it says, in one sentence.
    sentence: String,
    /// Markup.
    body: String,
    /// Whether it has cells that can be filtered.
    has_cells: bool,
}

/// How a sentence is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Good,
    Warn,
    Bad,
    Quiet,
}

impl Tone {
    /// Its class in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Quiet => "quiet",
        }
    }

    /// Its mark, so that colour is not all that tells it.
    fn mark(self) -> &'static str {
        match self {
            Tone::Good => "✓",
            Tone::Warn => "!",
            Tone::Bad => "✗",
            Tone::Quiet => "·",
        }
    }
}

#[derive(Template)]
#[template(path = "html/page.html")]
struct Page<'a> {
    assets: &'a Assets,
    version: &'static str,
    title: String,
    sections: &'a [Section],
    filters: Option<Filters>,
    data: String,
}

/// What can be chosen.
struct Filters {
    /// What a server and a client are called in these runs.
    server: &'static str,
    client: &'static str,
    servers: Vec<String>,
    clients: Vec<String>,
    verdicts: Vec<(&'static str, String)>,
    cells: usize,
}

/// Writes the results as one page, in the order given.
pub fn html(documents: &[Document], out: &mut dyn Write) -> io::Result<()> {
    let mut data = Data::default();
    let mut sections = Vec::new();
    for (at, document) in documents.iter().enumerate() {
        sections.push(section(document, at, documents, &mut data).map_err(io::Error::other)?);
    }
    let assets = assets();
    let page = Page {
        assets: &assets,
        version: env!("CARGO_PKG_VERSION"),
        title: title(&sections),
        filters: filters(documents),
        sections: &sections,
        data: data.json().map_err(io::Error::other)?,
    };
    let text = page.render().map_err(io::Error::other)?;
    // What stands in the way of reading comes from captured text alone, wherever in the page that is.
    out.write_all(visible(&text).as_bytes())
}

fn section(document: &Document, at: usize, all: &[Document], data: &mut Data) -> askama::Result<Section> {
    let id = format!("r{}", at + 1);
    let title = heading(document, at, all);
    match document {
        Document::Run(run) => run::section(run, id, title, data),
        Document::Bench(bench) => bench::fan_out(bench, id, title),
        Document::FeedBench(bench) => bench::feed(bench, id, title),
        Document::LiveBench(bench) => live::bench(bench, id, title),
        Document::LiveIdle(report) => live::idle(report, id, title),
        Document::Idle(report) => idle::section(report, id, title),
        Document::Attach(report) => live::attach(report, id, title),
        Document::Certificate(certificate) => live::certificate(certificate, id, title),
        Document::ClientBench(bench) => subscribers::section(bench, id, title),
        Document::Interleaved(interleaved) => compared::interleaved(interleaved, id, title),
        Document::Comparison(comparison) => compared::comparison(comparison, id, title),
        Document::Contract(contract) => compared::contract(contract, id, title),
        Document::Explore(report) => searched::section(report, id, title),
    }
}

/// What a result is, numbered where there are several of a kind.
fn heading(document: &Document, at: usize, all: &[Document]) -> String {
    let what = match document {
        Document::Run(_) => "Version skew",
        Document::Bench(_) => "Cost of a token, by bus and encoding",
        Document::FeedBench(_) => "Cost of a chunk of a session feed",
        Document::LiveBench(_) => "Cost of a token, released servers",
        Document::LiveIdle(_) => "Idle clocks of released servers",
        Document::Idle(_) => "Idle clocks",
        Document::Attach(_) => "Attached clients",
        Document::Certificate(_) => "Certificate",
        Document::ClientBench(_) => "Many subscribers at one server",
        Document::Interleaved(_) => "Cost, measured in turns",
        Document::Comparison(_) => "What has changed",
        Document::Contract(_) => "What a server advertises",
        Document::Explore(_) => "What nobody had declared",
    };
    let alike = |other: &&Document| other.schema() == document.schema();
    match (all.iter().filter(alike).count(), all[..at].iter().filter(alike).count() + 1) {
        (1, _) => what.to_owned(),
        (_, n) => format!("{what} {n}"),
    }
}

/// The title of the document: made of counts and fixed words, never of names.
fn title(sections: &[Section]) -> String {
    match sections {
        [] => "skewlab: nothing to report".to_owned(),
        [one] if one.has_cells => format!("skewlab: {}", one.sentence),
        [one] => format!("skewlab: {}", one.title),
        many => format!("skewlab: {} results", many.len()),
    }
}

fn filters(documents: &[Document]) -> Option<Filters> {
    let runs = || {
        documents.iter().filter_map(|document| match document {
            Document::Run(run) => Some(&**run),
            _ => None,
        })
    };
    let cells = || runs().flat_map(|run: &Run| &run.cells);
    // In the order of the grids, which is that of the plan.
    let distinct = |names: &mut dyn Iterator<Item = &String>| {
        let mut seen = BTreeSet::new();
        names.filter(|name| seen.insert(*name)).cloned().collect::<Vec<String>>()
    };
    let verdicts: BTreeSet<_> = cells().map(|cell| cell.verdict).collect();
    let count = cells().count();
    let scenarios = || runs().flat_map(|run| &run.scenarios);
    let feed = |ran: &Ran| ran.subject == Subject::SessionFeed;
    let (server, client) = match (scenarios().any(feed), scenarios().all(feed)) {
        (_, true) => ("Variant", "Consumer"),
        (true, _) => ("Server or variant", "Client or consumer"),
        _ => ("Server", "Client"),
    };
    (count > 0).then(|| Filters {
        server,
        client,
        servers: distinct(&mut cells().map(|cell| &cell.server_release)),
        clients: distinct(&mut cells().flat_map(|cell| &cell.client_asked)),
        verdicts: verdicts.into_iter().map(|v| (v.as_str(), wording::spaced(v.as_str()))).collect(),
        cells: count,
    })
}
