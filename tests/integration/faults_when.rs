//! When faults come: one clock for all kinds, and a webhook sink that is slow for a while.

use skewlab::record::observation::WebhookCount;
use skewlab::record::{CellResult, Verdict};

use crate::bent;

/// Two seconds of text, a chunk every 100 ms.
const HEAD: &str = r#"question = "When does it come?"
servers = ["1.43.1"]
clients = ["typescript-1.39.0"]
workloads = ["answer"]
faults = ["f"]

[workload.answer]
rate = 10
generate = { count = 20 }
"#;

fn cell(head: &str, faults: &[&str]) -> CellResult {
    bent::under(head, faults).cells.swap_remove(0)
}

#[test]
fn what_the_turn_does_and_what_is_done_to_it_come_at_the_same_time() {
    // The second turn begins some ten seconds after the first.
    let say = "kind = \"say\"\nat = \"10s\"";
    let produced = |kind: &str, at: &str| {
        let cell = cell(HEAD, &[say, &format!("kind = \"{kind}\"\nat = \"{at}\"")]);
        assert_ne!(cell.verdict, Verdict::NotRun, "{kind} {at}: {}", cell.findings[0].note);
        cell.produced.frames
    };
    for (at, chunks) in [("1050ms", 11), ("11050ms", 31)] {
        let directed = produced("restart", at);
        // What the turn does itself comes with its next chunk.
        let (cancelled, failed) = (produced("cancel", at), produced("provider_error", at));
        let second_turn = if at == "1050ms" { 20 } else { 0 };
        assert_eq!(directed, chunks + second_turn, "{at}");
        assert_eq!((cancelled, failed), (directed + 1, directed + 1), "{at}");
    }
}

/// Twelve seconds of text, so that posts are many.
fn webhook(faults: &[&str]) -> WebhookCount {
    let head = HEAD.replace("rate = 10", "rate = 50").replace("count = 20", "count = 300");
    let cell = cell(&head, faults);
    assert_ne!(cell.verdict, Verdict::NotRun, "{faults:?}: {}", cell.findings[0].note);
    cell.side_effects.webhook.clone()
}

#[test]
fn a_sink_that_is_slow_from_a_token_on_gets_other_posts_than_one_that_always_was() {
    let slow = |when: &str| format!("kind = \"slow_sink\"\nlatency = \"1s\"\n{when}");
    let always = webhook(&[&slow("")]);
    let from_token = webhook(&[&slow("at = \"token 40\"")]);
    let from_time = webhook(&[&slow("at = \"3s\"")]);
    let for_a_while = webhook(&[&slow("at = \"token 40\"\nfor = \"2s\"")]);
    let late = webhook(&[&slow("after = \"turn\"")]);
    for count in [&always, &from_token, &from_time, &for_a_while, &late] {
        assert_eq!((count.deltas, count.dropped, count.failed_posts), (300, 0, 0));
    }
    // Nobody answers within the server's patience: what is posted then comes back, until it ends.
    let dead = webhook(&["kind = \"slow_sink\"\nlatency = \"40s\"\nat = \"token 40\"\nfor = \"20s\""]);
    assert!(dead.failed_posts >= 1 && dead.deltas == 300, "{dead:?}");
    let never = webhook(&["kind = \"slow_sink\"\nlatency = \"40s\"\nat = \"token 40\""]);
    let from_the_start = webhook(&["kind = \"slow_sink\"\nlatency = \"40s\""]);
    assert_eq!(from_the_start.deltas, 0);
    assert!((30..=45).contains(&never.deltas), "those before token 40: {never:?}");
}

#[test]
fn a_fault_in_the_sink_is_the_sinks_of_the_scenario() {
    let head = HEAD.to_owned() + "\n[webhook]\nlatency_s = 0.5\n";
    let plain = cell(&head, &["kind = \"slow_sink\"\nlatency = \"500ms\""]).side_effects.webhook.clone();
    let none = cell(&head.replace("faults = [\"f\"]", ""), &[]).side_effects.webhook.clone();
    assert_eq!(plain, none, "the same latency, by the scenario and by a fault from the start");
}

#[test]
fn a_slow_sink_survives_the_server_that_posted_to_it() {
    let restart = "kind = \"restart\"\nat = \"token 5\"\ndown = \"2s\"";
    let slow = "kind = \"slow_sink\"\nlatency = \"40s\"\nat = \"token 2\"";
    let say = "kind = \"say\"\nat = \"10s\"";
    let (quick, dead) = (cell(HEAD, &[restart, say]), cell(HEAD, &[slow, restart, say]));
    assert!(quick.side_effects.webhook.deltas >= 20);
    assert_eq!(dead.side_effects.webhook.deltas, 0, "{:?}", dead.side_effects.webhook);
}

#[test]
fn a_sink_that_nothing_is_posted_to_meanwhile_was_not_slow() {
    // Two posts of five events come in the first second; the next one is later than this window.
    for when in ["at = \"60s\"\nfor = \"1s\"", "after = \"turn\"\nby = \"10h\""] {
        let cell = cell(HEAD, &[&format!("kind = \"slow_sink\"\nlatency = \"1s\"\n{when}")]);
        assert_eq!(cell.verdict, Verdict::NotRun, "{when}: {}", cell.findings[0].note);
        assert!(cell.findings[0].note.contains("slow_sink"), "{}", cell.findings[0].note);
    }
}
