//! Compares every ALU opcode as machine code with the interpreter of the IR, on special values in all lanes, with
//! variable operands, and with a constant last operand.

#![cfg(feature = "machine-code")]

use object::{Object, ObjectSymbol, SymbolKind};
use tgsi_compiler::{Code, Driver};
use tgsi_driver_cpu::{DRIVER, Options, compile};
use tgsi_environment::special;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{Shape, Swizzle};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::{Shader, ShaderStage};

const LANES: usize = 64;

/// Returns special words, then an endless sequence of others.
fn sample(number: usize) -> u32 {
    // The high words of doubles.
    const HIGH_WORDS: [u32; 4] = [0x3ff0_0000, 0x43e0_0000, 0x7ff0_0000, 0xc1e0_0000];
    match number % 4 {
        0 => (number as u32).wrapping_mul(0x9e37_79b9) ^ (number as u32) << 7,
        1 if number % 16 == 1 => HIGH_WORDS[number / 16 % HIGH_WORDS.len()],
        _ => special::word(number - number / 4),
    }
}

fn inputs(registers: usize, seed: usize) -> Inputs {
    let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, registers), ..Inputs::default() };
    for register in 0..registers {
        for component in 0..4 {
            for lane in 0..LANES {
                let word = sample(seed + lane * 7 + register * 3 + component * 5 + lane / 24 * register);
                inputs.inputs.set(register, component, lane, word);
            }
        }
    }
    inputs
}

/// Returns a shader with one instruction. If `constant` is given, it is the last operand.
fn shader(op: AluOp, bit_size: u8, constant: Option<u64>) -> Shader {
    let info = op.info();
    let components = if info.output_size == 0 { 3 } else { info.output_size };
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let mut sources = Vec::new();
    for (number, ty) in info.input_types.iter().enumerate() {
        let bits = if ty.is_unsized() { bit_size } else { ty.bit_size };
        let count = op.input_components(number, components);
        let last = number + 1 == info.input_types.len();
        let value = match constant {
            Some(word) if last => b.constant(bits, &vec![word; count.into()]),
            _ => {
                let indices = [(IndexKind::Base, 8 * number as i32)];
                b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &indices, Shape::new(count, bits))
            }
        };
        let swizzle = (0..count).rev().collect::<Vec<_>>();
        sources.push(AluSrc::new(value, Swizzle::new(&swizzle)));
    }
    let value = b.alu_sized(op, components, &sources);
    // A single operation is left to the interpreter.
    let value = b.alu_sized(AluOp::Mov, components, &[AluSrc::from(value)]);
    b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &[(IndexKind::WriteMask, 0xffff)], None);
    shader
}

fn is_nan(word: u32) -> bool {
    f32::from_bits(word).is_nan()
}

/// Compiles the same operations for the other processors for which Cranelift has vector code, and for processors with
/// fewer extensions than this one.
#[test]
fn opcodes_are_code_for_other_processors() {
    let targets = ["aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu", "aarch64-apple-darwin"].map(|triple| {
        let option = format!("target_triple={triple}");
        (triple, DRIVER.target(&[&option]).expect("a target"))
    });
    let mut refused = Vec::new();
    for &op in AluOp::ALL {
        let info = op.info();
        let sizes = if info.bit_sizes.is_empty() { &[32][..] } else { info.bit_sizes };
        for (&bit_size, constant) in sizes.iter().flat_map(|size| [(size, None), (size, Some(5))]) {
            let shader = shader(op, bit_size, constant);
            let expected = compile(&shader, Options::default()).expect("a program").report().functions;
            for (triple, target) in &targets {
                let code = target.emit(shader.clone(), None, &mut Passes::default()).expect("code");
                let Code::Object(object) = code else { panic!("no object") };
                let file = object::File::parse(&object.bytes[..]).expect("an object file");
                let found = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text).count();
                // Code refers to no external symbols.
                let undefined = file.symbols().filter(|symbol| symbol.is_undefined()).count();
                if found != expected || undefined != 0 || expected == 0 {
                    refused.push(format!("{op} {bit_size} {triple}: {found} functions, {undefined} foreign names"));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn opcodes_are_computed_alike() {
    let (mut compared, mut compiled, mut evaluated) = (0usize, 0, Vec::new());
    for &op in AluOp::ALL {
        let info = op.info();
        let sizes = if info.bit_sizes.is_empty() { &[32][..] } else { info.bit_sizes };
        for &bit_size in sizes {
            for constant in [None, Some(5), Some(0x3f80_0000_4049_0fdb)] {
                let shader = shader(op, bit_size, constant);
                let program = compile(&shader, Options::default()).expect("a program");
                let report = program.report();
                assert_eq!(report.refused, None, "{op} {bit_size}");
                compiled += report.functions;
                if report.evaluated > 0 && constant.is_none() && bit_size == 32 {
                    evaluated.push(op.name());
                }
                for seed in [0, 1000] {
                    let inputs = inputs(8 * info.input_types.len(), seed);
                    let run = |options| {
                        let program = compile(&shader, options).expect("a program");
                        program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("a run")
                    };
                    let expected = run(Options { machine_code: false, ..Options::default() });
                    let found = program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default());
                    let found = found.expect("a run");
                    let registers = expected.outputs.len();
                    let wide = info.output_type.bit_size == 64 || (info.output_type.is_unsized() && bit_size == 64);
                    for register in 0..registers {
                        for component in 0..4 {
                            let words = |outputs: &LaneRegisters| outputs.component(register, component).to_vec();
                            for (lane, (a, b)) in
                                words(&expected.outputs).into_iter().zip(words(&found.outputs)).enumerate()
                            {
                                let float = info.output_type.base == BaseType::Float;
                                // The high word of a 64-bit NaN is a 32-bit NaN or near one.
                                let nan = float && (wide && (a ^ b) & 0x7fff_ffff == 0 || is_nan(a) && is_nan(b));
                                assert!(
                                    a == b || nan,
                                    "{op} {bit_size} constant {constant:x?} lane {lane} component {component}: {b:08x}, not {a:08x}"
                                );
                                compared += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{compared} words compared, {compiled} functions; evaluated by calls: {}", evaluated.join(" "));
    assert!(compared > 1_000_000 && compiled > AluOp::ALL.len());
}
