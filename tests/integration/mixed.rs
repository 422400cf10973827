//! Chunks that hold reasoning and text at once, and whose signal it is.

use skewlab::agent_server::profile::Catalogue;
use skewlab::record::{Class, Run, Signal, Verdict};

use crate::runs::{Folder, at, matrix, plan, run};

fn mixed() -> Run {
    let folder = Folder::new();
    let tokens =
        "[{ text = \"a\", reasoning = \"why \" }, { text = \"\" }, { text = \"b\", reasoning = \"so\" }]";
    let text = format!(
        "question = \"q\"\nservers = [\"1.58.2\"]\n\
         clients = [\"python-1.58.2\", \"python-1.58.2+AB\", \"typescript-1.39.0\", \"browser-1.20.0\", \"browser-session\"]\n\
         workloads = [\"w\"]\n[workload.w]\ntokens = {tokens}\n\
         [[expect]]\nclient = \"python-1.58.2+AB\"\nverdict = \"silent_loss\"\n"
    );
    let path = folder.write("mixed.toml", &text);
    run(&plan(&[&path], &[], &[], &Catalogue::embedded().unwrap()), 1, 2)
}

#[test]
fn a_chunk_with_both_classes_is_a_piece_of_each() {
    let run = mixed();
    assert_eq!(run.totals.expected, 5, "{:?}", run.cells.iter().map(|c| &c.findings).collect::<Vec<_>>());
    let cell = |client: &str| at(&run, &format!("mixed/1.58.2/{client}/w/none"));
    // Two frames on the legacy socket make four pieces: one of text and one of reasoning, twice. An empty one that is not
    // the first is withheld before.
    let python = cell("python-1.58.2");
    assert_eq!((python.produced.frames, python.delivered.frames), (5, 4));
    assert_eq!((python.produced.chars, python.delivered.chars), (8, 8));
    // The session socket sends two frames for such a chunk, and none for an empty one.
    let session = cell("browser-session");
    assert_eq!((session.produced.frames, session.delivered.frames, session.delivered.chars), (5, 4, 8));
    // This application shows text alone.
    let typescript = cell("typescript-1.39.0");
    assert_eq!((typescript.due.chars, typescript.delivered.chars), (2, 2));
    assert_eq!(typescript.classes[&Class::Reasoning].last().unwrap().dropped.len(), 1);
    // One log line a frame, not a piece.
    assert_eq!(cell("python-1.58.2+AB").log_lines, 2);
}

#[test]
fn a_finding_has_the_signal_of_its_own_loss() {
    let run = matrix(&["release-skew"], &["1.58.2+step7", "1.58.2"], &["python-1.30.0"]);
    let cell = at(&run, "release-skew/1.58.2+step7/python-1.30.0/chat/none");
    let signals: Vec<(Verdict, Signal)> = cell.findings.iter().map(|f| (f.verdict, f.signal)).collect();
    // The refused durable events make `run()` raise; that no delta was ever sent nobody can notice.
    assert_eq!(signals, [(Verdict::DurableLoss, Signal::Surfaced), (Verdict::SilentLoss, Signal::None)]);
    let cell = at(&run, "release-skew/1.58.2/python-1.30.0/chat/none");
    assert_eq!((cell.findings.len(), cell.signal, cell.log_lines), (1, Signal::Surfaced, 6));
}
