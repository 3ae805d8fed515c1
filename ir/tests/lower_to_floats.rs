//! Lowering integers and booleans to floats keeps the results for small integers, and leaves no integer opcode.

use tgsi_environment::Random;
use tgsi_environment::special;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::builder::Builder;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::{lower_bool_to_float, lower_int_to_float, opt_dce};
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::types::ScalarType;
use tgsi_ir::validate::validate;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Def, Shape};

const NUMBERS: [f32; 8] = [0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 100.0, 255.0];
const LANES: usize = 64;

/// A target with all float opcodes, and one without those that the pass may create.
fn targets() -> [CompilerOptions; 2] {
    let lacking = CompilerOptions {
        lower_fdiv: true,
        lower_ftrunc: true,
        lower_ffloor: true,
        lower_fsign: true,
        fuse_mad: true,
        ..CompilerOptions::default()
    };
    [CompilerOptions::default(), lacking]
}

/// Opcodes missing in the second target.
const LACKING: [AluOp; 4] = [AluOp::Fdiv, AluOp::Ftrunc, AluOp::Ffloor, AluOp::Fsign];

/// A shader that computes a float from two integers, the components of its input.
fn shader(compute: impl FnOnce(&mut Builder<'_>, Def, Def) -> Def) -> Shader {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    let float = shader.types.vector(ScalarType::Float, 1);
    let input = shader.add_variable(VariableData::new("in_0", vec4, VariableModes::SHADER_IN));
    let output = shader.add_variable(VariableData::new("out_0", float, VariableModes::SHADER_OUT));
    let mut b = Builder::at_end(shader.main_mut());
    let place = b.deref_var(input, VariableModes::SHADER_IN, vec4);
    let value = b.load_deref(place, Shape::new(4, 32));
    let value = b.alu(AluOp::F2i32, &[value]);
    let (x, y) = (b.channel(value, 0), b.channel(value, 1));
    let result = compute(&mut b, x, y);
    let place = b.deref_var(output, VariableModes::SHADER_OUT, float);
    b.store_deref(place, result, 1);
    shader
}

fn results(shader: &Shader) -> Vec<f32> {
    let pairs: Vec<(f32, f32)> = NUMBERS.iter().flat_map(|&x| NUMBERS.map(|y| (x, y))).collect();
    results_for(shader, &pairs)
}

/// The results for pairs of numbers, one per lane.
fn results_for(shader: &Shader, pairs: &[(f32, f32)]) -> Vec<f32> {
    let program = tgsi_ir::run::Program::new(shader).unwrap();
    let run = |pairs: &[(f32, f32)]| {
        let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 1), ..Inputs::default() };
        for (lane, (x, y)) in pairs.iter().enumerate() {
            inputs.inputs.set(0, 0, lane, x.to_bits());
            inputs.inputs.set(0, 1, lane, y.to_bits());
        }
        let limits = RunLimits::of_steps(100_000);
        let mut outputs = program.run(&inputs, &mut AnalyticResources::default(), limits).unwrap();
        outputs.outputs.component_mut(0, 0)[..pairs.len()].iter().map(|&word| f32::from_bits(word)).collect::<Vec<_>>()
    };
    pairs.chunks(LANES).flat_map(run).collect()
}

/// Whether an instruction operates on integers or 1-bit booleans.
fn has_integers(shader: &Shader) -> bool {
    let body = shader.main();
    body.blocks().flat_map(|block| body.insts(block)).any(|inst| {
        let narrow = body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 1);
        let integer = body.alu_op(inst).filter(|op| !op.is_vec_or_mov()).is_some_and(|op| {
            let info = op.info();
            info.input_types.iter().chain([&info.output_type]).any(|ty| ty.base != BaseType::Float)
        });
        narrow || integer
    })
}

fn same(compute: impl FnOnce(&mut Builder<'_>, Def, Def) -> Def) {
    let source = shader(compute);
    validate(&source).unwrap();
    let before = results(&source);
    for options in targets() {
        let mut shader = source.clone();
        assert_eq!(lower_int_to_float(&mut shader, &options), Ok(true));
        validate(&shader).unwrap();
        // Compared as numbers, because zero has two signs.
        assert_eq!(results(&shader), before, "{}", tgsi_ir::text::print(&shader));
        has_what_the_target_has(&shader, &options);
        lower_bool_to_float(&mut shader);
        opt_dce(&mut shader);
        validate(&shader).unwrap();
        assert_eq!(results(&shader), before, "{}", tgsi_ir::text::print(&shader));
        assert!(!has_integers(&shader), "{}", tgsi_ir::text::print(&shader));
    }
}

fn has_what_the_target_has(shader: &Shader, options: &CompilerOptions) {
    let body = shader.main();
    let mut ops = body.blocks().flat_map(|block| body.insts(block)).filter_map(|inst| body.alu_op(inst));
    let lacking = ops.find(|op| options.lower_fdiv && LACKING.contains(op));
    assert_eq!(lacking, None, "{}", tgsi_ir::text::print(shader));
}

#[test]
fn arithmetic() {
    use AluOp::*;
    for op in [Iadd, Isub, Imul, Imin, Imax, Umin, Umax, Idiv, Udiv, Umod, Irem, Imod] {
        same(|b, x, y| {
            let value = b.alu(op, &[x, y]);
            b.alu(I2f32, &[value])
        });
    }
    // Signs.
    for op in [Iadd, Imul, Imin, Imax, Idiv, Irem, Imod] {
        same(|b, x, y| {
            let three = b.u32_const(3);
            let x = b.alu(Isub, &[three, x]);
            let value = b.alu(op, &[x, y]);
            b.alu(I2f32, &[value])
        });
    }
    for op in [Ineg, Iabs, Isign] {
        same(|b, x, y| {
            let value = b.alu(Isub, &[x, y]);
            let value = b.alu(op, &[value]);
            b.alu(I2f32, &[value])
        });
    }
}

/// Pairs of integers that a float can represent: equal ones, multiples and their neighbours, large ones, both signs.
fn dividends_and_divisors(signed: bool) -> Vec<(f32, f32)> {
    const LARGEST: i64 = 1 << 24;
    let mut random = Random::new(1);
    let mut below = |limit: i64| (random.bits() % limit as u64) as i64;
    let mut numbers: Vec<i64> = special::INTEGERS.iter().map(|&word| i64::from(word as i32)).collect();
    numbers.extend((0..40).flat_map(|n| [n, LARGEST - n]));
    numbers.retain(|n| n.abs() <= LARGEST);
    let mut pairs: Vec<(i64, i64)> = numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y))).collect();
    for _ in 0..20_000 {
        let y = (1 + below(LARGEST)) >> below(24);
        let y = y.max(1);
        let multiple = y * below(LARGEST / y + 1);
        let x = [multiple, multiple - 1, multiple + 1, below(LARGEST + 1)][below(4) as usize];
        pairs.push((x.clamp(0, LARGEST), y));
    }
    let sign = |n: i64, negative: bool| if negative { -n } else { n };
    let with_signs = |(number, (x, y)): (usize, (i64, i64))| match signed {
        true => (sign(x, number & 1 != 0) as f32, sign(y, number & 2 != 0) as f32),
        false => (x.abs() as f32, y.abs() as f32),
    };
    pairs.into_iter().enumerate().map(with_signs).collect()
}

#[test]
fn divisions_are_right_for_all_integers() {
    use AluOp::*;
    for op in [Idiv, Irem, Imod, Udiv, Umod] {
        let pairs = dividends_and_divisors(!matches!(op, Udiv | Umod));
        let source = shader(|b, x, y| {
            let value = b.alu(op, &[x, y]);
            b.alu(I2f32, &[value])
        });
        let expected = results_for(&source, &pairs);
        for options in targets() {
            let mut shader = source.clone();
            assert_eq!(lower_int_to_float(&mut shader, &options), Ok(true));
            has_what_the_target_has(&shader, &options);
            let found = results_for(&shader, &pairs);
            for ((pair, expected), found) in pairs.iter().zip(&expected).zip(&found) {
                assert_eq!(expected, found, "{op} of {pair:?}, lower_fdiv = {}", options.lower_fdiv);
            }
        }
        for divisor in [1, 2, 3, 7, 41, 97, 4096, 1 << 24, -1_i32, -2, -41] {
            if divisor < 0 && matches!(op, Udiv | Umod) {
                continue;
            }
            let source = shader(|b, x, _| {
                let divisor = b.u32_const(divisor as u32);
                let value = b.alu(op, &[x, divisor]);
                b.alu(I2f32, &[value])
            });
            let expected = results_for(&source, &pairs);
            for options in targets() {
                let mut shader = source.clone();
                assert_eq!(lower_int_to_float(&mut shader, &options), Ok(true));
                assert_eq!(results_for(&shader, &pairs), expected, "{op} by {divisor}");
            }
        }
    }
}

#[test]
fn shifts_and_low_bits() {
    use AluOp::*;
    for op in [Ishl, Ishr, Ushr] {
        same(|b, x, _| {
            let two = b.u32_const(2);
            let value = b.alu(op, &[x, two]);
            b.alu(I2f32, &[value])
        });
    }
    same(|b, x, y| {
        let value = b.alu(Isub, &[x, y]);
        let seven = b.u32_const(7);
        let value = b.alu(Iand, &[seven, value]);
        b.alu(I2f32, &[value])
    });
}

#[test]
fn comparisons_and_logic() {
    use AluOp::*;
    for op in [Ilt, Ige, Ult, Uge, Ieq, Ine] {
        same(|b, x, y| {
            let truth = b.alu(op, &[x, y]);
            let other = b.alu(Ilt, &[y, x]);
            let (both, either) = (b.alu(Iand, &[truth, other]), b.alu(Ior, &[truth, other]));
            let differ = b.alu(Ixor, &[both, either]);
            let not = b.alu(Inot, &[differ]);
            let sum = b.alu(B2f32, &[not]);
            let chosen = b.alu(Bcsel, &[either, x, y]);
            let chosen = b.alu(I2f32, &[chosen]);
            b.alu(Fadd, &[sum, chosen])
        });
    }
}

#[test]
fn masks_are_booleans() {
    use AluOp::*;
    for op in [Iand, Ior, Ixor] {
        same(|b, x, y| {
            let less = b.alu(Ilt, &[x, y]);
            let number = b.alu(B2i32, &[less]);
            let mask = b.alu(Ineg, &[number]);
            let equal = b.alu(Ieq, &[x, y]);
            let (ones, zero) = (b.u32_const(u32::MAX), b.u32_const(0));
            let other = b.alu(Bcsel, &[equal, ones, zero]);
            let mask = b.alu(op, &[mask, other]);
            let mask = b.alu(Inot, &[mask]);
            // A float with a bit mask.
            let half = b.f32_const(0.5);
            b.alu(Iand, &[mask, half])
        });
    }
}

#[test]
fn phis_and_loops_hand_numbers_on() {
    same(|b, x, y| {
        let less = b.alu(AluOp::Ilt, &[x, y]);
        let branch = b.push_if(less);
        let one = b.u32_const(5);
        let sum = b.alu(AluOp::Iadd, &[x, one]);
        let then_end = b.block();
        b.push_else(branch);
        let nine = b.u32_const(9);
        let else_end = b.block();
        b.end_if(branch);
        let value = b.phi(Shape::new(1, 32), &[(then_end, sum), (else_end, nine)]);
        b.alu(AluOp::I2f32, &[value])
    });
}

#[test]
fn bits_are_refused_by_name() {
    for op in [AluOp::Ixor, AluOp::Ior, AluOp::Iand, AluOp::Ishl, AluOp::UmulHigh] {
        let mut shader = shader(|b, x, y| {
            let value = b.alu(op, &[x, y]);
            b.alu(AluOp::I2f32, &[value])
        });
        let before = tgsi_ir::text::print(&shader);
        let error = lower_int_to_float(&mut shader, &CompilerOptions::default()).unwrap_err();
        assert_eq!(error.op, op);
        assert_eq!(tgsi_ir::text::print(&shader), before);
    }
}
