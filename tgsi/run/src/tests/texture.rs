//! Requests of texture opcodes, size queries, bindless handles.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use tgsi_environment::SamplerDim;
use tgsi_environment::{ImageTexel, Outputs, Resources, TextureLookup, TextureRequest, TextureSize, Vec4};

use super::{execute, floats, lanes, out, quad, run_with};

/// Resources that record the requests and return the coordinates.
#[derive(Default)]
struct Recorder {
    requests: Vec<TextureRequest>,
}

impl Resources for Recorder {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.requests.push(request.clone());
        request.coordinate
    }
    fn texture_size(&mut self, texture: u32, level: u32, _: SamplerDim, _: bool) -> TextureSize {
        TextureSize { size: [texture, level, 3], levels: 2, samples: 8 }
    }
    fn image_load(&mut self, _: ImageTexel) -> Vec4 {
        [0; 4]
    }
    fn image_store(&mut self, _: ImageTexel, _: Vec4) {}
    fn image_size(&mut self, _: u32, _: SamplerDim, _: bool) -> TextureSize {
        TextureSize::default()
    }
    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        Default::default()
    }
    fn unit_of_handle(&mut self, handle: u64) -> u32 {
        (handle >> 32) as u32 + 100
    }
}

fn request_of(body: &str) -> (TextureRequest, Outputs) {
    let text = format!(
        "FRAG\nDCL IN[0], GENERIC[0], LINEAR\nDCL OUT[0], COLOR\nDCL SAMP[0..3]\nDCL SVIEW[0], 2D, FLOAT\n\
         DCL SVIEW[1], CUBEARRAY, FLOAT\nDCL SVIEW[2], 2D_ARRAY_MSAA, FLOAT\nDCL TEMP[0]\n\
         IMM[0] UINT32 {{1, 2, 4294967295, 7}}\nIMM[1] FLT32 {{0.5, 1, 2, 3}}\n{body}\nEND\n"
    );
    let mut recorder = Recorder::default();
    let outputs = run_with(&text, &quad(), &mut recorder);
    assert_eq!(recorder.requests.len(), 1, "{text}");
    (recorder.requests.remove(0), outputs)
}

/// Component of a request for lane 1, as float.
fn second(words: [u32; 4]) -> f32 {
    f32::from_bits(words[1])
}

#[test]
fn texture_operands_by_target() {
    let (request, _) = request_of("TEX OUT[0], IN[0], SAMP[3], SHADOW2D_ARRAY");
    assert_eq!((request.texture, request.sampler, request.is_shadow, request.is_array), (3, 3, true, true));
    assert_eq!(request.coordinate.map(second), [2.0, 4.0, 6.0, 0.0]);
    assert_eq!(second(request.comparator), 8.0);
    let (request, _) = request_of("TXP OUT[0], IN[0], SAMP[0], SHADOW1D");
    assert_eq!(request.coordinate.map(second), [0.25, 0.0, 0.0, 0.0]);
    assert_eq!(second(request.comparator), 0.75);
    let (request, _) = request_of("TXB2 OUT[0], IN[0], IMM[1], SAMP[0], SHADOWCUBEARRAY");
    assert_eq!(request.lookup, TextureLookup::Bias);
    assert_eq!(request.coordinate.map(second), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!((second(request.lod), second(request.comparator)), (0.5, 1.0));
    let (request, _) = request_of("TXD OUT[0], IN[0], IN[0].yyyy, IN[0].zzzz, SAMP[0], 2D_ARRAY");
    assert_eq!(request.lookup, TextureLookup::Gradient);
    assert_eq!(request.ddx.map(second), [4.0, 4.0, 0.0]);
    assert_eq!(request.ddy.map(second), [6.0, 6.0, 0.0]);
    let (request, _) = request_of("TEX_LZ OUT[0], IN[0], SAMP[0], 2D");
    assert_eq!((request.lookup, request.lod), (TextureLookup::Explicit, [0; 4]));
    let (request, _) = request_of("TXF_LZ OUT[0], IN[0], SAMP[0], 2D, IMM[0].xyz");
    assert_eq!((request.lookup, request.lod), (TextureLookup::Fetch, [0; 4]));
    // A 2D texture has two offsets.
    assert_eq!(request.offset, [[1; 4], [2; 4], [0; 4]]);
    let (request, _) =
        request_of("TG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0], 2D, IMM[0].xyz, IMM[0].zzz, IMM[0].www, IMM[0].xxx");
    assert_eq!(request.lookup, TextureLookup::Gather { component: 2 });
    assert_eq!(request.gather_offsets, Some([[[1; 4], [2; 4]], [[-1; 4]; 2], [[7; 4]; 2], [[1; 4]; 2]]));
    assert_eq!(request.offset, [[0; 4]; 3]);
    let (request, _) = request_of("TG4 OUT[0], IN[0], IMM[1].xxxx, SAMP[0].wwww, 2D");
    assert_eq!(request.lookup, TextureLookup::Gather { component: 3 });
    // A handle in xy in the sampler's place.
    let (request, _) = request_of("TEX OUT[0], IN[0], IMM[0].xyxx, 2D");
    assert_eq!((request.texture, request.sampler), (102, 102));
}

#[test]
fn sample_family() {
    let (request, outputs) = request_of("SAMPLE_C OUT[0], IN[0], SVIEW[1].wzyx, SAMP[3], IMM[1].wwww");
    assert_eq!((request.texture, request.sampler, request.is_shadow), (1, 3, true));
    assert_eq!(request.coordinate.map(second), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(second(request.comparator), 3.0);
    // The view's swizzle is applied to the result.
    assert_eq!(out(&outputs, 1).map(f32::from_bits), [8.0, 6.0, 4.0, 2.0]);
    let (request, _) = request_of("SAMPLE_C_LZ OUT[0], IN[0], SVIEW[0], SAMP[3], IMM[1].wwww");
    assert_eq!((request.lookup, request.lod, second(request.comparator)), (TextureLookup::Explicit, [0; 4], 3.0));
    let (request, _) = request_of("SAMPLE_B OUT[0], IN[0], SVIEW[0], SAMP[3], IMM[1].zzzz");
    assert_eq!((request.lookup, second(request.lod)), (TextureLookup::Bias, 2.0));
    let (request, _) = request_of("SAMPLE_L OUT[0], IN[0], SVIEW[0], SAMP[3], IMM[1].zzzz");
    assert_eq!((request.lookup, second(request.lod)), (TextureLookup::Explicit, 2.0));
    let (request, _) = request_of("SAMPLE_D OUT[0], IN[0], SVIEW[0], SAMP[3], IN[0].yyyy, IN[0].zzzz");
    assert_eq!((request.lookup, second(request.ddx[0]), second(request.ddy[1])), (TextureLookup::Gradient, 4.0, 6.0));
    let (request, _) = request_of("SAMPLE_I OUT[0], IN[0], SVIEW[0]");
    assert_eq!((request.lookup, second(request.lod)), (TextureLookup::Fetch, 8.0));
    let (request, _) = request_of("SAMPLE_I_MS OUT[0], IN[0], SVIEW[2], IMM[0].yyyy");
    assert_eq!((request.lookup, request.lod, request.is_array), (TextureLookup::Fetch, [2; 4], true));
    assert_eq!(request.coordinate.map(second), [2.0, 4.0, 6.0, 0.0]);
    let (request, _) = request_of("GATHER4 OUT[0], IN[0], SVIEW[0], SAMP[1]");
    assert_eq!((request.lookup, request.sampler), (TextureLookup::Gather { component: 0 }, 1));
    let (request, outputs) = request_of("LOD OUT[0], IN[0], SVIEW[0].yxyx, SAMP[1]");
    assert_eq!(request.lookup, TextureLookup::QueryLod);
    assert_eq!(out(&outputs, 1).map(f32::from_bits), [4.0, 2.0, 4.0, 2.0]);
}

#[test]
fn size_and_sample_queries() {
    let go = |body: &str| {
        let text = format!(
            "FRAG\nDCL OUT[0], COLOR\nDCL SAMP[0..2]\nDCL SVIEW[2], 2D_MSAA, FLOAT\n\
             IMM[0] UINT32 {{0, 1, 2, 3}}\n{body}\nEND\n"
        );
        out(&run_with(&text, &lanes(4), &mut Recorder::default()), 3)
    };
    assert_eq!(go("TXQ OUT[0], IMM[0].yyyy, SAMP[2], 2D"), [2, 1, 0, 2]);
    assert_eq!(go("SVIEWINFO OUT[0], IMM[0].yyyy, SVIEW[2]"), [2, 1, 0, 2]);
    assert_eq!(go("SVIEWINFO OUT[0], IMM[0].zzzz, SVIEW[2]"), [0, 0, 0, 2]);
    assert_eq!(go("TXQS OUT[0].x, SAMP[2], 2D_MSAA"), [8, 0, 0, 0]);
    assert_eq!(go("SAMPLE_INFO OUT[0].x, SVIEW[2], IMM[0].xxxx"), [8f32.to_bits(), 0, 0, 0]);
    assert_eq!(go("SAMPLE_POS OUT[0].xy, SVIEW[2], IMM[0].yyyy")[..2], floats(&[7.0 / 16.0, 11.0 / 16.0]));
}

#[test]
fn bindless_handles() {
    let text = "COMP\nDCL IMAGE[0..5], 2D, PIPE_FORMAT_R32_UINT, WR\nDCL SAMP[0..3]\nDCL OUT[0..1], GENERIC[0]\n\
                SAMP2HND OUT[0].xy, SAMP[3], 2D\nIMG2HND OUT[1].xy, IMAGE[5], 2D, PIPE_FORMAT_R32_UINT\nEND\n";
    let outputs = execute(text, &lanes(1));
    assert_eq!((out(&outputs, 0), outputs.outputs.get(1, 0, 0)), ([3, 0, 0, 0], 5));
}

#[test]
fn a_comparing_gather_has_no_component() {
    let component = |body: &str| match request_of(body).0.lookup {
        TextureLookup::Gather { component } => component,
        other => panic!("{other:?}"),
    };
    assert_eq!(component("TG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0].wwww, SHADOWCUBEARRAY"), 0);
    assert_eq!(component("TG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0], SHADOW2D"), 0);
    assert_eq!(component("TG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0].wwww, 2D"), 3);
    assert_eq!(component("TG4 OUT[0], IN[0], IMM[0].yyyy, SAMP[0], 2D"), 2);
}
