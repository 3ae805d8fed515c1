//! Every ALU opcode of the IR in every size: its translation computes the same as the IR, or there is an error.
//!
//! Each shader is one instruction on inputs, translated directly and after the pipeline; each case is a lane.

use std::fmt::Write;

use crate::compile::translate;
use tgsi_compiler::Target;
use tgsi_driver_tgsi::{DriverError, TgsiOptions};
use tgsi_environment::Random;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_ir::alu::{AluOp, AluType, BaseType, ExecutionMode, evaluate};
use tgsi_ir::passes::pipeline;

/// The number of registers of a source: up to four components of 64 bits.
const REGISTERS: usize = 2;
const LANES: usize = 96;

/// The size of a type in an instruction.
fn bits(ty: AluType, size: u8) -> u8 {
    if ty.is_unsized() { size } else { ty.bit_size }
}

/// An instruction: the opcode, the size of its unsized types, and the components of a component-wise operation.
#[derive(Clone, Copy, Debug)]
struct Case {
    op: AluOp,
    size: u8,
    components: u8,
}

impl Case {
    fn source_components(self, number: usize) -> u8 {
        match self.op.info().input_sizes[number] {
            0 => self.components,
            count => count,
        }
    }

    fn result(self) -> (u8, u8) {
        let info = self.op.info();
        let count = if info.output_size == 0 { self.components } else { info.output_size };
        (count, bits(info.output_type, self.size))
    }

    /// The shader as IR text; none if it has too many inputs or results.
    fn text(self) -> Option<String> {
        let info = self.op.info();
        let sources = info.input_types.len();
        let (count, result_bits) = self.result();
        let words = usize::from(count) * usize::from(result_bits.div_ceil(32));
        if sources * REGISTERS > 8 || words > 8 {
            return None;
        }
        let mut text = String::from("shader: MESA_SHADER_VERTEX\ninputs: 8\noutputs: 2\n");
        for number in 0..sources * REGISTERS {
            let _ = writeln!(
                text,
                "decl_var shader_in INTERP_MODE_NONE none vec4 in_{number} (VERT_ATTRIB_GENERIC{number}.xyzw, {number}, 0)"
            );
        }
        for number in 0..2 {
            let _ = writeln!(
                text,
                "decl_var shader_out INTERP_MODE_NONE none vec4 out_{number} (VARYING_SLOT_VAR{number}.xyzw, {number}, 0)"
            );
        }
        text += "decl_function main () (entrypoint)\n\nimpl main {\n    block b0:\n";
        let mut next = 0u32;
        let mut line = |text: &mut String, shape: &str, code: String| {
            let _ = writeln!(text, "    {shape} %{next} = {code}");
            next += 1;
            format!("%{}", next - 1)
        };
        let mut operands = Vec::new();
        for number in 0..sources {
            let needed = self.source_components(number);
            let size = bits(info.input_types[number], self.size);
            if needed > if size == 64 { 4 } else { 8 } {
                return None;
            }
            let mut loads = Vec::new();
            for register in 0..REGISTERS {
                let input = number * REGISTERS + register;
                let deref = line(&mut text, "32", format!("deref_var &in_{input} (shader_in vec4)"));
                loads.push(line(&mut text, "32x4", format!("@load_deref ({deref}) (access=none)")));
            }
            let word = |at: usize| format!("{}.{}", loads[at / 4], ["x", "y", "z", "w"][at % 4]);
            let parts: Vec<String> = (0..usize::from(needed))
                .map(|at| match size {
                    64 => {
                        let pair = ["xy", "zw"][at % 2];
                        line(&mut text, "64", format!("pack_64_2x32 {}.{pair}", loads[at / 2]))
                    }
                    32 => word(at),
                    1 => {
                        let zero = line(&mut text, "32", "load_const (0x00000000)".to_owned());
                        line(&mut text, "1", format!("ine {}, {zero}", word(at)))
                    }
                    _ => line(&mut text, &size.to_string(), format!("u2u{size} {}", word(at))),
                })
                .collect();
            operands.push(match parts.as_slice() {
                [part] => part.clone(),
                parts if size == 32 && parts.len() <= 4 => {
                    format!("{}.{}", loads[0], &"xyzw"[..parts.len()])
                }
                parts if ![2, 3, 4, 5, 8, 16].contains(&parts.len()) => return None,
                parts => {
                    let shape = format!("{size}x{}", parts.len());
                    line(&mut text, &shape, format!("vec{} {}", parts.len(), parts.join(", ")))
                }
            });
        }
        let shape = if count == 1 { result_bits.to_string() } else { format!("{result_bits}x{count}") };
        // Exact operations have the same bits.
        let result = line(&mut text, &shape, format!("{}! {}", self.op.name(), operands.join(", ")));
        let component = |at: u8| match count {
            1 => result.clone(),
            2..=4 => format!("{result}.{}", ["x", "y", "z", "w"][usize::from(at)]),
            _ => format!("{result}.{}", char::from(b'a' + at)),
        };
        let mut stored = Vec::new();
        for at in 0..count {
            let component = component(at);
            match result_bits {
                64 => {
                    let pair = line(&mut text, "32x2", format!("unpack_64_2x32 {component}"));
                    stored.extend([format!("{pair}.x"), format!("{pair}.y")]);
                }
                32 => stored.push(component),
                1 => stored.push(line(&mut text, "32", format!("b2i32 {component}"))),
                _ => stored.push(line(&mut text, "32", format!("u2u32 {component}"))),
            }
        }
        for (number, part) in stored.chunks(4).enumerate() {
            let mut four = part.to_vec();
            four.resize(4, part[0].clone());
            let value = line(&mut text, "32x4", format!("vec4 {}", four.join(", ")));
            let deref = line(&mut text, "32", format!("deref_var &out_{number} (shader_out vec4)"));
            let _ = writeln!(text, "    @store_deref ({deref}, {value}) (wrmask=xyzw, access=none)");
        }
        text += "    block b1:\n}\n";
        Some(text)
    }

    /// Special and random numbers, in the formats of the opcode.
    fn inputs(self, random: &mut Random) -> Inputs {
        let info = self.op.info();
        let mut inputs = LaneRegisters::new(LANES, REGISTERS * info.input_types.len());
        for lane in 0..LANES {
            for (number, &ty) in info.input_types.iter().enumerate() {
                let size = bits(ty, self.size);
                for at in 0..usize::from(self.source_components(number)) {
                    let value = value(ty.base, size, random);
                    let mut set = |at: usize, word: u64| {
                        inputs.set(number * REGISTERS + at / 4, at % 4, lane, word as u32);
                    };
                    if size == 64 {
                        set(2 * at, value);
                        set(2 * at + 1, value >> 32);
                    } else {
                        set(at, value);
                    }
                }
            }
        }
        Inputs { lanes: LANES, inputs, ..Inputs::default() }
    }
}

fn value(base: BaseType, size: u8, random: &mut Random) -> u64 {
    const FLOATS: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        100.25,
        -7.75,
        255.0,
        65504.0,
        1e-5,
        16777217.0,
        3e9,
        -3e9,
        f64::INFINITY,
        f64::NAN,
    ];
    let any = random.bits();
    match (base, size) {
        (BaseType::Bool, 1) => any & 1,
        (BaseType::Bool, _) => (any & 1).wrapping_neg(),
        (BaseType::Float, _) => {
            let number = match any % 3 {
                0 => (any >> 8) as i16 as f64 / 256.0,
                1 => ((any >> 8) as i32 as f64) / 2147483648.0,
                _ => FLOATS[(any >> 8) as usize % FLOATS.len()],
            };
            match size {
                64 => number.to_bits(),
                32 => (number as f32).to_bits().into(),
                _ => 0x3c00 + (any >> 8 & 0x83ff),
            }
        }
        (_, 1) => any & 1,
        _ => match any % 4 {
            0 => (any >> 8) % 70,
            1 => 0u64.wrapping_sub((any >> 8) % 70),
            2 => [0, 1, u64::MAX, 1 << (size - 1), (1 << (size - 1)) - 1, 31, 32, 63][(any >> 8) as usize % 8],
            _ => random.bits(),
        },
    }
}

/// Whether the results of an opcode are approximations, or sums that may be rounded differently.
fn is_inexact(op: AluOp, size: u8) -> bool {
    let sums = ["fdot", "fdph", "fsum"];
    matches!(op, AluOp::Flog2 | AluOp::Fexp2 | AluOp::Fpow | AluOp::Fsin | AluOp::Fcos)
        || (op == AluOp::Flrp && size == 16)
        || sums.iter().any(|name| op.name().starts_with(name))
}

/// Whether words are equal; for floats all zeros are equal, and all NaNs.
fn equal(op: AluOp, size: u8, expected: &[u32], found: &[u32]) -> bool {
    if expected == found {
        return true;
    }
    if op.info().output_type.base != BaseType::Float {
        return false;
    }
    let number = |words: &[u32]| match *words {
        [low, high] if size == 64 => Some(f64::from_bits(u64::from(low) | u64::from(high) << 32)),
        [word] if size == 32 => Some(f64::from(f32::from_bits(word))),
        [word] if size == 16 => {
            let mut single = [0];
            evaluate(AluOp::F2f32, 16, 1, &[&[word.into()]], ExecutionMode::DEFAULT, &mut single);
            Some(f64::from(f32::from_bits(single[0] as u32)))
        }
        _ => None,
    };
    let (Some(a), Some(b)) = (number(expected), number(found)) else { return false };
    let magnitude = a.abs().max(b.abs());
    // Sums of halves are rounded differently, and their parts are about 1.
    let error = if size == 16 { 4e-3 * magnitude.max(1.0) } else { 1e-5 * magnitude };
    let close = is_inexact(op, size) && (a - b).abs() <= error;
    // Denormals are 0 in the evaluation, and may be preserved in the target.
    let scaled = op == AluOp::Ldexp && a == 0.0 && !b.is_normal();
    a == b || a.is_nan() && b.is_nan() || close || scaled
}

/// Returns the failure of a case, if any.
fn check(case: Case, options: &TgsiOptions, optimized: bool) -> Result<Option<String>, DriverError> {
    let Some(text) = case.text() else { return Ok(None) };
    let ir = tgsi_ir::text::parse(&text).unwrap_or_else(|errors| panic!("{case:?}: {errors:?}\n{text}"));
    // Some opcodes support fewer sizes than their types.
    if tgsi_ir::validate::validate(&ir).is_err() {
        return Ok(None);
    }
    let mut prepared = ir.clone();
    if optimized {
        let compiler_options = options.compiler_options(prepared.stage);
        pipeline::optimize(&mut prepared, &compiler_options);
    }
    let shader = translate(&prepared, options)?;
    let code = || tgsi::text::print(&shader, tgsi::text::PrintOptions::default());
    let findings = tgsi::check::check(&shader).diagnostics;
    if let Some(error) = findings.iter().find(|d| d.is_error()) {
        return Ok(Some(format!("{case:?}: {}\n{}", error.message, code())));
    }
    let mut random = Random::new(u64::from(case.size) + 1);
    let inputs = case.inputs(&mut random);
    // The table floors the quotients of doubles in 32 bits, the lowering in 64.
    let mut reference = ir;
    if case.size == 64 && matches!(case.op, AluOp::Fmod | AluOp::Frem) {
        let compiler_options = options.compiler_options(reference.stage);
        pipeline::optimize(&mut reference, &compiler_options);
    }
    let expected = tgsi_ir::run::run(&reference, &inputs, &mut AnalyticResources::default(), RunLimits::default());
    let expected = expected.unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let program = tgsi_run::Program::new(&shader).unwrap_or_else(|error| panic!("{case:?}: {error}\n{}", code()));
    let found = tgsi_run::run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default());
    let found = found.unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let (count, size) = case.result();
    let words = usize::from(size.div_ceil(32));
    for lane in 0..LANES {
        for at in 0..usize::from(count) {
            let [a, b] = [&expected, &found].map(|outputs| -> Vec<u32> {
                (at * words..(at + 1) * words).map(|w| outputs.outputs.get(w / 4, w % 4, lane)).collect()
            });
            if !equal(case.op, size, &a, &b) {
                let read: Vec<String> = (0..case.op.info().input_types.len() * REGISTERS)
                    .map(|register| {
                        let four: [u32; 4] = std::array::from_fn(|c| inputs.inputs.get(register, c, lane));
                        format!("{four:08x?}")
                    })
                    .collect();
                return Ok(Some(format!(
                    "{case:?}, component {at}: {a:08x?} expected, {b:08x?} found of {}\n{}",
                    read.join(" "),
                    code()
                )));
            }
        }
    }
    Ok(None)
}

#[test]
fn every_opcode_is_translated_or_refused() {
    let options = TgsiOptions::default();
    for optimized in [false, true] {
        let (mut translated, mut wrong) = (0, Vec::new());
        for &op in AluOp::ALL {
            let sizes = if op.info().bit_sizes.is_empty() { &[32][..] } else { op.info().bit_sizes };
            for &size in sizes {
                for components in [1, if size == 64 { 2 } else { 4 }] {
                    match check(Case { op, size, components }, &options, optimized) {
                        Ok(None) => translated += 1,
                        Ok(Some(text)) => wrong.push(text),
                        Err(DriverError::UnsupportedAlu { .. } | DriverError::BitSize { .. }) => {}
                        Err(error) => wrong.push(format!("{op} of {size} bits: {error}")),
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(translated > 900, "{translated}");
    }
}
