//! What a group of processes holds in memory.

use std::path::Path;

/// Proportional set size of all processes of a group, in bytes: a page shared by n processes counts 1/n in each.
///
/// `None` when the group is gone, or when a process of it may not be looked into.
pub(super) fn of_group(group: u32) -> Option<u64> {
    let mut sum = None;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let path = entry.path();
        // Processes come and go while the folder is read; one that has gone holds nothing.
        let Ok(stat) = std::fs::read_to_string(path.join("stat")) else { continue };
        if group_of(&stat) != Some(group) {
            continue;
        }
        match std::fs::read_to_string(path.join("smaps_rollup")) {
            Ok(rollup) => sum = Some(sum.unwrap_or(0) + pss(&rollup)),
            Err(_) if gone(&path) => {}
            Err(_) => return None,
        }
    }
    sum
}

/// Whether a process of the group still runs. One that only waits for its end to be noticed does not.
pub(super) fn is_group(group: u32) -> bool {
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        group_of(&stat) == Some(group) && !gone(&entry.path())
    })
}

/// Gone, or a zombie, which has no memory and no readable map either.
fn gone(path: &Path) -> bool {
    std::fs::read_to_string(path.join("stat")).map_or(true, |stat| {
        matches!(stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()), Some("Z" | "X"))
    })
}

/// Field 5 of `/proc/PID/stat`. The name before it may hold blanks and brackets.
fn group_of(stat: &str) -> Option<u32> {
    stat.rsplit(')').next()?.split_whitespace().nth(2)?.parse().ok()
}

/// The `Pss:` line of `smaps_rollup`, which the kernel writes in kB.
fn pss(rollup: &str) -> u64 {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kb = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_hide_the_group() {
        assert_eq!(group_of("12 (a) b (c)) S 1 77 12 0 -1"), Some(77));
    }

    #[test]
    fn only_the_whole_share_counts() {
        let rollup = "55 [rollup]\nRss:   9 kB\nPss:     3 kB\nPss_Dirty:  2 kB\nPss_Anon: 1 kB\n";
        assert_eq!(pss(rollup), 3 * 1024);
    }

    #[test]
    fn this_process_is_in_a_group_that_holds_something() {
        let own = group_of(&std::fs::read_to_string("/proc/self/stat").unwrap()).unwrap();
        assert!(of_group(own).unwrap() > 100 * 1024);
        assert_eq!(of_group(u32::MAX), None);
        assert!(is_group(own) && !is_group(u32::MAX));
    }
}
