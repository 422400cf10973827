//! What a server's clocks showed while text streamed, as a bar of time.

const WIDTH: f64 = 860.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 20.0;
const ROW: f64 = 30.0;
const TOP: f64 = 8.0;
const FOOT: f64 = 34.0;

/// Bars of one length of time.
#[derive(Debug)]
pub(super) struct Timeline {
    pub id: String,
    pub title: String,
    pub description: String,
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub bottom: f64,
    pub ticks: Vec<(String, String)>,
    pub rows: Vec<Bar>,
}

/// One server.
#[derive(Debug)]
pub(super) struct Bar {
    pub name: String,
    /// The middle of its row.
    pub y: f64,
    /// Where its text begins to be refreshed, where it is given up, and where it ends.
    pub spans: Vec<Span>,
    pub marks: Vec<Mark>,
}

/// A part of a bar.
#[derive(Debug)]
pub(super) struct Span {
    pub class: &'static str,
    pub x: String,
    pub width: String,
    pub told: String,
}

/// A moment.
#[derive(Debug)]
pub(super) struct Mark {
    pub class: &'static str,
    pub x: String,
    pub letter: &'static str,
    pub told: String,
}

/// What is known of a server, seconds.
pub(super) struct Life {
    pub name: String,
    pub streamed: f64,
    pub first_refresh: Option<f64>,
    pub reaped: Option<f64>,
    pub evicted: Option<f64>,
}

/// Lays the lives out, one under the other. `time` says a number of seconds in words.
pub(super) fn timeline(
    id: String,
    title: String,
    lives: &[Life],
    time: fn(f64) -> String,
) -> Option<Timeline> {
    let longest = lives.iter().map(|l| l.streamed).filter(|s| s.is_finite()).fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of rows")]
    let height = TOP + ROW * lives.len() as f64 + FOOT;
    let x = |seconds: f64| LEFT + (seconds / longest).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
    let px = |value: f64| format!("{value:.1}");
    let mut y = TOP + ROW / 2.0;
    let mut rows = Vec::new();
    for life in lives {
        let span = |class: &'static str, from: f64, to: f64, told: String| Span {
            class,
            x: px(x(from)),
            width: px((x(to) - x(from)).max(0.0)),
            told,
        };
        let reaped = life.reaped.unwrap_or(life.streamed).min(life.streamed);
        let mut spans =
            vec![span("kept", 0.0, reaped, format!("{}: kept until {}", life.name, time(reaped)))];
        if life.reaped.is_some() {
            let told = format!(
                "{}: reaped at {}, while text streams to {}",
                life.name,
                time(reaped),
                time(life.streamed)
            );
            spans.push(span("lost", reaped, life.streamed, told));
        }
        let mark = |class, letter, what: &str, at: Option<f64>| {
            at.map(|at| Mark {
                class,
                letter,
                x: px(x(at)),
                told: format!("{}: {what} at {}", life.name, time(at)),
            })
        };
        let marks = [
            mark("refresh", "w", "a token first wrote the process clock", life.first_refresh),
            mark("reaped", "R", "reaped", life.reaped),
            mark("evicted", "E", "conversation evicted", life.evicted),
        ];
        rows.push(Bar { name: life.name.clone(), y, spans, marks: marks.into_iter().flatten().collect() });
        y += ROW;
    }
    let ticks = (0..=5).map(|n| f64::from(n) / 5.0 * longest).map(|s| (px(x(s)), time(s))).collect();
    let told = |life: &Life| {
        let at = |what: &str, at: Option<f64>| {
            at.map_or_else(String::new, |at| format!(", {what} at {}", time(at)))
        };
        let refresh = at("first refreshed by a token", life.first_refresh);
        let (reaped, evicted) = (at("reaped", life.reaped), at("evicted", life.evicted));
        format!("{}: streams for {}{refresh}{reaped}{evicted}.", life.name, time(life.streamed))
    };
    let description = lives.iter().map(told).collect::<Vec<_>>().join(" ");
    let (left, bottom) = (LEFT, height - FOOT);
    Some(Timeline { id, title, description, width: WIDTH, height, left, bottom, ticks, rows })
}
