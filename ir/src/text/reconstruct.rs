//! Reconstructs data that the text form implies without stating it. The printer uses the same rules to determine which
//! comments it must add, so that parsing always restores the printed shader.

use hashbrown::HashMap;

use super::type_names::element_data;
use crate::body::{Body, InstData, TexData, TexOp, TexSrcKind};
use crate::entities::{Def, Inst};
use crate::intrinsics::{DestComponents, IntrinsicOp, SrcComponents};
use crate::types::{TypeData, TypeTable};
use tgsi_environment::SamplerDim;

/// Finds the constants that array derefs with a constant index read: the last dominating scalar constant with the bit
/// size of the deref and this value. `wanted` gives bit size and value (masked to the bit size) for each instruction.
pub(super) fn constant_indices(body: &Body, wanted: &HashMap<Inst, (u8, u64)>) -> HashMap<Inst, Def> {
    enum TreeEvent {
        Enter(crate::entities::Block),
        Leave(usize),
    }
    let mut found = HashMap::new();
    if wanted.is_empty() {
        return found;
    }
    let dominance = body.dominance();
    let mut visible: HashMap<(u8, u64), Def> = HashMap::new();
    let mut undo: Vec<((u8, u64), Option<Def>)> = Vec::new();
    let mut steps = vec![TreeEvent::Enter(body.start_block())];
    while let Some(step) = steps.pop() {
        let block = match step {
            TreeEvent::Leave(height) => {
                while undo.len() > height {
                    if let Some((key, before)) = undo.pop() {
                        match before {
                            Some(def) => visible.insert(key, def),
                            None => visible.remove(&key),
                        };
                    }
                }
                continue;
            }
            TreeEvent::Enter(block) => block,
        };
        steps.push(TreeEvent::Leave(undo.len()));
        for inst in body.insts(block) {
            if let (Some(&[value]), Some(def)) = (body.constant(inst), body.inst_def(inst)) {
                let key = (body.bit_size(def), value);
                undo.push((key, visible.insert(key, def)));
            } else if let Some(&def) = wanted.get(&inst).and_then(|key| visible.get(key)) {
                found.insert(inst, def);
            }
        }
        steps.extend(dominance.children(block).map(TreeEvent::Enter));
    }
    found
}

/// Infers the texture instruction from its printed line. Properties that the line states are taken from `tex`.
pub(super) fn guess_tex(types: &TypeTable, body: &Body, inst: Inst, tex: &TexData) -> TexData {
    let mut guess = TexData {
        dim: SamplerDim::Dim2D,
        is_array: false,
        is_shadow: false,
        is_new_style_shadow: false,
        coord_components: 0,
        array_is_lowered_cube: false,
        backend_flags: 0,
        ..*tex
    };
    let mut from_deref = None;
    let mut has_ms_index = false;
    // Offsets and gradients have no component for the layer.
    let mut without_layer = None;
    for source in body.sources(inst) {
        let def = body.src_def(source);
        match body.tex_src_kind(source) {
            TexSrcKind::Coord if body.has_def(def) => guess.coord_components = body.num_components(def),
            TexSrcKind::Comparator => guess.is_shadow = true,
            TexSrcKind::MsIndex => has_ms_index = true,
            TexSrcKind::Offset | TexSrcKind::Ddx | TexSrcKind::Ddy if body.has_def(def) => {
                without_layer = Some(body.num_components(def));
            }
            kind @ (TexSrcKind::TextureDeref | TexSrcKind::SamplerDeref) => {
                if let Some(deref) = body.try_def_inst(def)
                    && let InstData::Deref { ty, .. } = *body.inst(deref)
                    && let Some(shape) = sampled(element_data(types, ty))
                    && (from_deref.is_none() || kind == TexSrcKind::TextureDeref)
                {
                    from_deref = Some(shape);
                }
            }
            _ => {}
        }
    }
    (guess.dim, guess.is_array) = from_deref.unwrap_or(match guess.coord_components {
        _ if has_ms_index => (SamplerDim::Ms, guess.coord_components == 3),
        2 if without_layer == Some(1) => (SamplerDim::Dim1D, true),
        3 if without_layer == Some(2) => (SamplerDim::Dim2D, true),
        1 => (SamplerDim::Dim1D, false),
        3 => (SamplerDim::Dim3D, false),
        4 => (SamplerDim::Cube, true),
        _ => (SamplerDim::Dim2D, false),
    });
    let components = body.inst_def(inst).map_or(0, |d| body.num_components(d)).saturating_sub(u8::from(tex.is_sparse));
    guess.is_new_style_shadow = guess.is_shadow && components == 1 && tex.op != TexOp::Tg4;
    let has = |kind| body.tex_src(inst, kind).is_some();
    if !prints_texture_index(tex.op, has(TexSrcKind::TextureDeref)) {
        guess.texture_index = 0;
    }
    if !prints_sampler_index(tex.op, has(TexSrcKind::SamplerDeref)) {
        guess.sampler_index = 0;
    }
    if tex.op != TexOp::Tg4 {
        guess.component = 0;
    }
    guess
}

fn sampled(data: Option<&TypeData>) -> Option<(SamplerDim, bool)> {
    match *data? {
        TypeData::Sampler { dim: Some(dim), array, .. }
        | TypeData::Texture { dim, array, .. }
        | TypeData::Image { dim, array, .. } => Some((dim, array)),
        _ => None,
    }
}

/// Whether the texture unit is printed for a texture instruction.
pub(super) fn prints_texture_index(op: TexOp, has_deref: bool) -> bool {
    !has_deref && op != TexOp::TxfMsFb
}

/// Whether the sampler unit is printed for a texture instruction.
pub(super) fn prints_sampler_index(op: TexOp, has_deref: bool) -> bool {
    !has_deref && op.needs_sampler()
}

/// `num_components` of an intrinsic, from the size of its result or of its first source of open size. `source` gives
/// the size of a source.
pub(super) fn guess_num_components(
    op: IntrinsicOp,
    dest_components: Option<u8>,
    source: impl Fn(usize) -> Option<u8>,
) -> u8 {
    let info = op.info();
    if info.dest_components == DestComponents::NumComponents {
        return dest_components.unwrap_or(0);
    }
    let open = info.src_components.iter().position(|c| *c == SrcComponents::NumComponents);
    open.and_then(source).unwrap_or(0)
}
