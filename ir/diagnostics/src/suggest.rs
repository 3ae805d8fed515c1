//! Suggestions for misspelt names.

use strsim::osa_distance;

/// Words longer than this get no suggestion: known names have fewer than 40 bytes.
const MAX_NAME: usize = 48;

/// Returns the candidate closest to `word`, ignoring ASCII case, if at most about a third of the letters differ. Among
/// equally close candidates, the first one wins.
pub fn suggest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_NAME {
        return None;
    }
    let allowed = ((word.len() + 1) / 3).max(1);
    let word = word.to_ascii_lowercase();
    candidates
        .filter(|name| name.len().abs_diff(word.len()) <= allowed)
        .map(|name| (osa_distance(&word, &name.to_ascii_lowercase()), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let names = || ["MOV", "MUL", "COLOR", "FS_COORD_ORIGIN"].into_iter();
        assert_eq!(suggest("moov", names()), Some("MOV"));
        assert_eq!(suggest("COLUR", names()), Some("COLOR"));
        assert_eq!(suggest("CLOOR", names()), Some("COLOR"));
        assert_eq!(suggest("FS_COORD_ORIGINS", names()), Some("FS_COORD_ORIGIN"));
        assert_eq!(suggest("XYZZY", names()), None);
        assert_eq!(suggest(&"A".repeat(1000), names()), None);
    }
}
