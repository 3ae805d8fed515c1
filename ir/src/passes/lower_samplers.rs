//! Texture instructions name textures and samplers by unit instead of by deref.
//!
//! ```text
//! decl_var uniform sampler2D[4] maps (binding 3)
//!
//! 32   %2 = deref_var &maps (uniform sampler2D[4])
//! 32   %3 = deref_array &(*%2)[%1] (uniform sampler2D)
//! 32x4 %4 = (float32)tex %3 (texture_deref), %3 (sampler_deref), %0 (coord)
//! =>
//! 32   %5 = umin %1, 3
//! 32   %6 = umin %1, 3
//! 32x4 %4 = (float32)tex %0 (coord), %5 (texture_offset), %6 (sampler_offset), 3 (texture), 3 (sampler)
//! ```
//!
//! The elements of an array of arrays are units in a row from the variable's binding on, the last index the fastest. Constant indices add to the unit; the rest is the
//! offset. A constant index beyond the end is the last element, an offset beyond the end the last unit of the variable: what such a lookup gives is up to the
//! resources, but it is none of another variable.
//!
//! Left are derefs that do not lead to a variable by array steps (casts, fields), that have an offset beside them, and those of variables that are named by
//! handles. Derefs that nobody reads any more are left to dead
//! code elimination.
//!
//! Cost: linear.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, SourceSpec, TexSrcKind};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;
use crate::types::TypeData;

/// Most array steps that are followed.
const MAX_STEPS: usize = 16;

/// See the [module](self).
pub fn lower_samplers(shader: &mut Shader) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, .. } = shader;
    for body in functions.values_mut().filter_map(|function| function.body.as_mut()) {
        for block in body.blocks_vec() {
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                if body.tex(inst).is_none() {
                    continue;
                }
                for kinds in [
                    [TexSrcKind::TextureDeref, TexSrcKind::TextureOffset],
                    [TexSrcKind::SamplerDeref, TexSrcKind::SamplerOffset],
                ] {
                    let Some(source) = body.tex_src(inst, kinds[0]) else { continue };
                    if body.tex_src(inst, kinds[1]).is_some() {
                        continue;
                    }
                    let place = locate(
                        body,
                        body.src_def(source),
                        |ty| types.get(ty),
                        |variable| {
                            let data = &variables[variable];
                            (!data.bindless).then_some(data.binding)
                        },
                    );
                    if let Some(place) = place {
                        lower(body, inst, kinds, &place);
                        progress = true;
                    }
                }
            }
        }
    }
    progress
}

/// What a deref names.
struct Place {
    /// The unit, without the variable part.
    unit: u32,
    /// The variable part, if there is one: a constant, and indices with what an element of their array counts.
    constant: u32,
    indices: ArrayVec<(Def, u32), MAX_STEPS>,
    /// Units of the variable; the largest number: without end.
    total: u32,
}

fn locate<'a>(
    body: &Body,
    mut deref: Def,
    types: impl Fn(crate::entities::Type) -> &'a TypeData,
    binding: impl Fn(crate::entities::Variable) -> Option<u32>,
) -> Option<Place> {
    let mut place = Place { unit: 0, constant: 0, indices: ArrayVec::new(), total: 1 };
    loop {
        let inst = body.def_inst(deref);
        match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                place.unit = place.unit.saturating_add(binding(variable)?);
                return Some(place);
            }
            InstData::Deref { kind: DerefKind::Array, .. } => {
                let (parent, index) = (body.src(inst, 0), body.src(inst, 1));
                let TypeData::Array { length, .. } = *types(body.deref_type(parent)?) else { return None };
                // An array without a length ends nowhere.
                let length = if length == 0 { u32::MAX } else { length };
                let stride = place.total;
                match body.constant_component(index, 0) {
                    Some(index) => {
                        let constant = (index.min(u64::from(length) - 1) as u32).saturating_mul(stride);
                        let part = if place.indices.is_empty() { &mut place.unit } else { &mut place.constant };
                        *part = part.saturating_add(constant);
                    }
                    None => {
                        if place.indices.is_empty() {
                            place.constant = std::mem::take(&mut place.unit);
                        }
                        place.indices.try_push((index, stride)).ok()?;
                    }
                }
                place.total = stride.saturating_mul(length);
                deref = parent;
            }
            _ => return None,
        }
    }
}

fn lower(body: &mut Body, inst: Inst, [from, to]: [TexSrcKind; 2], place: &Place) {
    let offset = (!place.indices.is_empty()).then(|| offset(body, inst, place));
    if let Some(source) = body.tex_src(inst, from) {
        body.remove_source(inst, body.source_number(source));
    }
    if let Some(offset) = offset {
        body.push_source(inst, SourceSpec::tex(to, offset));
    }
    if let Some(tex) = body.tex_mut(inst) {
        match to {
            TexSrcKind::TextureOffset => tex.texture_index = place.unit,
            _ => tex.sampler_index = place.unit,
        }
    }
}

/// The variable part, within the variable.
fn offset(body: &mut Body, inst: Inst, place: &Place) -> Def {
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mut sum = None;
    if place.constant != 0 {
        sum = Some(b.u32_const(place.constant));
    }
    for &(index, stride) in &place.indices {
        let mut part = index;
        if b.body.bit_size(part) != 32 {
            part = b.alu(AluOp::I2i32, &[part]);
        }
        if stride != 1 {
            let stride = b.u32_const(stride);
            part = b.alu(AluOp::Imul, &[part, stride]);
        }
        sum = Some(match sum {
            Some(sum) => b.alu(AluOp::Iadd, &[sum, part]),
            None => part,
        });
    }
    let sum = sum.unwrap_or_else(|| b.u32_const(0));
    if place.total == u32::MAX {
        return sum;
    }
    let last = b.u32_const(place.total - 1);
    b.alu(AluOp::Umin, &[sum, last])
}
