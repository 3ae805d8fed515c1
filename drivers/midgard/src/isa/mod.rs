//! Instructions as data, opcode tables, and conversions from and to words.
//!
//! A program is a sequence of bundles of 16 to 64 bytes. [`decode`] accepts the words of valid bundles only, and
//! `encode(decode(words))` returns the same words. [`encode`] accepts the same bundles.

pub mod alu;
mod bits;
mod chip;
mod error;
pub mod load_store;
mod program;
mod register;
mod rules;
mod tag;
pub mod texture;

pub use chip::Chip;
pub use error::{DecodeError, InvalidInstruction};
pub use program::{ProgramError, check_program, decode_program, encode_program};
pub use register::{LoadStoreRegister, Register, Role, Swizzle, Width};
pub use rules::{Resources, Rule, RuleError, check_rules};
pub use tag::Tag;

use alu::AluBundle;
use load_store::LoadStoreBundle;
use texture::{Barrier, Texture};

/// A bundle: instructions that are issued together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bundle {
    /// The tag of the next bundle, or [`Tag::Break`] at the end.
    pub next: Tag,
    /// The instructions.
    pub body: Body,
}

/// The instructions of a bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Arithmetic and a branch.
    Alu(AluBundle),
    /// Two load/store instructions.
    LoadStore(LoadStoreBundle),
    /// A texture instruction.
    Texture(Texture),
    /// A barrier of the texture unit.
    Barrier(Barrier),
}

impl Bundle {
    /// The tag.
    pub fn tag(&self) -> Tag {
        match &self.body {
            // Five instructions, a branch and constants have at most four quadwords.
            Body::Alu(bundle) => bundle.tag().unwrap_or(Tag::Invalid),
            Body::LoadStore(_) => Tag::LoadStore,
            Body::Texture(texture) => texture.tag(),
            Body::Barrier(_) => Tag::TextureBarrier,
        }
    }

    /// The number of 16-byte words.
    pub fn quadwords(&self) -> u32 {
        self.tag().quadwords().unwrap_or(0)
    }
}

/// Appends the words of a bundle. After an error, the words are as before.
pub fn encode(bundle: &Bundle, words: &mut Vec<u32>) -> Result<(), InvalidInstruction> {
    if bundle.next == Tag::Invalid {
        return Err(InvalidInstruction::Field("next tag", 0));
    }
    let tags = bundle.tag().code() | bundle.next.code() << 4;
    let quadword = match &bundle.body {
        Body::Alu(alu) => return alu.encode(tags, words),
        Body::LoadStore(instructions) => instructions.encode(tags)?,
        Body::Texture(texture) => texture.encode(tags)?,
        Body::Barrier(barrier) => barrier.encode(tags)?,
    };
    words.extend([0, 32, 64, 96].map(|low| (quadword >> low) as u32));
    Ok(())
}

/// Converts the first words to a bundle, and returns the number of its words.
pub fn decode(words: &[u32]) -> Result<(Bundle, usize), DecodeError> {
    let first = words.first().copied().ok_or(InvalidInstruction::Truncated.at(0))?;
    let tag_of = |bits| Tag::from_code(bits & 15).unwrap_or(Tag::Invalid);
    let (tag, next) = (tag_of(first), tag_of(first >> 4));
    let quadwords = tag.quadwords().ok_or(InvalidInstruction::Field("tag", tag.code()).at(0))?;
    if next == Tag::Invalid {
        return Err(InvalidInstruction::Field("next tag", 0).at(0));
    }
    let length = quadwords as usize * 4;
    let words = words.get(..length).ok_or(InvalidInstruction::Truncated.at(words.len()))?;
    let quadword = words.iter().take(4).rev().fold(0, |bits, &word| bits << 32 | u128::from(word));
    let body = match tag {
        Tag::LoadStore => Body::LoadStore(LoadStoreBundle::decode(quadword)?),
        Tag::TextureBarrier => Body::Barrier(Barrier::decode(quadword).map_err(|error| error.at(0))?),
        Tag::Texture | Tag::TextureVertex => {
            Body::Texture(Texture::decode(quadword, tag == Tag::TextureVertex).map_err(|error| error.at(0))?)
        }
        _ => Body::Alu(AluBundle::decode(words, tag.is_writeout())?),
    };
    Ok((Bundle { next, body }, length))
}
