//! The closest known name for a misspelt one.

/// Bytes of an unknown name that are looked at. Known names are shorter than 40.
const MAX_NAME: usize = 48;

/// The candidate that is closest to `word`, without regard to ASCII case, if one is close enough to be meant: at most about a third of the letters differ. Of equally
/// close ones the first.
pub fn closest_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_NAME {
        return None;
    }
    let allowed = ((word.len() + 1) / 3).max(1);
    candidates
        .filter(|name| name.len().abs_diff(word.len()) <= allowed)
        .map(|name| (distance(word.as_bytes(), name.as_bytes()), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`, case apart.
fn distance(a: &[u8], b: &[u8]) -> usize {
    // Rows of the usual table: the one before the last, the last, the current.
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut best = (last[j + 1] + 1).min(row[j] + 1).min(last[j] + usize::from(!x.eq_ignore_ascii_case(&y)));
            if i > 0 && j > 0 && x.eq_ignore_ascii_case(&b[j - 1]) && a[i - 1].eq_ignore_ascii_case(&y) {
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
        assert_eq!(closest_name("moov", names()), Some("MOV"));
        assert_eq!(closest_name("COLUR", names()), Some("COLOR"));
        assert_eq!(closest_name("CLOOR", names()), Some("COLOR"));
        assert_eq!(closest_name("FS_COORD_ORIGINS", names()), Some("FS_COORD_ORIGIN"));
        assert_eq!(closest_name("XYZZY", names()), None);
        assert_eq!(closest_name(&"A".repeat(1000), names()), None);
        assert_eq!(distance(b"ABC", b"ACB"), 1);
    }
}
