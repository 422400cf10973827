//! `skewlab baseline`: what is kept, and what it takes to replace it.

use skewlab::record::Run;
use skewlab::report;

use crate::runs::{Folder, agreeing, ended, matrix, skewlab};

fn write(folder: &Folder, name: &str, run: &Run) -> String {
    let mut out = Vec::new();
    report::json(&agreeing(run), &mut out).unwrap();
    folder.write(name, &String::from_utf8(out).unwrap())
}

fn sample() -> Run {
    matrix(&["release-skew"], &["1.43.1", "1.58.2"], &["python-1.55.1", "python-1.21.1"])
}

fn baseline(folder: &Folder, args: &[&str]) -> (i32, String, String) {
    ended(skewlab(&[&["baseline"], args].concat()).args(["--dir", &folder.arg("kept")]))
}

#[test]
fn a_run_is_kept_compared_and_shown() {
    let folder = Folder::new();
    let run = write(&folder, "run.json", &sample());
    let (code, said, errors) = baseline(&folder, &["save", &run]);
    assert_eq!((code, said.as_str()), (0, ""), "{errors}");
    let file = folder.path("kept/matrix.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 5, "a header and one line a cell");
    let ids: Vec<&str> = text.lines().skip(1).map(|line| line.split('"').nth(3).unwrap()).collect();
    assert!(ids.is_sorted() && ids.len() == 4, "{ids:?}");
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    for private in [host.trim(), "/", "--"].iter().filter(|p| p.len() > 2) {
        assert!(!text.contains(*private), "{private}");
    }
    // Comparing reads it on either side.
    let kept = file.display().to_string();
    for (base, head) in [(&kept, &run), (&run, &kept), (&kept, &kept)] {
        let (code, said, errors) = ended(&mut skewlab(&["compare", base, head]));
        assert!(code == 0 && said.starts_with("Nothing changed: 4 cells"), "{said}{errors}");
    }
    // The same run in another order is the same bytes.
    let mut turned = sample();
    turned.cells.reverse();
    let turned = write(&folder, "turned.json", &turned);
    assert_eq!(baseline(&folder, &["save", &turned, "--name", "turned"]).0, 0);
    assert_eq!(std::fs::read_to_string(folder.path("kept/turned.jsonl")).unwrap(), text);
    let (code, listed, _) = baseline(&folder, &["show"]);
    assert!(code == 0 && listed.lines().count() == 2 && listed.contains("matrix  4 cells"), "{listed}");
    let (_, shown, _) = baseline(&folder, &["show", "matrix"]);
    assert!(shown.starts_with("matrix: 4 cells of skewlab.run/1, virtual clock, seed 1"), "{shown}");
}

#[test]
fn nothing_is_written_over_without_a_word() {
    let folder = Folder::new();
    let good = sample();
    let run = write(&folder, "run.json", &good);
    assert_eq!(baseline(&folder, &["save", &run]).0, 0);
    let text = || std::fs::read_to_string(folder.path("kept/matrix.jsonl")).unwrap();
    let before = text();
    let (code, _, errors) = baseline(&folder, &["save", &run]);
    assert!(code == 2 && errors.contains("is there already") && errors.contains("update"), "{errors}");
    let mut worse = good.clone();
    worse.cells.iter_mut().find(|c| c.verdict.is_healthy()).unwrap().verdict =
        skewlab::record::Verdict::SilentLoss;
    let worse = write(&folder, "worse.json", &worse);
    let (code, said, errors) = baseline(&folder, &["update", &worse]);
    assert_eq!((code, text()), (10, before.clone()), "{said}");
    assert!(said.contains("newly silent (1)") && errors.contains("--accept"), "{said}{errors}");
    let (code, _, _) = baseline(&folder, &["update", &worse, "--accept"]);
    assert!(code == 0 && text() != before);
    // What got better needs no word.
    let (code, said, _) = baseline(&folder, &["update", &run]);
    assert!(code == 0 && said.contains("healed (1)"), "{said}");
    assert_eq!(text(), before);
    let mut changed = good.clone();
    changed.cells[0].hash = "0000000000000000".to_owned();
    let changed = write(&folder, "changed.json", &changed);
    let (code, said, _) = baseline(&folder, &["update", &changed]);
    assert!(code == 10 && said.contains("another scenario's cell now"), "{said}");
    assert_eq!(baseline(&folder, &["update", &changed, "--accept"]).0, 0);
}

#[test]
fn what_is_no_baseline_is_refused() {
    let folder = Folder::new();
    let run = write(&folder, "run.json", &sample());
    assert_eq!(baseline(&folder, &["save", &run]).0, 0);
    let (code, _, errors) = baseline(&folder, &["show", "matirx"]);
    assert!(code == 2 && errors.contains("did you mean `matrix`"), "{errors}");
    for bad in ["../evil", "a/b", ".hidden", "", "Upper"] {
        let (code, _, errors) = baseline(&folder, &["save", &run, "--name", bad]);
        assert!(code == 2 && errors.contains("a-z"), "{bad}: {errors}");
    }
    let mut faulty = sample();
    faulty.cells[0].verdict = skewlab::record::Verdict::NotRun;
    let faulty = write(&folder, "faulty.json", &faulty);
    let (code, _, errors) = baseline(&folder, &["save", &faulty, "--name", "faulty"]);
    assert!(code == 13 && errors.contains("nothing was written"), "{errors}");
    assert!(!folder.path("kept/faulty.jsonl").exists());
    let text = std::fs::read_to_string(folder.path("kept/matrix.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let doubled = format!("{text}{}\n", lines[1]);
    for (name, text, part) in [
        ("cut", lines[..3].join("\n"), "the file ends here"),
        ("cut-in-a-line", text[..text.len() - 40].to_owned(), "the file ends here"),
        ("newer", text.replacen("baseline/1", "baseline/2", 1), "is newer than `skewlab.baseline/1`"),
        ("more", doubled, "more follows than the 4 cells"),
        ("merge", text.replacen('\n', "\n<<<<<<< HEAD\n", 1), "line 2 column 1"),
        ("unknown", text.replacen("\"signal\"", "\"sigal\"", 1), "unknown field `sigal`"),
    ] {
        let file = folder.write(&format!("kept/{name}.jsonl"), &text);
        for args in [&["compare", &file, &run][..], &["compare", &run, &file]] {
            let (code, said, errors) = ended(&mut skewlab(args));
            assert!(code == 2 && said.is_empty() && errors.contains(part), "{name}: {errors}");
        }
    }
}
