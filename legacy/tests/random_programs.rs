//! Random programs through all register passes: the IR interpreter must produce the same results after each, the
//! validator must accept each, and the checker must accept the last.

use crate::programs::{Random, assert_same, execute, policy, program};
use tgsi_ir::analysis::analyze_divergence;
use tgsi_ir::analysis::divergence::DivergenceOptions;
use tgsi_ir::passes::pipeline::into_ssa;
use tgsi_ir::validate::validate;
use tgsi_ir::{Def, InstData, Shader};
use tgsi_registers::chase;
use tgsi_registers::check::check;
use tgsi_registers::convert_from_ssa::ConvertFromSsaOptions;
use tgsi_registers::move_vec_src_uses_to_dest::MoveVecSrcOptions;
use tgsi_registers::registers::{reg_decl, reg_decls, reg_stores};
use tgsi_registers::{
    NO_OPERANDS, convert_from_ssa, legacy_trivialize, lower_locals_to_regs, lower_vec_to_regs,
    move_vec_src_uses_to_dest, trivialize_registers,
};

/// Analyses divergence, or leaves it incomplete as after passes that ran since the analysis.
fn analyze(shader: &mut Shader, seed: u64) {
    if seed.is_multiple_of(4) {
        return;
    }
    analyze_divergence(shader, &DivergenceOptions::default());
    let mut random = Random(tgsi_environment::Random::new(seed));
    let body = shader.main_mut();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            if let Some(def) = body.inst_def(inst)
                && random.below(3) == 0
            {
                body.set_divergent(def, seed % 4 == 3);
            }
        }
    }
}

fn all_defs(shader: &Shader) -> impl Iterator<Item = Def> + '_ {
    let body = shader.main();
    body.blocks().flat_map(|block| body.insts(block)).filter_map(|inst| body.inst_def(inst))
}

/// Asserts that registers declared uniform hold only values known to be uniform. Returns their number.
fn check_divergence(shader: &Shader, uniform: &[Def]) -> usize {
    let body = shader.main();
    let registers: Vec<_> = reg_decls(body).filter(|register| !register.divergent).collect();
    for register in &registers {
        for store in reg_stores(body, register.handle) {
            let value = body.src(store, 0);
            let producer = body.def_inst(value);
            let from = chase::load_reg_for_def(body, value).and_then(|load| reg_decl(body, body.src(load, 0)));
            let is_uniform = match from {
                Some(from) => !from.divergent,
                None => {
                    matches!(body.inst(producer), InstData::LoadConst { .. } | InstData::Undef)
                        || uniform.contains(&value)
                }
            };
            assert!(is_uniform, "{value} is in the uniform register {}", register.handle);
        }
    }
    registers.len()
}

#[test]
fn every_pass_keeps_the_meaning() {
    let (mut phis, mut uniform_registers) = (0, 0);
    for seed in 0..1000 {
        let mut shader = program(seed);
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let expected = execute(&shader);
        let check_stage = |shader: &Shader, stage: &str| {
            validate(shader).unwrap_or_else(|e| panic!("seed {seed} after {stage}: {e}"));
            assert_same(&expected, &execute(shader), seed, stage);
        };
        // Without SSA: trivialisation alone.
        let mut registers = shader.clone();
        trivialize_registers(&mut registers, NO_OPERANDS);
        check_stage(&registers, "trivialize_registers");
        legacy_trivialize(&mut registers, policy(seed), NO_OPERANDS);
        check_stage(&registers, "legacy_trivialize of registers");
        check(&registers, policy(seed), NO_OPERANDS).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));

        into_ssa(&mut shader);
        check_stage(&shader, "into_ssa");
        phis += shader.main().blocks().map(|b| shader.main().phis(b).count()).sum::<usize>();
        analyze(&mut shader, seed);
        let uniform: Vec<Def> = all_defs(&shader).filter(|&def| shader.main().is_known_uniform(def)).collect();
        convert_from_ssa(&mut shader, ConvertFromSsaOptions { consider_divergence: seed % 4 > 1 });
        uniform_registers += check_divergence(&shader, &uniform);
        check_stage(&shader, "convert_from_ssa");
        lower_locals_to_regs(&mut shader, 32);
        check_stage(&shader, "lower_locals_to_regs");
        if !seed.is_multiple_of(3) {
            let options = MoveVecSrcOptions { skip_constants: seed % 3 == 1, max_bit_size: 32 };
            move_vec_src_uses_to_dest(&mut shader, options);
            check_stage(&shader, "move_vec_src_uses_to_dest");
        }
        lower_vec_to_regs(&mut shader, None);
        check_stage(&shader, "lower_vec_to_regs");
        legacy_trivialize(&mut shader, policy(seed / 2), NO_OPERANDS);
        check_stage(&shader, "legacy_trivialize");
        check(&shader, policy(seed / 2), NO_OPERANDS).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
    }
    assert!(uniform_registers > 50, "only {uniform_registers} uniform registers");
    assert!(phis > 1000, "the programs are too simple: {phis} phis");
}
