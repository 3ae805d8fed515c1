//! Lookups in textures, by the resources of a run.
//!
//! In SIMD4x2, coordinates are the first vector of a message; further operands follow.

use tgsi_environment::{Resources, SamplerDim, TextureLookup, TextureRequest};

use crate::program::{Texture, TextureKind};
use crate::simulator::{Sample, SampleOp};

pub(super) fn dimension(kind: TextureKind) -> SamplerDim {
    match kind {
        TextureKind::D1 => SamplerDim::Dim1D,
        TextureKind::D2 => SamplerDim::Dim2D,
        TextureKind::D3 => SamplerDim::Dim3D,
        TextureKind::Cube => SamplerDim::Cube,
        TextureKind::Rect => SamplerDim::Rect,
        TextureKind::Buffer => SamplerDim::Buf,
        TextureKind::Multisample => SamplerDim::Ms,
    }
}

/// The size of a block of sampler states.
pub(super) const SAMPLER_BLOCK: u32 = 256;

/// Whether w of the first vector is another operand than a coordinate.
fn is_special(op: SampleOp, component: usize) -> bool {
    component == 3 && matches!(op, SampleOp::Load | SampleOp::GatherOffsetCompare)
}

/// Executes a message of SIMD4x2 for one vertex, with its parameters.
pub(super) fn lookup(
    resources: &mut dyn Resources,
    textures: &[Texture],
    sample: &Sample,
    parameter: &dyn Fn(usize) -> u32,
) -> [u32; 4] {
    let Some(texture) = textures.iter().find(|texture| texture.unit == sample.surface) else { return [0; 4] };
    let dim = dimension(texture.kind);
    let unit = u32::from(texture.unit);
    let faces = if texture.kind == TextureKind::Cube && texture.is_array { 6 } else { 1 };
    match sample.op {
        SampleOp::ResourceInfo => {
            let size = resources.texture_size(unit, parameter(0), dim, texture.is_array);
            return [size.size[0], size.size[1], size.size[2].wrapping_mul(faces), size.levels];
        }
        SampleOp::SampleInfo => {
            return [resources.texture_size(unit, 0, dim, texture.is_array).samples, 0, 0, 0];
        }
        _ => {}
    }
    // Others have no meaning.
    let count = usize::from(dim.num_coords()) + usize::from(texture.is_array);
    let mut coordinates = [0, 1, 2, 3].map(|c| if c < count || is_special(sample.op, c) { parameter(c) } else { 0 });
    let block = sample.header.map_or(0, |header| header[3] / SAMPLER_BLOCK);
    let mut request = TextureRequest {
        texture: unit,
        sampler: u32::from(sample.sampler) + block * 16,
        is_array: texture.is_array,
        offset: sample.offset.map(|offset| [offset; 4]),
        ..TextureRequest::new(TextureLookup::Explicit, dim)
    };
    let compare = |request: &mut TextureRequest, word: u32| {
        request.is_shadow = true;
        request.comparator = [word; 4];
    };
    let gather = TextureLookup::Gather { component: sample.gather_component };
    match sample.op {
        SampleOp::Level => request.lod = [parameter(4); 4],
        SampleOp::LevelCompare => {
            compare(&mut request, parameter(4));
            request.lod = [parameter(5); 4];
        }
        SampleOp::Gradient | SampleOp::GradientCompare => {
            request.lookup = TextureLookup::Gradient;
            request.ddx = [4, 6, 8].map(|number| [parameter(number); 4]);
            request.ddy = [5, 7, 9].map(|number| [parameter(number); 4]);
            if sample.op == SampleOp::GradientCompare {
                compare(&mut request, parameter(10));
            }
        }
        SampleOp::Load => {
            request.lookup = TextureLookup::Fetch;
            request.lod = [coordinates[3]; 4];
            coordinates[3] = 0;
        }
        SampleOp::LoadMultisample => {
            request.lookup = TextureLookup::Fetch;
            request.lod = [parameter(4); 4];
        }
        SampleOp::Gather => request.lookup = gather,
        SampleOp::GatherCompare => {
            request.lookup = gather;
            compare(&mut request, parameter(4));
        }
        SampleOp::GatherOffset | SampleOp::GatherOffsetCompare => {
            request.lookup = gather;
            request.offset = [[parameter(4) as i32; 4], [parameter(5) as i32; 4], [0; 4]];
            if sample.op == SampleOp::GatherOffsetCompare {
                compare(&mut request, coordinates[3]);
                coordinates[3] = 0;
            }
        }
        _ => return [0; 4],
    }
    request.coordinate = coordinates.map(|word| [word; 4]);
    resources.texture(&request).map(|lanes| lanes[0])
}
