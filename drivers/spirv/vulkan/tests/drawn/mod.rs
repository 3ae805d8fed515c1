//! Draws with real fragment shaders natively: tests locations, interpolation modes, built-ins, constant buffers and
//! kills as a host uses them, which the harness of the other tests replaces.
//!
//! A vertex shader writes the inputs of the fragment shader from constants, the same for all vertices. Every pixel
//! therefore has the inputs that the interpreter of the IR is given, and must have the colour that it computes. One
//! pixel is compared; shaders with textures, images or storage are left to the harness. Every fourth file is used, with
//! `TGSIC_LONG` each.

mod measured;

use std::collections::BTreeMap;

use crate::runs::{LIMITS, all_are_wanted, corpus, inputs, is_wanted, parsed, texts};
use tgsi::tables::{File, Processor, Semantic};
use tgsi_compiler::reflection::{Reflection, ResourceKind, Varying};
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_spirv::DRIVER;
use tgsi_environment::SystemValue;
use tgsi_environment::{AnalyticResources, Inputs};
use tgsi_ir::passes::linking::LinkOptions;
use tgsi_ir::shader::Shader;
use tgsi_run::vectors::Agreement;
use tgsi_spirv_vulkan::draw::{Drawing, PixelFormat, Uniform, draw};

/// Pixels of each side; the one in the middle is compared.
const SIZE: u32 = 8;
const PIXEL: (u32, u32) = (4, 3);
/// The depth of the triangle.
const DEPTH: f32 = 0.5;
/// The set of constant buffers, and the binding of the vertex shader's first.
const CONSTANT_SET: u32 = 0;
const VERTEX_BINDING: u32 = 0;
/// Bytes of a constant buffer.
const CONSTANT_BYTES: usize = 1 << 14;

/// A fragment shader and its interface.
struct DrawnShader {
    source: tgsi::Shader,
    lowered: Shader,
    code: Vec<u8>,
    interface: Reflection,
}

fn compile(source: tgsi::Shader) -> Option<DrawnShader> {
    if tgsi::check::check(&source).has_errors() {
        return None;
    }
    let target = DRIVER.target(&[]).expect("the options");
    let compiler = Compiler::for_target(target.into());
    let mut compilation = compiler.start(&source).ok()?;
    compilation.advance(Stage::Registers).ok()?;
    let lowered = compilation.ir().clone();
    let interface = compiler.target().reflect(&lowered)?.ok()?;
    let code = compilation.finish().ok()?.into_bytes();
    Some(DrawnShader { source, lowered, code, interface })
}

/// Returns why a shader cannot be drawn in this test.
fn is_out_of_scope(subject: &DrawnShader) -> Option<&'static str> {
    if subject.interface.resources.iter().any(|r| r.kind != ResourceKind::ConstantBuffer) {
        return Some("resources other than constants");
    }
    has_other_interface(subject)
}

/// The same, regardless of resources.
fn has_other_interface(subject: &DrawnShader) -> Option<&'static str> {
    let interface = &subject.interface;
    let known = ["BuiltIn FragCoord", "FragCoord", "FrontFacing", "BuiltIn FrontFacing", "HelperInvocation"];
    if !interface.driver_parameters.is_empty() {
        return Some("driver parameters");
    }
    if interface.built_in_inputs.iter().any(|b| !known.contains(&b.as_str())) {
        return Some("built-in inputs");
    }
    if !interface.built_in_outputs.is_empty() {
        return Some("built-in outputs");
    }
    let is_color = |output: &Varying| output.location == 0 && output.ty == "float";
    if !interface.outputs.iter().any(is_color) {
        return Some("no colour of floats");
    }
    if interface.outputs.iter().any(|output| output.source != 0) {
        return Some("blending of two sources");
    }
    None
}

/// Returns a vertex shader that writes the inputs of a fragment shader from constants: register n of the fragment
/// shader from constant n.
fn vertex_shader(subject: &DrawnShader) -> String {
    let mut declarations = String::from("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL CONST[0][0..63]\n");
    let mut moves = String::from("MOV OUT[0], IN[0]\n");
    // One register may be several variables, with some of the components each.
    let mut registers: BTreeMap<u32, String> = BTreeMap::new();
    for input in &subject.interface.inputs {
        let semantic = input.semantic.as_deref().unwrap_or("GENERIC");
        let register = input.register;
        registers.insert(register, format!("{semantic}[{}]", input.index));
    }
    for (position, (register, semantic)) in registers.iter().enumerate() {
        let output = position + 1;
        declarations += &format!("DCL OUT[{output}], {semantic}\n");
        moves += &format!("MOV OUT[{output}], CONST[0][{register}]\n");
    }
    declarations + &moves + "END\n"
}

/// Returns whether interpolation preserves the bits of a float: it multiplies by 1, or not at all.
fn is_kept(word: u32) -> bool {
    word == 0 || f32::from_bits(word).is_normal()
}

/// Returns inputs for the quad that contains the pixel, the same in all lanes.
fn uniform_inputs(subject: &DrawnShader, seed: u64) -> Inputs {
    let mut inputs = inputs(&subject.lowered, seed);
    let lanes = inputs.lanes;
    for register in 0..inputs.inputs.len() {
        for component in 0..4 {
            let word = inputs.inputs.get(register, component, 0);
            let word = if is_kept(word) { word } else { (word as i32 as f32).clamp(-9.0, 9.0).to_bits() };
            inputs.inputs.component_mut(register, component).fill(word);
        }
    }
    let lane_rows = |f: &dyn Fn(usize) -> u32| (0..lanes).map(f).collect::<Vec<u32>>();
    // Lanes are the pixels of a quad: upper left, upper right, lower left, lower right. The compared one is in it.
    let (left, top) = (PIXEL.0 & !1, PIXEL.1 & !1);
    let offset = if subject.lowered.info.fs.pixel_center_integer { 0.0 } else { 0.5 };
    let center = |pixel: u32, lane: usize, bit: usize| (pixel as f32 + (lane >> bit & 1) as f32 + offset).to_bits();
    let coordinates = [
        lane_rows(&|lane| center(left, lane, 0)),
        lane_rows(&|lane| center(top, lane, 1)),
        vec![DEPTH.to_bits(); lanes],
        vec![1f32.to_bits(); lanes],
    ];
    // Position and face may also be inputs.
    let face = [1.0, 0.0, 0.0, 1.0].map(|value: f32| vec![value.to_bits(); lanes]);
    for declaration in subject.source.declarations.iter().filter(|d| d.file == File::Input) {
        let rows = match declaration.semantic.map(|semantic| semantic.name) {
            Some(Semantic::Position) => &coordinates,
            Some(Semantic::Face) => &face,
            _ => continue,
        };
        for (component, row) in rows.iter().enumerate() {
            inputs.inputs.component_mut(declaration.first.into(), component).copy_from_slice(row);
        }
    }
    inputs.system_values.insert(SystemValue::FragCoord, coordinates.to_vec());
    inputs.system_values.insert(SystemValue::FrontFace, vec![vec![u32::MAX; lanes]]);
    inputs.helpers = vec![false; lanes];
    limit_constants(&mut inputs);
    inputs
}

/// Truncates constants to the bound buffers, and removes NaN, which devices need not preserve.
fn limit_constants(inputs: &mut Inputs) {
    for buffer in &mut inputs.constants {
        buffer.truncate(CONSTANT_BYTES / 4);
        buffer.iter_mut().filter(|word| f32::from_bits(**word).is_nan()).for_each(|word| *word = 0);
    }
}

/// Returns the interpreter's result for the pixel; the inner `None` if the shader kills it.
fn expected(subject: &DrawnShader, inputs: &Inputs) -> Option<Option<[u32; 4]>> {
    let outputs = tgsi_ir::run::run(&subject.lowered, inputs, &mut AnalyticResources::default(), LIMITS).ok()?;
    let lane = (PIXEL.0 & 1) as usize + 2 * (PIXEL.1 & 1) as usize;
    if !*outputs.live.get(lane)? {
        return Some(None);
    }
    let color = subject.interface.outputs.iter().find(|output| output.location == 0)?;
    let register = color.register as usize;
    Some(Some(std::array::from_fn(|component| outputs.outputs.get(register, component, lane))))
}

/// Returns the content of a constant buffer, padded with zeros.
fn constant_bytes(words: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(CONSTANT_BYTES, 0);
    bytes
}

/// Returns the constant buffers of a shader.
fn uniforms(subject: &DrawnShader, inputs: &Inputs) -> Vec<Uniform> {
    let mut uniforms = Vec::new();
    let resources = subject.interface.resources.iter();
    for resource in resources.filter(|resource| resource.kind == ResourceKind::ConstantBuffer) {
        for at in 0..resource.count.max(1) {
            let content = inputs.constants.get((resource.index + at) as usize);
            let (set, binding) = (resource.set, resource.binding + at);
            uniforms.push(Uniform { set, binding, bytes: constant_bytes(content.map_or(&[], Vec::as_slice)) });
        }
    }
    uniforms
}

/// An operation on a drawing.
type DrawingCheck<T> = fn(&Drawing<'_>) -> Result<T, String>;

/// The number of locations between stages; shaders with locations beyond must be linked.
const LINK_LOCATIONS: u32 = 32;

/// Returns the code of a vertex shader and a fragment shader after linking.
fn linked(vertex: &tgsi::Shader, fragment: &tgsi::Shader) -> Option<[Vec<u8>; 2]> {
    let compiler = Compiler::for_target(DRIVER.target(&[]).expect("the options").into());
    let program = compiler.link(vec![vertex.into(), fragment.into()], &LinkOptions::default()).ok()?;
    let codes: Vec<Vec<u8>> = program.shaders.into_iter().map(|shader| shader.code.into_bytes()).collect();
    codes.try_into().ok()
}

/// Draws a picture.
fn drawn_in<T>(subject: &DrawnShader, inputs: &Inputs, size: u32, act: DrawingCheck<T>) -> Result<T, String> {
    let text = vertex_shader(subject);
    let source = parsed(text.as_bytes()).ok_or_else(|| format!("no vertex shader:\n{text}"))?;
    let is_beyond = |input: &Varying| input.location >= LINK_LOCATIONS;
    let codes = if subject.interface.inputs.iter().any(is_beyond) {
        linked(&source, &subject.source)
    } else {
        compile(source).map(|vertex| [vertex.code, subject.code.clone()])
    };
    let [vertex, fragment] = codes.ok_or_else(|| format!("no vertex shader:\n{text}"))?;
    let registers = 0..inputs.inputs.len().min(64);
    let values: Vec<u32> = registers.flat_map(|r| (0..4).map(move |c| inputs.inputs.get(r, c, 0))).collect();
    let mut uniforms = uniforms(subject, inputs);
    uniforms.push(Uniform { set: CONSTANT_SET, binding: VERTEX_BINDING, bytes: constant_bytes(&values) });
    // One triangle that covers the picture, facing the viewer.
    let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
    let attributes = [corners.map(|[x, y]| [x, y, DEPTH, 1.0]).to_vec()];
    act(&Drawing {
        vertex: &vertex,
        fragment: &fragment,
        size: (size, size),
        format: PixelFormat::Rgba32Float,
        attributes: &attributes,
        uniforms: &uniforms,
        textures: &[],
    })
}

/// Returns the colour of the compared pixel.
fn drawn(subject: &DrawnShader, inputs: &Inputs) -> Result<[u32; 4], String> {
    let pixels = drawn_in(subject, inputs, SIZE, draw)?;
    let at = ((PIXEL.1 * SIZE + PIXEL.0) * 16) as usize;
    let word = |c: usize| pixels[at + 4 * c..][..4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    Ok(std::array::from_fn(word))
}

/// The colour of uncovered pixels.
const BACKGROUND: [u32; 4] = [0, 0, 0, 0x3f80_0000];

/// Replaces constants that are denormal floats, or pairs of them that are denormal doubles, by zero.
fn flushed(inputs: &Inputs, doubles: bool) -> Inputs {
    let mut inputs = inputs.clone();
    for pair in inputs.constants.iter_mut().flat_map(|buffer| buffer.chunks_exact_mut(2)) {
        if doubles && pair[1] << 1 < 0x0020_0000 {
            pair.fill(0);
        }
        pair.iter_mut().filter(|word| f32::from_bits(**word).is_subnormal()).for_each(|word| *word = 0);
    }
    inputs
}

fn compare(subject: &DrawnShader) -> Result<(), String> {
    for seed in 0..2 {
        let inputs = uniform_inputs(subject, seed);
        let Some(color) = expected(subject, &inputs) else { continue };
        let color = color.unwrap_or(BACKGROUND);
        let found = drawn(subject, &inputs)?;
        let agrees = |(expected, found): (&u32, &u32)| {
            !f32::from_bits(*expected).is_finite() || Agreement::of(*expected, *found) != Agreement::Different
        };
        let is_equal = |color: [u32; 4]| color.iter().zip(&found).all(agrees);
        // Devices may flush denormals; small integers look like denormals.
        let is_flushed = |doubles| expected(subject, &flushed(&inputs, doubles)).flatten().is_some_and(is_equal);
        if !is_equal(color) && !is_flushed(false) && !is_flushed(true) {
            let expected = color;
            return Err(format!("inputs {seed}: {found:08x?}, should be {expected:08x?}"));
        }
    }
    Ok(())
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_fragment_shaders_are_drawn() {
    if let Some(reason) = tgsi_spirv_vulkan::unavailable() {
        println!("skipped: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        return;
    }
    let (mut count, mut wrong, mut left_out) = (0, Vec::new(), BTreeMap::<&str, u32>::new());
    let files = texts(corpus());
    let every = if std::env::var_os("TGSIC_LONG").is_some() { 1 } else { 4 };
    for file in files.iter().filter(|file| is_wanted(file)).step_by(every) {
        let Some(source) = parsed(&std::fs::read(file).expect("a file")) else { continue };
        if source.processor != Processor::Fragment {
            continue;
        }
        let Some(subject) = compile(source) else { continue };
        if let Some(reason) = is_out_of_scope(&subject) {
            *left_out.entry(reason).or_default() += 1;
            continue;
        }
        count += 1;
        if let Err(error) = compare(&subject) {
            wrong.push(format!("{}: {error}", file.display()));
        }
    }
    println!("{count} drawn; left out: {left_out:?}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 380 / (every + 1) || !all_are_wanted(), "{count}");
}
