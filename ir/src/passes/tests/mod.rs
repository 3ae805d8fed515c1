//! Passes on random shaders: still valid, still the same meaning.

mod random_shaders;

use super::*;
use crate::shader::Shader;
use crate::text::print;
use crate::validate::validate;
use crate::variable::VariableModes;
use random_shaders::{Options, outcome, random_shader};

/// Every phi and every value that crosses a block through registers, and back.
fn through_registers(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            progress |= lower_phis_to_regs_block(body, block);
        }
    }
    // Derefs do not go into registers.
    progress |= rematerialize_derefs_in_use_blocks(shader);
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            progress |= lower_ssa_defs_to_regs_block(body, block);
        }
    }
    validate(shader).unwrap_or_else(|errors| panic!("in registers: {errors}"));
    progress
}

type Pass = (&'static str, fn(&mut Shader) -> bool);

const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

fn dead_variables(shader: &mut Shader) -> bool {
    remove_dead_variables(shader, TEMPORARIES)
}

macro_rules! passes {
    ($($pass:ident),* $(,)?) => { &[$((stringify!($pass), $pass as fn(&mut Shader) -> bool)),*] };
}

const STRAIGHT: &[Pass] = passes![
    lower_global_vars_to_local,
    split_var_copies,
    lower_var_copies,
    lower_vars_to_ssa,
    lower_reg_intrinsics_to_ssa,
    dead_variables,
    opt_copy_prop,
    opt_constant_folding,
    opt_peephole_cleanup,
    opt_remove_phis,
    opt_dead_cf,
    opt_cse,
    opt_dce,
    rematerialize_derefs_in_use_blocks,
    opt_undef,
    opt_copy_prop,
    opt_peephole_cleanup,
    opt_dead_cf,
    opt_remove_phis,
    opt_cse,
    opt_dce,
    through_registers,
    lower_reg_intrinsics_to_ssa,
    opt_remove_phis,
    into_ssa,
];

fn check(seed: u64, options: Options, passes: &[Pass]) {
    let mut shader = random_shader(seed, options);
    if let Err(errors) = validate(&shader) {
        panic!("seed {seed}: the generator made an invalid shader: {errors}\n{}", print(&shader));
    }
    let expected = outcome(&shader);
    for &(name, pass) in passes {
        let before = shader.clone();
        let progress = pass(&mut shader);
        if let Err(errors) = validate(&shader) {
            panic!("seed {seed}, {name}: {errors}\nbefore:\n{}\nafter:\n{}", print(&before), print(&shader));
        }
        let found = outcome(&shader);
        if found != expected {
            panic!("seed {seed}, {name} changed the meaning\nbefore:\n{}\nafter:\n{}", print(&before), print(&shader));
        }
        if !progress {
            assert_eq!(print(&before), print(&shader), "seed {seed}: {name} says that it changed nothing");
        }
    }
}

/// `TGSIC_RANDOM_SHADERS` sets the number of shaders a test makes.
fn seeds() -> std::ops::Range<u64> {
    0..std::env::var("TGSIC_RANDOM_SHADERS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

#[test]
fn random_shaders_in_order() {
    for seed in seeds() {
        check(seed, Options { statements: 40, functions: 0, returns: false }, STRAIGHT);
    }
}

#[test]
fn random_shaders_with_functions() {
    let mut passes: Vec<Pass> = passes![lower_returns, inline_functions, lower_returns, repair_ssa].to_vec();
    passes.extend(STRAIGHT);
    for seed in seeds() {
        check(seed + 2_000_000, Options { statements: 30, functions: 2, returns: true }, &passes);
        check(
            seed + 3_000_000,
            Options { statements: 40, functions: 1, returns: true },
            passes![opt_dead_cf, into_ssa],
        );
    }
}

#[test]
fn random_shaders_in_any_order() {
    for seed in seeds() {
        let mut random = random_shaders::Random::new(seed ^ 0x5555);
        let passes: Vec<Pass> = (0..12).map(|_| STRAIGHT[random.below(STRAIGHT.len())]).collect();
        check(seed + 1_000_000, Options { statements: 30, functions: 0, returns: false }, &passes);
    }
}

/// The tests above say nothing if the generator has no ideas.
#[test]
fn random_shaders_have_variety() {
    use crate::body::{CfNode, InstData, JumpKind};
    let (mut loops, mut ifs, mut calls, mut returns, mut phis, mut derefs, mut live) = (0, 0, 0, 0, 0, 0, 0);
    for seed in 0..100 {
        let mut shader = random_shader(seed, Options { statements: 40, functions: 2, returns: true });
        for body in shader.functions.values().filter_map(|f| f.body.as_ref()) {
            for block in body.blocks() {
                loops += usize::from(matches!(body.node_after(block), Some(CfNode::Loop(_))));
                ifs += usize::from(matches!(body.node_after(block), Some(CfNode::If(_))));
                for inst in body.insts(block) {
                    match body.inst(inst) {
                        InstData::Call { .. } => calls += 1,
                        InstData::Jump(JumpKind::Return) => returns += 1,
                        InstData::Phi => phis += 1,
                        InstData::Deref { .. } => derefs += 1,
                        _ => {}
                    }
                }
            }
        }
        into_ssa(&mut shader);
        live += pass_manager::count_instructions(&shader);
    }
    let found = [loops, ifs, calls, returns, phis, derefs, live];
    assert!(found.iter().zip([100, 200, 50, 50, 50, 1000, 2000]).all(|(&n, least)| n > least), "{found:?}");
}
