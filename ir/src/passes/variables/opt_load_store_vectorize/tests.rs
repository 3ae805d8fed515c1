//! Random memory accesses: the pass must not change results.

use super::*;
use crate::Builder;
use crate::alu::AluOp;
use crate::body::Shape;
use crate::builder::AluSrc;
use crate::entities::Def;
use crate::run::run;
use crate::shader::ShaderStage;
use crate::text::print;
use crate::validate::validate;
use tgsi_environment::{AnalyticResources, Inputs, Outputs, RunLimits};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % limit
    }
}

/// Upper bound of the addresses.
const SIZE: u32 = 96;

/// Returns an address: a constant, or a value times a stride plus a constant, aligned to `align` bytes.
fn address(b: &mut Builder<'_>, random: &mut Random, values: &[Def; 2], align: u32) -> Def {
    let constant = random.below(SIZE / align) * align;
    if random.below(2) == 0 {
        return b.u32_const(constant);
    }
    let stride = b.u32_const(4 + random.below(2) * 12);
    let value = values[random.below(2) as usize];
    let product = b.alu(AluOp::Imul, &[value, stride]);
    let constant = b.u32_const(constant);
    b.alu(AluOp::Iadd, &[product, constant])
}

fn random_accesses(seed: u64, memory: u32) -> Shader {
    let mut random = Random(seed);
    let mut shader = Shader::new(ShaderStage::Compute);
    shader.info.shared_size = memory;
    shader.scratch_size = memory;
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let one = b.u32_const(1);
    let align = [(IndexKind::AlignMul, 4), (IndexKind::AlignOffset, 0), (IndexKind::Range, -1)];
    let index = b.intrinsic_def(IntrinsicOp::LoadUbo, &[one, zero], &align, Shape::new(1, 32));
    let four = b.u32_const(4);
    let other = b.intrinsic_def(IntrinsicOp::LoadUbo, &[one, four], &align, Shape::new(1, 32));
    let indices = [index, other];
    let mut seen: Vec<Def> = vec![index];
    for _ in 0..40 {
        let bits = [32, 32, 32, 64, 16][random.below(5) as usize];
        let count = [1, 1, 2, 4][random.below(4) as usize];
        let bytes = u32::from(bits) / 8;
        let resource = if random.below(3) == 0 { one } else { zero };
        let offset = address(&mut b, &mut random, &indices, bytes);
        let aligned = [(IndexKind::AlignMul, bytes.min(4) as i32), (IndexKind::AlignOffset, 0), (IndexKind::Range, -1)];
        let shape = Shape::new(count, bits);
        let kind = random.below(8);
        if kind < 5 {
            let (op, sources) = match kind {
                0 | 1 => (IntrinsicOp::LoadUbo, vec![zero, offset]),
                2 => (IntrinsicOp::LoadSsbo, vec![resource, offset]),
                3 => (IntrinsicOp::LoadShared, vec![offset]),
                _ => (IntrinsicOp::LoadScratch, vec![offset]),
            };
            let indices: Vec<_> =
                aligned.into_iter().filter(|(kind, _)| op.info().index_slot(*kind).is_some()).collect();
            let value = b.intrinsic_def(op, &sources, &indices, shape);
            let last = b.channel(value, count - 1);
            seen.push(b.alu(AluOp::U2u32, &[last]));
            let first = b.channel(value, 0);
            seen.push(b.alu(AluOp::U2u32, &[first]));
            continue;
        }
        let convert = match bits {
            16 => AluOp::U2u16,
            64 => AluOp::U2u64,
            _ => AluOp::U2u32,
        };
        let parts: Vec<AluSrc> = (0..count)
            .map(|_| {
                let value = seen[random.below(seen.len() as u32) as usize];
                AluSrc::component(b.alu(convert, &[value]), 0)
            })
            .collect();
        let value = b.vec(&parts);
        let (op, sources) = match kind {
            5 => (IntrinsicOp::StoreSsbo, vec![value, resource, offset]),
            6 => (IntrinsicOp::StoreShared, vec![value, offset]),
            _ => (IntrinsicOp::StoreScratch, vec![value, offset]),
        };
        let mask = if random.below(3) == 0 { 1 + random.below((1 << count) - 1) } else { (1 << count) - 1 };
        let mut indices: Vec<_> =
            aligned.into_iter().filter(|(kind, _)| op.info().index_slot(*kind).is_some()).collect();
        indices.push((IndexKind::WriteMask, mask as i32));
        b.intrinsic(op, &sources, &indices, None);
        match random.below(12) {
            0 => {
                let data = seen[random.below(seen.len() as u32) as usize];
                let offset = address(&mut b, &mut random, &[zero, one], 4);
                let old = b.intrinsic_def(IntrinsicOp::SharedAtomic, &[offset, data], &[], Shape::new(1, 32));
                seen.push(old);
            }
            1 => {
                let index = [
                    (IndexKind::MemoryScope, Scope::Workgroup as i32),
                    (IndexKind::MemorySemantics, 3),
                    (IndexKind::MemoryModes, SHARED_WITH_OTHERS.0 as i32),
                ];
                b.intrinsic(IntrinsicOp::Barrier, &[], &index, None);
            }
            _ => {}
        }
    }
    // Makes the loaded values observable.
    let two = b.u32_const(2);
    for (number, value) in seen.into_iter().enumerate() {
        let offset = b.u32_const(number as u32 * 4);
        let indices = [(IndexKind::WriteMask, 1), (IndexKind::AlignMul, 4)];
        b.intrinsic(IntrinsicOp::StoreSsbo, &[value, two, offset], &indices, None);
    }
    shader
}

/// Runs a shader with memories of `bytes` bytes.
fn outcome(shader: &Shader, bytes: usize, index: u32) -> Outputs {
    let words = |seed: u32| (0..bytes as u32 / 4).map(move |i| i.wrapping_mul(2_654_435_761).wrapping_add(seed));
    let buffer = |seed: u32| words(seed).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let inputs = Inputs {
        lanes: 1,
        constants: vec![Vec::new(), words(1).collect(), vec![index, 1]],
        buffers: vec![buffer(2), buffer(3), vec![0; 4096]],
        shared_size: shader.info.shared_size as usize,
        ..Inputs::default()
    };
    run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::of_steps(100_000)).expect("it runs")
}

#[test]
fn random_accesses_within_bounds() {
    let mut changed = 0;
    for seed in 0..400 {
        let before = random_accesses(seed, 512);
        validate(&before).unwrap_or_else(|errors| panic!("seed {seed}: {errors}"));
        let mut after = before.clone();
        if !opt_load_store_vectorize(&mut after) {
            assert_eq!(print(&before), print(&after), "seed {seed}");
            continue;
        }
        changed += 1;
        validate(&after).unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{}", print(&after)));
        for (bytes, index) in [(512, 0), (512, 3)] {
            let (x, mut y) = (outcome(&before, bytes, index), outcome(&after, bytes, index));
            y.steps = x.steps;
            assert_eq!(x, y, "seed {seed}, {bytes} bytes\nbefore:\n{}\nafter:\n{}", print(&before), print(&after));
        }
    }
    assert!(changed > 250, "{changed}");
}

/// Many accesses to one address, and to one buffer at unknown addresses, take negligible time.
#[test]
fn many_accesses() {
    let mut shader = Shader::new(ShaderStage::Compute);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    for i in 0..30_000u32 {
        let offset = b.u32_const(i % 3 * 4);
        let value =
            b.intrinsic_def(IntrinsicOp::LoadSsbo, &[zero, offset], &[(IndexKind::AlignMul, 4)], Shape::new(1, 32));
        let index = b.alu(AluOp::Iand, &[value, offset]);
        let indices = [(IndexKind::WriteMask, 1), (IndexKind::AlignMul, 4)];
        b.intrinsic(IntrinsicOp::StoreSsbo, &[value, zero, index], &indices, None);
    }
    crate::work::check_linear("opt_load_store_vectorize", &mut shader, opt_load_store_vectorize);
}
