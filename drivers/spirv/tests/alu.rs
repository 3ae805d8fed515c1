//! Every opcode of the table of ALU opcodes is emitted, in every size and with every number of components, or is one of
//! those that have no form in SPIR-V; and `spirv-val` accepts what comes out.

mod alu_cases;

use std::process::Command;

use alu_cases::{Case, shader};
use pretty_assertions::assert_eq;
use rayon::prelude::*;
use spirv::Op;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::{AluFlags, Builder, Def};

/// Opcodes that TGSI does not make and that are errors, with those sizes that are.
const WITHOUT_FORM: &[(&str, &[u8])] = &[
    // SPIR-V has these in 32 bits only, and so has TGSI.
    ("fsin", &[64]),
    ("fcos", &[64]),
    ("fpow", &[64]),
    ("fquantize2f16", &[64]),
    ("pack_snorm_2x16", &[64]),
    ("pack_unorm_2x16", &[64]),
    // Special hardware's.
    ("fsin_amd", &[32, 64]),
    ("fcos_amd", &[32, 64]),
    ("fsin_mdg", &[32, 64]),
    ("fcos_mdg", &[32, 64]),
    ("cube_amd", &[32]),
    ("msad_4x8", &[32]),
    ("mqsad_4x8", &[32]),
    ("sdot_4x8_iadd", &[32]),
    ("sdot_4x8_iadd_sat", &[32]),
    ("udot_4x8_uadd", &[32]),
    ("udot_4x8_uadd_sat", &[32]),
    ("sudot_4x8_iadd", &[32]),
    ("sudot_4x8_iadd_sat", &[32]),
    ("sdot_2x16_iadd", &[32]),
    ("sdot_2x16_iadd_sat", &[32]),
    ("udot_2x16_uadd", &[32]),
    ("udot_2x16_uadd_sat", &[32]),
    // Scaled exponents become products when the optimiser has run.
    ("ldexp", &[32, 64]),
    // There is no packing that rounds toward zero.
    ("pack_half_2x16_rtz_split", &[32]),
];

fn has_form(case: Case, portable: bool) -> bool {
    // What `lower_mul_high` has taken away.
    let is_lowered = portable && matches!(case.op, AluOp::ImulHigh | AluOp::UmulHigh) && case.bits > 1;
    case.has_sizes()
        && !is_lowered
        && !WITHOUT_FORM.iter().any(|&(name, sizes)| name == case.op.name() && sizes.contains(&case.bits))
}

fn compiler(options: &[&str]) -> Compiler {
    Compiler::for_target(tgsi_driver_spirv::DRIVER.target(options).expect("known options").into())
}

/// Emits without optimising or lowering.
fn emit(compiler: &Compiler, cases: &[Case]) -> Result<Vec<u8>, String> {
    compiler.resume(shader(cases), Stage::Registers).finish().map(|code| code.into_bytes()).map_err(|e| e.to_string())
}

/// Checks one target; returns what is wrong.
fn check(options: &[&str], environment: &str, bits: &[u8]) -> Vec<String> {
    let (compiler, portable) = (compiler(options), options.contains(&"portable"));
    let folder = tempfile::tempdir().expect("a folder");
    AluOp::ALL
        .par_iter()
        .flat_map_iter(|&op| {
            let mut wrong = Vec::new();
            let mut emitted = Vec::new();
            let narrow = |case: &Case| {
                bits.contains(&case.bits)
                    && bits.contains(&case.result().bit_size)
                    && (0..case.num_sources()).all(|number| bits.contains(&case.source(number).bit_size))
            };
            for case in Case::of(op).into_iter().filter(|case| !case.has_sizes() || narrow(case)) {
                match (emit(&compiler, &[case]), has_form(case, portable)) {
                    (Ok(_), true) => emitted.push(case),
                    (Ok(_), false) => wrong.push(format!("{} has a form", case.name())),
                    (Err(error), true) => wrong.push(format!("{}: {error}", case.name())),
                    (Err(error), false)
                        if !error.contains("has no SPIR-V form") && !error.contains("more than four") =>
                    {
                        wrong.push(format!("{}: {error}", case.name()));
                    }
                    (Err(_), false) => {}
                }
            }
            if emitted.is_empty() {
                return wrong;
            }
            let module = folder.path().join(format!("{op}.spv"));
            match emit(&compiler, &emitted) {
                Err(error) => wrong.push(format!("{op}: {error}")),
                Ok(bytes) => {
                    std::fs::write(&module, bytes).expect("a file");
                    let output = Command::new("spirv-val").args(["--target-env", environment]).arg(&module).output();
                    if let Some(output) = output.ok().filter(|output| !output.status.success()) {
                        wrong.push(format!("{op}: {}", String::from_utf8_lossy(&output.stderr)));
                    }
                }
            }
            wrong
        })
        .collect()
}

#[test]
fn every_opcode_is_emitted() {
    assert_eq!(check(&["vulkan1.1"], "vulkan1.1", &[1, 32, 64]), Vec::<String>::new());
}

#[test]
fn every_opcode_is_emitted_for_other_targets() {
    assert_eq!(check(&["vulkan1.0"], "vulkan1.0", &[1, 32, 64]), Vec::<String>::new());
    assert_eq!(check(&["vulkan1.3", "fused_fma"], "vulkan1.3", &[1, 32, 64]), Vec::<String>::new());
    assert_eq!(check(&["portable"], "vulkan1.1", &[1, 32]), Vec::<String>::new());
}

/// Numbers with something special about them, and some without.
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

/// Whether a result may stand for another one: NaN is NaN, and some functions are not exact.
fn is_close(case: Case, sources: &[Vec<u64>], component: usize, got: u64, want: u64) -> bool {
    use AluOp::*;
    if got == want {
        return true;
    }
    let first = sources[0].get(component).map_or(0.0, |&bits| f32::from_bits(bits as u32));
    let is_open = match case.op {
        // Devices are exact near 0.
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
    if ty.base != BaseType::Float {
        return case.op.name().starts_with("pack_")
            && !case.exact
            && (0..4).all(|byte| (got >> (8 * byte) & 0xff).abs_diff(want >> (8 * byte) & 0xff) <= 1);
    }
    let (a, b) = match case.result().bit_size {
        64 => (f64::from_bits(got), f64::from_bits(want)),
        _ => (f32::from_bits(got as u32).into(), f32::from_bits(want as u32).into()),
    };
    // Which zero a minimum is, and whether 0 + -0 is 0, is open without a promise of the target.
    let any_zero = matches!(case.op, Fmin | Fmax | Fsat | FsatSigned | FclampPos | Ffmaz) || case.bits == 1;
    if a.is_nan() && b.is_nan() || a == 0.0 && b == 0.0 && any_zero {
        return true;
    }
    match case.op {
        Fsin | Fcos => (a - b).abs() < 1e-3,
        // What is denormal may be flushed.
        Fpow => (a - b).abs() <= b.abs() * 1e-4 + 1.2e-38 || a == b,
        Fexp2 | Flog2 | Frsq | Frcp | Fdiv | Fsqrt => (a - b).abs() <= b.abs() * 2e-6 + 1e-6,
        UnpackSnorm2x16 | UnpackSnorm4x8 | UnpackUnorm2x16 | UnpackUnorm4x8 => (a - b).abs() < 1e-6,
        _ if !case.exact => (a - b).abs() <= b.abs() * 1e-5 + 1e-5,
        _ => false,
    }
}

/// `TGSIC_RUNNER` names a program that takes a module, a file of inputs, a file for outputs, and how many bytes of
/// either belong to one dispatch.
#[test]
#[ignore = "wants a device"]
fn results_are_those_of_the_table() {
    let Ok(runner) = std::env::var("TGSIC_RUNNER") else { return };
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let options: Vec<String> =
        std::env::var("TGSIC_OPTIONS").unwrap_or("vulkan1.1".into()).split(',').map(String::from).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let compiler = compiler(&options);
    let folder = tempfile::tempdir().expect("a folder");
    const SETS: usize = 120;
    let wrong: Vec<String> = AluOp::ALL
        .par_iter()
        .filter(|op| only.is_empty() || op.name() == only)
        .flat_map_iter(|&op| {
            let mut wrong = Vec::new();
            let cases: Vec<Case> =
                Case::of(op).into_iter().filter(|case| has_form(*case, options.contains(&"portable"))).collect();
            if cases.is_empty() {
                return wrong;
            }
            let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ op as u64;
            let mut random = move || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8 | state << 56
            };
            let mut inputs = Vec::new();
            let mut bytes = Vec::new();
            for _ in 0..SETS {
                for &case in &cases {
                    let sources: Vec<Vec<u64>> = (0..case.num_sources())
                        .map(|n| {
                            let shape = case.source(n);
                            (0..shape.num_components)
                                .map(|_| values(case.source_base(n), shape.bit_size, &mut random))
                                .collect()
                        })
                        .collect();
                    bytes.extend(alu_cases::encode(case, &sources));
                    inputs.push(sources);
                }
            }
            let [module, input, output] = ["spv", "in", "out"].map(|end| folder.path().join(format!("{op}.{end}")));
            std::fs::write(&module, emit(&compiler, &cases).expect("a module")).expect("a file");
            std::fs::write(&input, bytes).expect("a file");
            let size = (cases.len() as u32 * alu_cases::STRIDE).to_string();
            let result =
                Command::new(&runner).arg(&module).arg(&input).arg(&output).arg(&size).output().expect("a runner");
            if !result.status.success() {
                wrong.push(format!("{op}: {}", String::from_utf8_lossy(&result.stderr)));
                return wrong;
            }
            let outputs = std::fs::read(&output).expect("a file");
            let mut failed = std::collections::BTreeMap::new();
            for ((number, sources), region) in
                inputs.iter().enumerate().zip(outputs.chunks_exact(alu_cases::STRIDE as usize))
            {
                let case = cases[number % cases.len()];
                let (got, want) = (alu_cases::decode(case, region), case.expected(sources));
                let close = |(component, (&got, &want))| is_close(case, sources, component, got, want);
                if !got.iter().zip(&want).enumerate().all(close) {
                    failed
                        .entry(case.name())
                        .or_insert((0, format!("{sources:x?} gives {got:x?}, not {want:x?}")))
                        .0 += 1;
                }
            }
            wrong
                .extend(failed.into_iter().map(|(name, (count, first))| format!("{name}: {count} of {SETS}: {first}")));
            wrong
        })
        .collect();
    for line in &wrong {
        println!("{line}");
    }
    assert!(wrong.is_empty());
}

/// The opcodes of a module in order, of a compute shader that stores what is made of two words.
fn opcodes(options: &[&str], make: impl FnOnce(&mut Builder<'_>, Def, Def) -> Def) -> Vec<Op> {
    let ir = alu_cases::shader_of(make);
    let code = compiler(options).resume(ir, Stage::Registers).finish().expect("code").into_bytes();
    let words: Vec<u32> = code.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four"))).collect();
    let (mut at, mut ops) = (5, Vec::new());
    while let Some(&word) = words.get(at) {
        ops.extend(Op::from_u32(word & 0xffff));
        at += (word >> 16) as usize;
    }
    ops
}

fn count(ops: &[Op], op: Op) -> usize {
    ops.iter().filter(|&&other| other == op).count()
}

#[test]
fn sums_are_contracted_unless_they_are_exact() {
    let dot = |exact: bool| {
        move |b: &mut Builder<'_>, x: Def, y: Def| {
            let (a, c) = (b.vec_of(&[x, y, x]), b.vec_of(&[y, y, x]));
            b.flags = if exact { AluFlags::EXACT } else { AluFlags::NONE };
            let dot = b.alu(AluOp::Fdot3, &[a, c]);
            b.flags = AluFlags::NONE;
            dot
        }
    };
    let decorations = count(&opcodes(&[], |_, x, _| x), Op::Decorate);
    let free = opcodes(&[], dot(false));
    assert_eq!((count(&free, Op::Dot), count(&free, Op::Decorate) - decorations), (1, 0));
    // One product of vectors, two sums.
    for exact in [opcodes(&[], dot(true)), opcodes(&["no_contraction"], dot(false))] {
        assert_eq!((count(&exact, Op::Dot), count(&exact, Op::FMul), count(&exact, Op::FAdd)), (0, 1, 2));
        assert_eq!(count(&exact, Op::Decorate) - decorations, 3);
    }
}

#[test]
fn constants_leave_guards_out() {
    let divided = |by: u32| {
        opcodes(&[], move |b, x, _| {
            let by = b.u32_const(by);
            b.alu(AluOp::Idiv, &[x, by])
        })
    };
    let selects = count(&opcodes(&[], |_, x, _| x), Op::Select);
    assert_eq!(count(&divided(3), Op::Select), selects);
    assert_eq!(count(&divided(0), Op::Select), selects + 2);
    assert_eq!(count(&divided(u32::MAX), Op::Select), selects + 1);
    let shifted = opcodes(&[], |b, x, _| {
        let count = b.u32_const(33);
        b.alu(AluOp::Ishl, &[x, count])
    });
    let masks = count(&opcodes(&[], |_, x, _| x), Op::BitwiseAnd);
    assert_eq!(count(&shifted, Op::BitwiseAnd), masks);
    assert_eq!(count(&opcodes(&[], |b, x, y| b.alu(AluOp::Ishl, &[x, y])), Op::BitwiseAnd), masks + 1);
}

#[test]
fn numbers_in_range_are_converted_at_once() {
    let extended = |make: fn(&mut Builder<'_>, Def) -> Def| count(&opcodes(&[], |b, x, _| make(b, x)), Op::ExtInst);
    let plain = extended(|_, x| x);
    // The saturation alone, but the clamp of any number.
    let saturated = extended(|b, x| {
        let x = b.alu(AluOp::Fsat, &[x]);
        b.alu(AluOp::F2i32, &[x])
    });
    assert_eq!(saturated, plain + 1);
    assert_eq!(extended(|b, x| b.alu(AluOp::F2i32, &[x])), plain + 1);
    assert_eq!(extended(|b, x| b.alu(AluOp::F2u32, &[x])), plain + 1);
}

#[test]
fn a_negated_boolean_is_one_selection() {
    let ops = opcodes(&[], |b, x, y| {
        let test = b.alu(AluOp::Ieq, &[x, y]);
        let number = b.alu(AluOp::B2i32, &[test]);
        b.alu(AluOp::Ineg, &[number])
    });
    assert_eq!(count(&ops, Op::SNegate), 0);
}

#[test]
fn portable_code_has_no_unordered_comparisons_but_inequality() {
    for op in [AluOp::Fltu, AluOp::Fgeu, AluOp::Fequ, AluOp::Fneo] {
        let ops = opcodes(&["portable"], |b, x, y| {
            let test = b.alu(op, &[x, y]);
            b.alu(AluOp::B2i32, &[test])
        });
        for unordered in [Op::FUnordLessThan, Op::FUnordGreaterThanEqual, Op::FUnordEqual, Op::FOrdNotEqual] {
            assert_eq!(count(&ops, unordered), 0, "{op}");
        }
    }
}

#[test]
fn fused_products_take_one_instruction_only_where_the_target_says_so() {
    let fma = |b: &mut Builder<'_>, x: Def, y: Def| b.alu(AluOp::Ffma, &[x, y, x]);
    assert_eq!(count(&opcodes(&["fused_fma"], fma), Op::FAdd), 0);
    assert!(count(&opcodes(&[], fma), Op::FAdd) > 0);
}

#[test]
fn what_has_no_form_is_an_opcode() {
    for (name, _) in WITHOUT_FORM {
        assert!(AluOp::from_name(name).is_some(), "{name}");
    }
}
