//! From vectors to scalars and back.

use super::*;
use crate::alu::AluOp;
use crate::body::{Body, InstData, Shape};
use crate::builder::{AluSrc, Builder};
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Stage;
use crate::work::check_linear;

fn to_wide_vectors(shader: &mut Shader) -> bool {
    opt_vectorize(shader, &|_, _| 16)
}

/// Of each instruction something else.
fn to_some_vectors(shader: &mut Shader) -> bool {
    opt_vectorize(shader, &|body, inst| match body.alu_op(inst) {
        Some(op) => [0, 2, 4, 8][op as usize % 4],
        None => 2,
    })
}

fn only_alu_to_vectors(shader: &mut Shader) -> bool {
    opt_vectorize(shader, &|body, inst| if body.is_phi(inst) { 0 } else { 4 })
}

const THERE_AND_BACK: &[Pass] = passes![
    into_ssa,
    all_phis_to_scalar,
    to_scalar,
    lower_load_const_to_scalar,
    opt_copy_prop,
    opt_cse,
    opt_dce,
    to_vectors,
    opt_copy_prop,
    opt_dce,
    to_vectors,
    to_pairs,
    opt_copy_prop,
    to_some_vectors,
    to_scalar,
    phis_to_scalar,
    opt_copy_prop,
    opt_dce,
    only_alu_to_vectors,
    opt_copy_prop,
    to_wide_vectors,
    opt_copy_prop,
    opt_dce,
    to_pairs,
    optimized,
];

#[test]
fn random_shaders_there_and_back() {
    for seed in seeds() {
        let statements = 20 + (seed % 50) as usize;
        let kills = seed % 3 == 2;
        check(seed + 8_000_000, Options { statements, functions: 0, returns: false, kills }, THERE_AND_BACK);
        check(
            seed + 9_000_000,
            Options { statements, functions: 0, returns: false, kills },
            passes![to_vectors, to_scalar, to_vectors, into_ssa, to_vectors, optimized],
        );
    }
}

/// Instructions that are the work of a shader: neither moves nor constants.
fn work(shader: &Shader) -> usize {
    let body = shader.main();
    let counts = |inst: &Inst| match body.inst(*inst) {
        InstData::Alu { op, .. } => !op.is_vec_or_mov(),
        InstData::Phi => true,
        _ => false,
    };
    body.blocks().map(|block| body.insts(block).filter(counts).count()).sum()
}

/// What was taken apart comes together again, for the most part.
#[test]
fn vectorising_undoes_scalarising() {
    let (mut before, mut apart, mut together, mut phis) = (0, 0, 0, 0);
    for seed in 0..200 {
        let mut shader = random_shader(seed, Options { statements: 50, functions: 0, returns: false, kills: false });
        into_ssa(&mut shader);
        opt_copy_prop(&mut shader);
        opt_dce(&mut shader);
        before += work(&shader);
        let scalars: &[Pass] =
            passes![all_phis_to_scalar, to_scalar, lower_load_const_to_scalar, opt_copy_prop, opt_cse, opt_dce];
        for (_, pass) in scalars {
            pass(&mut shader);
        }
        let scalars = work(&shader);
        apart += scalars;
        let progress = to_vectors(&mut shader);
        assert!(progress == (work(&shader) < scalars), "seed {seed}");
        together += work(&shader);
        let body = shader.main();
        phis += body
            .blocks()
            .flat_map(|block| body.phis(block))
            .filter(|&phi| body.inst_def(phi).is_some_and(|def| body.num_components(def) > 1))
            .count();
    }
    println!("{before} instructions, {apart} scalar ones, {together} after merging, {phis} vector phis");
    assert!(apart > before * 3 / 2 && together < apart * 2 / 3 && phis > 50, "{before} {apart} {together} {phis}");
}

fn store(b: &mut Builder<'_>, zero: Def, value: Def) {
    let ty = crate::alu::AluType::UINT32.to_i32();
    let mask = (1 << b.body.num_components(value)) - 1;
    let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty)];
    b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
}

/// Instructions by opcode and number of components.
fn find(body: &Body, op: AluOp, components: u8) -> usize {
    let is_it = |inst: &Inst| {
        body.alu_op(*inst) == Some(op) && body.inst_def(*inst).is_some_and(|def| body.num_components(def) == components)
    };
    body.blocks().map(|block| body.insts(block).filter(is_it).count()).sum()
}

/// Long chains of operations on the components, next to each other and one chain after the other: linear in time, and as short as before.
#[test]
fn long_chains() {
    const LENGTH: u32 = 20_000;
    for by_components in [false, true] {
        let mut shader = Shader::new(Stage::Vertex);
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(4, 32));
        let mut values: Vec<Def> = (0..4).map(|component| b.channel(input, component)).collect();
        let mut step = |value: &mut Def, number: u32| {
            let constant = b.u32_const(number);
            let op = if number.is_multiple_of(2) { AluOp::Iadd } else { AluOp::Ixor };
            *value = b.alu(op, &[*value, constant]);
        };
        if by_components {
            for value in &mut values {
                (0..LENGTH).for_each(|number| step(value, number));
            }
        } else {
            for number in 0..LENGTH {
                values.iter_mut().for_each(|value| step(value, number));
            }
        }
        let vector = b.vec_of(&values);
        store(&mut b, zero, vector);
        opt_copy_prop(&mut shader);
        assert!(check_linear("to_vectors", &mut shader, to_vectors), "by components {by_components}");
        validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
        let body = shader.main();
        let wide = find(body, AluOp::Iadd, 4) + find(body, AluOp::Ixor, 4);
        assert_eq!((wide, work(&shader)), (LENGTH as usize, LENGTH as usize));
    }
}

/// A value with many readers is merged four times only.
#[test]
fn many_readers() {
    let mut shader = Shader::new(Stage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(4, 32));
    let values: Vec<Def> = (0..4).map(|c| b.alu_sized(AluOp::Ineg, 1, &[AluSrc::component(input, c)])).collect();
    let mut sums = values.clone();
    for _ in 0..20_000 {
        for (sum, &value) in sums.iter_mut().zip(&values) {
            *sum = b.alu(AluOp::Iadd, &[*sum, value]);
            store(&mut b, zero, *sum);
        }
    }
    assert!(check_linear("to_vectors", &mut shader, to_vectors));
    validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((find(shader.main(), AluOp::Ineg, 4), find(shader.main(), AluOp::Iadd, 4)), (1, 20_000));
}
