//! Measures texture lookups: `cargo run --release -p tgsi-driver-cpu --example lookups`
//!
//! Each fragment makes four lookups in a texture of 1024 x 1024 texels with all levels, with the coordinates of
//! neighbouring fragments, in one thread: in the interpreter, by calls from machine code, and inline in machine code.
//! Prints lookups per second.

use std::sync::Arc;
use std::time::Instant;

use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::sampler::{Filter, Format, MipFilter, Sampler, Shape, Size, Texture, Textures};
use tgsi_driver_cpu::{Options, Program, Shared, compile, compile_with};
use tgsi_environment::{Inputs, LaneRegisters, RunLimits};

/// Fragments on each side of the picture.
const SIDE: usize = 256;
/// Lookups of each fragment.
const LOOKUPS: usize = 4;

/// Returns a shader with a lookup of a target; `offset` follows the target. Fetches take texel coordinates.
fn shader(opcode: &str, target: &str, offset: &str) -> tgsi_ir::Shader {
    let mut text = format!(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], {target}, FLOAT\n\
         DCL TEMP[0..3]\nIMM[0] FLT32 {{0.125, 0.25, 0.5, 0}}\nIMM[1] INT32 {{1, -1, 0, 0}}\n\
         IMM[2] FLT32 {{1024, 1024, 0, 0}}\nMOV TEMP[0], IMM[0].wwww\nMOV TEMP[2], IN[0]\n",
    );
    for _ in 0..LOOKUPS {
        text += "MOV TEMP[3], TEMP[2]\n";
        if opcode == "TXF" {
            text += "MUL TEMP[3], TEMP[3], IMM[2]\nF2I TEMP[3], TEMP[3]\n";
        }
        text += &format!(
            "{opcode} TEMP[1], TEMP[3], SAMP[0], {target}{offset}\nADD TEMP[0], TEMP[0], TEMP[1]\n\
             ADD TEMP[2].xyz, TEMP[2], IMM[0].xyzw\n"
        );
    }
    text += "MOV OUT[0], TEMP[0]\nEND\n";
    let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    compiler.ir_at(Stage::Registers, &shader).expect("it is lowered")
}

/// Returns the quads of a picture, with `step` texels between neighbouring fragments.
fn inputs(step: f32) -> Inputs {
    let lanes = SIDE * SIDE;
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 1), ..Inputs::default() };
    for component in 0..4 {
        for (lane, word) in inputs.inputs.component_mut(0, component).iter_mut().enumerate() {
            let (quad, corner) = (lane / 4, lane % 4);
            let place = [2 * (quad % (SIDE / 2)) + corner % 2, 2 * (quad / (SIDE / 2)) + corner / 2];
            let place = [place[0], place[1], place[0] / 4 + 90, 0][component];
            *word = (place as f32 * step / 1024.0).to_bits();
        }
    }
    inputs
}

fn texture(shape: Shape, format: Format) -> Texture {
    let size = match shape {
        Shape::D1 => Size::of_image(1024, 1),
        Shape::D3 => Size { depth: 128, ..Size::of_image(128, 128) },
        Shape::Cube => Size::of_image(512, 512),
        _ => Size { layers: 2, ..Size::of_image(1024, 1024) },
    };
    let mut texture = Texture::new(shape, format, size, 11).expect("a texture");
    for level in 0..texture.levels().len() {
        for (number, word) in texture.level_texels_mut(level).chunks_exact_mut(4).enumerate() {
            let bits = (number as u32).wrapping_mul(2_654_435_761);
            let is_float = matches!(format, Format::Rgba32Float | Format::D32Float);
            let value = if is_float { ((bits >> 16) as f32 / 65536.0).to_bits() } else { bits };
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
    texture
}

/// Returns lookups per second, the best of several runs.
fn measure(program: &Program, inputs: &Inputs, textures: &Textures) -> f64 {
    let times = (0..7).map(|_| {
        let start = Instant::now();
        program.run_quads(inputs, textures, RunLimits::default()).expect("it runs");
        start.elapsed().as_secs_f64()
    });
    (inputs.lanes * LOOKUPS) as f64 / times.fold(f64::INFINITY, f64::min)
}

/// Prints the speeds of a shader's lookups.
fn compare(name: &str, shader: &tgsi_ir::Shader, texture: &Arc<Texture>, state: Sampler) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut textures = Textures::new();
    textures.set_texture(0, texture.clone());
    textures.set_sampler(0, state);
    let interpreted = Options { machine_code: false, ..Options::default() };
    let interpreted = compile(shader, interpreted).expect("a program");
    let known = interpreted.known_units(&mut Shared(&textures));
    let called = compile(shader, Options::default()).expect("a program");
    let start = Instant::now();
    let in_code = compile_with(shader, Options::default(), &known).expect("a program");
    let compiled = start.elapsed().as_secs_f64() * 1e3;
    let inputs = inputs(1.4);
    let speeds = one.install(|| [&interpreted, &called, &in_code].map(|p| measure(p, &inputs, &textures)));
    let [a, b, c] = speeds.map(|speed| speed / 1e6);
    let (format, bytes) = (texture.format(), in_code.report().bytes);
    println!("{format:?}, {name}: {a:.1} {b:.1} {c:.1}  (compiled in {compiled:.1} ms, {bytes} bytes)");
}

fn main() {
    println!("millions of lookups a second: interpreter, through calls, in code");
    let filters = [
        ("nearest", Filter::Nearest, MipFilter::None),
        ("bilinear", Filter::Linear, MipFilter::None),
        ("bilinear, nearest level", Filter::Linear, MipFilter::Nearest),
        ("trilinear", Filter::Linear, MipFilter::Linear),
    ];
    for format in [Format::Rgba8Unorm, Format::Rgba32Float] {
        let texture = Arc::new(texture(Shape::D2, format));
        for (name, filter, mip_filter) in filters {
            let state = Sampler { min_filter: filter, mag_filter: filter, mip_filter, ..Sampler::default() };
            compare(name, &shader("TEX", "2D", ""), &texture, state);
        }
    }
    let kinds = [
        ("TEX", "1D", "", Shape::D1, Format::Rgba8Unorm),
        ("TEX", "2D", ", IMM[1].xyz", Shape::D2, Format::Rgba8Unorm),
        ("TEX", "2D_ARRAY", "", Shape::D2, Format::Rgba8Unorm),
        ("TEX", "3D", "", Shape::D3, Format::Rgba8Unorm),
        ("TEX", "CUBE", "", Shape::Cube, Format::Rgba8Unorm),
        ("TEX", "SHADOW2D", "", Shape::D2, Format::D32Float),
        ("TEX", "SHADOWCUBE", "", Shape::Cube, Format::D32Float),
        ("TEX", "2D", "", Shape::D2, Format::R8Unorm),
        ("TEX", "2D", "", Shape::D2, Format::Bgra8Unorm),
        ("TEX", "2D", "", Shape::D2, Format::Rgba8Srgb),
        ("TEX", "2D", "", Shape::D2, Format::Rgba16Float),
        ("TXF", "2D", "", Shape::D2, Format::Rgba8Unorm),
    ];
    for (opcode, target, offset, shape, format) in kinds {
        let texture = Arc::new(texture(shape, format));
        let name = format!(
            "{opcode} {target}{}, bilinear, nearest level",
            if offset.is_empty() { "" } else { " with offset" }
        );
        let state = Sampler { mip_filter: MipFilter::Nearest, ..Sampler::default() };
        compare(&name, &shader(opcode, target, offset), &texture, state);
    }
}
