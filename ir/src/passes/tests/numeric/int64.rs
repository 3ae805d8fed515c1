//! Tests 64-bit integers as pairs of words.

use super::*;
use crate::options::{CompilerOptions, Int64Ops};
use crate::passes::lower_int64;
use tgsi_environment::SystemValue;

fn lower(shader: &mut Shader) -> bool {
    lower_int64(shader, &CompilerOptions { lower_int64: Int64Ops::ALL, ..CompilerOptions::default() })
}

/// Triples of 64-bit integers.
fn triples(count: usize) -> Vec<Vec<u64>> {
    let mut words = Words::new(64);
    let special = special_integers(64);
    let mut pick = || match words.word() % 3 {
        0 => special[words.word() as usize % special.len()],
        _ => words.integer(64),
    };
    (0..count).map(|_| vec![pick(), pick(), pick()]).collect()
}

#[test]
fn two_operands() {
    use AluOp as O;
    let cases = integer_pairs(64);
    let ops = [
        [O::Imul, O::Amul, O::ImulHigh, O::UmulHigh, O::Iadd, O::Isub],
        [O::UaddCarry, O::UsubBorrow, O::UabsIsub, O::UabsUsub, O::Ihadd, O::Uhadd],
        [O::Irhadd, O::Urhadd, O::Iand, O::Ior, O::Ixor, O::Imin],
        [O::Imax, O::Umin, O::Umax, O::IaddSat, O::IsubSat, O::UaddSat],
        [O::UsubSat, O::Ieq, O::Ine, O::Ilt, O::Ige, O::Ult],
        [O::Uge, O::Ieq32, O::Ine32, O::Ilt32, O::Ige32, O::Ult32],
        [O::Uge32, O::Ieq16, O::Ine16, O::Ilt16, O::Ige16, O::Ult16],
        [O::Uge16, O::Ieq8, O::Ine8, O::Ilt8, O::Ige8, O::Ult8],
        [O::Uge8, O::Idiv, O::Udiv, O::Irem, O::Imod, O::Umod],
    ];
    for op in ops.into_iter().flatten() {
        Check::new(op, 64, &lower).run(&cases);
    }
    let words = integer_pairs(32);
    for op in [O::Imul2x3264, O::Umul2x3264] {
        Check::new(op, 32, &lower).run(&words);
    }
}

/// Quotients of about every number of bits, and remainders that are 0, 1 or one less than the divisor.
#[test]
fn quotients() {
    let mut words = Words::new(123);
    let mut cases = Vec::new();
    for _ in 0..30_000 {
        let (d, q) = (words.integer(64), words.integer(64));
        let d = d >> (words.word() % 64);
        let q = q % u64::MAX.checked_div(d).unwrap_or(u64::MAX);
        let product = d.wrapping_mul(q);
        for n in [product, product.wrapping_sub(1), product.wrapping_add(1), product.wrapping_add(d).wrapping_sub(1)] {
            cases.push(vec![n, d]);
        }
    }
    for op in [AluOp::Udiv, AluOp::Umod, AluOp::Idiv, AluOp::Irem, AluOp::Imod] {
        Check::new(op, 64, &lower).run(&cases);
    }
}

#[test]
fn shifts_and_places() {
    use AluOp as O;
    let counts: Vec<u64> = (0..=130).chain([0xffff_ffff, 0xffff_ffe0, 0x8000_0000]).collect();
    let cases = pairs(&special_integers(64), &counts);
    for op in [O::Ishl, O::Ishr, O::Ushr, O::Urol, O::Uror, O::Bitz, O::Bitnz, O::Bitz32, O::Bitnz8] {
        Check::new(op, 64, &lower).run(&cases);
    }
    let indices: Vec<u64> = (0..=9).chain([1 << 32, 1 << 61, u64::MAX, 0x2000_0000, 0xffff_ffff]).collect();
    let cases = pairs(&special_integers(64), &indices);
    for op in [O::ExtractU8, O::ExtractI8, O::ExtractU16, O::ExtractI16, O::InsertU8, O::InsertU16] {
        Check::new(op, 64, &lower).run(&cases);
    }
}

#[test]
fn one_operand() {
    use AluOp as O;
    let cases = integers(64);
    let ops = [O::Isign, O::Iabs, O::Ineg, O::Inot, O::UdivAligned4, O::FindLsb, O::BitCount, O::UfindMsb];
    for op in ops.into_iter().chain([O::UfindMsbRev]) {
        Check::new(op, 64, &lower).run(&cases);
    }
}

#[test]
fn three_operands() {
    use AluOp as O;
    let cases = triples(20_000);
    for op in [O::Imad, O::Iadd3, O::BitfieldSelect, O::IcselEqz] {
        Check::new(op, 64, &lower).run(&cases);
    }
    for (op, truth) in [(O::Bcsel, 1), (O::B8csel, 0xff), (O::B16csel, 0xffff), (O::B32csel, 0xffff_ffff)] {
        let cases: Vec<Vec<u64>> =
            cases.iter().map(|case| vec![if case[0] & 1 == 0 { 0 } else { truth }, case[1], case[2]]).collect();
        Check::new(op, 64, &lower).run(&cases);
    }
}

#[test]
fn conversions_among_integers() {
    use AluOp as O;
    let cases = integers(64);
    for op in [O::I2i1, O::I2i8, O::I2i16, O::I2i32, O::I2i64, O::U2u1, O::U2u8, O::U2u16, O::U2u32, O::U2u64] {
        Check::new(op, 64, &lower).run(&cases);
    }
    for bits in [1, 8, 16, 32] {
        for op in [O::I2i64, O::U2u64] {
            Check::new(op, bits, &lower).run(&if bits == 1 { vec![vec![0], vec![1]] } else { integers(bits) });
        }
        Check::new(O::B2i64, bits, &lower).run(&[vec![0], vec![mask(bits)]]);
    }
}

/// All rounding modes: the table rounds to the nearest whatever the mode, except where a conversion truncates to 16
/// bits.
const MODES: [ExecutionMode; 2] = [ExecutionMode::DEFAULT, ExecutionMode(7 << 18 | 7 << 12)];

#[test]
fn integers_to_floats() {
    use AluOp as O;
    let mut cases = integers(64);
    // Ties, and their neighbours, of 24 and 53 bits.
    let mut words = Words::new(5);
    for _ in 0..5_000 {
        let shift = words.word() % 40;
        for digits in [24, 53] {
            let mantissa = words.word() >> (64 - digits) | 1 << (digits - 1);
            let tie = mantissa << 1 | 1;
            for offset in [u64::MAX, 0, 1] {
                let value = tie.checked_shl(shift as u32).unwrap_or(0).wrapping_add(offset);
                cases.extend([vec![value], vec![value.wrapping_neg()]]);
            }
        }
    }
    for op in [O::I2f16, O::I2f32, O::I2f64, O::U2f16, O::U2f32, O::U2f64] {
        for mode in MODES {
            Check { mode, ..Check::new(op, 64, &lower) }.run(&cases);
        }
    }
}

#[test]
fn floats_to_integers() {
    use AluOp as O;
    for bits in [16, 32, 64] {
        let cases = floats(bits);
        for op in [O::F2i64, O::F2u64] {
            for mode in MODES {
                Check { mode, ..Check::new(op, bits, &lower) }.run(&cases);
            }
        }
    }
}

/// A family that the target supports is kept, and so are families of other sizes.
#[test]
fn families_are_chosen_one_by_one() {
    let chosen = |set: Int64Ops| {
        move |shader: &mut Shader| {
            lower_int64(shader, &CompilerOptions { lower_int64: set, ..CompilerOptions::default() })
        }
    };
    use AluOp as O;
    let families = [
        (O::Imul, Int64Ops::MUL),
        (O::UmulHigh, Int64Ops::MUL_HIGH),
        (O::Isign, Int64Ops::SIGN),
        (O::Umod, Int64Ops::DIVMOD),
        (O::I2f32, Int64Ops::CONVERSION),
        (O::Bcsel, Int64Ops::SELECT),
        (O::Ult, Int64Ops::COMPARISON),
        (O::Iadd, Int64Ops::ADD),
        (O::Iabs, Int64Ops::ABS),
        (O::Ineg, Int64Ops::NEG),
        (O::Ixor, Int64Ops::LOGIC),
        (O::Umin, Int64Ops::MIN_MAX),
        (O::Ishr, Int64Ops::SHIFT),
        (O::ExtractU8, Int64Ops::EXTRACT),
        (O::FindLsb, Int64Ops::FIND_LSB),
        (O::BitCount, Int64Ops::BIT_COUNT),
        (O::UfindMsb, Int64Ops::FIND_MSB),
        (O::IaddSat, Int64Ops::IADD_SAT),
        (O::UaddSat, Int64Ops::UADD_SAT),
        (O::UsubSat, Int64Ops::USUB_SAT),
        (O::Iadd3, Int64Ops::IADD3),
    ];
    for (op, family) in families {
        let check = Check::new(op, 64, &lower);
        assert!(chosen(family)(&mut check.shader(&[])), "{op}");
        assert!(!chosen(Int64Ops(Int64Ops::ALL.0 & !family.0))(&mut check.shader(&[])), "{op}");
        assert!(!chosen(Int64Ops::ALL)(&mut Check::new(op, 32, &lower).shader(&[])), "{op}");
    }
    let product = Check::new(O::Imul2x3264, 32, &lower);
    assert!(chosen(Int64Ops::MUL_2X32_64)(&mut product.shader(&[])));
    assert!(!chosen(Int64Ops::NONE)(&mut product.shader(&[])));
}

/// A division has at most the documented number of instructions.
#[test]
fn divisions_are_not_long() {
    for (op, most) in [(AluOp::Udiv, 150), (AluOp::Imod, 200), (AluOp::Iadd, 20), (AluOp::I2f32, 60)] {
        let mut shader = Check::new(op, 64, &lower).shader(&[]);
        lower(&mut shader);
        let count = values(&shader).len();
        assert!(count <= most, "{op}: {count} instructions");
    }
}

mod subgroups {
    use super::*;

    const LANES: usize = 16;

    /// An intrinsic on two components of 64 bits, different in each lane.
    fn shader(op: IntrinsicOp, second: bool, indices: &[(IndexKind, i32)]) -> Shader {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let load = |b: &mut Builder<'_>, base: i32, shape: Shape| {
            let indices = [(IndexKind::AlignMul, 4)];
            let lane = b.intrinsic_def(IntrinsicOp::LoadLocalInvocationIndex, &[], &[], Shape::new(1, 32));
            let stride = b.u32_const(32);
            let offset = b.alu(AluOp::Imul, &[lane, stride]);
            let base = b.i32_const(base);
            let offset = b.alu(AluOp::Iadd, &[offset, base]);
            (b.intrinsic_def(IntrinsicOp::LoadSsbo, &[zero, offset], &indices, shape), offset)
        };
        let (value, offset) = load(&mut b, 0, Shape::new(2, 64));
        let mut sources = vec![value];
        if second {
            sources.push(load(&mut b, 16, Shape::new(1, 32)).0);
        }
        let shape = Shape::new(2, if op == IntrinsicOp::VoteIeq { 1 } else { 64 });
        let mut result = b.intrinsic_def(op, &sources, indices, shape);
        if op == IntrinsicOp::VoteIeq {
            result = b.alu(AluOp::B2i64, &[result]);
        }
        let one = b.u32_const(1);
        let mask = (1 << b.body.num_components(result)) - 1;
        let indices = [(IndexKind::WriteMask, mask), (IndexKind::AlignMul, 4)];
        b.intrinsic(IntrinsicOp::StoreSsbo, &[result, one, offset], &indices, None);
        shader
    }

    fn run(shader: &Shader, seed: u64) -> Vec<u8> {
        let mut words = Words::new(seed);
        let mut bytes = Vec::new();
        for lane in 0..LANES as u64 {
            // Lanes that agree in the low word only, in both words, in neither.
            let choice = lane / 4 + seed;
            let pick = |words: &mut Words| match choice % 4 {
                0 => 0x1234_5678_9abc_def0,
                1 => (words.word() & 1) << 40 | 77,
                2 => words.word() & 1 | 1 << 40,
                _ => words.word(),
            };
            bytes.extend(pick(&mut words).to_le_bytes());
            bytes.extend(pick(&mut words).to_le_bytes());
            bytes.extend((words.word() as u32 % 4).to_le_bytes());
            bytes.resize(32 * (lane as usize + 1), 0);
        }
        let mut inputs = Inputs { lanes: LANES, buffers: vec![bytes, vec![0; 32 * LANES]], ..Inputs::default() };
        inputs.system_values.insert(SystemValue::LocalInvocationIndex, vec![(0..LANES as u32).collect()]);
        let program = Program::new(shader).expect("valid");
        let mut outputs = program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs");
        outputs.buffers.swap_remove(1)
    }

    #[test]
    fn reads_votes_and_reductions() {
        use IntrinsicOp as I;
        let reduction = |op: AluOp| (IndexKind::ReductionOp, op as i32);
        let mut cases = vec![
            (I::ReadInvocation, true, vec![]),
            (I::ReadFirstInvocation, false, vec![]),
            (I::Shuffle, true, vec![]),
            (I::ShuffleXor, true, vec![]),
            (I::ShuffleUp, true, vec![]),
            (I::ShuffleDown, true, vec![]),
            (I::Rotate, true, vec![(IndexKind::ClusterSize, 4)]),
            (I::QuadBroadcast, true, vec![]),
            (I::QuadSwapHorizontal, false, vec![]),
            (I::QuadSwapVertical, false, vec![]),
            (I::QuadSwapDiagonal, false, vec![]),
            (I::VoteIeq, false, vec![]),
        ];
        for op in [AluOp::Iand, AluOp::Ior, AluOp::Ixor, AluOp::Iadd] {
            cases.push((I::Reduce, false, vec![reduction(op), (IndexKind::ClusterSize, 0)]));
            cases.push((I::Reduce, false, vec![reduction(op), (IndexKind::ClusterSize, 2)]));
            cases.push((I::InclusiveScan, false, vec![reduction(op)]));
            cases.push((I::ExclusiveScan, false, vec![reduction(op)]));
        }
        let options = CompilerOptions {
            lower_int64: Int64Ops::SHUFFLE.union(Int64Ops::VOTE).union(Int64Ops::SCAN_REDUCE),
            ..CompilerOptions::default()
        };
        for (op, second, indices) in cases {
            let before = shader(op, second, &indices);
            validate(&before).unwrap_or_else(|errors| panic!("{op:?}: {errors}"));
            let mut after = before.clone();
            assert!(lower_int64(&mut after, &options), "{op:?}");
            validate(&after).unwrap_or_else(|errors| panic!("{op:?}: {errors}"));
            assert!(!lower_int64(&mut after, &options), "{op:?}");
            let mut results = std::collections::BTreeSet::new();
            for seed in 0..8 {
                let expected = run(&before, seed);
                assert_eq!(expected, run(&after, seed), "{op:?} {indices:?}, seed {seed}");
                results.insert(expected);
            }
            assert!(results.len() > 2, "{op:?}: the inputs make no difference");
        }
        // Reductions that cannot be split are kept.
        let mut product = shader(I::Reduce, false, &[reduction(AluOp::Imul)]);
        assert!(!lower_int64(&mut product, &options));
    }
}
