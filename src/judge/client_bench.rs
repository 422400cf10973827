//! What is to be said of many subscribers at one server.

use super::exit::ExitCode;
use crate::record::client_bench::ClientBench;

/// The first of 13, 10 and 4 that applies: a socket that did not get ready or did not stay makes the run incomplete, and one
/// at which nothing streamed says nothing.
pub fn exit_code(bench: &ClientBench) -> ExitCode {
    let nothing = bench.counts.map_or(bench.bytes == 0, |counts| counts.deltas + counts.replies == 0);
    if away(bench) || !bench.complete {
        ExitCode::RigInvalid
    } else if lost(bench) || wrong(bench) {
        ExitCode::Unexpected
    } else if nothing {
        ExitCode::NothingRan
    } else {
        ExitCode::AllAsExpected
    }
}

/// Whether a socket did not get ready or did not stay open.
fn away(bench: &ClientBench) -> bool {
    !bench.refused.is_empty() || !bench.closed.is_empty()
}

/// Whether text was missing.
fn lost(bench: &ClientBench) -> bool {
    bench.ends_missing() > 0 || bench.counts.is_some_and(|counts| counts.lost())
}

/// Whether text came twice, in another order, or as another text.
fn wrong(bench: &ClientBench) -> bool {
    bench.counts.is_some_and(|counts| counts.wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::sample::client_bench;
    use crate::record::client_bench::Counts;

    #[test]
    fn each_fault_has_its_code_beside_a_run_that_has_none() {
        let whole = Counts { deltas: 9, replies: 1, ..Counts::default() };
        let code = |bench: ClientBench| exit_code(&bench);
        let counted = |counts: Counts| code(client_bench(counts));
        assert_eq!(counted(whole), ExitCode::AllAsExpected);
        for lost in [
            Counts { missing: 1, ..whole },
            Counts { order_missing: 1, ..whole },
            Counts { short_replies: 1, short_chars: 12, ..whole },
        ] {
            assert_eq!(counted(lost), ExitCode::Unexpected, "{lost:?}");
        }
        for wrong in [
            Counts { duplicated: 1, ..whole },
            Counts { order_repeated: 1, ..whole },
            Counts { reordered: 1, ..whole },
            Counts { extra_chars: 1, ..whole },
            Counts { altered: 1, ..whole },
        ] {
            assert_eq!(counted(wrong), ExitCode::Unexpected, "{wrong:?}");
        }
        let due = |ends| code(ClientBench { replies_due: Some(ends), ..client_bench(whole) });
        assert_eq!([due(1), due(2)], [ExitCode::AllAsExpected, ExitCode::Unexpected]);
        assert_eq!(counted(Counts::default()), ExitCode::NothingRan);
        let raw = |bytes| code(ClientBench { counts: None, bytes, ..client_bench(whole) });
        assert_eq!([raw(1), raw(0)], [ExitCode::AllAsExpected, ExitCode::NothingRan]);
    }

    #[test]
    fn a_run_that_is_not_whole_says_nothing_of_the_server() {
        let cut = Counts { missing: 1, deltas: 9, replies: 1, ..Counts::default() };
        let one = || [("a reason".to_owned(), 1)].into();
        for bench in [
            ClientBench { complete: false, ..client_bench(cut) },
            ClientBench { refused: one(), ..client_bench(cut) },
            ClientBench { closed: one(), ..client_bench(cut) },
        ] {
            assert_eq!(exit_code(&bench), ExitCode::RigInvalid, "{bench:?}");
        }
    }
}
