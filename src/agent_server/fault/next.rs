//! What the next few of something meet: handshakes, upgrades, appends.

use std::collections::VecDeque;

/// What the next ones meet, in the order in which faults asked for it: a second fault waits until the first has had its
/// number.
#[derive(Debug)]
pub struct Next<T>(VecDeque<(usize, u32, T)>);

impl<T> Default for Next<T> {
    fn default() -> Next<T> {
        Next(VecDeque::new())
    }
}

impl<T: Copy> Next<T> {
    /// The fault with the number `by` lets `times` of them meet that, behind what earlier faults asked for.
    pub fn add(&mut self, by: usize, times: u32, what: T) {
        self.0.push_back((by, times, what));
    }

    /// One comes: the fault that it meets and what it meets there, if anything.
    pub fn take(&mut self) -> Option<(usize, T)> {
        while let Some((by, left, what)) = self.0.front_mut() {
            if *left > 0 {
                *left -= 1;
                return Some((*by, *what));
            }
            self.0.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_fault_waits_for_the_first() {
        let mut next = Next::default();
        assert_eq!(next.take(), None);
        next.add(0, 2, 503);
        next.add(7, 1, 401);
        let taken: Vec<_> = std::iter::from_fn(|| next.take()).collect();
        assert_eq!(taken, [(0, 503), (0, 503), (7, 401)]);
        next.add(8, 0, 429);
        assert_eq!(next.take(), None, "none is none");
    }
}
