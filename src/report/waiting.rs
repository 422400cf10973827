//! What waited for a subscriber, and how its connection was closed, in a line.

use super::escape::line;
use super::words::counted;
use crate::record::{CellResult, Queue};
use crate::unit::size;

/// What is said of the queues of a cell: what the queue is called, and the sentence. Empty where nothing waited and nobody
/// closed.
pub(super) fn waiting(cell: &CellResult) -> Vec<(&'static str, String)> {
    queues(cell).into_iter().filter_map(|(label, queue)| Some((label, waited(queue?)?))).collect()
}

/// A line for each queue that something waited in, `queue  1204 frames (214.3 KiB) at most`, of cells that are told together:
/// that of the cell in which most did, and in how many it was just so if not in all. A bare close code is no line: it is the
/// finding's reason already.
pub(super) fn worst(cells: &[&CellResult]) -> Vec<String> {
    let Some(first) = cells.first() else { return Vec::new() };
    let of_place = |place: usize, label: &str| {
        let own = |cell: &CellResult| queues(cell).get(place).and_then(|(_, queue)| queue.cloned());
        let all: Vec<Option<Queue>> = cells.iter().map(|cell| own(cell)).collect();
        let weight = |queue: &&Queue| (queue.peak_bytes, queue.peak_frames, queue.closed.is_some());
        let most = all.iter().flatten().max_by_key(weight)?;
        let bare = most.peak_frames == 0 && !most.closed.as_ref().is_some_and(|closed| closed.contains(' '));
        let told = waited(most).filter(|_| !bare)?;
        let so = all.iter().flatten().filter(|queue| waited(queue).as_ref() == Some(&told)).count();
        let share = if so == all.len() {
            String::new()
        } else {
            format!("; so in {so} of {}", counted(all.len() as u64, "cell"))
        };
        Some(format!("{label}  {told}{share}"))
    };
    queues(first).iter().enumerate().filter_map(|(place, (label, _))| of_place(place, label)).collect()
}

/// Every queue that a cell may have, in an order that is the same for all.
fn queues(cell: &CellResult) -> [(&'static str, Option<&Queue>); 2] {
    [("queue", cell.queue.as_ref()), ("in the client", cell.receive_queue.as_ref())]
}

/// `1204 frames (214.3 KiB) at most, limit 16.0 MiB, 1180 left at close, closed 1013 slow_consumer`; none where nothing
/// waited and nobody closed. A limit alone is no news.
fn waited(queue: &Queue) -> Option<String> {
    let Queue { peak_frames, peak_bytes, at_close_frames, limit_bytes, limit_frames, closed, .. } = queue;
    let mut parts = Vec::new();
    if *peak_frames > 0 || *peak_bytes > 0 {
        parts.push(format!("{} ({}) at most", counted(*peak_frames, "frame"), size(*peak_bytes)));
        parts.extend(limit_bytes.map(|limit| format!("limit {}", size(limit))));
        parts.extend(limit_frames.map(|limit| format!("limit {}", counted(limit, "frame"))));
        parts.push(match at_close_frames {
            0 => "none left at close".to_owned(),
            left => format!("{left} left at close"),
        });
    } else if closed.is_some() {
        parts.push("nothing waited".to_owned());
    }
    parts.extend(closed.as_ref().map(|closed| format!("closed {}", line(closed))));
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(peak_frames: u64, closed: Option<&str>) -> Queue {
        Queue {
            peak_frames,
            peak_bytes: peak_frames * 1000,
            limit_bytes: Some(16 * 1024 * 1024),
            closed: closed.map(str::to_owned),
            ..Queue::default()
        }
    }

    #[test]
    fn what_waited_is_told_and_what_did_not_is_not() {
        let full = Queue { at_close_frames: 1180, ..queue(1204, Some("1013 slow_consumer")) };
        let told =
            "1204 frames (1.1 MiB) at most, limit 16.0 MiB, 1180 left at close, closed 1013 slow_consumer";
        assert_eq!(waited(&full).unwrap(), told);
        let bounded = Queue { limit_bytes: None, limit_frames: Some(64), ..queue(64, None) };
        assert_eq!(
            waited(&bounded).unwrap(),
            "64 frames (62.5 KiB) at most, limit 64 frames, none left at close"
        );
        let endless = Queue { limit_bytes: None, ..queue(1, None) };
        assert_eq!(waited(&endless).unwrap(), "1 frame (1000 B) at most, none left at close");
        assert_eq!(waited(&queue(0, Some("1011"))).unwrap(), "nothing waited, closed 1011");
        assert_eq!(waited(&queue(0, None)), None, "a limit that nothing came near");
    }

    #[test]
    fn a_reason_is_somebody_elses_text() {
        let told = waited(&queue(0, Some("1000 \u{1b}[2J\nbye"))).unwrap();
        assert_eq!(told, "nothing waited, closed 1000 \\u{1b}[2J\\nbye");
    }
}
