//! Every opcode of the table of ALU opcodes is emitted, in every size and with every number of components, or is one of
//! those that have no form in SPIR-V; and `spirv-val` accepts what comes out.

mod alu_cases;

use std::process::Command;

use alu_cases::{Case, shader};
use pretty_assertions::assert_eq;
use rayon::prelude::*;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_ir::alu::{AluOp, BaseType};

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

/// Adds a workgroup size where the driver has none yet.
fn with_size(bytes: Vec<u8>) -> Vec<u8> {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four"))).collect();
    let (mut at, mut out, mut has, mut insert) = (5, words[..5].to_vec(), false, 0);
    while at < words.len() {
        let size = (words[at] >> 16) as usize;
        has |= words[at] & 0xffff == 16;
        out.extend(&words[at..at + size]);
        if words[at] & 0xffff == 15 {
            insert = out.len();
        }
        at += size;
    }
    if !has {
        let entry = (5..insert).find(|&i| out[i] & 0xffff == 15 && out[i + 1] == 5).expect("an entry point");
        let id = out[entry + 2];
        out.splice(insert..insert, [6 << 16 | 16, id, 17, 1, 1, 1]);
    }
    out.iter().flat_map(|w| w.to_le_bytes()).collect()
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
                    std::fs::write(&module, with_size(bytes)).expect("a file");
                    let output = Command::new("spirv-val").args(["--target-env", environment]).arg(&module).output();
                    if let Ok(output) = output {
                        if !output.status.success() {
                            wrong.push(format!("{op}: {}", String::from_utf8_lossy(&output.stderr)));
                        }
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
            let value =
                if pick % 3 > 0 { INTEGERS[(random() % INTEGERS.len() as u64) as usize] as u64 } else { random() };
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
        Fpow => !first.is_finite() || first < 0.0 && !case.exact,
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
        Fexp2 | Flog2 | Fpow | Frsq | Frcp | Fdiv | Fsqrt => (a - b).abs() <= b.abs() * 2e-6 + 1e-6,
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
            std::fs::write(&module, with_size(emit(&compiler, &cases).expect("a module"))).expect("a file");
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

#[test]
fn what_has_no_form_is_an_opcode() {
    for (name, _) in WITHOUT_FORM {
        assert!(AluOp::from_name(name).is_some(), "{name}");
    }
}
