//! Compares pictures by the rasteriser and the interpreter with the same pictures drawn on Vulkan: equal within 1/255,
//! except at edges.

use std::collections::BTreeMap;

use tgsi_compiler::{Compiler, Driver};
use tgsi_driver_spirv::DRIVER;
use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_raster::mesh::Vertex;
use tgsi_raster::{Attribute, FixedFunctions, Mesh, Picture, Scene, SceneShader, Texture, VertexInput};
use tgsi_spirv_vulkan::draw::{Drawing, PixelFormat, Texture as VulkanTexture, Uniform, draw};

/// Pixels of each side.
const SIZE: u32 = 96;
/// A channel that differs by more than this between neighbouring pixels indicates an edge.
const EDGE: u8 = 8;

const VERTEX: &str = "VERT\nDCL IN[0]\nDCL IN[1]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[0]\nDCL OUT[2], COLOR\n\
    MOV OUT[0], IN[0]\nMOV OUT[1], IN[1]\nMOV OUT[2], IN[1].yxxw\nEND\n";

/// Fragment shaders: name, declarations, code.
const SHADERS: [(&str, &str, &str); 12] = [
    ("coordinates", "", "MOV OUT[0], IN[0]"),
    ("texture", "DCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT", "TEX OUT[0], IN[0], SAMP[0], 2D"),
    (
        "texture repeated",
        "DCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\nDCL TEMP[0]\nIMM FLT32 {3.0, -0.25, 0.0, 0.0}",
        "MAD TEMP[0], IN[0], IMM[0].xxxx, IMM[0].yyyy\nTEX OUT[0], TEMP[0], SAMP[0], 2D",
    ),
    (
        "derivatives",
        "DCL IN[1], POSITION, LINEAR\nDCL TEMP[0..1]\nIMM FLT32 {0.25, 0.5, 0.0, 1.0}",
        "DDX TEMP[0], IN[1].xyyy\nDDY TEMP[1], IN[1].xyyy\nMUL TEMP[0].xy, TEMP[0], IMM[0]\n\
         MUL OUT[0].xy, TEMP[0], IMM[0].wwww\nMUL OUT[0].z, TEMP[1].yyyy, IMM[0].xxxx\nMOV OUT[0].w, IMM[0].wwww",
    ),
    (
        "kill",
        "DCL TEMP[0]\nIMM FLT32 {0.5, 0.16, 1.0, 0.0}",
        "ADD TEMP[0], IN[0], -IMM[0].xxxx\nMUL TEMP[0], TEMP[0], TEMP[0]\nADD TEMP[0].x, TEMP[0].xxxx, TEMP[0].yyyy\n\
         ADD TEMP[0].x, IMM[0].yyyy, -TEMP[0].xxxx\nKILL_IF TEMP[0].xxxx\nMOV OUT[0], IMM[0].zxwz",
    ),
    (
        "position",
        "DCL IN[1], POSITION, LINEAR\nDCL TEMP[0]\nIMM FLT32 {0.0104, 0.0, 0.0, 1.0}",
        "MUL TEMP[0], IN[1], IMM[0].xxyy\nADD OUT[0], TEMP[0], IMM[0].yyyw",
    ),
    (
        "loop",
        "DCL TEMP[0..2]\nDCL CONST[0]\nIMM FLT32 {0.0, 1.0, 2.0, 4.0}\nIMM FLT32 {24.0, 0.04, 0.0, 1.0}",
        "MAD TEMP[0].xy, IN[0].xyyy, CONST[0].zzzz, CONST[0].xyyy\nMOV TEMP[1], IMM[0].xxxx\nBGNLOOP\n\
         MUL TEMP[2].xy, TEMP[1].xyyy, TEMP[1].xyyy\nADD TEMP[2].z, TEMP[2].xxxx, TEMP[2].yyyy\n\
         FSGE TEMP[2].w, TEMP[2].zzzz, IMM[0].wwww\nUIF TEMP[2].wwww\nBRK\nENDIF\n\
         FSGE TEMP[2].w, TEMP[1].zzzz, IMM[1].xxxx\nUIF TEMP[2].wwww\nBRK\nENDIF\n\
         MUL TEMP[1].w, TEMP[1].xxxx, TEMP[1].yyyy\nADD TEMP[1].x, TEMP[2].xxxx, -TEMP[2].yyyy\n\
         ADD TEMP[1].x, TEMP[1].xxxx, TEMP[0].xxxx\nMAD TEMP[1].y, TEMP[1].wwww, IMM[0].zzzz, TEMP[0].yyyy\n\
         ADD TEMP[1].z, TEMP[1].zzzz, IMM[0].yyyy\nENDLOOP\nMUL OUT[0], TEMP[1].zzzz, IMM[1].yyyy",
    ),
    (
        "light",
        "DCL TEMP[0]\nIMM FLT32 {0.0, 0.0, 0.0, 16.0}",
        "MOV TEMP[0], IN[0].xyxx\nMOV TEMP[0].w, IMM[0].wwww\nLIT TEMP[0], TEMP[0]\nMOV OUT[0], TEMP[0].yzyw",
    ),
    (
        "face",
        "DCL IN[1], FACE, CONSTANT\nDCL TEMP[0]\nIMM FLT32 {0.5, 1.0, 0.0, 0.0}",
        "CMP TEMP[0], IN[1].xxxx, IMM[0].yzzy, IMM[0].zyzy\nMUL OUT[0], TEMP[0], IN[0].yyyy",
    ),
    ("flat", "DCL IN[1], COLOR, CONSTANT", "MOV OUT[0], IN[1]"),
    (
        "waves",
        "DCL TEMP[0]\nIMM FLT32 {20.0, 0.5, 0.0, 1.0}",
        "MUL TEMP[0].xy, IN[0], IMM[0].xxxx\nSIN TEMP[0].x, TEMP[0].xxxx\nCOS TEMP[0].y, TEMP[0].yyyy\n\
         MAD OUT[0].xy, TEMP[0], IMM[0].yyyy, IMM[0].yyyy\nMOV OUT[0].zw, IMM[0].zzzw",
    ),
    (
        "squares",
        "DCL TEMP[0]\nIMM FLT32 {8.0, 0.5, 0.0, 1.0}",
        "MUL TEMP[0], IN[0], IMM[0].xxxx\nFRC TEMP[0], TEMP[0]\nFSLT TEMP[0].x, TEMP[0].xxxx, IMM[0].yyyy\n\
         UIF TEMP[0].xxxx\nMOV OUT[0], IMM[0].wwzw\nELSE\nMUL OUT[0], IN[0], TEMP[0].yyyy\nENDIF",
    ),
];

const CONSTANTS: [f32; 4] = [-2.0, -1.25, 2.5, 0.0];

fn fragment(declarations: &str, code: &str) -> String {
    let coordinate = "DCL IN[0], GENERIC[0], PERSPECTIVE";
    format!("FRAG\n{coordinate}\nDCL OUT[0], COLOR\n{declarations}\n{code}\nEND\n")
}

fn parsed(text: &str) -> tgsi::Shader {
    tgsi::text::parse(text.as_bytes()).map(|parsed| parsed.shader).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn translated(source: &tgsi::Shader) -> Vec<u8> {
    let compiler = Compiler::for_target(DRIVER.target(&[]).expect("the options").into());
    compiler.start(source).and_then(|compilation| compilation.finish()).expect("SPIR-V").into_bytes()
}

/// Returns a square in perspective: its right side is farther away.
fn mesh() -> Mesh {
    let corners = [(-0.8, -0.9, 1.0), (0.9, -0.7, 2.0), (0.8, 0.9, 2.5), (-0.9, 0.7, 1.25)];
    let coordinates = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let vertex = |((x, y, w), [u, v]): ((f32, f32, f32), [f32; 2])| Vertex {
        attributes: [[x * w, y * w, 0.25 * w, w], [u, v, 0.0, 1.0], [0.0; 4], [1.0; 4]],
    };
    let vertices = corners.into_iter().zip(coordinates).map(vertex).collect();
    Mesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] }
}

/// Returns 16 x 16 texels, rows from the top.
fn texels() -> Vec<u8> {
    (0..256u32).flat_map(|at| [(at % 16 * 17) as u8, (at / 16 * 17) as u8, (at * 37 % 256) as u8, 255]).collect()
}

fn by_rasteriser(vertex: &tgsi::Shader, shader: &tgsi::Shader) -> Vec<u8> {
    let program = |shader: &tgsi::Shader| tgsi_run::Program::new(shader).expect("a program");
    let (vertex_program, fragment_program) = (program(vertex), program(shader));
    let run = |program: &tgsi_run::Program, inputs: &Inputs, textures: &mut dyn Resources| -> Result<Outputs, String> {
        tgsi_run::run(program, inputs, textures, RunLimits::default()).map_err(|error| error.to_string())
    };
    let run_vertex = |inputs: &Inputs, textures: &mut dyn Resources| run(&vertex_program, inputs, textures);
    let run_fragment = |inputs: &Inputs, textures: &mut dyn Resources| run(&fragment_program, inputs, textures);
    // The device has one level.
    let mut texture = Texture::from_rgba8(16, 16, &texels()).expect("a texture");
    texture.keep_levels(1);
    let textures = BTreeMap::from([(0, texture)]);
    let constants = [CONSTANTS.map(f32::to_bits).to_vec()];
    let mut picture = Picture::new((SIZE, SIZE), [0, 0, 0, 255]);
    let inputs = [Attribute::Position, Attribute::TextureCoordinate].map(VertexInput::Attribute);
    let scene = Scene {
        vertex: Some(SceneShader { source: vertex, run: &run_vertex, constants: &[], textures: &textures }),
        fragment: SceneShader { source: shader, run: &run_fragment, constants: &constants, textures: &textures },
        mesh: &mesh(),
        inputs: &inputs,
        fixed_functions: &FixedFunctions::default(),
    };
    tgsi_raster::draw(&scene, &mut picture);
    assert_eq!(picture.errors, [""; 0]);
    picture.pixels
}

fn by_device(vertex: &[u8], fragment: &[u8]) -> Vec<u8> {
    let mesh = mesh();
    // On Vulkan the first vertex is the provoking one. The code flips y, since clip space is OpenGL's.
    let order = mesh.triangles.iter().flat_map(|&[a, b, c]| [c, a, b]).map(|index| mesh.vertices[index as usize]);
    let vertices: Vec<Vertex> = order.collect();
    let attributes = [
        vertices.iter().map(|vertex| vertex.get(Attribute::Position)).collect(),
        vertices.iter().map(|vertex| vertex.get(Attribute::TextureCoordinate)).collect(),
    ];
    // Row 0 of the rasteriser's textures is the last of the file.
    let rows: Vec<u8> = texels().chunks(64).rev().flatten().copied().collect();
    let bytes = CONSTANTS.iter().flat_map(|value| value.to_le_bytes()).collect();
    draw(&Drawing {
        vertex,
        fragment,
        size: (SIZE, SIZE),
        format: PixelFormat::Rgba8,
        attributes: &attributes,
        uniforms: &[Uniform { set: 0, binding: 128, bytes }],
        textures: &[VulkanTexture { set: 1, binding: 128, size: (16, 16), texels: rows }],
    })
    .expect("a picture")
}

/// Returns whether the picture changes much around a pixel.
fn is_edge(pixels: &[u8], at: usize) -> bool {
    let (x, y, size) = ((at as u32 % SIZE) as i64, (at as u32 / SIZE) as i64, i64::from(SIZE));
    let channel =
        |x: i64, y: i64, c: usize| pixels[4 * (y.clamp(0, size - 1) * size + x.clamp(0, size - 1)) as usize + c];
    let around = || (-1..=1).flat_map(move |dy| (-1..=1).map(move |dx| (x + dx, y + dy)));
    (0..4).any(|c| {
        let values = around().map(|(x, y)| channel(x, y, c));
        values.clone().max().unwrap_or(0) - values.min().unwrap_or(0) > EDGE
    })
}

#[test]
fn pictures_are_those_of_the_device() {
    if let Some(reason) = tgsi_spirv_vulkan::unavailable() {
        println!("skipped: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        return;
    }
    let vertex = parsed(VERTEX);
    let vertex_code = translated(&vertex);
    let mut wrong = Vec::new();
    for (name, declarations, code) in SHADERS {
        let shader = parsed(&fragment(declarations, code));
        let ours = by_rasteriser(&vertex, &shader);
        let theirs = by_device(&vertex_code, &translated(&shader));
        let background = ours.chunks(4).filter(|pixel| **pixel == [0, 0, 0, 255]).count();
        let differ = |at: &usize| {
            ours[4 * at..4 * at + 4].iter().zip(&theirs[4 * at..4 * at + 4]).any(|(a, b)| a.abs_diff(*b) > 1)
        };
        let (on_edges, inside): (Vec<usize>, Vec<usize>) =
            (0..(SIZE * SIZE) as usize).filter(differ).partition(|&at| is_edge(&theirs, at));
        println!("{name}: {} differ on edges, {} elsewhere, {background} not drawn", on_edges.len(), inside.len());
        if !inside.is_empty() || on_edges.len() > 30 || background > (SIZE * SIZE * 9 / 10) as usize {
            let at = inside.first().or(on_edges.first()).copied().unwrap_or(0);
            let (is, should) = (&ours[4 * at..4 * at + 4], &theirs[4 * at..4 * at + 4]);
            let (x, y) = (at as u32 % SIZE, at as u32 / SIZE);
            wrong.push(format!("{name}: pixel {x}, {y} is {is:?}, should be {should:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
