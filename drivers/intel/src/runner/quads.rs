//! Lookups in textures for quads of fragments, by the resources of a run.
//!
//! In SIMD8, each parameter is a register of the message; their order depends on the operation.

use tgsi_environment::{Resources, TextureLookup, TextureRequest};

use super::textures::{SAMPLER_BLOCK, dimension};
use crate::program::{Bindings, Texture, TextureKind};
use crate::simulator::{Lanes, Sample, SampleOp};

/// Fragments of a quad.
const QUAD: usize = 4;

/// Executes a message for all its quads.
pub(super) fn lookup_quads(
    resources: &mut dyn Resources,
    textures: &[Texture],
    bindings: Bindings,
    sample: &Sample,
) -> [Lanes; 4] {
    let mut result = [[0; 16]; 4];
    let unit = sample.surface.saturating_sub(bindings.textures_start);
    if unit >= bindings.constants_start.saturating_sub(bindings.textures_start + 1).max(bindings.textures) {
        return result;
    }
    // A unit beyond the last one is as that.
    let known = textures.iter().rfind(|texture| texture.unit <= unit).or_else(|| textures.first());
    let Some(&texture) = known else { return result };
    let texture = &Texture { unit, ..texture };
    for first in (0..sample.simd.lanes()).step_by(QUAD) {
        if sample.active >> first & 15 == 0 {
            continue;
        }
        let words = quad(resources, texture, sample, first);
        for (lanes, words) in result.iter_mut().zip(words) {
            lanes[first..first + QUAD].copy_from_slice(&words);
        }
    }
    result
}

/// The parameters of a quad in sequence.
struct Parameters<'s> {
    sample: &'s Sample,
    first: usize,
    next: usize,
}

impl Parameters<'_> {
    fn take(&mut self) -> [u32; QUAD] {
        let lanes = self.sample.parameters.get(self.next);
        self.next += 1;
        lanes.map_or([0; QUAD], |lanes| std::array::from_fn(|lane| lanes[self.first + lane]))
    }

    fn is_empty(&self) -> bool {
        self.next >= self.sample.parameters.len()
    }
}

fn quad(resources: &mut dyn Resources, texture: &Texture, sample: &Sample, first: usize) -> [[u32; QUAD]; 4] {
    let dim = dimension(texture.kind);
    let unit = u32::from(texture.unit);
    let faces = if texture.kind == TextureKind::Cube && texture.is_array { 6 } else { 1 };
    let mut next = Parameters { sample, first, next: 0 };
    let op = sample.op;
    match op {
        SampleOp::ResourceInfo => {
            let levels = next.take();
            let sizes = levels.map(|level| resources.texture_size(unit, level, dim, texture.is_array));
            let of = |c: usize| sizes.each_ref().map(|size| size.size[c]);
            let layers = of(2).map(|layers| layers.wrapping_mul(faces));
            return [of(0), of(1), layers, sizes.map(|size| size.levels)];
        }
        SampleOp::SampleInfo => {
            let samples = resources.texture_size(unit, 0, dim, texture.is_array).samples;
            return [[samples; QUAD], [0; QUAD], [0; QUAD], [0; QUAD]];
        }
        _ => {}
    }
    let block = sample.header.map_or(0, |header| header[3] / SAMPLER_BLOCK);
    let mut request = TextureRequest {
        texture: unit,
        sampler: u32::from(sample.sampler) + block * 16,
        is_array: texture.is_array,
        offset: sample.offset.map(|offset| [offset; QUAD]),
        ..TextureRequest::new(TextureLookup::Implicit, dim)
    };
    let is_compared = matches!(
        op,
        SampleOp::Compare
            | SampleOp::BiasCompare
            | SampleOp::LevelCompare
            | SampleOp::GatherCompare
            | SampleOp::GatherOffsetCompare
            | SampleOp::GradientCompare
    );
    if is_compared {
        request.is_shadow = true;
        request.comparator = next.take();
    }
    let gather = TextureLookup::Gather { component: sample.gather_component };
    request.lookup = match op {
        SampleOp::Bias | SampleOp::BiasCompare => TextureLookup::Bias,
        SampleOp::Level | SampleOp::LevelCompare => TextureLookup::Explicit,
        SampleOp::Gradient | SampleOp::GradientCompare => TextureLookup::Gradient,
        SampleOp::Load | SampleOp::LoadMultisample | SampleOp::LoadUncompressed => TextureLookup::Fetch,
        SampleOp::Lod => TextureLookup::QueryLod,
        SampleOp::Gather | SampleOp::GatherCompare | SampleOp::GatherOffset | SampleOp::GatherOffsetCompare => gather,
        SampleOp::Sample | SampleOp::Compare => TextureLookup::Implicit,
        _ => return [[0; QUAD]; 4],
    };
    if matches!(request.lookup, TextureLookup::Bias | TextureLookup::Explicit) || op == SampleOp::LoadMultisample {
        request.lod = next.take();
    }
    if op == SampleOp::LoadMultisample {
        // The word of the control surface.
        next.take();
    }
    let dimensions = match texture.kind {
        TextureKind::D1 | TextureKind::Buffer => 1,
        TextureKind::D2 | TextureKind::Rect | TextureKind::Multisample => 2,
        TextureKind::D3 | TextureKind::Cube => 3,
    };
    let has_offsets = matches!(op, SampleOp::GatherOffset | SampleOp::GatherOffsetCompare);
    for c in 0..4 {
        if next.is_empty() {
            break;
        }
        request.coordinate[c] = next.take();
        if request.lookup == TextureLookup::Gradient && c < dimensions {
            request.ddx[c] = next.take();
            request.ddy[c] = next.take();
        }
        if op == SampleOp::Load && c == 0 {
            request.lod = next.take();
        }
        if has_offsets && c == 1 {
            request.offset = [next.take(), next.take(), [0; QUAD]].map(|words| words.map(|word| word as i32));
        }
    }
    resources.texture(&request)
}
