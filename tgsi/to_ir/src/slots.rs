//! Semantics of TGSI registers and slots of IR variables, in both directions.
//!
//! The IR names an input or output by a slot ([`tgsi_ir::slots`]): `VARYING_SLOT_*` between stages, `VERT_ATTRIB_*` for
//! vertex inputs, `FRAG_RESULT_*` for fragment outputs. Semantics without a slot (`GENERIC` from 32 on, `NORMAL`, a
//! second `POSITION`, ...) get an *extended* location, `0x10000 * (1 + semantic) + index`, which is outside all slot
//! tables. The mapping is a bijection between the pairs (semantic, index) and their locations, for every stage and
//! file; [`semantic_of`] also accepts `FRAG_RESULT_COLOR`, which a fragment shader with the property
//! `FS_COLOR0_WRITES_ALL_CBUFS` uses for `COLOR[0]`.

use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};

use tgsi::tables::{File, Processor, Semantic};

/// Returns the stage of a processor.
pub const fn stage_of(processor: Processor) -> ShaderStage {
    match processor {
        Processor::Vertex => ShaderStage::Vertex,
        Processor::TessControl => ShaderStage::TessCtrl,
        Processor::TessEval => ShaderStage::TessEval,
        Processor::Geometry => ShaderStage::Geometry,
        Processor::Fragment => ShaderStage::Fragment,
        Processor::Compute => ShaderStage::Compute,
        Processor::Task => ShaderStage::Task,
        Processor::Mesh => ShaderStage::Mesh,
    }
}

/// Returns the processor of a stage. Kernels are compute shaders.
pub const fn processor_of(stage: ShaderStage) -> Processor {
    match stage {
        ShaderStage::Vertex => Processor::Vertex,
        ShaderStage::TessCtrl => Processor::TessControl,
        ShaderStage::TessEval => Processor::TessEval,
        ShaderStage::Geometry => Processor::Geometry,
        ShaderStage::Fragment => Processor::Fragment,
        ShaderStage::Compute | ShaderStage::Kernel => Processor::Compute,
        ShaderStage::Task => Processor::Task,
        ShaderStage::Mesh => Processor::Mesh,
    }
}

/// The first extended location.
pub const FIRST_EXTENDED_LOCATION: i32 = 0x1_0000;

/// Number of generic vertex attributes that have slots.
const VERTEX_ATTRIBUTES: u32 = 16;

/// A run of slots: semantic, first index, number of indices, slot of the first index.
type SlotRun = (Semantic, u32, u32, u8);

/// Slots between stages.
const VARYINGS: &[SlotRun] = &[
    (Semantic::Position, 0, 1, VaryingSlot::POS),
    (Semantic::Color, 0, 2, VaryingSlot::COL0),
    (Semantic::Fog, 0, 1, VaryingSlot::FOGC),
    (Semantic::TexCoord, 0, 8, VaryingSlot::TEX0),
    (Semantic::PointSize, 0, 1, VaryingSlot::PSIZ),
    (Semantic::BackColor, 0, 2, VaryingSlot::BFC0),
    (Semantic::EdgeFlag, 0, 1, VaryingSlot::EDGE),
    (Semantic::ClipVertex, 0, 1, VaryingSlot::CLIP_VERTEX),
    (Semantic::ClipDistance, 0, 2, VaryingSlot::CLIP_DIST0),
    (Semantic::PrimitiveId, 0, 1, VaryingSlot::PRIMITIVE_ID),
    (Semantic::Layer, 0, 1, VaryingSlot::LAYER),
    (Semantic::ViewportIndex, 0, 1, VaryingSlot::VIEWPORT),
    (Semantic::Face, 0, 1, VaryingSlot::FACE),
    (Semantic::PointCoord, 0, 1, VaryingSlot::PNTC),
    (Semantic::TessOuter, 0, 1, VaryingSlot::TESS_LEVEL_OUTER),
    (Semantic::TessInner, 0, 1, VaryingSlot::TESS_LEVEL_INNER),
    (Semantic::ViewportMask, 0, 1, VaryingSlot::VIEWPORT_MASK),
    (Semantic::Generic, 0, 32, VaryingSlot::VAR0),
    (Semantic::Patch, 0, 32, VaryingSlot::PATCH0),
];

/// Slots of fragment outputs.
const FRAGMENT_RESULTS: &[SlotRun] = &[
    (Semantic::Position, 0, 1, FragResult::DEPTH),
    (Semantic::Stencil, 0, 1, FragResult::STENCIL),
    (Semantic::SampleMask, 0, 1, FragResult::SAMPLE_MASK),
    (Semantic::Color, 0, 8, FragResult::DATA0),
];

/// Slots of vertex attributes. These have no semantic; the index is that of the register.
const ATTRIBUTES: &[SlotRun] = &[(Semantic::Generic, 0, VERTEX_ATTRIBUTES, VertAttrib::GENERIC0)];

const fn table(processor: Processor, file: File) -> &'static [SlotRun] {
    match (processor, file) {
        (Processor::Vertex, File::Input) => ATTRIBUTES,
        (Processor::Fragment, File::Output) => FRAGMENT_RESULTS,
        _ => VARYINGS,
    }
}

/// Returns the location of a register with this semantic. Vertex inputs have no semantic: pass `GENERIC` and the number
/// of the register.
pub fn location_of(processor: Processor, file: File, semantic: Semantic, index: u32) -> i32 {
    table(processor, file)
        .iter()
        .find(|&&(name, first, count, _)| name == semantic && (first..first + count).contains(&index))
        .map_or_else(
            || FIRST_EXTENDED_LOCATION * (1 + i32::from(semantic.value())) + (index & 0xffff) as i32,
            |&(_, first, _, slot)| i32::from(slot) + (index - first) as i32,
        )
}

/// Returns the semantic and index with this location, or none if no register has it. The inverse of [`location_of`].
pub fn semantic_of(processor: Processor, file: File, location: i32) -> Option<(Semantic, u32)> {
    if location >= FIRST_EXTENDED_LOCATION {
        let semantic = Semantic::from_value((location / FIRST_EXTENDED_LOCATION - 1) as u32)?;
        return Some((semantic, (location % FIRST_EXTENDED_LOCATION) as u32));
    }
    if (processor, file) == (Processor::Fragment, File::Output) && location == i32::from(FragResult::COLOR) {
        return Some((Semantic::Color, 0));
    }
    table(processor, file).iter().find_map(|&(name, first, count, slot)| {
        let offset = u32::try_from(location - i32::from(slot)).ok()?;
        (offset < count).then_some((name, first + offset))
    })
}

#[cfg(test)]
mod tests {
    use hashbrown::HashMap;

    use super::*;

    #[test]
    fn every_semantic_has_a_location_of_its_own() {
        for &processor in Processor::ALL {
            for file in [File::Input, File::Output] {
                let mut seen = HashMap::new();
                for &semantic in Semantic::ALL {
                    for index in (0..100).chain([0x7fff, 0xffff]) {
                        let location = location_of(processor, file, semantic, index);
                        assert_eq!(seen.insert(location, (semantic, index)), None, "{processor} {file} {location:#x}");
                        assert_eq!(semantic_of(processor, file, location), Some((semantic, index)));
                    }
                }
            }
        }
    }

    #[test]
    fn slots_that_the_names_promise() {
        use Processor::*;
        let at = |processor, file, semantic, index| location_of(processor, file, semantic, index);
        assert_eq!(at(Vertex, File::Input, Semantic::Generic, 3), 18);
        assert_eq!(at(Vertex, File::Output, Semantic::Generic, 3), 35);
        assert_eq!(at(Fragment, File::Output, Semantic::Position, 0), 0);
        assert_eq!(at(Fragment, File::Output, Semantic::Color, 2), 6);
        assert_eq!(at(Fragment, File::Input, Semantic::Face, 0), 24);
        assert_eq!(at(TessControl, File::Output, Semantic::Patch, 5), 69);
        assert!(at(Vertex, File::Output, Semantic::Generic, 32) >= FIRST_EXTENDED_LOCATION);
        assert_eq!(semantic_of(Fragment, File::Output, 2), Some((Semantic::Color, 0)));
        assert_eq!(semantic_of(Fragment, File::Output, 100), None);
    }
}
