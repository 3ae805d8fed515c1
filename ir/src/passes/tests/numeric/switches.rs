//! Tests every switch of the options that marks an operation as missing on the target: after the optimiser and the pass
//! named in the table, no such operation remains, and its replacement computes the results of the opcode table, within
//! the bound of the switch.

use super::*;
use crate::options::{Bound, CompilerOptions, SWITCHES, Switch};
use crate::passes::pipeline::optimize;
use crate::passes::table::PassId;

/// Number of cases per opcode, size and stage.
const RANDOM_CASES: usize = 2_000;

/// The options of a target without the switch's operation.
fn options_of(switch: &Switch) -> CompilerOptions {
    let mut options = CompilerOptions::default();
    assert!(options.set_switch(switch.name, switch.replacing()));
    if switch.name == "software_doubles" {
        options.lower_doubles = crate::options::DoubleOps::ALL;
    }
    options
}

/// Returns whether an opcode has whole vectors as operands or result.
fn is_whole(op: AluOp) -> bool {
    let info = op.info();
    info.output_size != 0 || info.input_sizes.iter().any(|&size| size != 0)
}

/// Returns whether the opcode table leaves the result for these operands undefined.
fn is_open(op: AluOp, operands: &[Vec<u64>]) -> bool {
    let word = |number: usize| operands[number][0] as u32 as i32;
    let field = |offset: i32, width: i32| offset < 0 || width < 0 || i64::from(offset) + i64::from(width) > 32;
    match op {
        AluOp::UbitfieldExtract | AluOp::IbitfieldExtract => field(word(1), word(2)),
        AluOp::BitfieldInsert => field(word(2), word(3)),
        AluOp::I2imp => word(0) != i32::from(word(0) as i16),
        AluOp::F2imp | AluOp::F2ump => {
            let value = f32::from_bits(word(0) as u32);
            let least = if op == AluOp::F2imp { -32768.0 } else { -0.5 };
            !(least..=32767.0).contains(&value)
        }
        AluOp::Imul24Relaxed => (0..2).any(|n| word(n) << 8 >> 8 != word(n)),
        AluOp::Umul24Relaxed | AluOp::Umad24Relaxed => (0..2).any(|n| word(n) as u32 >> 24 != 0),
        _ => false,
    }
}

/// Returns a float of ordinary magnitude, so that the results of a few operations are ordinary too.
fn ordinary_float(words: &mut Words, bits: u8) -> u64 {
    let range = if bits == 16 { 2 } else { 16 };
    let exponent = (words.word() % (2 * range + 1)) as i32 - range as i32;
    let mantissa = 1.0 + (words.word() >> 12) as f64 / 2f64.powi(52);
    let value = match words.word() % 8 {
        0 => [0.0, 1.0, 2.0, 3.0, 41.0, 0.5][words.word() as usize % 6],
        1 => (words.word() % 100) as f64,
        _ => mantissa * 2f64.powi(exponent),
    };
    let value = if words.word().is_multiple_of(2) { value } else { -value };
    let mut result = [0];
    let op = [(16, AluOp::F2f16Rtne), (32, AluOp::F2f32), (64, AluOp::F2f64)].into_iter().find(|pair| pair.0 == bits);
    let op = op.expect("a size of floats").1;
    evaluate(op, 64, 1, &[&[value.to_bits()]], ExecutionMode::DEFAULT, &mut result);
    result[0]
}

fn to_f64(bits: u64, size: u8) -> f64 {
    match size {
        16 => f64::from(crate::alu::half::to_f32(bits as u16)),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Returns the bit size of an opcode's result.
fn result_bits(op: AluOp, bit_size: u8) -> u8 {
    let ty = op.info().output_type;
    if ty.is_unsized() { bit_size } else { ty.bit_size }
}

/// Returns whether a result is near enough to the table's.
fn is_near(bound: Bound, size: u8, scale: f64, expected: u64, found: u64) -> bool {
    let (x, y) = (to_f64(expected, size), to_f64(found, size));
    match bound {
        Bound::Exact => expected == found,
        Bound::Zeros => expected == found || size >= 16 && x == 0.0 && y == 0.0,
        Bound::Near(units) => {
            let digits = match size {
                16 => 10,
                32 => 23,
                _ => 52,
            };
            expected == found || (x - y).abs() <= f64::from(units) * 2f64.powi(-digits) * scale.max(x.abs())
        }
    }
}

/// Returns operands of an opcode: each source with its components.
fn operands(op: AluOp, bit_size: u8, bound: Bound, count: usize) -> Vec<Vec<Vec<u64>>> {
    let info = op.info();
    let mut words = Words::new(op as u64 * 64 + u64::from(bit_size));
    let specials = |bits: u8| (special_floats(bits), special_integers(bits));
    let sizes =
        [8, 16, 32, 64].map(|bits| (bits, if bits == 8 { (Vec::new(), special_integers(8)) } else { specials(bits) }));
    let mut cases = Vec::new();
    while cases.len() < count {
        let mut sources: Vec<Vec<u64>> = Vec::new();
        for (number, ty) in info.input_types.iter().enumerate() {
            let bits = if ty.is_unsized() { bit_size } else { ty.bit_size };
            let pool = sizes.iter().find(|pool| pool.0 == bits);
            let width = usize::from(info.input_sizes[number]).max(1);
            let components = (0..width).map(|at| {
                // Sometimes equal to the previous source.
                let before = sources.last().filter(|_| info.input_types[number.max(1) - 1].base == ty.base);
                if let Some(before) =
                    before.and_then(|before| before.get(at)).filter(|_| words.word().is_multiple_of(4))
                {
                    return *before & mask(bits);
                }
                let pick = words.word() as usize;
                match (ty.base, pool) {
                    (_, None) => words.word() & 1,
                    (BaseType::Float, Some(_)) if matches!(bound, Bound::Near(_)) => ordinary_float(&mut words, bits),
                    (BaseType::Float, Some((_, (floats, _)))) if pick.is_multiple_of(2) => {
                        floats[pick / 2 % floats.len()]
                    }
                    (BaseType::Float, Some(_)) => random_float(&mut words, bits),
                    // Exponents of ordinary numbers.
                    (BaseType::Int, Some(_)) if matches!(bound, Bound::Near(_)) => {
                        ((pick % 17) as u64).wrapping_sub(8) & mask(bits)
                    }
                    (_, Some((_, (_, integers)))) if pick.is_multiple_of(2) => integers[pick / 2 % integers.len()],
                    // Counts and positions are small.
                    _ if pick % 8 == 1 => (words.word() % 33) & mask(bits),
                    _ => words.integer(bits),
                }
            });
            let components = components.collect();
            sources.push(components);
        }
        if op == AluOp::Fpow && to_f64(sources[0][0], bit_size) < 0.0 {
            sources[0][0] &= mask(bit_size) >> 1;
        }
        if !is_open(op, &sources) {
            cases.push(sources);
        }
    }
    cases
}

fn check(switch: &Switch, op: AluOp, bit_size: u8) {
    let options = options_of(switch);
    let pass = PassId::from_name(switch.by);
    assert!(pass.is_some() || switch.by == "rules", "{}: there is no pass {}", switch.name, switch.by);
    let cases = operands(op, bit_size, switch.bound, RANDOM_CASES);
    for stage in [ShaderStage::Vertex, ShaderStage::Fragment] {
        let no_pass = |_: &mut Shader| true;
        let scale = std::cell::Cell::new(0.0);
        let size = result_bits(op, bit_size);
        let same = |expected: u64, found: u64| is_near(switch.bound, size, scale.get(), expected, found);
        let check = Check { same: &same, ..Check::new(op, bit_size, &no_pass) };
        let mut shader = if is_whole(op) { check.vector_shader() } else { check.shader(&[]) };
        shader.stage = stage;
        optimize(&mut shader, &options);
        if let Some(pass) = pass {
            (pass.info().run)(&mut shader, &options);
        }
        validate(&shader).unwrap_or_else(|errors| panic!("{}: {op}: {errors}", switch.name));
        let text = || crate::text::print(&shader);
        assert!(!has_op(&shader, op, bit_size), "{}: {op} of {bit_size} bits remains\n{}", switch.name, text());
        let program = Program::new(&shader).expect("a shader without control flow");
        // One at a time, so that the bound fits the operands.
        let magnitude = |case: &[Vec<u64>]| {
            let floats = case.iter().zip(op.info().input_types).filter(|(_, ty)| ty.base == BaseType::Float);
            let values = floats.flat_map(|(values, ty)| {
                let bits = if ty.is_unsized() { bit_size } else { ty.bit_size };
                values.iter().map(move |&value| to_f64(value, bits).abs())
            });
            let sum: f64 = values.sum();
            sum.max(sum * sum)
        };
        if let Bound::Near(_) = switch.bound {
            for case in &cases {
                // After cancellation, a result is as exact as its parts; a quotient or power is as exact as itself.
                let sums = matches!(op.info().group, "float-horizontal" | "float-ternary" | "tgsi")
                    || matches!(op, AluOp::Fmod | AluOp::Frem);
                scale.set(if sums { magnitude(case) } else { 0.0 });
                run(&check, &program, std::slice::from_ref(case));
            }
        } else {
            run(&check, &program, &cases);
        }
    }
}

fn run(check: &Check<'_>, program: &Program, cases: &[Vec<Vec<u64>>]) {
    if is_whole(check.op) {
        check.run_vectors_of(program, cases);
        return;
    }
    let cases: Vec<Vec<u64>> = cases.iter().map(|case| case.iter().map(|source| source[0]).collect()).collect();
    for part in cases.chunks(CASES) {
        check.run_part(program, part);
    }
}

/// Returns whether [`check`] fails.
fn fails(switch: &Switch, op: AluOp, bit_size: u8) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(switch, op, bit_size))).is_err()
}

#[test]
fn nothing_is_left_of_what_a_target_lacks() {
    let (mut switches, mut checks, mut failures) = (0, 0, Vec::new());
    for switch in SWITCHES {
        assert_eq!(switch.by == "hint", switch.replaced.is_empty() && switch.name != "lower_fminmax_signed_zero");
        switches += usize::from(!switch.replaced.is_empty());
        for &(op, sizes) in switch.replaced {
            let all = if op.info().bit_sizes.is_empty() { &[32] } else { op.info().bit_sizes };
            for &bit_size in if sizes.is_empty() { all } else { sizes } {
                if bit_size == 1 {
                    continue;
                }
                checks += 1;
                if fails(switch, op, bit_size) {
                    failures.push(format!("{} {op} of {bit_size} bits", switch.name));
                }
            }
        }
    }
    println!("{switches} switches, {checks} opcodes and sizes");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The test above detects an opcode that is not replaced, and a wrong result.
#[test]
fn what_is_left_or_wrong_is_found() {
    let of = |name: &str| *SWITCHES.iter().find(|switch| switch.name == name).expect("a switch");
    assert!(fails(&of("lower_umin"), AluOp::Ishl, 32));
    assert!(fails(&Switch { bound: Bound::Exact, ..of("lower_fround_even") }, AluOp::FroundEven, 32));
    assert!(fails(&Switch { bound: Bound::Near(0), ..of("lower_fdiv") }, AluOp::Fdiv, 32));
}

/// Powers and quotients of zeros and infinities.
#[test]
fn powers_and_quotients_of_zeros_and_infinities() {
    let infinity = f32::INFINITY;
    let cases = [
        ("lower_fpow", AluOp::Fpow, 0.0, 0.0),
        ("lower_fpow", AluOp::Fpow, -0.0, 0.0),
        ("lower_fpow", AluOp::Fpow, 0.0, -0.0),
        ("lower_fpow", AluOp::Fpow, infinity, 0.0),
        ("lower_fpow", AluOp::Fpow, f32::NAN, 0.0),
        ("lower_fpow", AluOp::Fpow, 0.0, 2.0),
        ("lower_fpow", AluOp::Fpow, 0.0, -2.0),
        ("lower_fpow", AluOp::Fpow, infinity, 2.0),
        ("lower_fpow", AluOp::Fpow, infinity, -2.0),
        ("lower_fpow", AluOp::Fpow, 2.0, infinity),
        ("lower_fpow", AluOp::Fpow, 2.0, -infinity),
        ("lower_fpow", AluOp::Fpow, 0.5, infinity),
        ("lower_fpow", AluOp::Fpow, 1.0, 0.0),
        ("lower_fpow", AluOp::Fpow, 2.0, f32::NAN),
        ("lower_fdiv", AluOp::Fdiv, 0.0, 0.0),
        ("lower_fdiv", AluOp::Fdiv, 1.0, -0.0),
        ("lower_fdiv", AluOp::Fdiv, infinity, infinity),
        ("lower_fdiv", AluOp::Fdiv, 1.0, infinity),
        ("lower_fmod", AluOp::Fmod, 41.0, 41.0),
        ("lower_fmod", AluOp::Frem, -41.0, 41.0),
        ("lower_fsqrt", AluOp::Fsqrt, 0.0, 0.0),
        ("lower_fsqrt", AluOp::Fsqrt, infinity, 0.0),
        ("lower_frsq", AluOp::Frsq, 0.0, 0.0),
        ("lower_frsq", AluOp::Frsq, infinity, 0.0),
    ];
    let mut failures = Vec::new();
    for (name, op, x, y) in cases {
        let switch = SWITCHES.iter().find(|switch| switch.name == name).expect("a switch");
        let no_pass = |_: &mut Shader| true;
        let same = |x: u64, y: u64| is_near(Bound::Zeros, 32, 0.0, x, y);
        let check = Check { same: &same, ..Check::new(op, 32, &no_pass) };
        let mut shader = check.shader(&[]);
        // With both division and remainder computed by the reciprocal.
        let options = CompilerOptions { lower_fdiv: true, ..options_of(switch) };
        optimize(&mut shader, &options);
        let program = Program::new(&shader).expect("a shader without control flow");
        let count = op.info().input_types.len();
        let case = [x, y].iter().take(count).map(|value: &f32| u64::from(value.to_bits())).collect();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check.run_part(&program, &[case])));
        failures.extend(result.is_err().then(|| format!("{name}: {op} of {x} and {y}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
