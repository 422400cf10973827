//! A panic in one cell is that cell's result. Tasks of the cell run on its thread, and a runtime swallows
//! their panics; so the hook notes them, and the cell is asked afterwards.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::fault::CellFault;

/// What this thread is doing.
enum State {
    /// Nothing of ours: panics are everybody's.
    Outside,
    /// Running a cell; the first panic so far.
    InCell(Option<String>),
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::Outside) };
}

/// Runs a cell on this thread; any panic on it, in any task, is a fault of the cell.
pub(super) fn caught<T>(cell: impl FnOnce() -> Result<T, CellFault>) -> Result<T, CellFault> {
    install();
    STATE.replace(State::InCell(None));
    let result = catch_unwind(AssertUnwindSafe(cell));
    let noted = match STATE.replace(State::Outside) {
        State::InCell(first) => first,
        State::Outside => None,
    };
    match (result, noted) {
        (_, Some(message)) => Err(CellFault::Panicked(message)),
        (Ok(result), None) => result,
        (Err(_), None) => Err(CellFault::Panicked("without a message".to_owned())),
    }
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            let in_cell = STATE.with_borrow_mut(|state| match state {
                State::InCell(first) => {
                    first.get_or_insert_with(|| info.to_string().replace('\n', " "));
                    true
                }
                State::Outside => false,
            });
            if !in_cell {
                usual(info);
            }
        }));
    });
}
