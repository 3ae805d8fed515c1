//! The closest known name for a misspelt one.

use crate::limits::MAX_HINT_NAME;

/// The candidate that is closest to `word`, if one is close enough to be meant: at most a third of the letters differ.
pub(crate) fn closest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_HINT_NAME {
        return None;
    }
    let word = word.to_ascii_uppercase();
    let allowed = (word.len() / 3).max(1);
    candidates
        .filter(|name| name.len().abs_diff(word.len()) <= allowed)
        .map(|name| (distance(word.as_bytes(), name.as_bytes()), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
fn distance(a: &[u8], b: &[u8]) -> usize {
    // Rows of the usual table: the one before the last, the last, the current.
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut best = (last[j + 1] + 1).min(row[j] + 1).min(last[j] + (x != y) as usize);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_names() {
        let names = || ["MOV", "MUL", "COLOR", "FS_COORD_ORIGIN"].into_iter();
        assert_eq!(closest("moov", names()), Some("MOV"));
        assert_eq!(closest("COLUR", names()), Some("COLOR"));
        assert_eq!(closest("CLOOR", names()), Some("COLOR"));
        assert_eq!(closest("FS_COORD_ORIGINS", names()), Some("FS_COORD_ORIGIN"));
        assert_eq!(closest("XYZZY", names()), None);
        assert_eq!(closest(&"A".repeat(1000), names()), None);
        assert_eq!(distance(b"ABC", b"ACB"), 1);
    }
}
