//! Every format over one run that has every outcome, and over texts of somebody else.
//!
//! `INSTA_UPDATE=always cargo test --test integration report_formats` writes the snapshots anew.

use proptest::prelude::*;
use skewlab::record::comparison::Stale;
use skewlab::record::{Budgeted, CellResult, Finding, Outcome, Queue, Reason, Run, Totals, Verdict};
use skewlab::report::{self, STEP_SUMMARY_BYTES};

use crate::runs::matrix;

/// A run whose cells end in every way: as expected, not, known, stale, and by a fault of the rig. Times are fixed.
pub(crate) fn every_outcome() -> Run {
    let servers = ["1.43.1", "1.43.1+AB"];
    let mut run = matrix(&["release-skew"], &servers, &["python@same", "browser-1.20.0", "browser-session"]);
    let end = |cell: &mut CellResult, outcome, note: &str| {
        (cell.outcome, cell.outcome_note) = (outcome, Some(note.to_owned()));
    };
    for cell in &mut run.cells {
        let silent = cell.verdict == Verdict::SilentLoss;
        match (cell.server_release.as_str(), cell.client_release.as_str()) {
            (_, client) if silent && client.starts_with("python-") => {
                end(cell, Outcome::Unexpected, "verdict is `silent_loss`, expected `delivered`");
            }
            ("1.43.1+AB", "browser-session") => {
                end(cell, Outcome::Known, "no socket yet (https://example.org/1), until 2027-01-01");
            }
            ("1.43.1", "browser-session") => {
                let closed = Some("1013 slow\u{1b}[2J | <b>\nconsumer".to_owned());
                cell.queue = Some(Queue {
                    peak_frames: 1204,
                    peak_bytes: 219_443,
                    at_close_frames: 1180,
                    at_close_bytes: 215_000,
                    limit_bytes: Some(220_000),
                    limit_frames: None,
                    closed,
                });
                let bounded =
                    Queue { peak_frames: 64, peak_bytes: 9_216, limit_frames: Some(64), ..Queue::default() };
                cell.receive_queue = Some(bounded);
                end(cell, Outcome::Unexpected, "lost_at is `dispatched`, expected `sent`");
            }
            ("1.43.1", "browser-1.20.0") => {
                end(
                    cell,
                    Outcome::Stale,
                    "passes now; remove the known failure: fixed (https://example.org/2)",
                );
            }
            ("1.43.1+AB", "browser-1.20.0") => {
                let note = "panicked: \u{1b}[31mred]]>\u{0} <b> @octocat | `x`\nnext line";
                end(cell, Outcome::Unexpected, note);
                cell.verdict = Verdict::Invalid;
                cell.findings = vec![Finding {
                    verdict: Verdict::Invalid,
                    scope: None,
                    lost_at: None,
                    reason: Some(Reason::new("panicked")),
                    note: note.to_owned(),
                    ..cell.findings[0].clone()
                }];
            }
            _ => {}
        }
    }
    run.scenarios[0].seen = Some("https://example.org/3?a=<b>&c".to_owned());
    run.totals = Totals::of(&run.cells);
    run.timing.seconds = 0.5;
    run.timing.cells_per_second = 12.0;
    run.timing.jobs = 2;
    run.timing.cell_micros = (1..=run.cells.len() as u64).map(|n| n * 1000).collect();
    run.digest = "0123456789abcdef".repeat(4);
    run
}

fn written(render: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    render(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn junit(run: &Run) -> String {
    written(|out| report::junit(&[run], out))
}

fn sarif(run: &Run) -> serde_json::Value {
    serde_json::from_str(&written(|out| report::sarif(&[run], out))).unwrap()
}

#[test]
fn a_run_with_every_outcome_as_a_table() {
    let table = written(|out| report::matrix_table(&every_outcome(), None, out));
    insta::assert_snapshot!(anstream::adapter::strip_str(&table).to_string());
}

#[test]
fn a_grid_on_a_narrow_screen_is_split_and_never_wrapped() {
    let run = matrix(&["release-skew"], &[], &["python-1.58.2", "browser-session"]);
    let table = |width| {
        anstream::adapter::strip_str(&written(|out| report::matrix_table(&run, width, out))).to_string()
    };
    let grid = |text: &str| {
        text.split("findings").next().unwrap().lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let widest = |text: &str| grid(text).iter().map(|line| line.chars().count()).max().unwrap();
    assert!(widest(&table(None)) > 60, "the grid has to be too wide for the test to say anything");
    assert!(widest(&table(Some(60))) <= 60);
    let marks = |text: &str| grid(text).iter().map(|line| line.matches("SILENT").count()).sum::<usize>();
    assert!(marks(&table(None)) > 0);
    assert_eq!(marks(&table(None)), marks(&table(Some(60))), "nothing is lost by splitting");
}

#[test]
fn a_run_with_every_outcome_as_junit() {
    insta::assert_snapshot!(junit(&every_outcome()));
}

#[test]
fn a_run_with_every_outcome_as_markdown() {
    insta::assert_snapshot!(written(|out| report::markdown(&[&every_outcome()], STEP_SUMMARY_BYTES, out)));
}

#[test]
fn a_run_with_every_outcome_as_sarif() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&sarif(&every_outcome())).unwrap());
}

#[test]
fn a_run_with_every_outcome_as_openmetrics() {
    insta::assert_snapshot!(written(|out| report::openmetrics(&[&every_outcome()], out)));
}

#[test]
fn a_run_with_every_outcome_as_csv() {
    insta::assert_snapshot!(written(|out| report::csv(&[&every_outcome()], out)));
}

#[test]
fn a_run_with_every_outcome_as_annotations() {
    let files = [("release-skew".to_owned(), "a, b/release-skew.toml".to_owned())].into();
    insta::assert_snapshot!(written(|out| report::annotations(&every_outcome(), &files, out)));
}

#[test]
fn junit_counts_what_the_exit_code_is_made_of() {
    let read = quick_junit::Report::deserialize_from_str(&junit(&every_outcome())).unwrap();
    assert_eq!((read.tests, read.failures, read.errors, read.skipped), (6, 3, 1, 1));
    let healthy = matrix(&["release-skew"], &["1.43.1"], &["python-1.58.2"]);
    let read = quick_junit::Report::deserialize_from_str(&junit(&healthy)).unwrap();
    assert_eq!((read.tests, read.failures, read.errors, read.skipped), (1, 0, 0, 0));
}

#[test]
fn sarif_has_what_the_standard_requires_and_fingerprints_that_stay() {
    let run = every_outcome();
    let log = sarif(&run);
    assert_eq!(log["version"], "2.1.0");
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "skewlab");
    let rules = driver["rules"].as_array().unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        assert!(result["message"]["text"].is_string());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
    }
    let level = |level: &str| results.iter().filter(|result| result["level"] == level).count();
    let suppressed = results.iter().filter(|result| result["suppressions"].is_array()).count();
    assert_eq!((level("error"), level("warning"), suppressed), (3, 2, 1));
    // Another seed, another amount: the same finding.
    let mut later = run.clone();
    for cell in &mut later.cells {
        for finding in &mut cell.findings {
            finding.amount.chars += 1;
        }
    }
    let prints = |log: &serde_json::Value| -> Vec<String> {
        let results = log["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|result| result["partialFingerprints"].to_string()).collect()
    };
    assert_eq!(prints(&log), prints(&sarif(&later)));
    let all = prints(&log);
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "two findings, two fingerprints");
}

#[test]
fn what_is_known_or_green_is_no_trouble_and_an_unmeasured_budget_is() {
    let told = |run: &Run| written(|out| report::matrix_table(run, None, out)).contains("what broke");
    let mut run = matrix(&["release-skew"], &["1.43.1"], &["python-1.58.2"]);
    assert!(!told(&run));
    run.cells[0].outcome = Outcome::Known;
    assert!(!told(&run));
    run.cells[0].budgets = vec![Budgeted {
        budget: Budgeted::CPU_RATIO_VS.to_owned(),
        is: skewlab::record::Comparison::AtMost,
        limit: 1.0,
        measured: None,
        kept: None,
        note: "CPU was not measured".to_owned(),
    }];
    assert!(!told(&run), "the virtual clock never measures it");
    run.clock = "wall".to_owned();
    assert!(told(&run));
}

#[test]
fn markdown_stays_under_its_limit_and_says_what_it_left_out() {
    let mut run = every_outcome();
    let one = run.cells[0].clone();
    for n in 0..3000 {
        let mut cell = one.clone();
        (cell.scenario, cell.id) = (format!("s{n:04}"), format!("s{n:04}/x"));
        run.cells.push(cell);
    }
    let text = written(|out| report::markdown(&[&run], 100_000, out));
    assert!(text.len() <= 100_000 && text.len() > 50_000, "{}", text.len());
    assert!(text.contains("sections were left out") && text.contains("What to do"), "{text}");
    assert_eq!(text.matches("<details").count(), text.matches("</details>").count());
}

#[test]
fn a_run_without_cells_is_a_document_in_every_format() {
    let mut run = every_outcome();
    (run.cells, run.totals) = (Vec::new(), Totals::default());
    assert_eq!(quick_junit::Report::deserialize_from_str(&junit(&run)).unwrap().tests, 0);
    assert_eq!(sarif(&run)["runs"][0]["results"].as_array().unwrap().len(), 0);
    assert!(written(|out| report::openmetrics(&[&run], out)).ends_with("# EOF\n"));
    assert!(written(|out| report::markdown(&[&run], STEP_SUMMARY_BYTES, out)).contains("nothing ran"));
    assert!(written(|out| report::matrix_table(&run, None, out)).contains("0 cells"));
    assert_eq!(written(|out| report::csv(&[&run], out)).lines().count(), 1, "the heading");
}

type Render<'a> = &'a dyn Fn(&Run) -> String;

/// Work that grows with the square of the cells would not come to an end here.
///
/// `cargo test --release --test integration hundred_thousand -- --ignored --nocapture` prints the seconds.
#[test]
#[ignore = "more than a minute without optimisation"]
fn a_hundred_thousand_cells_become_a_report_in_every_format() {
    let mut run = every_outcome();
    let some = std::mem::take(&mut run.cells);
    // As many names as they can have: 500 servers, each with 200 clients, half of the cells not as expected.
    for n in 0..100_000 {
        let mut cell = some[n % some.len()].clone();
        cell.server_release = format!("1.{}.0", n / 200);
        cell.client_release = format!("python-1.{}.0", n % 200);
        cell.client_asked = vec![cell.client_release.clone()];
        cell.id = format!("release-skew/{}/{}/chat/none", cell.server_release, cell.client_release);
        run.cells.push(cell);
    }
    let formats: [(&str, Render<'_>); 6] = [
        ("terminal", &|run| written(|out| report::matrix_table(run, Some(200), out))),
        ("junit", &junit),
        ("markdown", &|run| written(|out| report::markdown(&[run], STEP_SUMMARY_BYTES, out))),
        ("sarif", &|run| written(|out| report::sarif(&[run], out))),
        ("openmetrics", &|run| written(|out| report::openmetrics(&[run], out))),
        ("csv", &|run| written(|out| report::csv(&[run], out))),
    ];
    for (name, render) in formats {
        let began = std::time::Instant::now();
        let text = render(&run);
        println!("{name}: {} bytes in {:.2} s", text.len(), began.elapsed().as_secs_f64());
        assert!(text.len() > 10_000, "{name}");
    }
}

/// Labels of a sample as a reader of the format would have them.
fn labels(sample: &str) -> Vec<(String, String)> {
    let mut rest = sample.split_once('{').unwrap().1;
    let mut labels = Vec::new();
    while let Some((name, after)) = rest.split_once("=\"") {
        let (mut value, mut chars) = (String::new(), after.char_indices());
        loop {
            match chars.next().unwrap() {
                (at, '"') => {
                    rest = after[at + 1..].trim_start_matches(',');
                    break;
                }
                (_, '\\') => value.push(match chars.next().unwrap().1 {
                    'n' => '\n',
                    other => other,
                }),
                (_, c) => value.push(c),
            }
        }
        labels.push((name.to_owned(), value));
    }
    labels
}

/// A text as it is shown: on one line, with what acts on a screen as an escape.
fn shown(text: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    text.chars().flat_map(|c| if odd(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

/// Texts that mean something to one format or another, and any others.
fn hostile() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "]]>",
            "<![CDATA[",
            "&amp;",
            "\u{0}",
            "\u{1b}[31m",
            "\"",
            "'",
            "\\",
            "\\n",
            "\n",
            "\r\n",
            "|",
            "`",
            "=1+1",
            "@x",
            ",",
            "</testsuite>",
            "# EOF",
            "::error::",
            "{",
            "}",
            "\u{202e}",
            "\u{feff}",
            "\u{ffff}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_text_survives_in_every_format_that_is_read_back(texts in prop::array::uniform4(hostile())) {
        static BASE: std::sync::LazyLock<Run> = std::sync::LazyLock::new(every_outcome);
        let mut run = BASE.clone();
        let [id, scenario, note, reason] = texts;
        run.cells.truncate(2);
        for cell in &mut run.cells {
            cell.outcome = Outcome::Unexpected;
            cell.outcome_note = Some(note.clone());
            cell.scenario.clone_from(&scenario);
            cell.findings[0].verdict = Verdict::SilentLoss;
            cell.findings[0].note.clone_from(&note);
            cell.findings[0].reason = Some(Reason::from(reason.clone()));
            cell.queue = Some(Queue { peak_frames: 1, closed: Some(reason.clone()), ..Queue::default() });
            cell.hops[1].dropped.insert(Reason::from(reason.clone()), cell.produced);
        }
        run.cells[0].id = format!("{id}0");
        run.cells[1].id = format!("{id}1");
        run.scenarios[0].name.clone_from(&scenario);
        run.scenarios[0].question.clone_from(&note);
        run.scenarios[0].seen = Some(note.clone());

        // CSV: a reader takes one apostrophe away where one was put.
        let text = written(|out| report::csv(&[&run], out));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads = reader.headers().unwrap().clone();
        let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(rows.len(), 2);
        for (row, cell) in rows.iter().zip(&run.cells) {
            for (name, wanted) in [("id", &cell.id), ("scenario", &scenario), ("note", &note), ("outcome_note", &note)] {
                let field = &row[column(name)];
                let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
                prop_assert!(!formula, "{}", field);
                prop_assert_eq!(field.strip_prefix('\'').unwrap_or(field), &shown(wanted));
            }
        }

        // SARIF: JSON, so as it was.
        let log = sarif(&run);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let first = &results[0];
        prop_assert_eq!(&first["locations"][0]["logicalLocations"][0]["name"], &run.cells[0].id);
        prop_assert_eq!(&first["properties"]["note"], &note);
        prop_assert!(first["message"]["text"].as_str().unwrap().contains(&note));

        // OpenMetrics: every sample is one line, and labels come back.
        let text = written(|out| report::openmetrics(&[&run], out));
        let samples: Vec<&str> = text.split('\n').filter(|line| line.starts_with("skewlab_cell_characters")).collect();
        let mut ids: Vec<String> = samples.iter().map(|sample| labels(sample)[0].1.clone()).collect();
        ids.dedup();
        // A line end has an escape of the format's own.
        let label = |text: &str| text.split('\n').map(shown).collect::<Vec<_>>().join("\n");
        let mut wanted: Vec<String> = run.cells.iter().map(|cell| label(&cell.id)).collect();
        wanted.sort();
        ids.sort();
        prop_assert_eq!(ids, wanted);
        prop_assert!(text.split('\n').all(|line| line.is_empty() || line.starts_with("skewlab_") || line.starts_with("# ")));
        let mut lines: Vec<&str> = text.split('\n').filter(|line| line.starts_with("skewlab_")).collect();
        let all = lines.len();
        lines.sort_unstable();
        lines.dedup_by_key(|line| line.rsplit_once(' ').unwrap().0);
        prop_assert_eq!(lines.len(), all, "no sample twice");

        // JUnit: one line where an attribute is, and what XML cannot hold as an escape.
        let read = quick_junit::Report::deserialize_from_str(&junit(&run)).unwrap();
        prop_assert_eq!(read.test_suites.len(), 1);
        let suite = &read.test_suites[0];
        prop_assert_eq!(suite.name.as_str(), shown(&scenario));
        for (case, cell) in suite.test_cases.iter().zip(&run.cells) {
            prop_assert_eq!(case.name.as_str(), shown(&cell.id));
            let quick_junit::TestCaseStatus::NonSuccess { message, description, .. } = &case.status else {
                return Err(TestCaseError::fail("an unexpected cell is a failure"));
            };
            prop_assert!(message.as_ref().unwrap().as_str().ends_with(&shown(&note)));
            prop_assert!(description.as_ref().unwrap().as_str().contains(&shown(&reason)));
        }

        // For people: nothing of it acts on a screen, and Markdown stays as many blocks as it was.
        let table = written(|out| report::matrix_table(&run, None, out));
        let plain = anstream::adapter::strip_str(&table).to_string();
        let moves = plain.contains(|c: char| c.is_control() && c != '\n');
        prop_assert!(!moves, "{}", plain);
        let markdown = written(|out| report::markdown(&[&run], STEP_SUMMARY_BYTES, out));
        let odd = |c: char| c.is_control() && c != '\n';
        // In a fence, where the commands are, nobody is mentioned.
        let mut text = markdown.lines().filter(|line| !line.starts_with("skewlab "));
        let acts = text.any(|line| line.contains("@x")) || markdown.contains(odd);
        prop_assert!(!acts, "{}", markdown);
        let lines = written(|out| report::annotations(&run, &std::collections::BTreeMap::new(), out));
        prop_assert!(lines.split('\n').all(|line| line.is_empty() || line.starts_with("::error title=")));
    }
}

/// A run in which every text that is not one of our words was chosen by somebody who means no good.
fn poisoned(bad: &str) -> Run {
    let mut run = every_outcome();
    let poison = |text: &mut String| text.push_str(bad);
    [&mut run.clock, &mut run.skewlab, &mut run.digest].into_iter().for_each(poison);
    run.digest.insert_str(0, bad);
    for ran in &mut run.scenarios {
        [&mut ran.name, &mut ran.question].into_iter().for_each(poison);
    }
    run.stale = vec![Stale { line: Some(3), cell: format!("a{bad}"), why: format!("it picks no cell{bad}") }];
    for cell in &mut run.cells {
        let CellResult {
            id,
            scenario,
            server,
            server_release,
            client,
            client_release,
            workload,
            mutation,
            ..
        } = cell;
        [id, scenario, server, server_release, client, client_release, workload, mutation]
            .into_iter()
            .for_each(poison);
        cell.client_asked.iter_mut().for_each(poison);
        cell.outcome_note.iter_mut().for_each(poison);
        cell.surfaced.push(bad.to_owned());
        cell.log.insert(bad.to_owned(), 1);
        cell.proven = false;
        for finding in &mut cell.findings {
            finding.note.push_str(bad);
            finding.reason = Some(Reason::from(bad.to_owned()));
        }
        cell.reason = cell.findings[0].reason.clone();
        for hop in &mut cell.hops {
            hop.dropped.insert(Reason::from(bad.to_owned()), cell.produced);
        }
        let comparison = skewlab::record::Comparison::AtMost;
        let (budget, note) = (format!("log_lines{bad}"), bad.to_owned());
        cell.budgets =
            vec![Budgeted { budget, is: comparison, limit: 1.0, measured: None, kept: None, note }];
        cell.limits = vec![skewlab::record::FigureLimit {
            figure: skewlab::record::Figure::Dispatches,
            is: comparison,
            value: Some(1.0),
            from: None,
        }];
    }
    run
}

#[test]
fn no_text_of_a_run_begins_a_line_or_acts_on_a_screen_in_any_format() {
    const BAD: &str = "\r\n::error::x\n  ::add-mask::y\u{1b}[2J\u{9b}31m\u{2028}\u{202e}";
    let run = poisoned(BAD);
    let formats: [(&str, Render<'_>); 8] = [
        ("terminal", &|run| {
            anstream::adapter::strip_str(&written(|out| report::matrix_table(run, Some(100), out)))
                .to_string()
        }),
        ("junit", &junit),
        ("markdown", &|run| written(|out| report::markdown(&[run], STEP_SUMMARY_BYTES, out))),
        ("sarif", &|run| written(|out| report::sarif(&[run], out))),
        ("openmetrics", &|run| written(|out| report::openmetrics(&[run], out))),
        ("csv", &|run| written(|out| report::csv(&[run], out))),
        ("json", &|run| written(|out| report::json(run, out))),
        ("annotations", &|run| {
            let files = [(run.scenarios[0].name.clone(), format!("f{BAD}"))].into();
            written(|out| report::annotations(run, &files, out))
        }),
    ];
    for (name, render) in formats {
        let text = render(&run);
        assert!(text.contains("::error"), "{name}: the text has to be there for the test to say anything");
        for line in text.split(['\n', '\r']) {
            let command = line.trim_start().starts_with("::");
            let own =
                name == "annotations" && (line.starts_with("::error ") || line.starts_with("::warning "));
            assert!(!command || own, "{name}: {line}");
        }
        // In JSON these are data, and a terminal is no place for it.
        if !["sarif", "json"].contains(&name) {
            let acts = |c: char| c != '\n' && shown(&c.to_string()) != c.to_string();
            assert!(!text.contains(acts), "{name}: {text:?}");
        }
    }
    let page = written(|out| report::html(&[skewlab::record::Document::Run(Box::new(run.clone()))], out));
    assert!(!page.contains(['\u{1b}', '\u{9b}', '\u{202e}']));
}

#[test]
fn a_table_of_any_other_result_has_no_text_that_acts_on_a_screen() {
    for document in crate::html::all_hostile() {
        let table = written(|out| report::document_table(&document, Some(100), out));
        let plain = anstream::adapter::strip_str(&table).to_string();
        assert!(plain.contains("onerror"), "{}: the text has to be there", document.schema());
        let acts = |c: char| c != '\n' && shown(&c.to_string()) != c.to_string();
        assert!(!plain.contains(acts), "{}: {plain:?}", document.schema());
    }
}

#[test]
fn an_entry_that_picks_nothing_is_red_or_said_in_every_format() {
    let mut run = matrix(&["release-skew"], &["1.43.1"], &["python-1.58.2"]);
    let green = run.clone();
    run.stale = vec![Stale { line: Some(7), cell: "*/no-such/*".into(), why: "it picks no cell".into() }];
    assert_eq!(skewlab::judge::exit_code(&run), skewlab::judge::ExitCode::Stale);
    let table = |run: &Run| written(|out| report::matrix_table(run, None, out));
    let markdown = |run: &Run| written(|out| report::markdown(&[run], STEP_SUMMARY_BYTES, out));
    let page = |run: &Run| {
        written(|out| report::html(&[skewlab::record::Document::Run(Box::new(run.clone()))], out))
    };
    let csv = |run: &Run| written(|out| report::csv(&[run], out));
    let annotations =
        |run: &Run| written(|out| report::annotations(run, &std::collections::BTreeMap::new(), out));
    let said = "known failures, line 7: */no-such/*: it picks no cell";
    for (name, render) in [("csv", &csv as Render<'_>), ("annotations", &annotations), ("table", &table)] {
        assert!(render(&run).contains(said) && !render(&green).contains("known failures"), "{name}");
    }
    assert!(table(&run).starts_with("\u{1b}[1mwhat broke\u{1b}[0m: 1 entry of the known failures has to go"));
    assert!(
        markdown(&run).starts_with("## skewlab: 1 entry of the known failures has to go"),
        "{}",
        markdown(&run)
    );
    assert!(
        markdown(&run).contains("line 7")
            && markdown(&green).starts_with("## skewlab: the only cell is as expected")
    );
    assert!(page(&run).contains("line 7: ") && page(&run).contains("has to go; every cell is as expected"));
    assert!(!page(&green).contains("has to go"));
    assert!(annotations(&run).starts_with("::warning "));
    let read = quick_junit::Report::deserialize_from_str(&junit(&run)).unwrap();
    assert_eq!((read.tests, read.failures), (2, 1));
    let log = sarif(&run);
    let result = &log["runs"][0]["results"].as_array().unwrap().last().unwrap().clone();
    let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    assert_eq!(
        (&result["level"], &result["locations"][0]["physicalLocation"]["region"]["startLine"]),
        (&"warning".into(), &7.into())
    );
    let metrics = |run: &Run| written(|out| report::openmetrics(&[run], out));
    let count = |run: &Run| {
        let text = metrics(run);
        text.lines()
            .find(|line| line.starts_with("skewlab_stale_known_entries{"))
            .unwrap()
            .rsplit_once(' ')
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!((count(&run), count(&green)), ("1".to_owned(), "0".to_owned()));
}
