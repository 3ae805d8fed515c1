//! Selection of the texture instructions that become inline lookups.

use tgsi_environment::SamplerDim;
use tgsi_environment::TextureLookup;
use tgsi_ir::body::TexSrcKind;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::Texture;

use crate::native::limits::MAX_KNOWN;
use crate::sampler::KnownUnitState;

/// Returns the index of the known unit that a texture instruction uses, if code can be generated for it.
pub(in crate::native) fn known_unit(program: &Program, texture: &Texture, known: &[KnownUnitState]) -> Option<usize> {
    let (unit, sampler) = program.constant_units(texture).filter(|_| has_code(texture))?;
    let known = known.iter().take(MAX_KNOWN);
    known.enumerate().find(|(_, known)| (known.texture, known.sampler) == (unit, sampler)).map(|(number, _)| number)
}

/// Returns whether code can be generated for a texture instruction.
fn has_code(texture: &Texture) -> bool {
    use TexSrcKind as K;
    let data = &texture.data;
    let Some(lookup) = texture.lookup() else { return false };
    let words = [K::Coord, K::Lod, K::Bias, K::Projector, K::Comparator, K::Offset, K::Ddx, K::Ddy];
    let gives = |kind: K, components: u8| texture.source(kind).is_some_and(|value| value.components >= components);
    let axes = data.dim.num_coords();
    let coordinates = axes + u8::from(data.is_array && lookup != TextureLookup::QueryLod);
    let fits = match lookup {
        TextureLookup::Gradient => gives(K::Ddx, axes) && gives(K::Ddy, axes),
        TextureLookup::Explicit => gives(K::Lod, 1),
        TextureLookup::Bias => gives(K::Bias, 1),
        TextureLookup::Gather { .. } => matches!(data.dim, SamplerDim::Dim2D | SamplerDim::Rect | SamplerDim::Cube),
        TextureLookup::Implicit | TextureLookup::Fetch | TextureLookup::QueryLod => true,
    };
    let compares = !matches!(lookup, TextureLookup::Fetch | TextureLookup::QueryLod);
    // Buffers and multisampled textures are only fetched from.
    let is_sampled = matches!(
        data.dim,
        SamplerDim::Dim1D | SamplerDim::Dim2D | SamplerDim::Rect | SamplerDim::Dim3D | SamplerDim::Cube
    );
    fits && (is_sampled || lookup == TextureLookup::Fetch)
        && words.into_iter().all(|kind| texture.source(kind).is_none_or(|value| value.bits == 32))
        && [K::MinLod, K::Plane].into_iter().all(|kind| texture.source(kind).is_none())
        && gives(K::Coord, coordinates)
        && data.coord_components >= coordinates
        && (gives(K::Comparator, 1) || !data.is_shadow || !compares)
        && !data.is_sparse
        && texture.dest.bits == 32
        && texture.dest.components <= 4
}
