//! Heap allocations of each thread, counted where they happen.
//!
//! The counters are the thread's own, so what the subscribers allocate is never billed to the server beside them.
//! This is the process's allocator: a program that links this library cannot have another one.

#![expect(unsafe_code, reason = "an allocator cannot be written without; this one only counts and hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    // Constant and without a destructor: the first use on a thread allocates nothing, and the last free of a
    // thread that ends still finds them.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
    static FREED: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a count.
#[derive(Debug)]
pub struct Counting;

fn add(cell: &'static std::thread::LocalKey<Cell<u64>>, n: usize) {
    // A figure too few is better than an abort in the middle of a thread's end.
    let _ = cell.try_with(|c| c.set(c.get().wrapping_add(n as u64)));
}

fn grown(bytes: usize) {
    add(&COUNT, 1);
    add(&BYTES, bytes);
}

// SAFETY: every call is handed to `System` with the arguments that came in, and its answer is handed back.
// Counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is `System`'s.
        let at = unsafe { System.alloc(layout) };
        if !at.is_null() {
            grown(layout.size());
        }
        at
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let at = unsafe { System.alloc_zeroed(layout) };
        if !at.is_null() {
            grown(layout.size());
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) };
        add(&FREED, layout.size());
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(at, layout, new_size) };
        if !moved.is_null() {
            grown(new_size.saturating_sub(layout.size()));
            add(&FREED, layout.size().saturating_sub(new_size));
        }
        moved
    }
}

/// What a thread has asked of the heap since it started, or between two moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Successful requests. Growing or shrinking in place counts like moving: whether the neighbouring bytes were
    /// free is luck, and a count that has luck in it cannot be an exact budget.
    pub count: u64,
    /// Bytes asked for. A block that grows counts only its growth.
    pub bytes: u64,
    /// Bytes asked for minus bytes given back, *by this thread*. Below zero where a thread frees what another one
    /// allocated; only the sum over all threads is what the process holds.
    pub live_bytes: i64,
}

impl Allocations {
    /// Of the calling thread, since it started.
    pub fn here() -> Allocations {
        let read =
            |cell: &'static std::thread::LocalKey<Cell<u64>>| cell.try_with(Cell::get).unwrap_or_default();
        let bytes = read(&BYTES);
        Allocations { count: read(&COUNT), bytes, live_bytes: bytes.wrapping_sub(read(&FREED)).cast_signed() }
    }

    /// What came between an earlier moment of the same thread and this one.
    #[must_use]
    pub fn since(&self, earlier: &Allocations) -> Allocations {
        Allocations {
            count: self.count.wrapping_sub(earlier.count),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
            live_bytes: self.live_bytes.wrapping_sub(earlier.live_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    fn of<T>(work: impl FnOnce() -> T) -> (T, Allocations) {
        let before = Allocations::here();
        let made = black_box(work());
        (made, Allocations::here().since(&before))
    }

    #[test]
    fn known_allocations_are_counted_exactly() {
        let (boxed, made) = of(|| Box::new([7_u8; 100]));
        assert_eq!(made, Allocations { count: 1, bytes: 100, live_bytes: 100 });
        let ((), gone) = of(|| drop(boxed));
        assert_eq!(gone, Allocations { count: 0, bytes: 0, live_bytes: -100 });
        let (_, zeroed) = of(|| vec![0_u64; 8]);
        assert_eq!(zeroed, Allocations { count: 1, bytes: 64, live_bytes: 64 });
        let (_, none) = of(|| black_box(3) + black_box(4));
        assert_eq!(none, Allocations::default());
    }

    #[test]
    fn a_vector_that_grows_is_billed_its_growth() {
        let (mut bytes, first) = of(|| Vec::<u8>::with_capacity(16));
        assert_eq!(first, Allocations { count: 1, bytes: 16, live_bytes: 16 });
        let ((), grown) = of(|| bytes.reserve_exact(48));
        assert_eq!(grown, Allocations { count: 1, bytes: 32, live_bytes: 32 });
        bytes.extend([1; 8]);
        let ((), shrunk) = of(|| bytes.shrink_to_fit());
        assert_eq!(shrunk, Allocations { count: 1, bytes: 0, live_bytes: -40 });
    }

    #[test]
    fn another_thread_is_not_billed_here() {
        let (handle, spawning) = of(|| {
            std::thread::spawn(|| {
                let before = Allocations::here();
                let kept = vec![1_u8; 1 << 20];
                (kept, Allocations::here().since(&before))
            })
        });
        let (kept, there) = handle.join().unwrap();
        assert_eq!(there, Allocations { count: 1, bytes: 1 << 20, live_bytes: 1 << 20 });
        // A handle and a name cost something, never a megabyte.
        assert!(spawning.bytes < 1 << 16, "{spawning:?}");
        // Freed by a thread that did not allocate it.
        let ((), freed) = of(|| drop(kept));
        assert_eq!(freed, Allocations { count: 0, bytes: 0, live_bytes: -(1 << 20) });
    }
}
