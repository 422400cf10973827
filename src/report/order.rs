//! Values in the order in which they come first, without asking each against all the others.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Each value once.
pub(super) fn distinct<T: Eq + Hash + Clone>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values.into_iter().filter(|value| seen.insert(value.clone())).collect()
}

/// Items by key; one with several keys stands under each.
pub(super) fn parts<K: Eq + Hash + Clone, T: Copy>(
    items: &[T],
    keys: impl Fn(T) -> Vec<K>,
) -> Vec<(K, Vec<T>)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut parts: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        for key in distinct(keys(*item)) {
            let place = *places.entry(key.clone()).or_insert_with(|| {
                parts.push((key, Vec::new()));
                parts.len() - 1
            });
            parts[place].1.push(*item);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_appearance_decides_the_place() {
        assert_eq!(distinct([3, 1, 3, 2, 1]), [3, 1, 2]);
        let parts = parts(&[10, 21, 12], |n| vec![n % 10, n / 10, n / 10]);
        assert_eq!(parts, [(0, vec![10]), (1, vec![10, 21, 12]), (2, vec![21, 12])]);
    }
}
