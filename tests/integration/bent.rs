//! Cells in which something goes wrong, and the same cells in which nothing does.

use skewlab::judge::exit_code;
use skewlab::record::{CellResult, Run, Verdict};

use crate::runs::{Folder, plan, run};

/// A cell with a fault, as text of a scenario.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bent {
    /// The server.
    pub(crate) server: &'static str,
    /// The client.
    pub(crate) client: &'static str,
    /// Keys at the top of the file: `subscribers = 2`.
    pub(crate) top: &'static str,
    /// What stands in `[workload.w]`.
    pub(crate) workload: String,
    /// The tables of `[[fault.f]]`, each its keys.
    pub(crate) faults: &'static [&'static str],
    /// Other tables.
    pub(crate) tables: &'static str,
}

impl Bent {
    /// The cell, expected to end like that, and the exit code of a run of it.
    pub(crate) fn ends(&self, expect: Verdict) -> (CellResult, u8) {
        let name = if self.faults.is_empty() { "none" } else { "f" };
        let faults: Vec<String> = self.faults.iter().map(|keys| format!("[[fault.f]]\n{keys}\n")).collect();
        let faults = faults.concat();
        let text = format!(
            "question = \"q\"\nservers = [\"{}\"]\nclients = [\"{}\"]\nworkloads = [\"w\"]\nfaults = [\"{name}\"]\n{}\n\
             [workload.w]\n{}\n{faults}{}\n[[expect]]\nverdict = \"{}\"\n",
            self.server,
            self.client,
            self.top,
            self.workload,
            self.tables,
            expect.as_str()
        );
        let folder = Folder::new();
        let run = run(&plan(&[&folder.write("bent.toml", &text)], &[], &[], &folder.catalogue()), 1, 1);
        assert_eq!(run.cells.len(), 1);
        (run.cells[0].clone(), exit_code(&run).code())
    }

    /// It ends like that, and as expected.
    #[track_caller]
    pub(crate) fn is(&self, verdict: Verdict) -> CellResult {
        let (cell, code) = self.ends(verdict);
        assert_eq!(cell.verdict, verdict, "{} {:?}", cell.id, cell.findings);
        assert_eq!(code, if verdict.is_rig_fault() { 13 } else { 0 }, "{:?}", cell.findings);
        cell
    }

    /// The same cell in which nothing goes wrong.
    pub(crate) fn quiet(&self) -> Bent {
        Bent { faults: &[], ..self.clone() }
    }

    /// The same cell with another server.
    pub(crate) fn on(&self, server: &'static str) -> Bent {
        Bent { server, ..self.clone() }
    }

    /// The same cell with another client.
    pub(crate) fn with(&self, client: &'static str) -> Bent {
        Bent { client, ..self.clone() }
    }

    /// The same cell with other faults.
    pub(crate) fn but(&self, faults: &'static [&'static str]) -> Bent {
        Bent { faults, ..self.clone() }
    }
}

/// A run of that text with the faults `f`, each its keys.
pub(crate) fn under(head: &str, faults: &[&str]) -> Run {
    let faults: Vec<String> = faults.iter().map(|keys| format!("\n[[fault.f]]\n{keys}\n")).collect();
    let folder = Folder::new();
    let file = folder.write("bent.toml", &(head.to_owned() + &faults.concat()));
    run(&plan(&[&file], &[], &[], &folder.catalogue()), 1, 1)
}

const PYTHON: &str = "python-1.58.2";

/// Nine deltas in two seconds, on the newest release.
pub(crate) fn short() -> Bent {
    let tokens = "rate = 4.5\ntokens = [{ text = \"\" }, { reasoning = \"hmm \" }, { text = \"one \" }, { text = \"two \" }, \
                  { text = \"three \" }, { text = \"four \" }, { text = \"five \" }, { text = \"six \" }, { text = \"seven\" }]";
    Bent { server: "1.58.2", client: PYTHON, workload: tokens.to_owned(), ..Bent::default() }
}

/// The third delta comes after the fourth.
pub(crate) fn swapped() -> Bent {
    short().but(&["kind = \"reorder\"\nat = \"token 3\""])
}

/// The fourth delta comes after the reply.
pub(crate) fn late() -> Bent {
    short().but(&["kind = \"late\"\nat = \"token 4\""])
}

/// From the first frame of the stream on, a proxy lets nothing through before the turn is over.
pub(crate) fn held() -> Bent {
    short().but(&["kind = \"buffer\"\nuntil = \"turn\"\nat = \"token 1\""])
}

/// One of two subscribers stops reading for twenty seconds, on a server that waits for each in turn. A pipe holds 256 KiB, and
/// so four of these tokens.
pub(crate) fn neighbours() -> Bent {
    Bent {
        server: "1.22.0",
        client: "python@same",
        top: "subscribers = 2",
        workload: format!("rate = 10\ntokens = [{{ text = \"{}\", repeat = 20 }}]", "word ".repeat(13_000)),
        faults: &["kind = \"stall\"\nfor = \"20s\"\nat = \"token 2\"\nsubscriber = 1"],
        tables: "",
    }
}

/// A subscriber does not read for ten seconds while thousands of tokens stream.
pub(crate) fn piled() -> Bent {
    Bent {
        server: "1.58.2",
        client: PYTHON,
        workload: "rate = 1000\ngenerate = { count = 5000 }".to_owned(),
        faults: &["kind = \"stall\"\nfor = \"10s\"\nat = \"token 1000\""],
        ..Bent::default()
    }
}

/// Twenty tokens a second come for two minutes, and the application takes ten.
pub(crate) fn crowded() -> Bent {
    Bent {
        server: "1.58.2",
        client: "typescript-1.39.0+unbounded-channel",
        workload: "rate = 20\ngenerate = { count = 2500 }".to_owned(),
        ..Bent::default()
    }
}

/// Forty minutes of text under a runtime that ends what looks idle for twenty.
pub(crate) fn long() -> Bent {
    Bent {
        server: "1.44.1",
        client: PYTHON,
        workload: "rate = 1\ngenerate = { count = 2400 }".to_owned(),
        tables: "[runtime]",
        ..Bent::default()
    }
}
