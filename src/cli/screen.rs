//! How wide the screen is that standard output goes to.

use std::io::IsTerminal as _;

/// Columns of the terminal; none where the output is no terminal, and so has no width.
pub(super) fn columns() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let asked = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
    // A terminal that does not know says zero.
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    asked.filter(|columns| *columns > 0).or_else(told).filter(|columns| *columns > 0)
}
