//! Tests the lowering of small numbers to wider ones.

use super::*;
use crate::body::{Body, JumpKind};
use crate::entities::Inst;
use crate::passes::tests::lower_bit_size::lower_bit_size;
use tgsi_environment::SystemValue;

/// Returns the bit size on which an instruction works.
fn size(body: &Body, inst: Inst) -> u8 {
    match body.inst(inst) {
        InstData::Alu { .. } => body.alu_bit_size(inst),
        _ => body.inst_def(inst).map_or(32, |def| body.bit_size(def)),
    }
}

fn by_words(shader: &mut Shader) -> bool {
    lower_bit_size(shader, &|body, inst| if size(body, inst) < 32 { 32 } else { 0 })
}

/// All opcodes of one or two operands with an open size, on all bytes, and on special and random numbers of 16 and 32
/// bits.
#[test]
fn every_opcode_of_one_and_two_operands() {
    let mut checked = 0;
    for &op in AluOp::ALL {
        let info = op.info();
        let open: Vec<BaseType> = info.input_types.iter().filter(|ty| ty.is_unsized()).map(|ty| ty.base).collect();
        if !op.is_componentwise() || open.is_empty() || info.input_types.len() > 2 || op == AluOp::Mov {
            continue;
        }
        let of = |base: BaseType| open.contains(&base);
        let resizes = info.numeric_conversion && info.input_types[0].base == info.output_type.base;
        let by_64 = |shader: &mut Shader| {
            lower_bit_size(shader, &|body, inst| if body.alu_op(inst) == Some(op) { 64 } else { 0 })
        };
        let passes: [(Pass<'_>, &[u8]); 2] = [(&by_words, &[8, 16]), (&by_64, &[8, 16, 32])];
        for (pass, sizes) in passes {
            for &bits in sizes {
                let booleans = of(BaseType::Bool) && (resizes || std::ptr::eq(sizes, passes[1].1));
                if !info.bit_sizes.contains(&bits) || booleans {
                    continue;
                }
                let check = Check::new(op, bits, pass);
                if resizes {
                    assert!(!pass(&mut check.shader(&[])), "{op} only changes the size");
                    continue;
                }
                let is_float = of(BaseType::Float);
                // Functions of the machine's math library, and those that the table computes in 32 bits on purpose.
                let in_single = [
                    "fsin", "fcos", "fexp2", "flog2", "fpow", "fmod", "frem", "fdiv", "frsq", "fsqrt", "frcp", "ldexp",
                ];
                if bits == 32 && (is_float || info.output_type.base == BaseType::Float) {
                    // Rounded twice.
                    continue;
                }
                if is_float
                    && std::ptr::eq(sizes, passes[1].1)
                    && in_single.iter().any(|name| info.name.starts_with(name))
                {
                    continue;
                }
                let cases = match (info.input_types.len(), is_float, of(BaseType::Bool)) {
                    (1, _, true) => vec![vec![0], vec![mask(bits)]],
                    (1, true, _) => floats(bits),
                    (1, ..) => integers(bits),
                    (_, true, _) if info.input_types[1].base != BaseType::Float => {
                        pairs(&special_floats(16), &[0, 1, 5, 10, 30, 0xffff_ffff, 0xffff_fff0, 0xffff_ffe0])
                    }
                    (_, true, _) => float_pairs(bits),
                    _ if info.input_types[1].is_unsized() => integer_pairs(bits),
                    _ => pairs(&special_integers(bits), &(0..70).chain([0xffff_ffff]).collect::<Vec<_>>()),
                };
                check.run(&cases);
                checked += 1;
            }
        }
    }
    assert!(checked > 250, "{checked} opcodes and sizes");
}

#[test]
fn three_operands() {
    let mut words = Words::new(4);
    for bits in [8, 16] {
        let cases: Vec<Vec<u64>> = (0..20_000).map(|_| (0..3).map(|_| words.integer(bits)).collect()).collect();
        for op in [AluOp::Iadd3, AluOp::Imad, AluOp::BitfieldSelect, AluOp::IcselEqz] {
            Check::new(op, bits, &by_words).run(&cases);
        }
        let cases: Vec<Vec<u64>> = cases.iter().map(|case| vec![case[0] & 1, case[1], case[2]]).collect();
        Check::new(AluOp::Bcsel, bits, &by_words).run(&cases);
    }
    let cases: Vec<Vec<u64>> = (0..20_000).map(|_| (0..3).map(|_| random_float(&mut words, 16)).collect()).collect();
    // In 32 bits, the sum would be rounded twice.
    let by_64 = |shader: &mut Shader| {
        lower_bit_size(shader, &|body, inst| if body.alu_op(inst) == Some(AluOp::Ffma) { 64 } else { 0 })
    };
    Check::new(AluOp::Ffma, 16, &by_64).run(&cases);
}

#[test]
fn what_the_callback_leaves_stays() {
    let check = Check::new(AluOp::Iadd, 16, &by_words);
    assert!(!lower_bit_size(&mut check.shader(&[]), &|_, _| 0));
    assert!(!lower_bit_size(&mut check.shader(&[]), &|_, _| 16));
    assert!(!by_words(&mut Check::new(AluOp::Iadd, 32, &by_words).shader(&[])));
}

/// Phis of bytes in a loop: a sum of bytes that wraps, and a counter.
#[test]
fn phis() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(4, 32));
    let bytes = b.alu(AluOp::U2u8, &[input]);
    let start = b.constant(8, &[250, 1, 2, 3]);
    let other = b.constant(8, &[1, 1, 1, 1]);
    let limit = b.constant(8, &[100]);
    let before = b.block();
    let id = b.push_loop();
    let sum = b.phi(Shape::new(4, 8), &[(before, start)]);
    let count = b.phi(Shape::new(4, 8), &[(before, other)]);
    let first = b.channel(count, 0);
    let done = b.alu(AluOp::Uge, &[first, limit]);
    let exit = b.push_if(done);
    b.jump(JumpKind::Break);
    b.end_if(exit);
    let next = b.alu(AluOp::Iadd, &[sum, bytes]);
    // The phis swap their values.
    let more = b.alu(AluOp::Iadd, &[count, other]);
    let latch = b.block();
    for (phi, value) in [(sum, next), (count, more)] {
        let inst = b.body.def_inst(phi);
        b.body.add_phi_source(inst, latch, value);
    }
    b.end_loop(id);
    let words = b.alu(AluOp::U2u32, &[sum]);
    let ty = AluType::UINT32.to_i32();
    let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, 15), (IndexKind::SrcType, ty)];
    b.intrinsic(IntrinsicOp::StoreOutput, &[words, zero], &indices, None);
    validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
    let run = |shader: &Shader| {
        let mut inputs = Inputs { lanes: 64, inputs: LaneRegisters::new(64, 1), ..Inputs::default() };
        for lane in 0..64 {
            for component in 0..4 {
                inputs.inputs.set(0, component, lane, (lane * 7 + component * 3) as u32);
            }
        }
        let program = Program::new(shader).expect("valid");
        program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("ends").outputs
    };
    let expected = run(&shader);
    assert_eq!(expected.get(0, 0, 1), (250 + 99 * 7) % 256u32, "99 times around");
    assert!(by_words(&mut shader));
    validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(expected, run(&shader));
    let body = shader.main();
    for block in body.blocks() {
        for phi in body.phis(block) {
            assert!(body.inst_def(phi).is_some_and(|def| body.bit_size(def) == 32));
        }
    }
    assert!(!by_words(&mut shader));
}

/// Reads, votes, and reductions; the neutral element of a scan has the small size.
#[test]
fn subgroups() {
    use IntrinsicOp as I;
    let reduction = |op: AluOp| vec![(IndexKind::ReductionOp, op as i32)];
    let mut cases = vec![
        (I::ShuffleXor, 16, true, vec![]),
        (I::ReadFirstInvocation, 8, false, vec![]),
        (I::QuadSwapDiagonal, 16, false, vec![]),
        (I::VoteIeq, 8, false, vec![]),
        (I::VoteFeq, 16, false, vec![]),
    ];
    let ops = [
        [AluOp::Iadd, AluOp::Imul, AluOp::Iand, AluOp::Ior, AluOp::Ixor],
        [AluOp::Umin, AluOp::Umax, AluOp::Imin, AluOp::Imax, AluOp::Iadd],
    ];
    for op in ops.into_iter().flatten() {
        for bits in [8, 16] {
            for intrinsic in [I::Reduce, I::InclusiveScan, I::ExclusiveScan] {
                cases.push((intrinsic, bits, false, reduction(op)));
            }
        }
    }
    for op in [AluOp::Fmin, AluOp::Fmax] {
        cases.push((I::ExclusiveScan, 16, false, reduction(op)));
    }
    for (op, bits, second, indices) in cases {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let lane = b.intrinsic_def(I::LoadLocalInvocationIndex, &[], &[], Shape::new(1, 32));
        let four = b.u32_const(4);
        let offset = b.alu(AluOp::Imul, &[lane, four]);
        let access = [(IndexKind::AlignMul, 4)];
        let word = b.intrinsic_def(I::LoadSsbo, &[zero, offset], &access, Shape::new(1, 32));
        let value = b.alu(if bits == 8 { AluOp::U2u8 } else { AluOp::U2u16 }, &[word]);
        let mut sources = vec![value];
        if second {
            sources.push(b.u32_const(3));
        }
        let is_float = op == I::VoteFeq || [AluOp::Fmin, AluOp::Fmax].iter().any(|&op| indices == reduction(op));
        let is_vote = matches!(op, I::VoteIeq | I::VoteFeq);
        let result = b.intrinsic_def(op, &sources, &indices, Shape::new(1, if is_vote { 1 } else { bits }));
        let result = b.alu(if is_vote { AluOp::B2i32 } else { AluOp::U2u32 }, &[result]);
        let one = b.u32_const(1);
        let access = [(IndexKind::WriteMask, 1), (IndexKind::AlignMul, 4)];
        b.intrinsic(I::StoreSsbo, &[result, one, offset], &access, None);
        let before = shader;
        validate(&before).unwrap_or_else(|errors| panic!("{op:?}: {errors}"));
        let mut after = before.clone();
        let wide = |body: &Body, inst: Inst| if body.intrinsic(inst) == Some(op) { 32 } else { 0 };
        assert!(lower_bit_size(&mut after, &wide), "{op:?}");
        validate(&after).unwrap_or_else(|errors| panic!("{op:?}: {errors}"));
        assert!(!lower_bit_size(&mut after, &wide), "{op:?}");
        let run = |shader: &Shader, seed: u64| {
            let mut words = Words::new(seed);
            let data: Vec<u8> = (0..16u64)
                .flat_map(|lane| {
                    let word = if lane / 4 == seed % 4 { 0x4142_4344 } else { words.word() as u32 };
                    // No NaN among floats: which of several results is unspecified.
                    if is_float { word & 0xbbff_bbff } else { word }.to_le_bytes()
                })
                .collect();
            let mut inputs = Inputs { lanes: 16, buffers: vec![data, vec![0; 64]], ..Inputs::default() };
            inputs.system_values.insert(SystemValue::LocalInvocationIndex, vec![(0..16).collect()]);
            let program = Program::new(shader).expect("valid");
            let mut outputs =
                program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs");
            outputs.buffers.swap_remove(1)
        };
        let mut results = std::collections::BTreeSet::new();
        for seed in 0..20 {
            let expected = run(&before, seed);
            assert_eq!(expected, run(&after, seed), "{op:?} of {bits} bits, {indices:?}, seed {seed}");
            results.insert(expected);
        }
        assert!(results.len() > 3, "{op:?}: the inputs make no difference");
    }
}
