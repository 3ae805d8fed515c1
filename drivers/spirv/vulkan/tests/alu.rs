//! Runs every opcode of the ALU table in every size on Vulkan, and compares with the table's evaluation.
//!
//! Tries exact opcodes on scalars and vectors of four components; with `TGSIC_EVERY=1` also vectors of two and three,
//! and inexact ones. `TGSIC_ONLY=name` restricts the test to one opcode, `TGSIC_SETS=n` uses n sets of operands for
//! each case instead of 12.

#[path = "../../tests/alu_cases/mod.rs"]
mod alu_cases;

use std::collections::BTreeMap;

use alu_cases::{Case, has_form, shader};
use tgsi_compiler::{Compiler, Runner, Stage};
use tgsi_driver_spirv::SpirvOptions;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_spirv_vulkan::run_target;

/// Returns a special or an ordinary number.
fn values(base: BaseType, bits: u8, random: &mut impl FnMut() -> u64) -> u64 {
    const FLOATS: &[f64] = &[
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
        7.25,
        0.1,
        -0.3,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        2147483648.0,
        -2147483648.0,
        2147483520.0,
        2147483647.0,
        4294967296.0,
        4294967040.0,
        3e9,
        -3e9,
        1e20,
        -1e20,
        9e18,
        1.8e19,
        2e19,
        1e-20,
        65504.0,
        100000.0,
        1e10,
    ];
    const INTEGERS: &[i64] = &[
        0,
        1,
        -1,
        2,
        3,
        5,
        7,
        -7,
        8,
        16,
        24,
        31,
        32,
        33,
        63,
        64,
        255,
        256,
        0xffff,
        i32::MAX as i64,
        i32::MIN as i64,
        i64::MAX,
        i64::MIN,
        0x12345678,
        0x0ff0,
        -100,
        1 << 40,
    ];
    let pick = random();
    match (base, bits) {
        (_, 1) => pick & 1,
        (BaseType::Float, _) => {
            let value = match pick % 3 {
                0 => FLOATS[(random() % FLOATS.len() as u64) as usize],
                1 => (random() % 2000) as f64 / 64.0 - 15.0,
                _ => f64::from(f32::from_bits((random() as u32 & 0x87ff_ffff) | 0x3c00_0000)) * 1.000000001,
            };
            if bits == 64 { value.to_bits() } else { (value as f32).to_bits().into() }
        }
        _ => {
            let value = if !pick.is_multiple_of(3) {
                INTEGERS[(random() % INTEGERS.len() as u64) as usize] as u64
            } else {
                random()
            };
            if bits == 64 { value } else { value & 0xffff_ffff }
        }
    }
}

/// Returns whether a result is acceptable: all NaNs are equal, and some functions are not exact.
fn is_close(case: Case, sources: &[Vec<u64>], component: usize, got: u64, want: u64) -> bool {
    use AluOp::*;
    if got == want {
        return true;
    }
    let first = sources[0].get(component).map_or(0.0, |&bits| f32::from_bits(bits as u32));
    let is_open = match case.op {
        // Devices are precise near 0.
        Fsin | Fcos => first.abs() > 1000.0,
        Fpow => {
            !first.is_finite()
                || first < 0.0 && !case.exact
                || sources[1].iter().any(|&y| f32::from_bits(y as u32).is_nan())
        }
        _ => false,
    };
    if is_open {
        return true;
    }
    let ty = case.op.info().output_type;
    if matches!(case.op, PackHalf2x16 | PackHalf2x16Split) {
        // A NaN may have any payload.
        let is_nan = |half: u64| half & 0x7fff > 0x7c00;
        return [got, got >> 16].into_iter().zip([want, want >> 16]).all(|(got, want)| {
            let (got, want) = (got & 0xffff, want & 0xffff);
            got == want || is_nan(got) && is_nan(want)
        });
    }
    if matches!(case.op, Fmod | Frem) && case.result().bit_size == 32 {
        let word = |number: usize| f32::from_bits(sources[number][component] as u32);
        if remainders(case.op, word(0), word(1)).any(|other| other.to_bits() == got as u32) {
            return true;
        }
    }
    if ty.base != BaseType::Float {
        return case.op.name().starts_with("pack_")
            && !case.exact
            && (0..4).all(|byte| (got >> (8 * byte) & 0xff).abs_diff(want >> (8 * byte) & 0xff) <= 1);
    }
    let (a, b) = match case.result().bit_size {
        64 => (f64::from_bits(got), f64::from_bits(want)),
        _ => (f32::from_bits(got as u32).into(), f32::from_bits(want as u32).into()),
    };
    // Without float controls, the sign of a zero minimum and of 0 + -0 is undefined.
    let any_zero = matches!(case.op, Fmin | Fmax | Fsat | FsatSigned | FclampPos | Ffmaz) || case.bits == 1;
    if a.is_nan() && b.is_nan() || a == 0.0 && b == 0.0 && any_zero {
        return true;
    }
    match case.op {
        Fsin | Fcos => (a - b).abs() < 1e-3,
        // Denormals may be flushed.
        Fpow => (a - b).abs() <= b.abs() * 1e-4 + 1.2e-38 || a == b,
        Fexp2 | Flog2 | Frsq | Frcp | Fdiv | Fsqrt => (a - b).abs() <= b.abs() * 2e-6 + 1e-6,
        UnpackSnorm2x16 | UnpackSnorm4x8 | UnpackUnorm2x16 | UnpackUnorm4x8 => (a - b).abs() < 1e-6,
        _ if !case.exact => (a - b).abs() <= b.abs() * 1e-5 + 1e-5,
        _ => false,
    }
}

/// Returns the remainders that follow from the quotients of devices, which are off by up to 2.5 ULP. Those of large
/// quotients differ widely.
fn remainders(op: AluOp, a: f32, b: f32) -> impl Iterator<Item = f32> {
    let quotient = a / b;
    let most = if quotient.is_normal() { 3 } else { 0 };
    (-most..=most).map(move |units| {
        let quotient = f32::from_bits(quotient.to_bits().wrapping_add_signed(units));
        a - b * if op == AluOp::Fmod { quotient.floor() } else { quotient.trunc() }
    })
}

/// Returns the runner of a shader with these cases.
fn runner(cases: &[Case]) -> Result<Box<dyn Runner>, String> {
    let compiler = Compiler::for_target(run_target(&SpirvOptions::default()).expect("a target").into());
    // Nothing is optimised, so that each opcode reaches the driver or its lowering.
    let code = compiler.resume(shader(cases), Stage::Opt).finish().map_err(|error| error.to_string())?;
    tgsi_spirv_vulkan::runner(compiler.target(), &code).expect("code of the harness").map_err(|error| error.to_string())
}

/// Runs the cases of an opcode. Returns the failures.
fn wrong_results(op: AluOp, sets: usize) -> Vec<String> {
    let all = std::env::var("TGSIC_EVERY").as_deref() == Ok("1");
    let is_tried = |case: &Case| all || case.exact && !matches!(case.components, 2 | 3) || op.info().output_size != 0;
    let cases = Case::of(op).into_iter().filter(|&case| has_form(case, false));
    let cases: Vec<Case> = cases.filter(is_tried).collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let runner = match runner(&cases) {
        Ok(runner) => runner,
        Err(error) => return vec![format!("{op}: {error}")],
    };
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ op as u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8 | state << 56
    };
    let mut failed = BTreeMap::new();
    for _ in 0..sets {
        let mut operands: Vec<Vec<Vec<u64>>> = Vec::new();
        for &case in &cases {
            let sources = (0..case.num_sources()).map(|number| {
                let shape = case.source(number);
                (0..shape.num_components)
                    .map(|_| values(case.source_base(number), shape.bit_size, &mut random))
                    .collect()
            });
            operands.push(sources.collect());
        }
        let bytes = cases.iter().zip(&operands).flat_map(|(&case, sources)| alu_cases::encode(case, sources)).collect();
        let results = vec![0; cases.len() * alu_cases::STRIDE as usize];
        let inputs =
            Inputs { lanes: 1, inputs: LaneRegisters::new(1, 0), buffers: vec![bytes, results], ..Inputs::default() };
        let outputs = match runner.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()) {
            Ok(outputs) => outputs,
            Err(error) => return vec![format!("{op}: {error}")],
        };
        let regions = outputs.buffers[1].chunks_exact(alu_cases::STRIDE as usize);
        for ((&case, sources), region) in cases.iter().zip(&operands).zip(regions) {
            let (got, want) = (alu_cases::decode(case, region), case.expected(sources));
            let close = |(component, (&got, &want))| is_close(case, sources, component, got, want);
            if !got.iter().zip(&want).enumerate().all(close) {
                let example = || (0, format!("{sources:x?} gives {got:x?}, not {want:x?}"));
                failed.entry(case.name()).or_insert_with(example).0 += 1;
            }
        }
    }
    failed.into_iter().map(|(name, (count, first))| format!("{name}: {count} of {sets}: {first}")).collect()
}

#[test]
fn results_are_those_of_the_table() {
    if let Some(reason) = tgsi_spirv_vulkan::unavailable() {
        println!("skipped: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        return;
    }
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let sets = std::env::var("TGSIC_SETS").ok().and_then(|sets| sets.parse().ok()).unwrap_or(12);
    let ops = AluOp::ALL.iter().filter(|op| only.is_empty() || op.name() == only);
    let wrong: Vec<String> = ops.flat_map(|&op| wrong_results(op, sets)).collect();
    for line in &wrong {
        println!("{line}");
    }
    assert!(wrong.is_empty(), "{} cases", wrong.len());
}
