//! Cost against a number of subscribers as a picture: points, a line through them, and how sure the line is.
//!
//! Where things lie is worked out here; how they look is the template's and the style sheet's.

use askama::Template;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// How many colours a style sheet has for series.
const COLOURS: usize = 8;

/// What is drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct Plot {
    /// The word that its ids begin with.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The same at length, for who cannot see it.
    pub description: String,
    /// Under the horizontal axis.
    pub across: &'static str,
    /// Beside the vertical one.
    pub up: &'static str,
    /// One per subject.
    pub series: Vec<Series>,
}

/// One subject.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    /// Its name.
    pub name: String,
    /// What was measured at each number: the middle.
    pub points: Vec<(f64, f64)>,
    /// Single measurements, drawn faintly.
    pub blocks: Vec<(f64, f64)>,
    /// The least and the most at a number.
    pub ranges: Vec<(f64, f64, f64)>,
    /// The line through the points.
    pub line: Option<Fit>,
}

/// `a + b · x`, and between which slopes `b` lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    /// At zero.
    pub a: f64,
    /// The slope.
    pub b: f64,
    /// The interval of the slope; not drawn without two ends.
    pub b_ci: [f64; 2],
}

#[derive(Template)]
#[template(path = "html/chart.html")]
struct View<'a> {
    plot: &'a Plot,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    bottom: f64,
    middle: f64,
    ticks_across: Vec<Tick>,
    ticks_up: Vec<Tick>,
    drawn: Vec<Drawn<'a>>,
}

struct Tick {
    at: String,
    text: String,
}

struct Drawn<'a> {
    colour: usize,
    name: &'a str,
    /// A key for the legend.
    key: String,
    band: Option<String>,
    line: Option<String>,
    ranges: Vec<String>,
    blocks: Vec<(String, String)>,
    points: Vec<(String, String)>,
}

/// Draws it; nothing where there is no point to draw.
pub(super) fn draw(plot: &Plot) -> askama::Result<Option<String>> {
    let all = || plot.series.iter().flat_map(|s| s.points.iter().chain(&s.blocks).copied());
    let most = |of: fn((f64, f64)) -> f64| all().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let ranges = plot.series.iter().flat_map(|s| &s.ranges).map(|(_, _, high)| *high);
    let (widest, highest) = (most(|(x, _)| x), ranges.fold(most(|(_, y)| y), f64::max));
    if all().next().is_none() || highest <= 0.0 {
        return Ok(None);
    }
    // Nobody is half a subscriber.
    let (across, up) = (steps(widest.max(1.0), 1.0), steps(highest, 0.0));
    let end = |steps: &[f64]| steps.last().copied().unwrap_or(1.0);
    let (x_end, y_end) = (end(&across), end(&up));
    let x = |value: f64| LEFT + value / x_end * (WIDTH - LEFT - RIGHT);
    // What lies above the axis is cut off at it.
    let y = |value: f64| HEIGHT - BOTTOM - (value / y_end).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    let tick = |at: f64, value: f64| Tick { at: short(at), text: number(value) };
    let drawn = plot.series.iter().enumerate().map(|(at, series)| {
        let place = |(vx, vy): &(f64, f64)| format!("{},{}", short(x(*vx)), short(y(*vy)));
        let symbol = |point: &(f64, f64)| symbol(at, x(point.0), y(point.1), 4.0);
        let line = |a: f64, b: f64| [(0.0, a), (widest, a + b * widest)];
        let path = |points: &[(f64, f64)]| points.iter().map(place).collect::<Vec<_>>().join(" ");
        let band = series.line.filter(|fit| fit.b_ci.iter().all(|end| end.is_finite())).map(|fit| {
            let [low, high] = fit.b_ci.map(|b| line(fit.a, b));
            path(&[low[0], low[1], high[1], high[0]])
        });
        let fitted = series.line.map(|fit| path(&line(fit.a, fit.b)));
        let joined = || (series.points.len() > 1).then(|| path(&series.points));
        let told = |what: &str, (vx, vy): &(f64, f64)| {
            format!("{}{what}: {} at {}", series.name, number(*vy), number(*vx))
        };
        let dot = |point: &(f64, f64)| (symbol_small(x(point.0), y(point.1)), told(", one block", point));
        let bar = |(vx, low, high): &(f64, f64, f64)| {
            format!("M{0} {1}V{2}", short(x(*vx)), short(y(*low)), short(y(*high)))
        };
        Drawn {
            colour: at % COLOURS,
            name: &series.name,
            key: symbol_key(at),
            band,
            line: fitted.or_else(joined),
            ranges: series.ranges.iter().map(bar).collect(),
            blocks: series.blocks.iter().map(dot).collect(),
            points: series.points.iter().map(|point| (symbol(point), told("", point))).collect(),
        }
    });
    let view = View {
        plot,
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: WIDTH - RIGHT,
        bottom: HEIGHT - BOTTOM,
        middle: LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
        ticks_across: across.iter().map(|v| tick(x(*v), *v)).collect(),
        ticks_up: up.iter().map(|v| tick(y(*v), *v)).collect(),
        drawn: drawn.collect(),
    };
    view.render().map(Some)
}

/// From zero in steps of 1, 2 or 5 times a power of ten, none below `least`, at most seven of them, up to something not
/// below `most`.
fn steps(most: f64, least: f64) -> Vec<f64> {
    let rough = most / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough * 0.999_999);
    let step = step.unwrap_or(power * 10.0).max(least);
    let mut steps = vec![0.0];
    let mut n = 0.0;
    while n * step < most * 0.999_999 && steps.len() < 20 {
        n += 1.0;
        steps.push(n * step);
    }
    steps
}

/// A mark of its own for each series, so that colour is not all that tells them apart.
fn symbol(series: usize, x: f64, y: f64, r: f64) -> String {
    let p = |dx: f64, dy: f64| format!("{} {}", short(x + dx * r), short(y + dy * r));
    match series % 4 {
        0 => round(x, y, r),
        1 => format!("M{}L{}L{}L{}Z", p(-0.9, -0.9), p(0.9, -0.9), p(0.9, 0.9), p(-0.9, 0.9)),
        2 => format!("M{}L{}L{}Z", p(0.0, -1.2), p(1.15, 0.85), p(-1.15, 0.85)),
        _ => format!("M{}L{}L{}L{}Z", p(0.0, -1.3), p(1.3, 0.0), p(0.0, 1.3), p(-1.3, 0.0)),
    }
}

fn symbol_small(x: f64, y: f64) -> String {
    round(x, y, 1.8)
}

fn symbol_key(series: usize) -> String {
    symbol(series, 7.0, 7.0, 4.5)
}

fn round(x: f64, y: f64, r: f64) -> String {
    let (left, top, double) = (short(x - r), short(y), short(2.0 * r));
    let r = short(r);
    format!("M{left} {top}a{r} {r} 0 1 0 {double} 0a{r} {r} 0 1 0 -{double} 0Z")
}

/// A place in the picture, to a tenth of a pixel.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Up to three significant digits, none that say nothing.
pub(super) fn number(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.001 => format!("{value:.4}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.1e}"),
    };
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_go_in_round_steps_up_to_the_largest_value() {
        assert_eq!(steps(10.0, 0.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(steps(1000.0, 0.0), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!(steps(0.7, 0.0).last().map(|v| number(*v)).as_deref(), Some("0.8"));
        assert_eq!(steps(2.0, 1.0), [0.0, 1.0, 2.0]);
        for most in [1e-9, 0.33, 1.0, 17.0, 99.0, 12_345.0, 1e12] {
            let steps = steps(most, 0.0);
            assert!(steps.len() <= 8 && steps[steps.len() - 1] >= most * 0.999, "{most}: {steps:?}");
        }
    }

    #[test]
    fn numbers_are_as_long_as_they_say_something() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (0.25, "0.25"), (12.04, "12"), (165_000.4, "165000"), (2e-6, "2.0e-6")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_name_in_a_picture_is_text_and_an_interval_without_ends_is_no_band() {
        let line = Some(Fit { a: 1.0, b: 2.0, b_ci: [f64::NEG_INFINITY, 3.0] });
        let name = "<svg onload=x>".to_owned();
        let series = Series { name, points: vec![(1.0, 3.0), (2.0, 5.0)], line, ..Series::default() };
        let mut plot = Plot { id: "x".into(), series: vec![series], ..Plot::default() };
        let drawn = draw(&plot).unwrap().unwrap();
        assert!(!drawn.contains("<svg onload") && drawn.contains("&#60;svg onload=x&#62;"));
        assert!(drawn.contains("class=\"line\"") && !drawn.contains("class=\"band\""), "{drawn}");
        plot.series[0].line = Some(Fit { a: 1.0, b: 2.0, b_ci: [1.5, 3.0] });
        assert!(draw(&plot).unwrap().unwrap().contains("class=\"band\""));
        assert_eq!(draw(&Plot::default()).unwrap(), None);
    }
}
