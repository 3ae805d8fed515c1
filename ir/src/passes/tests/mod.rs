//! Runs passes on random shaders: they must stay valid and keep their meaning.

mod control;
mod lower_bit_size;
mod lower_phis_to_regs_block;
mod numeric;
pub(crate) mod random_shaders;

use super::*;
use crate::options::CompilerOptions;
use crate::shader::Shader;
use crate::text::print;
use crate::validate::validate;
use crate::variable::VariableModes;
use lower_bit_size::lower_bit_size;
use lower_phis_to_regs_block::{lower_phis_to_regs_block, lower_ssa_defs_to_regs_block};
use random_shaders::{Options, outcome, random_shader};

/// Moves every phi and every value that crosses a block to registers, and back.
fn through_registers(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            progress |= lower_phis_to_regs_block(body, block);
        }
    }
    // Derefs cannot be stored in registers.
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

fn algebraic(shader: &mut Shader) -> bool {
    opt_algebraic(shader, &CompilerOptions::default())
}

fn peephole_select(shader: &mut Shader) -> bool {
    opt_peephole_select(shader, &CompilerOptions::default())
}

fn no_control_flow(shader: &mut Shader) -> bool {
    let options = CompilerOptions { peephole_select_limit: u32::MAX, ..CompilerOptions::default() };
    opt_peephole_select(shader, &options)
}

fn divergence(shader: &mut Shader) -> bool {
    crate::analysis::analyze_divergence(shader, &Default::default())
}

fn opt_loop(shader: &mut Shader) -> bool {
    crate::passes::opt_loop(shader, &CompilerOptions::default())
}

fn opt_licm(shader: &mut Shader) -> bool {
    crate::passes::opt_licm(shader, &CompilerOptions::default())
}

fn optimized(shader: &mut Shader) -> bool {
    pipeline::optimize(shader, &CompilerOptions::default())
}

fn indirect_derefs(shader: &mut Shader) -> bool {
    lower_indirect_derefs(shader, TEMPORARIES, 8)
}

fn copy_prop_vars(shader: &mut Shader) -> bool {
    opt_copy_prop_vars(shader, &CompilerOptions::default())
}

fn copy_prop_vars_scalar(shader: &mut Shader) -> bool {
    opt_copy_prop_vars(shader, &CompilerOptions { vector_target: false, ..CompilerOptions::default() })
}

/// Computes integers, and operations that forward bits, in 64 bits as pairs of words; the meaning of the program must
/// not change.
fn by_pairs_of_words(shader: &mut Shader) -> bool {
    use crate::alu::BaseType;
    use crate::body::{Body, InstData};
    use crate::entities::Inst;
    let wide = |body: &Body, inst: Inst| match body.inst(inst) {
        InstData::Alu { op, .. } => {
            let info = op.info();
            let has = |base| info.output_type.base == base || info.input_types.iter().any(|ty| ty.base == base);
            if has(BaseType::Float) || op.is_vec_or_mov() { 0 } else { 64 }
        }
        InstData::Phi => 64,
        _ => 0,
    };
    let options = CompilerOptions { lower_int64: crate::options::Int64Ops::ALL, ..CompilerOptions::default() };
    let progress = lower_bit_size(shader, &wide);
    progress | lower_int64(shader, &options)
}

fn to_scalar(shader: &mut Shader) -> bool {
    lower_alu_to_scalar(shader, &CompilerOptions::default())
}

macro_rules! passes {
    ($($pass:ident),* $(,)?) => { &[$((stringify!($pass), $pass as fn(&mut Shader) -> bool)),*] };
}

// After the macro that it uses.
mod shape;

fn unroll(shader: &mut Shader) -> bool {
    // Without a limit on cost.
    let options = CompilerOptions { max_unroll_growth: u32::MAX, ..CompilerOptions::default() };
    opt_loop_unroll(shader, &options)
}

/// The passes over variables, in a shader with many variables.
const VARIABLES: &[Pass] = passes![
    opt_dead_write_vars,
    copy_prop_vars,
    copy_prop_vars_scalar,
    opt_dead_write_vars,
    opt_copy_prop,
    opt_constant_folding,
    copy_prop_vars,
    opt_dead_write_vars,
    lower_global_vars_to_local,
    opt_find_array_copies,
    copy_prop_vars,
    opt_dead_write_vars,
    shrink_vec_array_vars,
    opt_dce,
    lower_var_copies,
    opt_find_array_copies,
    opt_find_array_copies,
    copy_prop_vars_scalar,
    opt_dead_write_vars,
    opt_copy_prop,
    opt_constant_folding,
    opt_dead_cf,
    opt_cse,
    shrink_vec_array_vars,
    copy_prop_vars,
    opt_dead_write_vars,
    shrink_vec_array_vars,
    into_ssa,
    opt_dead_write_vars,
    shrink_vec_array_vars,
    copy_prop_vars,
    optimized,
];

const STRAIGHT: &[Pass] = passes![
    lower_global_vars_to_local,
    copy_prop_vars,
    opt_dead_write_vars,
    lower_var_copies,
    lower_vars_to_ssa,
    lower_reg_intrinsics_to_ssa,
    dead_variables,
    opt_copy_prop,
    opt_constant_folding,
    algebraic,
    opt_remove_phis,
    opt_dead_cf,
    opt_cse,
    opt_dce,
    rematerialize_derefs_in_use_blocks,
    opt_undef,
    opt_shrink_vectors,
    opt_conditional_discard,
    opt_if,
    peephole_select,
    opt_narrow_selects,
    opt_phi_precision,
    opt_shrink_vectors,
    opt_copy_prop,
    algebraic,
    opt_dead_cf,
    opt_remove_phis,
    opt_cse,
    opt_dce,
    through_registers,
    lower_reg_intrinsics_to_ssa,
    opt_remove_phis,
    indirect_derefs,
    lower_indirect_registers,
    opt_loop,
    into_ssa,
    opt_loop,
    convert_to_lcssa,
    unroll,
    opt_copy_prop,
    opt_constant_folding,
    opt_dead_cf,
    unroll,
    opt_loop,
    into_ssa,
    opt_reuse_components,
    opt_licm,
    opt_copy_prop,
    opt_licm,
    to_scalar,
    lower_phis_to_scalar,
    lower_load_const_to_scalar,
    opt_copy_prop,
    lower_loop_jumps,
    into_ssa,
    lower_loop_jumps,
    into_ssa,
    optimized,
    no_control_flow,
];

fn check(seed: u64, options: Options, passes: &[Pass]) {
    let mut shader = random_shader(seed, options);
    if let Err(errors) = validate(&shader) {
        panic!("seed {seed}: the generator emitted an invalid shader: {errors}\n{}", print(&shader));
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
            assert_eq!(print(&before), print(&shader), "seed {seed}: {name} reported no change");
        }
    }
}

/// `TGSIC_RANDOM_SHADERS` sets the number of shaders per test.
fn seeds() -> std::ops::Range<u64> {
    0..std::env::var("TGSIC_RANDOM_SHADERS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

#[test]
fn random_shaders_in_order() {
    for seed in seeds() {
        check(seed, Options { statements: 40, functions: 0, returns: false, kills: false }, STRAIGHT);
    }
}

#[test]
fn random_shaders_full_of_variables() {
    for seed in seeds() {
        let statements = 20 + (seed % 40) as usize;
        check(seed + 5_000_000, Options { statements, functions: 0, returns: false, kills: seed % 2 == 1 }, VARIABLES);
        check(seed + 6_000_000, Options { statements, functions: 1, returns: true, kills: false }, &VARIABLES[..13]);
    }
}

#[test]
fn random_shaders_with_functions() {
    let mut passes: Vec<Pass> = passes![lower_returns, inline_functions, lower_returns, repair_ssa].to_vec();
    passes.extend(STRAIGHT);
    for seed in seeds() {
        check(seed + 2_000_000, Options { statements: 30, functions: 2, returns: true, kills: false }, &passes);
        check(
            seed + 3_000_000,
            Options { statements: 40, functions: 1, returns: true, kills: false },
            passes![opt_dead_cf, into_ssa],
        );
    }
}

#[test]
fn random_shaders_in_any_order() {
    for seed in seeds() {
        let mut random = random_shaders::Random::new(seed ^ 0x5555);
        let passes: Vec<Pass> = (0..12).map(|_| STRAIGHT[random.below(STRAIGHT.len())]).collect();
        check(seed + 1_000_000, Options { statements: 30, functions: 0, returns: false, kills: false }, &passes);
    }
}

#[test]
fn random_shaders_by_pairs_of_words() {
    let passes: &[Pass] = passes![
        by_pairs_of_words,
        into_ssa,
        by_pairs_of_words,
        opt_cse,
        opt_dce,
        algebraic,
        opt_loop,
        by_pairs_of_words,
        opt_constant_folding,
        optimized,
    ];
    let mut packed = 0;
    for seed in seeds().step_by(3) {
        let options = Options { statements: 40, functions: 0, returns: false, kills: false };
        check(seed + 7_000_000, options, passes);
        let mut shader = random_shader(seed + 7_000_000, options);
        by_pairs_of_words(&mut shader);
        packed += usize::from(print(&shader).matches("pack_64_2x32_split").count() > 20);
    }
    assert!(3 * packed > seeds().step_by(3).count(), "{packed} shaders have integers");
}

#[test]
fn random_fragment_shaders() {
    for seed in seeds() {
        check(seed + 4_000_000, Options { statements: 40, functions: 0, returns: false, kills: true }, STRAIGHT);
    }
}

/// The tests above are meaningless if the passes find nothing to do.
#[test]
fn passes_over_variables_find_something() {
    let mut found = [0; 4];
    for seed in 0..200 {
        let mut shader = random_shader(seed, Options { statements: 50, functions: 0, returns: false, kills: false });
        lower_global_vars_to_local(&mut shader);
        opt_cse(&mut shader);
        let mut plain = shader.clone();
        lower_var_copies(&mut plain);
        let passes: &[Pass] =
            passes![copy_prop_vars, opt_dead_write_vars, opt_find_array_copies, shrink_vec_array_vars,];
        for (count, &(name, pass)) in found.iter_mut().zip(passes) {
            let needs_loads = matches!(name, "opt_find_array_copies" | "shrink_vec_array_vars");
            *count += usize::from(pass(&mut if needs_loads { plain.clone() } else { shader.clone() }));
        }
    }
    assert!(found.iter().zip([150, 5, 20, 100]).all(|(&n, least)| n > least), "{found:?}");
}

/// They are also meaningless if no code moves.
#[test]
fn code_moves() {
    let mut found = 0;
    for seed in 0..200 {
        let mut shader = random_shader(seed, Options { statements: 50, functions: 0, returns: false, kills: false });
        into_ssa(&mut shader);
        found += usize::from(opt_licm(&mut shader));
    }
    assert!(found > 15, "{found}");
}

/// A value reported as uniform is the same in all four invocations of a subgroup.
#[test]
fn uniform_values_are_uniform() {
    use crate::analysis::analyze_divergence;
    use crate::analysis::divergence::{DivergenceOptions, is_use_divergent};
    use crate::builder::Builder;
    use crate::entities::User;
    use crate::intrinsics::IntrinsicOp;
    use crate::{Cursor, InstData};
    let (mut uniform, mut divergent, mut loops) = (0, 0, 0);
    for seed in 0..4 * seeds().end {
        let mut shader = random_shader(seed, Options { statements: 100, functions: 0, returns: false, kills: false });
        // Most values that depend on the input depend only on the first invocation's input.
        let body = shader.main_mut();
        let is_load = |&inst: &_| body.intrinsic(inst) == Some(IntrinsicOp::LoadDeref);
        let load = body.insts(body.start_block()).find(is_load).expect("the input is read first");
        let input = body.inst_def(load).unwrap();
        let mut b = Builder::new(body, Cursor::After(load));
        let first = b.intrinsic_def(IntrinsicOp::ReadFirstInvocation, &[input], &[], crate::Shape::new(4, 32));
        for (number, source) in body.uses_vec(input).into_iter().enumerate() {
            if body.user(source) != User::Inst(body.def_inst(first))
                && !(number as u64 + seed).is_multiple_of(1 + seed % 4)
            {
                body.set_src(source, first);
            }
        }
        into_ssa(&mut shader);
        if seed.is_multiple_of(2) {
            convert_to_lcssa(&mut shader);
        }
        let before = outcome(&shader);
        assert!(analyze_divergence(&mut shader, &DivergenceOptions::default()));
        assert!(!analyze_divergence(&mut shader, &DivergenceOptions::default()));
        let (outputs, _) = outcome(&shader);
        assert_eq!(before.0, outputs);
        let body = shader.main();
        let loop_tree = body.loop_tree();
        loops += loop_tree.loops.iter().filter(|&&id| body.loop_divergence(id).1).count();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            if body.intrinsic(inst) != Some(IntrinsicOp::StoreDeref) {
                continue;
            }
            let InstData::Deref { kind: crate::body::DerefKind::Var(id), .. } =
                *body.inst(body.def_inst(body.src(inst, 0)))
            else {
                continue;
            };
            let (value, data) = (body.src(inst, 1), &shader.variables[id]);
            if data.mode != VariableModes::SHADER_OUT || is_use_divergent(body, &loop_tree, body.source(inst, 1)) {
                divergent += 1;
                continue;
            }
            uniform += usize::from(body.def_constant(value).is_none());
            for component in 0..4 {
                let words = outputs.component(data.driver_location as usize, component);
                for quad in words.chunks(4) {
                    assert!(
                        quad.iter().all(|&word| word == quad[0]),
                        "seed {seed}: {value}, component {component}: {quad:x?}\n{}",
                        print(&shader)
                    );
                }
            }
        }
    }
    let least = seeds().end as usize;
    assert!(uniform > least && divergent > 4 * least && loops > least / 40, "{uniform} {divergent} {loops}");
}

/// The tests above are meaningless if the random shaders lack variety.
#[test]
fn random_shaders_have_variety() {
    use crate::body::{CfNode, InstData, JumpKind};
    let (mut loops, mut ifs, mut calls, mut returns, mut phis, mut derefs, mut live) = (0, 0, 0, 0, 0, 0, 0);
    for seed in 0..100 {
        let mut shader = random_shader(seed, Options { statements: 40, functions: 2, returns: true, kills: false });
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

/// Large shaders of simple shapes: work must not be quadratic. They are not validated after each pass, as the
/// validator's work is not counted.
mod large {
    use super::*;
    use crate::alu::{AluOp, AluType};
    use crate::body::{JumpKind, Shape};
    use crate::builder::Builder;
    use crate::entities::Def;
    use crate::intrinsics::{IndexKind, IntrinsicOp};
    use crate::shader::ShaderStage;
    use crate::work::check_linear;

    const SHAPE: Shape = Shape::new(4, 32);

    fn measure(name: &str, make: impl FnOnce(&mut Builder<'_>, Def, &[Def])) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let mut b = Builder::at_end(shader.main_mut());
        let registers: Vec<Def> = (0..8).map(|_| b.decl_reg(SHAPE, 0)).collect();
        let zero = b.u32_const(0);
        let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], SHAPE);
        make(&mut b, input, &registers);
        for (i, &register) in registers.iter().enumerate() {
            let value = b.load_reg(register, 0);
            let source_type = AluType::UINT32.to_i32();
            let indices = [(IndexKind::Base, i as i32), (IndexKind::WriteMask, 15), (IndexKind::SrcType, source_type)];
            b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
        }
        for round in 0..4 {
            for &(pass_name, pass) in passes![
                lower_returns,
                lower_reg_intrinsics_to_ssa,
                opt_copy_prop,
                opt_constant_folding,
                algebraic,
                opt_undef,
                opt_remove_phis,
                opt_conditional_discard,
                opt_shrink_vectors,
                opt_if,
                peephole_select,
                opt_phi_precision,
                opt_dead_cf,
                opt_cse,
                opt_licm,
                opt_reuse_components,
                divergence,
                opt_dce,
                repair_ssa,
            ] {
                check_linear(&format!("{name}, round {round}: {pass_name}"), &mut shader, pass);
            }
        }
        validate(&shader).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        shader
    }

    /// A condition that no pass can determine.
    fn condition(b: &mut Builder<'_>, input: Def, i: usize) -> Def {
        let number = b.u32_const(i as u32);
        let component = b.channel(input, (i % 4) as u8);
        b.alu(AluOp::Ult, &[component, number])
    }

    fn bump(b: &mut Builder<'_>, input: Def, register: Def, i: usize) {
        let value = b.load_reg(register, 0);
        let sum = b.alu(AluOp::Iadd, &[value, input]);
        b.store_reg(sum, register, 0, 1 + (i % 15) as u32);
    }

    #[test]
    fn nested_ifs() {
        measure("50,000 nested ifs", |b, input, registers| {
            let mut open = Vec::new();
            for i in 0..50_000 {
                let c = condition(b, input, i);
                open.push(b.push_if(c));
                bump(b, input, registers[i % 8], i);
            }
            for id in open.into_iter().rev() {
                b.end_if(id);
            }
        });
    }

    #[test]
    fn ifs_in_a_row() {
        measure("20,000 consecutive ifs", |b, input, registers| {
            for i in 0..20_000 {
                let c = condition(b, input, i);
                let id = b.push_if(c);
                bump(b, input, registers[i % 8], i);
                b.end_if(id);
            }
        });
    }

    #[test]
    fn breaks_of_a_loop() {
        measure("10,000 breaks of a loop", |b, input, registers| {
            let outer = b.push_loop();
            for i in 0..10_000 {
                let c = condition(b, input, i);
                let id = b.push_if(c);
                bump(b, input, registers[i % 8], i);
                b.jump(if i % 3 == 0 { JumpKind::Continue } else { JumpKind::Break });
                b.end_if(id);
                bump(b, input, registers[(i + 1) % 8], i);
            }
            b.end_loop(outer);
        });
    }

    #[test]
    fn returns_everywhere() {
        measure("10,000 returns", |b, input, registers| {
            for i in 0..10_000 {
                let c = condition(b, input, i);
                let id = b.push_if(c);
                bump(b, input, registers[i % 8], i);
                b.jump(JumpKind::Return);
                b.end_if(id);
                bump(b, input, registers[(i + 1) % 8], i);
            }
        });
    }

    #[test]
    fn nested_loops() {
        measure("1,000 nested loops", |b, input, registers| {
            let mut open = Vec::new();
            for i in 0..1_000 {
                open.push(b.push_loop());
                let c = condition(b, input, i);
                let id = b.push_if(c);
                b.jump(JumpKind::Break);
                b.end_if(id);
                bump(b, input, registers[i % 8], i);
            }
            for id in open.into_iter().rev() {
                b.end_loop(id);
            }
        });
    }

    #[test]
    fn dead_nests() {
        let shader = measure("20,000 nested ifs without effect", |b, input, _| {
            let mut open = Vec::new();
            for i in 0..20_000 {
                let c = condition(b, input, i);
                open.push(b.push_if(c));
            }
            for id in open.into_iter().rev() {
                b.end_if(id);
            }
        });
        assert_eq!(shader.main().blocks().count(), 1);
    }

    /// The passes over variables: one large array, with many stores and loads in many consecutive or nested ifs.
    fn variables(name: &str, nested: bool) {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let vector = shader.types.vector(crate::types::ScalarType::Float, 4);
        let array = shader.types.array(vector, 10_000);
        let main = shader.entry_point().unwrap();
        let variables = [shader.add_local(main, "a", array), shader.add_local(main, "b", array)];
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], SHAPE);
        let mut open = Vec::new();
        let mut value = input;
        for i in 0..30_000 {
            let [to, from] = if i % 20_000 < 10_000 { variables } else { [variables[1], variables[0]] };
            let some = b.channel(input, (i % 4) as u8);
            let constant = b.u32_const(i as u32 % 10_000);
            for (variable, index, is_store) in [(from, constant, false), (to, constant, true), (to, some, i % 7 == 0)] {
                let root = b.deref_var(variable, VariableModes::FUNCTION_TEMP, array);
                let place = b.deref_array(root, index, vector);
                if is_store {
                    b.store_deref(place, value, 1 + (i % 15) as u32);
                } else {
                    value = b.load_deref(place, SHAPE);
                }
            }
            if i % 2 == 0 {
                let c = condition(&mut b, input, i);
                open.push(b.push_if(c));
                if !nested {
                    open.drain(..).for_each(|id| b.end_if(id));
                }
            }
        }
        open.into_iter().rev().for_each(|id| b.end_if(id));
        let source_type = AluType::UINT32.to_i32();
        let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, 15), (IndexKind::SrcType, source_type)];
        let zeros = b.constant(32, &[0; 4]);
        b.intrinsic(IntrinsicOp::StoreOutput, &[zeros, zero], &indices, None);
        for &(pass_name, pass) in passes![
            opt_find_array_copies,
            copy_prop_vars,
            opt_dead_write_vars,
            shrink_vec_array_vars,
            copy_prop_vars_scalar,
        ] {
            check_linear(&format!("{name}: {pass_name}"), &mut shader, pass);
        }
        validate(&shader).unwrap_or_else(|errors| panic!("{name}: {errors}"));
    }

    #[test]
    fn variables_in_a_row() {
        variables("arrays in consecutive ifs", false);
    }

    #[test]
    fn variables_in_nested_ifs() {
        variables("arrays in nested ifs", true);
    }
}
