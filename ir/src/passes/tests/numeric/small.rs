//! Tests bit operations, packing, fractions and exponents, and 16-bit floats.

use super::*;
use crate::body::AluFlags;
use crate::options::{CompilerOptions, Fp16Casts};
use crate::passes::{lower_alu, lower_fp16_casts, lower_frexp, lower_pack};

fn all() -> CompilerOptions {
    CompilerOptions {
        lower_bitfield_reverse: true,
        lower_bit_count: true,
        lower_mul_high: true,
        lower_fminmax_signed_zero: true,
        lower_pack_vectors: true,
        lower_frexp: true,
        lower_fp16_casts: Fp16Casts::PLAIN.union(Fp16Casts::RTNE).union(Fp16Casts::RTZ),
        ..CompilerOptions::default()
    }
}

fn alu(shader: &mut Shader) -> bool {
    lower_alu(shader, &all())
}

#[test]
fn bits() {
    Check::new(AluOp::BitfieldReverse, 32, &alu).run(&integers(32));
    for bits in [8, 16, 32, 64] {
        Check::new(AluOp::BitCount, bits, &alu).run(&integers(bits));
    }
}

#[test]
fn high_halves() {
    for bits in [8, 16, 32] {
        for op in [AluOp::ImulHigh, AluOp::UmulHigh] {
            Check::new(op, bits, &alu).run(&integer_pairs(bits));
        }
    }
    assert!(!alu(&mut Check::new(AluOp::UmulHigh, 64, &alu).shader(&[])));
}

/// A target that has an operation keeps it.
#[test]
fn nothing_is_lowered_unasked() {
    let options = CompilerOptions::default();
    for (op, bits) in [(AluOp::BitfieldReverse, 32), (AluOp::BitCount, 32), (AluOp::UmulHigh, 32), (AluOp::Fmin, 32)] {
        assert!(!lower_alu(&mut Check::new(op, bits, &alu).shader(&[]), &options), "{op}");
    }
    assert!(!lower_frexp(&mut Check::new(AluOp::FrexpExp, 32, &frexp).shader(&[]), &options));
    assert!(!lower_pack(&mut Check::new(AluOp::Pack324x8Split, 32, &bytes).shader(&[]), &options));
    assert!(!lower_fp16_casts(&mut Check::new(AluOp::F2f16Rtz, 32, &casts).shader(&[]), &options));
}

/// Emulates minima and maxima of a target that returns the second of two equal operands.
fn returns_second_equal(shader: &mut Shader) {
    let body = shader.main_mut();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let (Some(op @ (AluOp::Fmin | AluOp::Fmax)), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else {
                continue;
            };
            let sources = [0, 1].map(|n| AluSrc::new(body.src(inst, n), body.swizzle(body.source(inst, n))));
            let [a, b] = if op == AluOp::Fmin { sources } else { [sources[1], sources[0]] };
            let mut builder = Builder::new(body, crate::cursor::Cursor::Before(inst));
            let less = builder.alu_sized(AluOp::Flt, COMPONENTS, &[a, b]);
            let second_is_none = builder.alu_sized(AluOp::Fneu, COMPONENTS, &[sources[1], sources[1]]);
            let first = builder.alu(AluOp::Ior, &[less, second_is_none]);
            let new = builder.alu_sized(AluOp::Bcsel, COMPONENTS, &[first.into(), sources[0], sources[1]]);
            body.replace_all_uses(def, new);
            body.remove_inst(inst);
        }
    }
}

#[test]
fn zeros_in_order() {
    let mode = ExecutionMode(7);
    let lowered = |shader: &mut Shader| {
        let progress = lower_alu(shader, &all());
        returns_second_equal(shader);
        progress
    };
    for op in [AluOp::Fmin, AluOp::Fmax] {
        for bits in [16, 32, 64] {
            Check { mode, ..Check::new(op, bits, &lowered) }.run(&float_pairs(bits));
            let check = Check { mode, ..Check::new(op, bits, &alu) };
            let mut twice = check.shader(&[]);
            assert!(alu(&mut twice));
            assert!(!alu(&mut twice), "lowering is not idempotent");
            // A plain operation is left alone, an exact one is not.
            let mut plain = Check::new(op, bits, &alu).shader(&[]);
            assert!(!alu(&mut plain));
            let body = plain.main_mut();
            for block in body.blocks_vec() {
                for inst in body.insts_vec(block) {
                    if body.alu_op(inst) == Some(op) {
                        body.set_inst(inst, InstData::Alu { op, flags: AluFlags::EXACT });
                    }
                }
            }
            assert!(alu(&mut plain));
            assert!(!alu(&mut plain));
        }
    }
}

/// The emulation above must be able to give wrong results.
#[test]
fn minima_that_return_the_second_equal_give_the_wrong_zero() {
    let check = Check { mode: ExecutionMode(7), ..Check::new(AluOp::Fmin, 32, &alu) };
    let mut shader = check.shader(&[]);
    returns_second_equal(&mut shader);
    let program = Program::new(&shader).expect("valid");
    let wrong = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        check.run_part(&program, &[vec![0x8000_0000, 0]]);
    }));
    assert!(wrong.is_err());
}

fn pack(shader: &mut Shader) -> bool {
    lower_pack(shader, &all())
}

fn bytes(shader: &mut Shader) -> bool {
    lower_pack(shader, &CompilerOptions { lower_pack_32_4x8_split: true, ..all() })
}

/// Vectors of special and random numbers.
fn vectors(components: usize, bits: u8, count: usize) -> Vec<Vec<Vec<u64>>> {
    let mut words = Words::new(u64::from(bits) * 8 + components as u64);
    let special = special_integers(bits);
    let mut pick = || match words.word() % 2 {
        0 => special[words.word() as usize % special.len()],
        _ => words.integer(bits),
    };
    (0..count).map(|_| vec![(0..components).map(|_| pick()).collect()]).collect()
}

#[test]
fn packing() {
    use AluOp as O;
    let ops = [
        [O::Pack642x32, O::Pack322x16, O::Pack644x16, O::Pack324x8],
        [O::Unpack642x32, O::Unpack322x16, O::Unpack644x16, O::Unpack324x8],
        [O::PackHalf2x16, O::UnpackHalf2x16, O::PackUvec2ToUint, O::PackUvec4ToUint],
    ];
    for op in ops.into_iter().flatten().chain([O::PackUint2x16, O::PackSint2x16]) {
        let bits = op.info().input_types[0].bit_size;
        let mut cases = vectors(op.info().input_sizes[0].into(), bits, 5_000);
        if op == O::PackHalf2x16 {
            let floats = floats(32);
            cases.extend(floats.windows(2).map(|pair| vec![vec![pair[0][0], pair[1][0]]]));
        }
        // With components wider than a byte, `pack_uvec4_to_uint` would have overlapping parts, as in the table.
        for pass in [pack, bytes] {
            Check::new(op, 32, &pass).run_vectors(&cases);
        }
    }
    let mut words = Words::new(8);
    let four: Vec<Vec<u64>> = (0..20_000).map(|_| (0..4).map(|_| words.word() & 0xff).collect()).collect();
    Check::new(O::Pack324x8Split, 32, &bytes).run(&four);
    assert!(!pack(&mut Check::new(O::Pack324x8Split, 32, &bytes).shader(&[])));
}

fn frexp(shader: &mut Shader) -> bool {
    lower_frexp(shader, &all())
}

#[test]
fn fractions_and_exponents() {
    for bits in [16, 32, 64] {
        for op in [AluOp::FrexpExp, AluOp::FrexpSig] {
            for mode in [ExecutionMode::DEFAULT, ExecutionMode(7 << 18)] {
                Check { mode, ..Check::new(op, bits, &frexp) }.run(&floats(bits));
            }
        }
    }
}

fn casts(shader: &mut Shader) -> bool {
    lower_fp16_casts(shader, &all())
}

/// Converts through a 32-bit float; conversions of these are kept.
fn split_casts(shader: &mut Shader) -> bool {
    lower_fp16_casts(shader, &CompilerOptions { lower_fp16_casts: Fp16Casts::FROM_64, ..CompilerOptions::default() })
}

/// Numbers at, just below and just above every 16-bit float and every midpoint of two.
fn around_halves(bits: u8) -> Vec<Vec<u64>> {
    let mut cases = floats(bits);
    for half in 0..0x7c00u64 {
        let value = f64::from(crate::alu::half::to_f32(half as u16));
        let next = if half < 0x7bff { f64::from(crate::alu::half::to_f32(half as u16 + 1)) } else { 65536.0 };
        let sign = if half.is_multiple_of(3) { -1.0 } else { 1.0 };
        for number in [value, (value + next) / 2.0] {
            let center = if bits == 64 { number.to_bits() } else { (number as f32).to_bits().into() };
            for offset in [u64::MAX, 0, 1] {
                let word = center.wrapping_add(offset) & mask(bits) >> 1;
                cases.push(vec![if sign < 0.0 { word | 1 << (bits - 1) } else { word }]);
            }
        }
    }
    cases
}

#[test]
fn casts_to_16_bits() {
    let modes = [0, 1 << 18, 1 << 12, 7 << 18 | 7 << 12].map(ExecutionMode);
    for bits in [32, 64] {
        let cases = around_halves(bits);
        for op in [AluOp::F2f16, AluOp::F2f16Rtne, AluOp::F2f16Rtz] {
            for mode in modes {
                Check { mode, ..Check::new(op, bits, &casts) }.run(&cases);
                if bits == 64 {
                    Check { mode, ..Check::new(op, bits, &split_casts) }.run(&cases);
                }
            }
        }
        if bits == 32 {
            Check::new(AluOp::F2fmp, 32, &casts).run(&cases);
            assert!(!split_casts(&mut Check::new(AluOp::F2f16Rtz, 32, &casts).shader(&[])));
        }
    }
    // A conversion from 16 to 16 bits is left alone.
    assert!(!casts(&mut Check::new(AluOp::F2f16, 16, &casts).shader(&[])));
}
