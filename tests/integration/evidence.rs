//! What a report shows of a cell: the first frame that was lost, beside the one that would not have been, and its times.

use skewlab::record::{CellResult, FirstFrame, Run};

use crate::runs::{Folder, at, matrix, plan, run};

fn frame<'a>(run: &'a Run, id: &str) -> &'a FirstFrame {
    at(run, id).first_frame.as_ref().unwrap_or_else(|| panic!("{id} has no first frame"))
}

#[test]
fn a_healthy_cell_has_no_first_frame_and_its_gaps_are_the_models() {
    let run = matrix(&["release-skew"], &["1.58.2"], &["python-1.58.2", "browser-1.20.0"]);
    for (cell, times) in run.cells.iter().zip(&run.timing.cell_times) {
        assert_eq!(cell.first_frame, None, "{}", cell.id);
        let times = times.as_ref().unwrap();
        // Nothing takes time on the virtual clock but the model.
        assert_eq!((times.delay.max_us, times.delay.count), (0, cell.delivered.frames), "{}", cell.id);
        assert!(times.gap.p50_us > 0 && times.gap.count == times.delay.count - 1, "{times:?}");
    }
    assert_eq!(run.timing.cell_times.len(), run.cells.len());
}

#[test]
fn a_mutated_frame_stands_beside_the_one_it_was_made_of() {
    let run = matrix(&["frame-mutants"], &[], &["python-1.58.2"]);
    let lost: Vec<&CellResult> = run.cells.iter().filter(|cell| !cell.verdict.is_healthy()).collect();
    assert!(lost.len() > 5);
    for cell in lost {
        let first = frame(&run, &cell.id);
        let (before, after) = (first.before.as_ref().unwrap(), first.after.as_ref().unwrap());
        assert!(before.text != after.text, "{}: {first:?}", cell.id);
        assert_eq!(before.from, "server 1.58.2, no mutation", "{}", cell.id);
        if let Some(hop) = cell.lost_at {
            assert_eq!((first.hop, &first.reason), (hop, &cell.reason), "{}", cell.id);
        }
    }
}

#[test]
fn a_frame_of_another_release_stands_beside_that_of_the_clients_own() {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+renamed", "1.58.2", "[delta]\nkind = \"TokenEvent\"");
    let text = "servers = [\"1.58.2+renamed\"]\nclients = [\"python-1.58.2\"]\n";
    let run = run(&plan(&[&folder.scenario("renamed", text)], &[], &[], &folder.catalogue()), 1, 1);
    let cell = &run.cells[0];
    let first = cell.first_frame.as_ref().unwrap();
    assert_eq!((first.number, first.hop, &first.reason), (1, cell.lost_at.unwrap(), &cell.reason));
    let (before, after) = (first.before.as_ref().unwrap(), first.after.as_ref().unwrap());
    assert_eq!((before.from.as_str(), after.from.as_str()), ("server 1.58.2", "server 1.58.2+renamed"));
    assert_eq!(before.text.replace("StreamingDeltaEvent", "TokenEvent"), after.text, "the same chunk");
}

#[test]
fn text_that_was_never_sent_has_a_hop_and_no_frame() {
    // The session socket of a server whose progress deltas stop before it.
    let run = matrix(&["release-skew"], &[], &["browser-session"]);
    let unsent = run.cells.iter().find(|cell| {
        cell.lost_at.is_some_and(|hop| hop <= skewlab::record::Hop::Sent) && cell.delivered.chars == 0
    });
    let cell = unsent.expect("some era has no session deltas");
    let first = frame(&run, &cell.id);
    assert_eq!((Some(first.hop), &first.after), (cell.lost_at, &None), "{first:?}");
}
