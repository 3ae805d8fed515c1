//! Suggestions for misspelt names.

use strsim::osa_distance;

/// Longer words get no suggestion: known names have fewer than 40 bytes.
const MAX_NAME: usize = 48;

/// Returns the candidate closest to `word`, ignoring ASCII case, if at most about a third of the letters differ. Of
/// equally close candidates the first one wins.
pub fn closest_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
    fn closest_names() {
        let names = || ["MOV", "MUL", "COLOR", "FS_COORD_ORIGIN"].into_iter();
        assert_eq!(closest_name("moov", names()), Some("MOV"));
        assert_eq!(closest_name("COLUR", names()), Some("COLOR"));
        assert_eq!(closest_name("CLOOR", names()), Some("COLOR"));
        assert_eq!(closest_name("FS_COORD_ORIGINS", names()), Some("FS_COORD_ORIGIN"));
        assert_eq!(closest_name("XYZZY", names()), None);
        assert_eq!(closest_name(&"A".repeat(1000), names()), None);
    }
}
