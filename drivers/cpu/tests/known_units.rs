//! Inline lookups have the bits of the built-in sampler's: tests all states that code supports, with arbitrary
//! coordinates, and that units in another state are left to the host.

#![cfg(feature = "machine-code")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lookups::{KINDS, Random, filled, random_state, text_of, texture_of};
use rayon::prelude::*;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::sampler::{
    Filter, Format, KnownUnitState, MipFilter, Sampled, Sampler, Shape, Size, Texture, Textures, WrapMode,
};
use tgsi_driver_cpu::{HostResources, Options, Program, Shared, compile, compile_with};
use tgsi_environment::SamplerDim;
use tgsi_environment::{Inputs, LaneRegisters, Outputs, RunLimits, TextureRequest, TextureSize};

/// Textures that count the lookups of the host.
struct Counting {
    textures: Textures,
    lookups: AtomicUsize,
}

impl HostResources for Counting {
    fn texture(&self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        self.textures.texture(request)
    }
    fn texture_size(&self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.textures.texture_size(texture, level, dim, is_array)
    }
    fn known(&self, texture: u32, sampler: u32) -> Option<Sampled> {
        self.textures.known(texture, sampler)
    }
}

fn counting(texture: Texture, sampler: Sampler) -> Counting {
    let mut textures = Textures::new();
    textures.set_texture(0, Arc::new(texture));
    textures.set_sampler(0, sampler);
    Counting { textures, lookups: AtomicUsize::new(0) }
}

fn lowered(text: &str) -> tgsi_ir::Shader {
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
    compiler.ir_at(Stage::Registers, &shader).expect("it is lowered")
}

/// Shaders with implicit, biased, explicit and projective lookups, queries of the level of detail, explicit
/// derivatives, and coordinates in texels.
fn shaders() -> Vec<tgsi_ir::Shader> {
    let gradients = "TEMP[0].zwzw, TEMP[0].wyzx, ";
    let plain = ["TEX", "TXB", "TXL", "TXP", "LODQ"].map(|opcode| (opcode, "", "2D"));
    let others = [("TXD", gradients, "2D"), ("TEX", "", "RECT"), ("TXP", "", "RECT"), ("TXD", gradients, "RECT")];
    let all = plain.into_iter().chain(others);
    all.map(|(opcode, gradients, target)| {
        let text = format!(
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], {target}, FLOAT\n\
                 DCL TEMP[0]\nMOV TEMP[0], IN[0]\n{opcode} TEMP[0], TEMP[0], {gradients}SAMP[0], {target}\n\
                 MOV OUT[0], TEMP[0]\nEND\n"
        );
        lowered(&text)
    })
    .collect()
}

/// Returns quads of neighbouring coordinates, and lanes with special words.
fn inputs(lanes: usize, seed: u64) -> Inputs {
    const SPECIAL: [u32; 16] = [
        0,
        0x8000_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc0_0001,
        0x7f7f_ffff,
        0xff7f_ffff,
        1,
        0x8000_0001,
        0x4b00_0000,
        0xcaff_ffff,
        0x4f00_0000,
        0x3f80_0000,
        0x3f7f_ffff,
        0xb300_0000,
    ];
    let mut random = Random(seed);
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 1), ..Inputs::default() };
    for component in 0..4 {
        let (mut start, mut step) = (0.0, 0.0);
        for (lane, word) in inputs.inputs.component_mut(0, component).iter_mut().enumerate() {
            if lane % 4 == 0 {
                start = (random.next() & 0xffff) as f32 / 8192.0 - 4.0;
                // From a thousandth of the texture to all of it.
                step = 2f32.powi(-((random.next() % 11) as i32)) * ((random.next() & 0xff) as f32 / 128.0 - 1.0);
            }
            *word = match random.next() % 8 {
                0 => SPECIAL[random.next() as usize % SPECIAL.len()],
                // On the grid of texels.
                1 => ((random.next() % 160) as f32 / 32.0 - 2.5).to_bits(),
                _ => (start + step * [0.0, 1.0, 0.7, 1.8][lane % 4]).to_bits(),
            };
        }
    }
    inputs
}

fn texture(format: Format, width: u32, height: u32, levels: u32) -> Texture {
    filled(Texture::new(Shape::D2, format, Size::of_image(width, height), levels).expect("a texture"))
}

fn run(program: &Program, inputs: &Inputs, host: &Counting) -> Outputs {
    program.run_together(inputs, &mut Shared(host), RunLimits::default()).expect("it runs")
}

fn same(a: &Outputs, b: &Outputs, what: &str) {
    for component in 0..4 {
        let (a, b) = (a.outputs.component(0, component), b.outputs.component(0, component));
        for (lane, (&a, &b)) in a.iter().zip(b).enumerate() {
            let nan = f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan();
            assert!(a == b || nan, "{what}: lane {lane} component {component}: {b:08x}, not {a:08x}");
        }
    }
}

fn states() -> Vec<Sampler> {
    let filters = [Filter::Nearest, Filter::Linear];
    let wraps = [WrapMode::Repeat, WrapMode::MirroredRepeat, WrapMode::ClampToEdge];
    let mut states = Vec::new();
    for mip_filter in [MipFilter::None, MipFilter::Nearest, MipFilter::Linear] {
        for (min_filter, mag_filter) in filters.into_iter().flat_map(|min| filters.map(|mag| (min, mag))) {
            for (s, t) in wraps.into_iter().flat_map(|s| wraps.map(|t| (s, t))) {
                let state = Sampler { min_filter, mag_filter, mip_filter, wrap: [s, t, t], ..Sampler::default() };
                let number = states.len();
                states.push(match number % 4 {
                    1 => Sampler { lod_bias: 0.75, ..state },
                    2 => Sampler { min_lod: 0.5, max_lod: 2.25, ..state },
                    3 if number % 8 == 3 => Sampler { lod_bias: f32::NAN, min_lod: f32::INFINITY, ..state },
                    _ => state,
                });
            }
        }
    }
    states
}

#[test]
fn code_has_the_bits_of_the_sampler() {
    let shaders = shaders();
    let sizes = [(16, 8, 9), (5, 7, 9), (1, 1, 1), (64, 64, 3)];
    let cases: Vec<(Format, Sampler)> = [Format::Rgba8Unorm, Format::Rgba32Float]
        .into_iter()
        .flat_map(|format| states().into_iter().map(move |state| (format, state)))
        .collect();
    let made = AtomicUsize::new(0);
    cases.par_iter().enumerate().for_each(|(number, &(format, state))| {
        for (kind, shader) in shaders.iter().enumerate() {
            let plain = compile(shader, Options::default()).expect("it is compiled");
            let known = KnownUnitState { texture: 0, sampler: 0, format, state };
            let program = compile_with(shader, Options::default(), &[known]).expect("it is compiled");
            assert_eq!(program.report().refused, None);
            assert!(program.report().bytes > plain.report().bytes);
            for (size, &(width, height, levels)) in sizes.iter().enumerate() {
                let host = counting(texture(format, width, height, levels), state);
                assert_eq!(program.known_units(&mut Shared(&host)).len(), 1);
                let inputs = inputs(67, (number * 100 + kind * 10 + size) as u64);
                let expected = run(&plain, &inputs, &host);
                let by_calls = host.lookups.swap(0, Ordering::Relaxed);
                let found = run(&program, &inputs, &host);
                assert_eq!((by_calls, host.lookups.into_inner()), (17, 0), "quads looked up by calls");
                same(&expected, &found, &format!("{format:?} {state:?} {width} x {height} shader {kind}"));
                made.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert_eq!(made.into_inner(), 2 * 108 * 9 * 4);
}

/// A program runs with any unit: other states are looked up by the host.
#[test]
fn other_units_are_looked_up_by_the_host() {
    let shader = &shaders()[0];
    let state = Sampler::default();
    let known = KnownUnitState { texture: 0, sampler: 0, format: Format::Rgba8Unorm, state };
    let program = compile_with(shader, Options::default(), &[known]).expect("it is compiled");
    let plain = compile(shader, Options::default()).expect("it is compiled");
    let inputs = inputs(64, 3);
    let others = [
        (texture(Format::Rgba32Float, 8, 8, 4), state),
        (texture(Format::Rgba8Unorm, 8, 8, 4), Sampler { wrap: [WrapMode::ClampToEdge; 3], ..state }),
        (texture(Format::Rgba8Unorm, 8, 8, 4), Sampler { lod_bias: -0.0, ..state }),
        (texture(Format::Rgba8Unorm, 8, 8, 4), Sampler { border: [1, 0, 0, 0], ..state }),
        (texture(Format::Bgra8Unorm, 8, 8, 4), state),
    ];
    for (texture, sampler) in others {
        let host = counting(texture, sampler);
        let expected = run(&plain, &inputs, &host);
        let found = run(&program, &inputs, &host);
        assert_eq!(host.lookups.into_inner(), 2 * 16);
        same(&expected, &found, "another unit");
    }
    // A missing texture.
    let nothing = Counting { textures: Textures::new(), lookups: AtomicUsize::new(0) };
    assert_eq!(run(&program, &inputs, &nothing).outputs.get(0, 0, 5), 0);
    // The same for a uniform lookup, which could be hoisted before the check.
    let constant = lowered(
        "FRAG\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\nIMM[0] FLT32 {0.5, 0.9, 1, 0}\n\
         TEX OUT[0], IMM[0], SAMP[0], 2D\nEND\n",
    );
    for filter in [Filter::Nearest, Filter::Linear] {
        let state = Sampler { min_filter: filter, mag_filter: filter, ..state };
        let known = KnownUnitState { state, ..known };
        let program = compile_with(&constant, Options::default(), &[known]).expect("it is compiled");
        assert_eq!(run(&program, &inputs, &nothing).outputs.get(0, 0, 5), 0);
        let host = counting(texture(Format::Rgba8Unorm, 8, 8, 4), state);
        let expected = run(&compile(&constant, Options::default()).expect("it is compiled"), &inputs, &host);
        same(&expected, &run(&program, &inputs, &host), "constant coordinates");
    }
}

/// All kinds of lookups in all formats and many states. Rare cases (an offset spans a small texture more than once, the
/// edges of a cube's faces) are left to the host.
#[test]
fn all_kinds_of_lookups_have_the_bits_of_the_sampler() {
    // Several lookups in a shader are out of line.
    let shaders = KINDS.map(|kind| [1, 9].map(|count| lowered(&text_of(kind, count))));
    let rounds = std::env::var("TGSIC_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let cases: Vec<(usize, Format, u32)> = (0..rounds)
        .flat_map(|round| {
            let kinds = (0..KINDS.len()).flat_map(|kind| Format::ALL.into_iter().map(move |format| (kind, format)));
            kinds.map(move |(kind, format)| (kind, format, round))
        })
        .collect();
    let (all, by_host) = (AtomicUsize::new(0), AtomicUsize::new(0));
    cases.par_iter().enumerate().for_each(|(number, &(kind, format, _))| {
        let mut random = Random(number as u64 * 977 + 5);
        random.next();
        let (shape, ..) = KINDS[kind];
        let state = random_state(&mut random);
        let known = KnownUnitState { texture: 0, sampler: 0, format, state };
        let shader = &shaders[kind][number & 1];
        let plain = compile(shader, Options::default()).expect("it is compiled");
        let program = compile_with(shader, Options::default(), &[known]).expect("it is compiled");
        assert_eq!(program.report().refused, None);
        let host = counting(texture_of(shape, format, random.next()), state);
        let inputs = inputs(67, number as u64);
        let expected = run(&plain, &inputs, &host);
        let count = host.lookups.swap(0, Ordering::Relaxed);
        assert!(count >= 17 && count.is_multiple_of(17), "{:?}: {count} lookups", KINDS[kind]);
        let found = run(&program, &inputs, &host);
        same(&expected, &found, &format!("{:?} {format:?} {state:?} {number}", KINDS[kind]));
        let lookups = host.lookups.into_inner();
        let (_, instruction, target) = KINDS[kind];
        let may_leave = (target.contains("CUBE") && state.seamless) || instruction.contains("$, ");
        assert!(lookups == 0 || may_leave, "{:?} {state:?} is looked up by the host", KINDS[kind]);
        all.fetch_add(count, Ordering::Relaxed);
        by_host.fetch_add(lookups, Ordering::Relaxed);
    });
    let (all, by_host) = (all.into_inner(), by_host.into_inner());
    println!("{all} lookups by quads, {by_host} of them by the host");
    assert!(by_host * 4 < all, "{by_host} of {all} are looked up by the host");
}

/// Many equal lookups are one function; each adds only a call.
#[test]
fn many_lookups_are_a_function() {
    let known = KnownUnitState { texture: 0, sampler: 0, format: Format::Rgba8Unorm, state: Sampler::default() };
    let bytes = [1, 100].map(|count| {
        let shader = lowered(&text_of((Shape::D2, "TEX TEMP[0], TEMP[0], $", "2D"), count));
        let plain = compile(&shader, Options::default()).expect("it is compiled").report().bytes;
        let program = compile_with(&shader, Options::default(), &[known]).expect("it is compiled");
        assert_eq!((program.report().functions, program.report().refused.as_deref()), (1, None));
        program.report().bytes - plain
    });
    assert!(bytes[0] > 1000 && bytes[1] < 2 * bytes[0], "{bytes:?}");
}
