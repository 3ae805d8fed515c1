//! Texture fetches.
//!
//! | coordinate | meaning |
//! |---|---|
//! | x, y | coordinates; of a cube those of the load/store unit, whose direction is looked up |
//! | z | the third coordinate of three dimensions, otherwise the reference of a comparison or the sample of a fetch |
//! | w | the layer: a float for samples, an integer for fetches |

use tgsi_environment::{SamplerDim, TextureLookup, TextureRequest};

use crate::isa::texture::{Dimension, TextureMode, TextureOp};
use crate::program::{Dimensions, Texture};
use crate::simulator::{TextureFetch, TextureLane};

/// The kind of a lookup. Vertex programs have no level of detail from derivatives, and use their bias as the level.
fn lookup(fetch: &TextureFetch) -> TextureLookup {
    let is_biased = |lane: &TextureLane| lane.is_active && f32::from_bits(lane.lod) != 0.0;
    match (fetch.mode, fetch.op) {
        (TextureMode::GatherX | TextureMode::GatherShadow, _) => TextureLookup::Gather { component: 0 },
        (TextureMode::GatherY, _) => TextureLookup::Gather { component: 1 },
        (TextureMode::GatherZ, _) => TextureLookup::Gather { component: 2 },
        (TextureMode::GatherW, _) => TextureLookup::Gather { component: 3 },
        (_, TextureOp::Fetch) => TextureLookup::Fetch,
        (_, TextureOp::SampleGradient) => TextureLookup::Explicit,
        _ if fetch.is_vertex => TextureLookup::Explicit,
        _ if fetch.lanes.iter().any(is_biased) => TextureLookup::Bias,
        _ => TextureLookup::Implicit,
    }
}

/// Returns the request of a fetch of a texture.
pub(super) fn request(fetch: &TextureFetch, texture: &Texture) -> TextureRequest {
    let &Texture { dimensions, is_array, .. } = texture;
    let dim = SamplerDim::from(dimensions);
    let coordinate = |index: usize| fetch.lanes.map(|lane| lane.coordinates[index]);
    let is_cube = fetch.dimension == Dimension::Cube;
    let mut request = TextureRequest {
        texture: fetch.texture,
        sampler: fetch.sampler,
        is_array,
        is_shadow: matches!(fetch.mode, TextureMode::Shadow | TextureMode::GatherShadow),
        ..TextureRequest::new(lookup(fetch), dim)
    };
    let count = usize::from(dim.num_coords()).min(3);
    for (index, words) in request.coordinate.iter_mut().enumerate().take(count) {
        *words = if is_cube { fetch.lanes.map(|lane| lane.direction[index].to_bits()) } else { coordinate(index) };
    }
    if is_array {
        request.coordinate[count] = coordinate(3);
    }
    if request.is_shadow {
        request.comparator = coordinate(2);
    }
    request.lod = match (request.lookup, dimensions) {
        (TextureLookup::Fetch, Dimensions::Multisampled) => coordinate(2),
        // The level is that of the interpreter's request, not a bias of zero.
        (TextureLookup::Implicit | TextureLookup::Gather { .. }, _) => [0; 4],
        _ => fetch.lanes.map(|lane| lane.lod),
    };
    for (index, offsets) in request.offset.iter_mut().enumerate() {
        *offsets = fetch.lanes.map(|lane| lane.offset[index]);
    }
    request
}
