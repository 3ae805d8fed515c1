//! Image operands.

use spirv::ImageOperands;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::misfit;
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::words::Inst;

/// The operands of an instruction on images: ids of values.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Operands {
    pub(super) bias: Option<u32>,
    pub(super) lod: Option<u32>,
    pub(super) gradients: Option<[u32; 2]>,
    pub(super) offset: Option<u32>,
    /// Four offsets.
    pub(super) offsets: Option<u32>,
    pub(super) sample: Option<u32>,
    pub(super) min_lod: Option<u32>,
    pub(super) access: AccessFlags,
    /// Whether integers are signed or unsigned, in place of the type of the image.
    pub(super) is_signed: Option<bool>,
}

/// Reads image operands: a mask, then the operands in the order of its bits.
///
/// # Errors
/// A bit is not known, so that the words of others are not either; words are missing.
pub(super) fn read(words: &[u32]) -> Result<Operands, SpirvError> {
    let mut operands = Operands::default();
    let Some((&mask, mut words)) = words.split_first() else { return Ok(operands) };
    let Some(bits) = ImageOperands::from_bits(mask) else {
        return Err(SpirvError::ImageOperand { bits: mask & !ImageOperands::all().bits() });
    };
    for bit in bits.iter() {
        let mut take = || {
            let (&first, rest) = words.split_first().ok_or(SpirvError::ImageOperand { bits: mask })?;
            words = rest;
            Ok::<u32, SpirvError>(first)
        };
        match bit {
            ImageOperands::BIAS => operands.bias = Some(take()?),
            ImageOperands::LOD => operands.lod = Some(take()?),
            ImageOperands::GRAD => operands.gradients = Some([take()?, take()?]),
            ImageOperands::CONST_OFFSET | ImageOperands::OFFSET => operands.offset = Some(take()?),
            ImageOperands::CONST_OFFSETS | ImageOperands::OFFSETS => operands.offsets = Some(take()?),
            ImageOperands::SAMPLE => operands.sample = Some(take()?),
            ImageOperands::MIN_LOD => operands.min_lod = Some(take()?),
            ImageOperands::MAKE_TEXEL_AVAILABLE | ImageOperands::MAKE_TEXEL_VISIBLE => {
                take()?;
                operands.access.0 |= AccessFlags::COHERENT.0;
            }
            ImageOperands::VOLATILE_TEXEL => operands.access.0 |= AccessFlags::VOLATILE.0,
            ImageOperands::NONTEMPORAL => operands.access.0 |= AccessFlags::NON_TEMPORAL.0,
            ImageOperands::SIGN_EXTEND => operands.is_signed = Some(true),
            ImageOperands::ZERO_EXTEND => operands.is_signed = Some(false),
            _ => {}
        }
    }
    Ok(operands)
}

impl Emitter<'_, '_, '_> {
    /// One integer, such as a sample.
    pub(super) fn one_integer(&mut self, inst: &Inst<'_>, id: u32) -> Result<Def, SpirvError> {
        let def = self.integers(inst, id)?;
        self.first_components(inst, def, 1)
    }

    /// One float, such as a level.
    pub(super) fn one_float(&mut self, inst: &Inst<'_>, id: u32) -> Result<Def, SpirvError> {
        let def = self.floats(inst, id)?;
        self.first_components(inst, def, 1)
    }

    /// The bits of four constant offsets of two components; `None` if they are not constant, or do not fit.
    pub(super) fn known_offsets(&self, inst: &Inst<'_>, id: u32) -> Result<Option<[[i8; 2]; 4]>, SpirvError> {
        let module = &self.context.module;
        let Some(known) = module.constant(id) else { return Ok(None) };
        if module.types.leaves(module.constants.type_of(known)) != 4 {
            return Err(misfit(inst, "there are not four offsets"));
        }
        let leaves = module.constants.leaves(&module.types, known);
        let [first, second, third, fourth] = leaves.as_slice() else {
            return Err(misfit(inst, "there are not four offsets"));
        };
        let mut offsets = [[0; 2]; 4];
        for (offset, leaf) in offsets.iter_mut().zip([first, second, third, fourth]) {
            let Some(bits) = leaf else { continue };
            for (component, &bits) in offset.iter_mut().zip(bits) {
                match i8::try_from(bits as u32 as i32) {
                    Ok(number) => *component = number,
                    Err(_) => return Ok(None),
                }
            }
        }
        Ok(Some(offsets))
    }
}
