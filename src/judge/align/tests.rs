use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn missing(produced: &[&str], delivered: &[&str]) -> (Scope, u64, Vec<(usize, usize)>) {
    let alignment = align(produced, delivered);
    match alignment.kind {
        Kind::Missing { scope } => {
            assert_eq!(alignment.extra, Extra::default());
            (scope, alignment.missing.chars, bounds(&alignment.missing))
        }
        other => panic!("{other:?}"),
    }
}

fn bounds(missing: &Missing) -> Vec<(usize, usize)> {
    missing.runs.iter().map(|run| (run.start, run.end)).collect()
}

fn kind(produced: &[&str], delivered: &[&str]) -> Kind {
    align(produced, delivered).kind
}

#[test]
fn nothing_and_everything() {
    assert_eq!(kind(&[], &[]), Kind::Equal);
    assert_eq!(kind(&["", ""], &[]), Kind::Equal);
    assert_eq!(kind(&["ab", "c"], &["a", "", "bc"]), Kind::Equal);
    assert_eq!(missing(&["ab", "c"], &[]), (Scope::Total, 3, vec![(0, 3)]));
    let invented = align(&[], &["x"]);
    assert_eq!((invented.kind, invented.extra.chars), (Kind::Altered, 1));
}

#[test]
fn a_single_stretch_is_placed() {
    let produced = ["Hel", "lo ", "wor", "ld"];
    assert_eq!(missing(&produced, &["Hel", "lo "]), (Scope::Tail, 5, vec![(6, 11)]));
    assert_eq!(missing(&produced, &["world"]), (Scope::Prefix, 6, vec![(0, 6)]));
    assert_eq!(missing(&produced, &["Hel", "wor", "ld"]), (Scope::Gap, 3, vec![(3, 6)]));
    assert_eq!(missing(&produced, &["Hel", "world"]), (Scope::Gap, 3, vec![(3, 6)]));
    assert_eq!(missing(&produced, &["lo ld"]), (Scope::Scattered, 6, vec![(0, 3), (6, 9)]));
}

#[test]
fn an_ambiguous_stretch_is_a_whole_piece_if_it_can_be() {
    // "ha ha" is a prefix and a suffix of "ha ha ha"; only one of the two readings loses a whole piece.
    assert_eq!(missing(&["ha ", "ha ", "ha"], &["ha ha"]), (Scope::Prefix, 3, vec![(0, 3)]));
    assert_eq!(missing(&["ha", " ha", " ha"], &["ha ha"]), (Scope::Tail, 3, vec![(5, 8)]));
    assert_eq!(missing(&["ha", "ha", "ha"], &["haha"]), (Scope::Tail, 2, vec![(4, 6)]));
    // Taking out 1..3 or 2..4 gives the same text.
    assert_eq!(missing(&["xa", "ba", "c"], &["xac"]), (Scope::Gap, 2, vec![(2, 4)]));
    assert_eq!(missing(&["x", "ab", "ac"], &["xac"]), (Scope::Gap, 2, vec![(1, 3)]));
}

#[test]
fn ranges_count_scalar_values() {
    assert_eq!(missing(&["é😀", "ß", "字"], &["é😀", "字"]), (Scope::Gap, 1, vec![(2, 3)]));
    // The two share all bytes but the last of one character.
    let alignment = align(&["aé"], &["aè"]);
    assert_eq!((alignment.kind, bounds(&alignment.missing)), (Kind::Altered, vec![(1, 2)]));
    assert_eq!(alignment.extra.texts, ["è"]);
}

#[test]
fn lost_parts_of_pieces_count_exactly() {
    // A client that cuts inside pieces: whole pieces cannot explain it.
    assert_eq!(missing(&["abcd", "efgh"], &["bc", "fg"]).1, 4);
}

#[test]
fn text_twice() {
    for delivered in [
        &["ab", "ab", "cd"][..],
        &["ab", "cd", "ab", "cd"],
        &["abc", "dcd"],
        &["ab", "ab", "cd", "cd"],
        &["abab", "c", "dcd"],
    ] {
        let alignment = align(&["ab", "cd"], delivered);
        assert_eq!(alignment.kind, Kind::Duplicated, "{delivered:?}");
        assert_eq!(alignment.missing, Missing::default());
    }
    assert_eq!(align(&["ab", "cd"], &["abab", "cd"]).extra, Extra { chars: 2, texts: vec!["ab".into()] });
    // A client may repeat part of a piece.
    assert_eq!(kind(&["ab", "cd"], &["abb", "cd"]), Kind::Duplicated);
    // Text that the model never made is no repetition.
    assert_eq!(kind(&["ab", "cd"], &["ab", "??", "cd"]), Kind::Altered);
}

#[test]
fn another_order() {
    assert_eq!(kind(&["ab", "cd", "e"], &["cd", "ab", "e"]), Kind::Reordered);
    assert_eq!(kind(&["ab", "cd", "e"], &["cda", "be"]), Kind::Reordered);
    // The same letters, and no way to cut them into the pieces.
    assert_eq!(kind(&["ab", "cd", "e"], &["dcba", "e"]), Kind::Altered);
}

#[test]
fn one_lost_and_another_twice() {
    let alignment = align(&["ha", "ho", "hi"], &["ho", "ho", "hi"]);
    assert_eq!(alignment.kind, Kind::Altered);
    assert_eq!((alignment.missing.chars, alignment.extra.chars), (2, 2));
    // When the two are the same token, nobody can tell, and nobody is harmed.
    assert_eq!(kind(&["ha", "ha"], &["haha"]), Kind::Equal);
}

#[test]
fn a_replaced_character_costs_one() {
    let alignment = align(&["Hello ", "world"], &["Hello ", "w\u{fffd}rld"]);
    assert_eq!(alignment.kind, Kind::Altered);
    assert_eq!((alignment.missing.chars, bounds(&alignment.missing)), (1, vec![(7, 8)]));
    assert_eq!(alignment.extra, Extra { chars: 1, texts: vec!["\u{fffd}".into()] });
}

fn quick<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let made = work();
    // A quadratic step would take minutes; the slack is for a busy machine and a debug build.
    assert!(started.elapsed() < Duration::from_secs(10), "{what}: {:?}", started.elapsed());
    made
}

#[test]
fn a_million_characters_do_not_blow_up() {
    let million = "abcdefghi ".repeat(100_000);
    let piece = [million.as_str()];
    let tokens: Vec<&str> = std::iter::repeat_n("abcdefghi ", 100_000).collect();
    assert_eq!(quick("equal", || kind(&piece, &tokens)), Kind::Equal);
    assert_eq!(quick("total", || missing(&tokens, &[])).1, 1_000_000);
    assert_eq!(quick("gap", || missing(&tokens, &tokens[1..])).1, 10);
    assert_eq!(quick("scattered", || missing(&piece, &["b".repeat(100_000).as_str()])).1, 900_000);
    let strangers = "xyz".repeat(300_000);
    let alignment = quick("altered", || align(&tokens, &[&strangers]));
    assert_eq!((alignment.missing.chars, alignment.extra.chars), (1_000_000, 900_000));
}

#[test]
fn two_changes_far_apart_stay_two_changes() {
    let numbers: Vec<String> = (0..20_000).map(|n| format!("n{n} ")).collect();
    let produced: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let delivered = produced.concat().replacen("n7 ", "?7 ", 1).replacen("n19999", "?19999", 1);
    let alignment = quick("changes", || align(&produced, &[&delivered]));
    assert_eq!((alignment.kind, alignment.missing.chars, alignment.extra.chars), (Kind::Altered, 2, 2));
}

#[test]
fn beyond_the_cap_words_are_compared() {
    let numbers: Vec<String> = (0..5_000).map(|n| format!("n{n} ")).collect();
    let produced: Vec<&str> = numbers.iter().map(String::as_str).collect();
    // 900 words become others of other letters: too many characters, not too many words.
    let other =
        |n: usize| if n.is_multiple_of(5) && n < 4_500 { "????? ".into() } else { numbers[n].clone() };
    let delivered: String = (0..5_000).map(other).collect();
    let alignment = quick("words", || align(&produced, &[&delivered]));
    assert_eq!(alignment.extra, Extra { chars: 5_400, texts: vec!["????? ".to_owned(); 900] });
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[abé ]{0,3}|ha |😀", 0..30)
}

fn strs(pieces: &[String]) -> Vec<&str> {
    pieces.iter().map(String::as_str).collect()
}

fn chars(pieces: &[&str]) -> u64 {
    pieces.iter().map(|piece| piece.chars().count() as u64).sum()
}

/// The same text cut elsewhere.
fn recut(pieces: &[&str], sizes: &[usize]) -> Vec<String> {
    let text: Vec<char> = pieces.concat().chars().collect();
    let (mut rest, mut cut) = (text.as_slice(), Vec::new());
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (head, tail) = rest.split_at((*size).min(rest.len()));
        cut.push(head.iter().collect());
        rest = tail;
    }
    cut
}

/// Longest common subsequence, the slow and plain way.
fn common(a: &[char], b: &[char]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut corner = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
            corner = above;
        }
    }
    row[b.len()]
}

proptest! {
    #[test]
    fn identity_is_equal(produced in pieces()) {
        prop_assert_eq!(kind(&strs(&produced), &strs(&produced)), Kind::Equal);
    }

    #[test]
    fn what_is_dropped_is_missing(produced in pieces(), keep in proptest::collection::vec(any::<bool>(), 30)) {
        let produced = strs(&produced);
        let kept: Vec<&str> = produced.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(p, _)| *p).collect();
        let dropped = chars(&produced) - chars(&kept);
        let alignment = align(&produced, &kept);
        prop_assert_eq!(alignment.missing.chars, dropped);
        prop_assert_eq!(&alignment.extra, &Extra::default());
        prop_assert_eq!(matches!(alignment.kind, Kind::Missing { .. }), dropped > 0);
        // Taking the runs out of the produced text gives the delivered text.
        let mut text: Vec<char> = produced.concat().chars().collect();
        for run in alignment.missing.runs.iter().rev() {
            text.drain(run.clone());
        }
        prop_assert_eq!(text.into_iter().collect::<String>(), kept.concat());
    }

    #[test]
    fn a_single_run_is_never_called_scattered(produced in pieces(), a in 0..30_usize, b in 0..30_usize) {
        let produced = strs(&produced);
        let (from, to) = (a.min(b).min(produced.len()), a.max(b).min(produced.len()));
        let kept = [&produced[..from], &produced[to..]].concat();
        let alignment = align(&produced, &kept);
        prop_assert_ne!(alignment.kind, Kind::Missing { scope: Scope::Scattered });
        prop_assert!(alignment.missing.runs.len() <= 1);
    }

    #[test]
    fn everything_twice_is_duplicated(produced in pieces()) {
        let produced = strs(&produced);
        let twice: Vec<&str> = produced.iter().flat_map(|piece| [*piece, *piece]).collect();
        let alignment = align(&produced, &twice);
        let expected = if chars(&produced) == 0 { Kind::Equal } else { Kind::Duplicated };
        prop_assert_eq!(alignment.kind, expected);
        prop_assert_eq!(alignment.extra.chars, chars(&produced));
    }

    #[test]
    fn any_pieces_twice_are_duplicated(produced in pieces(), twice in proptest::collection::vec(any::<bool>(), 30)) {
        let produced = strs(&produced);
        let more: Vec<&str> =
            produced.iter().zip(&twice).flat_map(|(p, twice)| vec![*p; 1 + usize::from(*twice)]).collect();
        let alignment = align(&produced, &more);
        prop_assert_eq!(alignment.extra.chars, chars(&more) - chars(&produced));
        prop_assert!(matches!(alignment.kind, Kind::Duplicated | Kind::Equal));
        prop_assert_eq!(chars(&strs(&alignment.extra.texts)), alignment.extra.chars);
    }

    #[test]
    fn another_order_is_reordered(produced in pieces(), by in 0..30_usize) {
        let produced = strs(&produced);
        let mut turned = produced.clone();
        turned.rotate_left(by.min(produced.len()));
        let expected = if turned.concat() == produced.concat() { Kind::Equal } else { Kind::Reordered };
        prop_assert_eq!(kind(&produced, &turned), expected);
    }

    /// Whatever was delivered, where it is cut changes nothing.
    #[test]
    fn cuts_do_not_matter(
        produced in pieces(),
        delivered in pieces(),
        sizes in proptest::collection::vec(1..7_usize, 1..9),
    ) {
        let (produced, delivered) = (strs(&produced), strs(&delivered));
        let cut = recut(&delivered, &sizes);
        prop_assert_eq!(align(&produced, &delivered), align(&produced, &strs(&cut)));
    }

    /// Counts always close, runs are in order and apart, and no diff finds more in common than there is.
    #[test]
    fn counts_close(produced in pieces(), delivered in pieces()) {
        let (produced, delivered) = (strs(&produced), strs(&delivered));
        let Alignment { missing, extra, .. } = align(&produced, &delivered);
        prop_assert_eq!(chars(&produced) + extra.chars, chars(&delivered) + missing.chars);
        prop_assert_eq!(missing.runs.iter().map(|run| run.len() as u64).sum::<u64>(), missing.chars);
        prop_assert!(missing.runs.windows(2).all(|pair| pair[0].end < pair[1].start));
        prop_assert_eq!(chars(&strs(&extra.texts)), extra.chars);
        let (want, got): (Vec<char>, Vec<char>) =
            (produced.concat().chars().collect(), delivered.concat().chars().collect());
        prop_assert!(missing.chars >= (want.len() - common(&want, &got)) as u64);
    }

    /// The bound on edits is the real edit distance.
    #[test]
    fn the_edit_bound_is_exact(a in "[ab]{0,12}", b in "[ab]{0,12}", cap in 0..24_usize) {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let distance = a.len() + b.len() - 2 * common(&a, &b);
        prop_assert_eq!(diff::within(&a, &b, cap), distance <= cap);
    }
}
