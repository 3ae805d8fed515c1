//! Tests the lowering of small numbers to 32-bit ones.

use super::*;
use crate::intrinsics::indices::AtomicOp;
use crate::passes::lower_small_types;
use tgsi_environment::SystemValue;

/// Bits 12 and 18 flush 16-bit denormals and round 16-bit floats toward zero, the next ones 32-bit floats.
const MODES: [u32; 6] = [0, 1 << 18, 1 << 12, 1 << 19, 3 << 18, 1 << 12 | 3 << 18];

/// Operands of a type: special and random ones.
fn operands(ty: AluType, bits: u8) -> Vec<u64> {
    match (ty.base, bits) {
        (_, 1) => vec![0, 1],
        (BaseType::Bool, _) => vec![0, mask(bits)],
        (BaseType::Float, _) => special_floats(bits),
        _ => special_integers(bits),
    }
}

fn pick(words: &mut Words, ty: AluType, bits: u8, special: &[u64]) -> u64 {
    match (words.word() % 3, ty.base) {
        (0, _) | (_, BaseType::Bool) => special[words.word() as usize % special.len()],
        (_, BaseType::Float) => random_float(words, bits),
        _ => words.integer(bits),
    }
}

/// All values of the operands if they are few, otherwise special and random ones.
fn cases(check: &Check<'_>) -> Vec<Vec<u64>> {
    let types = check.op.info().input_types;
    let bits: Vec<u8> = (0..types.len()).map(|number| check.source_bits(number)).collect();
    let special: Vec<Vec<u64>> = types.iter().zip(&bits).map(|(&ty, &bits)| operands(ty, bits)).collect();
    let mut cases = match bits[..] {
        [8 | 16] => integers(bits[0]),
        [8, 8] => integer_pairs(8),
        [_, _] if special[0].len() * special[1].len() < 60_000 => pairs(&special[0], &special[1]),
        _ => Vec::new(),
    };
    let mut words = Words::new(check.op as u64 + u64::from(check.bit_size));
    cases.extend((0..5_000).map(|_| {
        (0..types.len()).map(|number| pick(&mut words, types[number], bits[number], &special[number])).collect()
    }));
    cases
}

fn vector_cases(check: &Check<'_>) -> Vec<Vec<Vec<u64>>> {
    let info = check.op.info();
    let mut words = Words::new(check.op as u64);
    let mut same = false;
    (0..2_000)
        .map(|_| {
            same = !same;
            let mut case: Vec<Vec<u64>> = Vec::new();
            for (number, &ty) in info.input_types.iter().enumerate() {
                let bits = check.source_bits(number);
                let special = operands(ty, bits);
                let value =
                    (0..info.input_sizes[number].max(1)).map(|_| pick(&mut words, ty, bits, &special)).collect();
                // Half of the cases have equal operands, except for one component.
                match case.first() {
                    Some(first) if same => {
                        let mut first = first.clone();
                        let at = words.word() as usize % (2 * first.len());
                        if let Some(component) = first.get_mut(at) {
                            *component = pick(&mut words, ty, bits, &special);
                        }
                        case.push(first);
                    }
                    _ => case.push(value),
                }
            }
            case
        })
        .collect()
}

/// Every opcode with an operand or a result of 8 or 16 bits.
#[test]
fn every_opcode() {
    let pass = |shader: &mut Shader| lower_small_types(shader);
    let mut count = 0;
    for &op in AluOp::ALL {
        let info = op.info();
        let sizes = if info.bit_sizes.is_empty() { &[32] } else { info.bit_sizes };
        for &bits in sizes {
            let mut check = Check::new(op, bits, &pass);
            let is_small = |bits: u8| matches!(bits, 8 | 16);
            let takes = (0..info.input_types.len()).any(|number| is_small(check.source_bits(number)));
            if !takes && !is_small(check.result_bits()) {
                continue;
            }
            let is_float = info.output_type.base == BaseType::Float;
            for mode in MODES.into_iter().take(if is_float { MODES.len() } else { 1 }) {
                check.mode = ExecutionMode(mode);
                if op.is_componentwise() {
                    check.run(&cases(&check));
                } else if info.output_size == 0 {
                    // Vectors, and dot products for all components.
                    let shader = check.lower(check.vector_shader());
                    let program = Program::new(&shader).expect("a shader without control flow");
                    check.run_vectors_of(&program, &vector_cases(&check));
                } else {
                    check.run_vectors(&vector_cases(&check));
                }
                count += 1;
            }
        }
    }
    assert!(count > 500, "{count}");
}

/// Nothing small is left in the lowered form, and it is valid.
fn lowered(before: &Shader) -> Shader {
    let mut after = before.clone();
    assert!(lower_small_types(&mut after));
    validate(&after).unwrap_or_else(|errors| panic!("{errors}\n{}", crate::text::print(&after)));
    assert!(!lower_small_types(&mut after), "lowering is not idempotent");
    for def in values(&after) {
        assert!(!matches!(after.main().bit_size(def), 8 | 16), "{def}\n{}", crate::text::print(&after));
    }
    after
}

fn run(shader: &Shader, buffers: &[Vec<u8>], constants: &[u32]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut inputs =
        Inputs { lanes: 8, buffers: buffers.to_vec(), constants: vec![constants.to_vec(); 2], ..Inputs::default() };
    inputs.system_values.insert(SystemValue::LocalInvocationIndex, vec![(0..8).collect()]);
    let program = Program::new(shader).expect("valid");
    let outputs = program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs");
    (outputs.buffers, outputs.shared)
}

/// Loads and stores of all kinds of memory at all alignments.
#[test]
fn memory() {
    use IntrinsicOp as I;
    let mut words = Words::new(7);
    let loads = [I::LoadSsbo, I::LoadUbo, I::LoadShared, I::LoadScratch, I::LoadConstant];
    let stores = [I::StoreSsbo, I::StoreShared, I::StoreScratch];
    let mut count = 0;
    for (bits, components) in [8, 16].into_iter().flat_map(|bits| [1u8, 2, 3, 4, 8].map(|count| (bits, count))) {
        for (mul, offset) in [1, 2, 4, 8].into_iter().flat_map(|mul| (0..mul).map(move |offset| (mul, offset))) {
            for round in 0..3 {
                let load = loads[words.word() as usize % loads.len()];
                let store = stores[(words.word() as usize + round) % stores.len()];
                let before = access(&mut words, (load, store), (bits, components), (mul, offset));
                validate(&before).unwrap_or_else(|errors| panic!("{errors}\n{}", crate::text::print(&before)));
                let after = lowered(&before);
                let buffers: Vec<Vec<u8>> =
                    (0..3).map(|_| (0..64).flat_map(|_| (words.word() as u32).to_le_bytes()).collect()).collect();
                let constants: Vec<u32> = (0..64).map(|_| words.word() as u32).collect();
                let expected = run(&before, &buffers, &constants);
                let found = run(&after, &buffers, &constants);
                assert!(
                    expected == found,
                    "{load:?} {store:?} {bits}x{components} at {offset} of {mul}\n{}\n{}",
                    crate::text::print(&before),
                    crate::text::print(&after)
                );
                assert_ne!(expected.0, buffers);
                count += 1;
            }
        }
    }
    assert!(count > 400, "{count}");
}

/// A shader that loads small components at an offset, adds one to them and stores some of them at another offset; then
/// it copies words of the memory to a buffer.
fn access(
    words: &mut Words,
    (load, store): (IntrinsicOp, IntrinsicOp),
    (bits, components): (u8, u8),
    (mul, offset): (u32, u32),
) -> Shader {
    use IntrinsicOp as I;
    let mut shader = Shader::new(ShaderStage::Compute);
    shader.info.shared_size = 256;
    shader.scratch_size = 256;
    shader.constant_data = (0..256).map(|_| words.word() as u8).collect();
    let mut b = Builder::at_end(shader.main_mut());
    let (zero, one, two) = (b.u32_const(0), b.u32_const(1), b.u32_const(2));
    let lane = b.intrinsic_def(I::LoadLocalInvocationIndex, &[], &[], Shape::new(1, 32));
    // Lanes share words, but not bytes.
    let stride = u32::from(components) * u32::from(bits / 8);
    let stride = b.u32_const(stride.next_multiple_of(mul));
    let distance = b.alu(AluOp::Imul, &[lane, stride]);
    let start = b.u32_const(offset + mul * (words.word() % 4) as u32);
    let place = b.alu(AluOp::Iadd, &[distance, start]);
    let base = words.word() as i32 & 1;
    let from = b.i32_const(-base);
    let from = b.alu(AluOp::Iadd, &[place, from]);
    let aligned = [(IndexKind::AlignMul, mul as i32), (IndexKind::AlignOffset, offset as i32)];
    let with = |more: &[(IndexKind, i32)]| [&aligned, more].concat();
    let word_access = [(IndexKind::AlignMul, 4), (IndexKind::WriteMask, 1)];
    let four = b.u32_const(4);
    let word = b.alu(AluOp::Imul, &[lane, four]);
    for (number, store) in [I::StoreShared, I::StoreScratch].into_iter().enumerate() {
        let pattern = b.u32_const(0x1234_5678 + number as u32);
        let pattern = b.alu(AluOp::Imul, &[pattern, place]);
        b.intrinsic(store, &[pattern, word], &word_access, None);
    }
    let shape = Shape::new(components, bits);
    let value = match load {
        I::LoadSsbo => b.intrinsic_def(load, &[zero, place], &aligned, shape),
        I::LoadUbo => b.intrinsic_def(load, &[zero, place], &with(&[(IndexKind::Range, 256)]), shape),
        I::LoadScratch => b.intrinsic_def(load, &[place], &aligned, shape),
        _ => b.intrinsic_def(load, &[from], &with(&[(IndexKind::Base, base)]), shape),
    };
    let ones = b.constant(bits, &vec![1; components.into()]);
    let value = b.alu(AluOp::Iadd, &[value, ones]);
    let mask = (words.word() as i32 | 1) & ((1 << components) - 1);
    let mask = (IndexKind::WriteMask, mask);
    match store {
        I::StoreSsbo => b.intrinsic(store, &[value, one, place], &with(&[mask]), None),
        I::StoreScratch => b.intrinsic(store, &[value, place], &with(&[mask]), None),
        _ => b.intrinsic(store, &[value, from], &with(&[mask, (IndexKind::Base, base)]), None),
    };
    // The loaded values, and scratch memory.
    for (number, component) in (0..components).enumerate() {
        let part = b.channel(value, component);
        let part = b.alu(AluOp::U2u32, &[part]);
        let at = b.u32_const(16 * number as u32 % 128);
        let at = b.alu(AluOp::Ixor, &[word, at]);
        let indices = [(IndexKind::AtomicOp, AtomicOp::Iadd as i32)];
        b.intrinsic_def(I::SsboAtomic, &[two, at, part], &indices, Shape::new(1, 32));
        let scratch = b.intrinsic_def(I::LoadScratch, &[at], &[(IndexKind::AlignMul, 4)], Shape::new(1, 32));
        b.intrinsic_def(I::SsboAtomic, &[two, at, scratch], &indices, Shape::new(1, 32));
    }
    shader
}

/// Code with phis, registers, selections, reductions and shuffles.
#[test]
fn other_values() {
    use IntrinsicOp as I;
    let mut shader = Shader::new(ShaderStage::Compute);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let register = b.decl_reg(Shape::new(2, 16), 0);
    let lane = b.intrinsic_def(I::LoadLocalInvocationIndex, &[], &[], Shape::new(1, 32));
    let eight = b.u32_const(8);
    let place = b.alu(AluOp::Imul, &[lane, eight]);
    let aligned = [(IndexKind::AlignMul, 8)];
    let value = b.intrinsic_def(I::LoadSsbo, &[zero, place], &aligned, Shape::new(2, 16));
    b.store_reg(value, register, 0, 3);
    let before = b.block();
    let start = b.constant(16, &[0x7ff0, 3]);
    let id = b.push_loop();
    let sum = b.phi(Shape::new(2, 16), &[(before, start)]);
    let limit = b.constant(16, &[0xc000]);
    let first = b.channel(sum, 0);
    let ends = b.alu(AluOp::Uge, &[first, limit]);
    let branch = b.push_if(ends);
    b.jump(crate::body::JumpKind::Break);
    b.end_if(branch);
    let step = b.constant(16, &[0x0fff, 0x1001]);
    let next = b.alu(AluOp::Iadd, &[sum, step]);
    let negated = b.load_reg(register, 0);
    let negated = b.alu(AluOp::Fneg, &[negated]);
    b.store_reg(negated, register, 0, 1);
    let back = b.block();
    b.end_loop(id);
    let phi = b.body.def_inst(sum);
    b.body.add_phi_source(phi, back, next);
    let last = b.load_reg(register, 0);
    let largest = b.alu(AluOp::Fmax, &[last, value]);
    let mut results = vec![largest, sum];
    for op in [AluOp::Imin, AluOp::Imax, AluOp::Umin, AluOp::Iadd, AluOp::Fmin, AluOp::Fmax] {
        let indices = [(IndexKind::ReductionOp, op as i32)];
        let bytes = b.alu(AluOp::U2u8, &[value]);
        for intrinsic in [I::Reduce, I::InclusiveScan, I::ExclusiveScan] {
            let is_float = matches!(op, AluOp::Fmin | AluOp::Fmax);
            results.push(b.intrinsic_def(intrinsic, &[sum], &indices, Shape::new(2, 16)));
            if !is_float {
                results.push(b.intrinsic_def(intrinsic, &[bytes], &indices, Shape::new(2, 8)));
            }
        }
    }
    let one = b.constant(16, &[1]);
    results.push(b.intrinsic_def(I::ShuffleXor, &[value, one], &[], Shape::new(2, 16)));
    let vote = b.intrinsic_def(I::VoteIeq, &[sum], &[], Shape::new(1, 1));
    let vote = b.alu_sized(AluOp::Bcsel, 2, &[AluSrc::component(vote, 0), value.into(), sum.into()]);
    results.push(vote);
    for (number, result) in results.into_iter().enumerate() {
        let wide = b.alu(AluOp::I2i32, &[result]);
        let at = b.u32_const(64 * number as u32);
        let at = b.alu(AluOp::Iadd, &[at, place]);
        let buffer = b.u32_const(1);
        let indices = [(IndexKind::WriteMask, 3), (IndexKind::AlignMul, 8)];
        b.intrinsic(I::StoreSsbo, &[wide, buffer, at], &indices, None);
    }
    validate(&shader).unwrap_or_else(|errors| panic!("{errors}\n{}", crate::text::print(&shader)));
    let after = lowered(&shader);
    for seed in 0..20 {
        let mut words = Words::new(seed);
        let data = (0..32).flat_map(|_| (words.word() as u32 & 0xbbff_bbff).to_le_bytes()).collect();
        let buffers = vec![data, vec![0; 4096]];
        assert_eq!(run(&shader, &buffers, &[]), run(&after, &buffers, &[]), "{}", crate::text::print(&after));
    }
}

/// Code that the pass cannot lower keeps its meaning, and is not converted again.
#[test]
fn what_is_kept() {
    use IntrinsicOp as I;
    let mut shader = Shader::new(ShaderStage::Compute);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let indices = [(IndexKind::AtomicOp, AtomicOp::Iadd as i32)];
    let value = b.constant(16, &[5]);
    let old = b.intrinsic_def(I::SsboAtomic, &[zero, zero, value], &indices, Shape::new(1, 16));
    let next = b.alu(AluOp::Iadd, &[old, value]);
    let again = b.intrinsic_def(I::SsboAtomic, &[zero, zero, next], &indices, Shape::new(1, 16));
    let wide = b.alu(AluOp::U2u32, &[again]);
    let four = b.u32_const(4);
    b.intrinsic(I::StoreSsbo, &[wide, zero, four], &[(IndexKind::WriteMask, 1), (IndexKind::AlignMul, 4)], None);
    validate(&shader).expect("valid");
    let mut after = shader.clone();
    assert!(lower_small_types(&mut after));
    validate(&after).unwrap_or_else(|errors| panic!("{errors}\n{}", crate::text::print(&after)));
    assert!(!lower_small_types(&mut after), "{}", crate::text::print(&after));
    let buffers = vec![vec![9; 64]];
    assert_eq!(run(&shader, &buffers, &[]), run(&after, &buffers, &[]));
}
