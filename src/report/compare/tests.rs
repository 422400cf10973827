use super::*;
use crate::record::comparison::{COMPARISON_SCHEMA, CellChange, Side};
use crate::record::{Hop, Reason, Signal, Verdict};

fn empty() -> Comparison {
    let side = || Side { skewlab: "0.1.0".into(), cells: 3 };
    Comparison {
        schema: COMPARISON_SCHEMA.into(),
        skewlab: "0.1.0".into(),
        kind: Kind::Run,
        base: side(),
        head: side(),
        compared: 3,
        totals: BTreeMap::new(),
        changes: Vec::new(),
        counts: Vec::new(),
        times: Vec::new(),
        skipped: Vec::new(),
        stale: Vec::new(),
        rig: Vec::new(),
        notes: Vec::new(),
        exit: 0,
    }
}

fn text(render: fn(&Comparison, &mut dyn Write) -> io::Result<()>, of: &Comparison) -> String {
    let mut out = Vec::new();
    render(of, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn nothing_is_one_sentence() {
    let said = text(compare_table, &empty());
    assert_eq!(said.lines().count(), 1);
    assert!(said.starts_with("Nothing changed: 3 cells compared"), "{said}");
    assert!(text(compare_markdown, &empty()).contains("Nothing changed: 3 cells compared"));
}

/// A cell whose every text was written by somebody who means no good.
fn hostile(text: &str) -> Comparison {
    let state = State {
        verdict: Verdict::SilentLoss,
        scope: None,
        lost_at: Some(Hop::Decoded),
        reason: Some(Reason::from(text.to_owned())),
        signal: Signal::None,
        also: Vec::new(),
    };
    let change = CellChange {
        id: text.into(),
        change: Change::NewlySilent,
        gates: true,
        base: Some(State { verdict: Verdict::Delivered, ..state.clone() }),
        head: Some(state),
        known: Some(text.into()),
        budgets: Some(text.into()),
    };
    let count = CountChange {
        id: text.into(),
        count: text.into(),
        counted: Counted::Text,
        base: None,
        head: Some(Count::Whole(1)),
        gates: true,
    };
    Comparison { changes: vec![change], counts: vec![count], skipped: vec![text.into()], exit: 10, ..empty() }
}

#[test]
fn hostile_texts_are_neither_markup_nor_orders_to_a_terminal() {
    for bad in [
        "</code><script>alert(1)</script>",
        "a|b|c\n| injected | row |",
        "@maintainer https://evil.example/ [x](javascript:y) ![i](u)",
        "`code` **bold** # head\r\n## title",
        "\u{1b}]0;title\u{7}\u{1b}[2J",
    ] {
        let of = hostile(bad);
        let markdown = text(compare_markdown, &of);
        for sign in
            ["<script", "@maintainer", "https://", "](", "| injected", "`code`", "**bold**", "\u{1b}", "\r"]
        {
            assert!(!markdown.contains(sign), "{sign:?} in {markdown}");
        }
        let rows = markdown.lines().filter(|line| line.starts_with("| ❌")).count();
        assert_eq!(rows, 2, "one row a change: {markdown}");
        let table = text(compare_table, &of);
        let own = anstream::adapter::strip_str(&table).to_string();
        assert!(!own.contains(['\u{1b}', '\u{7}', '\r']), "{own:?}");
        assert_eq!(own.lines().filter(|line| line.starts_with("  *")).count(), 2, "{own}");
    }
}

#[test]
fn equal_differences_are_one_line_and_long_lists_are_cut() {
    let count = |n: usize| CountChange {
        id: format!("s/{n}"),
        count: "webhook posts".into(),
        counted: Counted::Cost,
        base: Some(Count::Whole(3)),
        head: Some(Count::Whole(4)),
        gates: true,
    };
    let mut of = Comparison { counts: (0..48).map(count).collect(), exit: 12, ..empty() };
    let table = text(compare_table, &of);
    assert!(
        anstream::adapter::strip_str(&table)
            .to_string()
            .contains("webhook posts: 3 → 4 in 48 cells, first s/0")
    );
    of.skipped = (0..50).map(|n| n.to_string()).collect();
    assert!(text(compare_table, &of).contains("and 30 more"));
}
