//! A folder of shaders: every distinct one as `<stage>-<hash>.tgsi`, with its translation beside it (`.out.tgsi`) or
//! the reason why it has no translation (`.reason.txt`). Files are written atomically.

use std::path::{Path, PathBuf};

use tgsi_virgl::shader::{ShaderObject, WireStage};

use super::translator::TranslationOutcome;
use crate::output;
use crate::status::Failure;

/// A folder of shaders.
pub struct Recorder {
    folder: PathBuf,
}

impl Recorder {
    /// Creates the folder.
    pub fn new(folder: &Path) -> Result<Recorder, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| Failure::Write { path: folder.to_owned(), error })?;
        Ok(Recorder { folder: folder.to_owned() })
    }

    /// Records a shader and its outcome.
    pub fn record(&self, shader: &ShaderObject<'_>, outcome: &TranslationOutcome) {
        let name = name_of(shader.stage, shader.text);
        let write = |extension: &str, content: &[u8]| {
            if let Err(failure) = output::write_file(&self.folder.join(format!("{name}.{extension}")), content) {
                log::error!("{failure}");
            }
        };
        write("tgsi", shader.text);
        match outcome {
            TranslationOutcome::Translated(translated) => {
                write("out.tgsi", translated.text.as_deref().unwrap_or(shader.text))
            }
            TranslationOutcome::Failed(reason) => write("reason.txt", format!("failed: {reason}\n").as_bytes()),
            TranslationOutcome::Different { text, reason } => {
                write("out.tgsi", text);
                write("reason.txt", format!("different: {reason}\n").as_bytes());
            }
        }
    }
}

/// `<stage>-<hash>`.
pub fn name_of(stage: WireStage, text: &[u8]) -> String {
    format!("{}-{:032x}", stage.name().to_lowercase(), hash(stage, text))
}

/// Computes the 128-bit FNV-1a hash of stage and text. It is the same in every run, so that folders of several runs can
/// be merged.
pub fn hash(stage: WireStage, text: &[u8]) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let add = |hash: u128, &byte: &u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    text.iter().fold(add(start, &(stage as u8)), add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_stage_and_text() {
        assert_eq!(name_of(WireStage::Vertex, b"VERT"), name_of(WireStage::Vertex, b"VERT"));
        assert_ne!(name_of(WireStage::Vertex, b"VERT"), name_of(WireStage::Vertex, b"VERU"));
        assert_ne!(hash(WireStage::Vertex, b""), hash(WireStage::Fragment, b""));
        assert!(name_of(WireStage::TessControl, b"").starts_with("tess_ctrl-"));
        // The published hash of "a" is that of the byte 0x61, and the stage is hashed as such a byte.
        let of_a = 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964_u128;
        let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
        assert_eq!((start ^ 0x61).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b), of_a);
    }
}
