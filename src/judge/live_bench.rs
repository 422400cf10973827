//! Blocks of released servers into points, lines and ratios, and their clocks against the emulation's.

use super::stats::{FEWEST_BLOCKS, fit, line, ratio_of_medians};
use crate::record::live_bench::{
    LiveBlock, LiveIdle, LiveLine, LivePoint, LiveRatio, LiveSubject, NotCompared,
};
use crate::seed::Seed;

/// Costs of one server's valid blocks at one number of subscribers, in the order in which they ran.
fn costs(blocks: &[LiveBlock], server: &str, subscribers: u32) -> Vec<f64> {
    let mine = blocks.iter().filter(|b| b.server == server && b.subscribers == subscribers);
    mine.filter(|b| b.fault.is_none()).map(|b| b.cpu_ms_per_token).collect()
}

/// The numbers of subscribers of all blocks, ascending.
fn levels(blocks: &[LiveBlock]) -> Vec<u32> {
    let mut levels: Vec<u32> = blocks.iter().map(|b| b.subscribers).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// One point per server and number of subscribers that has a valid block.
pub fn points(servers: &[LiveSubject], blocks: &[LiveBlock]) -> Vec<LivePoint> {
    let mut points = Vec::new();
    for server in servers {
        for subscribers in levels(blocks) {
            let mut costs = costs(blocks, &server.server, subscribers);
            costs.sort_unstable_by(f64::total_cmp);
            let (Some(least), Some(most)) = (costs.first(), costs.last()) else { continue };
            let middle = f64::midpoint(costs[(costs.len() - 1) / 2], costs[costs.len() / 2]);
            points.push(LivePoint {
                server: server.server.clone(),
                subscribers,
                cpu_ms_per_token: middle,
                range_ms: [*least, *most],
                blocks: u32::try_from(costs.len()).unwrap_or(u32::MAX),
            });
        }
    }
    points
}

/// One line per server that has valid blocks at two numbers of subscribers.
///
/// It runs through the medians: a block that the machine disturbed is an outlier. A real server allows few blocks; where
/// there are too few at a number of subscribers for an interval of their own, all of them together are enough to
/// resample what lies off the line.
pub fn lines(servers: &[LiveSubject], blocks: &[LiveBlock], seed: Seed) -> Vec<LiveLine> {
    let levels = levels(blocks);
    let fitted = |server: &LiveSubject| {
        let costs: Vec<(u32, Vec<f64>)> =
            levels.iter().map(|n| (*n, costs(blocks, &server.server, *n))).collect();
        let points: Vec<(u32, &[f64])> = costs.iter().map(|(n, costs)| (*n, costs.as_slice())).collect();
        let seed = seed.derive(&server.server);
        let fit = fit(&points, seed)?;
        let mut b_ci = fit.b_ci;
        if points.iter().any(|(_, costs)| costs.len() < FEWEST_BLOCKS) {
            let each: Vec<(u32, f64)> =
                costs.iter().flat_map(|(n, costs)| costs.iter().map(|cost| (*n, *cost))).collect();
            b_ci = line(&each, seed)?.b_ci;
        }
        Some(LiveLine { server: server.server.clone(), a_ms: fit.a, b_ms: fit.b, b_ci })
    };
    servers.iter().filter_map(fitted).collect()
}

/// Every later server over the first, where both stand on the same versions; the other pairs with what differs.
pub fn compare(
    servers: &[LiveSubject],
    blocks: &[LiveBlock],
    seed: Seed,
) -> (Vec<LiveRatio>, Vec<NotCompared>) {
    let (mut ratios, mut not_compared) = (Vec::new(), Vec::new());
    let Some((first, rest)) = servers.split_first() else { return (ratios, not_compared) };
    for other in rest {
        let (of, vs) = (other.server.clone(), first.server.clone());
        let differ = differing(other, first);
        if !differ.is_empty() {
            not_compared.push(NotCompared { of, vs, differ });
            continue;
        }
        for subscribers in levels(blocks) {
            let [above, below] = [&of, &vs].map(|server| costs(blocks, server, subscribers));
            let seed = seed.derive(&format!("{of} over {vs} at {subscribers}"));
            if let Some(interval) = ratio_of_medians(&above, &below, seed) {
                let (of, vs, ci) = (of.clone(), vs.clone(), [interval.lo, interval.hi]);
                ratios.push(LiveRatio { of, vs, subscribers, ratio: interval.ratio, ci });
            }
        }
    }
    (ratios, not_compared)
}

/// Packages whose versions differ, with both.
fn differing(of: &LiveSubject, vs: &LiveSubject) -> Vec<[String; 3]> {
    let mut names: Vec<&String> = of.pins.keys().chain(vs.pins.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let version = |of: &LiveSubject, name: &str| of.pins.get(name).cloned().unwrap_or_else(|| "-".to_owned());
    let both = |name: &&String| [(*name).clone(), version(of, name), version(vs, name)];
    names.iter().map(both).filter(|[_, of, vs]| of != vs).collect()
}

/// Where a real server's clocks say something else than its emulation's, by more than looking now and then allows.
///
/// The server says whole seconds, cut off, and what it would have shown between two looks is not seen: so much less than
/// the emulation's peak may be seen. More is not seen but for what the message itself takes on a busy machine.
pub fn contradictions(idle: &LiveIdle, tokens: u32) -> Vec<String> {
    const BUSY: f64 = 1.5;
    let mut found = Vec::new();
    let (seen, said) = (count(idle.peak_idle_s), idle.emulated_peak_idle_s);
    let (least, most) = (said - 1.0 - idle.longest_gap_s - BUSY, said + BUSY);
    if seen < least || seen > most {
        found.push(format!("idle_time reached {seen:.0} s, and the emulation says {said:.1} s"));
    }
    // A value is seen to change once a look at most, and there is one before the first change.
    let writes = idle.emulated_updated_at_per_token * f64::from(tokens);
    let looks = f64::from(idle.polls);
    let due = (writes + 1.0).min(looks);
    let distinct = f64::from(idle.distinct_updated_at);
    if (distinct - due).abs() > (looks * 0.2).min(due * 0.2).max(1.0) {
        found.push(format!(
            "updated_at had {distinct:.0} values in {looks:.0} looks, and the emulation says {due:.0}"
        ));
    }
    if idle.polls == 0 {
        found.push("nobody looked while text streamed: stream for longer".to_owned());
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "seconds of one run are far below 2^52")]
fn count(seconds: u64) -> f64 {
    seconds as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str, pins: &[(&str, &str)]) -> LiveSubject {
        let pins = pins.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        LiveSubject { server: name.to_owned(), ran: name.to_owned(), pins, resident_bytes: None }
    }

    fn block(server: &str, subscribers: u32, ms: f64) -> LiveBlock {
        LiveBlock {
            server: server.to_owned(),
            subscribers,
            cpu_ms_per_token: ms,
            cpu_s: 0.0,
            base_cpu_s: 0.0,
            idle_share: 0.0,
            deltas: 0,
            fault: None,
        }
    }

    fn blocks(server: &str, factor: f64) -> Vec<LiveBlock> {
        let noise = [0.99, 1.0, 1.01, 1.0, 1.02];
        let level = |n: u32| noise.map(|noise| block(server, n, (2.0 + 0.1 * f64::from(n)) * factor * noise));
        [0, 1, 10, 45].into_iter().flat_map(level).collect()
    }

    #[test]
    fn a_line_has_the_slope_of_its_blocks_and_a_bad_block_does_not_count() {
        let servers = [subject("a", &[])];
        let mut all = blocks("a", 1.0);
        all.push(LiveBlock { fault: Some("lost".into()), ..block("a", 45, 500.0) });
        let line = &lines(&servers, &all, Seed(1))[0];
        assert!((line.b_ms - 0.1).abs() < 0.005 && (line.a_ms - 2.0).abs() < 0.05, "{line:?}");
        assert!(line.b_ci[0] < 0.101 && 0.1 < line.b_ci[1] && line.b_ci[1] < 0.12, "{line:?}");
        // With one block fewer at one number there is still an interval, of all blocks together.
        let few = &lines(&servers, &all[1..all.len() - 1], Seed(1))[0];
        assert!(few.b_ci[0] > 0.09 && few.b_ci[0] < few.b_ci[1] && few.b_ci[1] < 0.12, "{few:?}");
        let points = points(&servers, &all);
        assert_eq!((points.len(), points[3].blocks), (4, 5));
        assert!((points[3].cpu_ms_per_token - 6.5).abs() < 1e-9, "{:?}", points[3]);
    }

    #[test]
    fn no_ratio_where_the_versions_underneath_differ() {
        let all: Vec<LiveBlock> = blocks("a", 1.0).into_iter().chain(blocks("b", 2.0)).collect();
        let same = [subject("a", &[("fastapi", "1")]), subject("b", &[("fastapi", "1")])];
        let (ratios, not) = compare(&same, &all, Seed(1));
        assert_eq!((ratios.len(), not.len()), (4, 0));
        assert!(ratios.iter().all(|r| (r.ratio - 2.0).abs() < 1e-9 && r.ci[0] > 1.0), "{ratios:?}");
        let other = [subject("a", &[("fastapi", "1")]), subject("b", &[("fastapi", "2"), ("uvicorn", "3")])];
        let (ratios, not) = compare(&other, &all, Seed(1));
        assert!(ratios.is_empty());
        let differ = [["fastapi", "2", "1"], ["uvicorn", "3", "-"]].map(|d| d.map(str::to_owned));
        assert_eq!(not[0].differ, differ);
    }

    fn idle(peak: u64, says: f64, distinct: u32, per_token: f64) -> Vec<String> {
        let text = |t: &str| t.to_owned();
        let idle = LiveIdle {
            server: text("s"),
            ran: text("s"),
            profile: text("s"),
            polls: 48,
            longest_gap_s: 1.1,
            peak_idle_s: peak,
            emulated_peak_idle_s: says,
            distinct_updated_at: distinct,
            emulated_updated_at_per_token: per_token,
            contradictions: Vec::new(),
        };
        contradictions(&idle, 250)
    }

    #[test]
    fn what_was_measured_on_four_releases_contradicts_no_emulation_of_its_own() {
        for (peak, says, distinct, per_token) in
            [(1, 0.2, 48, 1.0), (49, 50.0, 1, 0.0), (28, 30.0, 1, 0.0), (29, 30.0, 2, 0.0)]
        {
            assert_eq!(idle(peak, says, distinct, per_token), Vec::<String>::new());
        }
        // Each of them against the emulation of another era.
        assert!(idle(0, 50.0, 1, 0.0)[0].contains("idle_time"));
        assert!(idle(49, 30.0, 1, 0.0)[0].contains("49 s"));
        assert!(idle(28, 0.2, 1, 0.0)[0].contains("idle_time"));
        assert!(idle(1, 0.2, 48, 0.0)[0].contains("updated_at"));
        assert!(idle(1, 0.2, 1, 1.0)[0].contains("updated_at"));
    }
}
