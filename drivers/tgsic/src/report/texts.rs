//! The texts of a shader: its source, its result, and the changes of each pass.

use std::io::Write;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

/// Comparing takes quadratic time for texts with nothing in common. After this time the difference becomes coarser;
/// real shaders take far less.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Lines shown around a change.
const CONTEXT: usize = 3;

/// The texts of a shader.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Texts {
    /// The source: TGSI or IR.
    #[serde(default)]
    pub source: Option<String>,
    /// The code; `None` if it is not text.
    #[serde(default)]
    pub result: Option<String>,
    /// The IR that the first pass was given.
    #[serde(default)]
    pub ir: Option<String>,
    /// The changes of each pass, in order.
    #[serde(default)]
    pub passes: Vec<PassChange>,
}

/// The change of a pass.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PassChange {
    /// The pass.
    pub pass: String,
    /// The round: `2.3` is the third clean-up round within the second round of the optimiser.
    pub round: String,
    /// The difference of the IR before and after, in the unified format; empty if nothing that is printed changed.
    pub change: String,
}

impl Texts {
    /// Returns whether there are no texts.
    pub fn is_empty(&self) -> bool {
        *self == Texts::default()
    }

    /// Packs the texts as JSON, gzip and base64, which a browser unpacks and which needs no escaping.
    pub fn pack(&self) -> std::io::Result<String> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(&mut encoder, self)?;
        encoder.flush()?;
        Ok(STANDARD.encode(encoder.finish()?))
    }
}

/// Returns the difference of two texts in the unified format, without the lines that name files.
pub fn difference(old: &str, new: &str) -> String {
    let difference = TextDiff::configure().timeout(MAX_TIME).diff_lines(old, new);
    difference.unified_diff().context_radius(CONTEXT).missing_newline_hint(false).to_string()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn differences() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
        assert_eq!(difference("a\n", "a\n"), "");
    }

    #[test]
    fn packed_texts_can_be_unpacked() {
        let texts = Texts { source: Some("</script>\u{2028}".into()), ..Texts::default() };
        let packed = STANDARD.decode(texts.pack().unwrap()).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        assert_eq!(serde_json::from_str::<Texts>(&text).unwrap(), texts);
        assert!(!texts.is_empty() && Texts::default().is_empty());
    }
}
