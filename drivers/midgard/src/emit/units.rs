//! Instructions of the load/store and the texture unit.

use super::Numbering;
use crate::isa::alu::Clamp;
use crate::isa::load_store::LoadStore;
use crate::isa::texture::Texture;
use crate::isa::{Register, Swizzle};
use crate::machine::Op;
use crate::schedule::BundledInstruction;

/// The selectors of the operation of an instruction.
fn swizzle(member: &BundledInstruction) -> Swizzle {
    Swizzle::new(member.sources.first().map_or([0, 1, 2, 3], |operation| operation.swizzle))
}

pub(super) fn load_store(access: &LoadStore, member: &BundledInstruction, numbering: Numbering) -> LoadStore {
    match member.op.op {
        Op::Store => {
            // The components of the value are those of the register.
            let selectors = member.sources.get(1).map_or([0, 1, 2, 3], |value| value.swizzle);
            LoadStore { swizzle: Swizzle::new(selectors), ..*access }
        }
        op => {
            let to = member.destination;
            // Without a result, the mask has no components.
            let register = to.and_then(|to| numbering.register(to.file, to.index)).unwrap_or(Register::CONSTANTS);
            let mask = to.map_or(0, |to| to.mask);
            let swizzle = if op == Op::Atomic { access.swizzle } else { swizzle(member) };
            LoadStore { register, mask, swizzle, ..*access }
        }
    }
}

pub(super) fn texture(texture: &Texture, member: &BundledInstruction) -> Texture {
    let mask = member.destination.map_or(0, |to| to.mask);
    let mut coordinates = texture.coordinates;
    // Derivatives state the components of the operand.
    if let Some(operand) = member.sources.get(1).filter(|_| texture.op == crate::isa::texture::TextureOp::Derivative) {
        coordinates.swizzle = Swizzle::new(operand.swizzle);
    }
    let clamp = if member.saturate { Clamp::Unit } else { texture.clamp };
    Texture { mask, swizzle: swizzle(member), coordinates, clamp, ..*texture }
}
