//! Random programs through target-specific passes: no branches, few operands, fused and split instructions.

use crate::programs::{Random, assert_same, execute, policy, program, program_with};
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pipeline::into_ssa;
use tgsi_ir::passes::{opt_comparison_pre, opt_rematerialize_compares};
use tgsi_ir::validate::validate;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, InstData, Shader, Swizzle, Use, User};
use tgsi_registers::assign_registers::{AssignOptions, Assignment, assign_registers};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;
use tgsi_registers::check::check;
use tgsi_registers::convert_from_ssa::ConvertFromSsaOptions;
use tgsi_registers::flatten_control_flow::{FlattenError, FlattenOptions};
use tgsi_registers::later_reads::{LaterReads, reads_own_destination};
use tgsi_registers::legalize_operands::{OperandClasses, OperandLimit, OperandLimits, rows_of_words};
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::{
    NO_OPERANDS, convert_from_ssa, flatten_control_flow, legacy_trivialize, legalize_operands, lower_locals_to_regs,
    lower_vec_to_regs,
};

/// Lowers SSA to trivial registers.
fn into_registers(shader: &mut Shader, policy: ModifierPolicy<'_>) {
    convert_from_ssa(shader, ConvertFromSsaOptions::default());
    lower_locals_to_regs(shader, 32);
    lower_vec_to_regs(shader, None);
    legacy_trivialize(shader, policy, NO_OPERANDS);
}

#[test]
fn flattened_programs_mean_the_same() {
    let compiler = CompilerOptions { speculate_loads: true, ..CompilerOptions::default() };
    let mut ifs = 0;
    for seed in 0..500 {
        let mut shader = program_with(seed, false);
        let expected = execute(&shader);
        if !seed.is_multiple_of(3) {
            into_ssa(&mut shader);
        }
        if seed % 3 == 1 {
            into_registers(&mut shader, policy(seed));
        }
        ifs += shader.main().blocks().filter(|&b| shader.main().following_if(b).is_some()).count();
        flatten_control_flow(&mut shader, &compiler, FlattenOptions::default()).unwrap();
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(shader.main().blocks().count(), 1);
        assert_same(&expected, &execute(&shader), seed, "flatten_control_flow");
        legacy_trivialize(&mut shader, policy(seed), NO_OPERANDS);
        check(&shader, policy(seed), NO_OPERANDS).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        assert_same(&expected, &execute(&shader), seed, "legacy_trivialize after it");
    }
    assert!(ifs > 500, "the programs are too simple: {ifs} ifs");
    let mut refused = 0;
    for seed in 0..100 {
        let mut shader = program(seed);
        into_ssa(&mut shader);
        let before = tgsi_ir::text::print(&shader);
        match flatten_control_flow(&mut shader, &compiler, FlattenOptions::default()) {
            Ok(_) => assert_eq!(shader.main().blocks().count(), 1),
            Err(error) => {
                assert!(matches!(error, FlattenError::Loop { .. } | FlattenError::Jump { .. }), "{error}");
                assert_eq!(before, tgsi_ir::text::print(&shader));
                refused += 1;
            }
        }
    }
    assert!(refused > 20, "only {refused} programs with loops");
}

#[test]
fn operands_are_within_the_limits() {
    const SECOND: OperandLimits<'static> = OperandLimits {
        limits: &[OperandLimit { classes: OperandClasses::CONSTANT, most: 1 }],
        takes: &|body, source, classes| {
            !classes.intersects(OperandClasses::CONSTANT) || body.source_number(source) == 1
        },
        ..OperandLimits::NONE
    };
    const NONE: OperandLimits<'static> = OperandLimits {
        limits: &[OperandLimit { classes: OperandClasses::ALL, most: 0 }],
        ..OperandLimits::ONE_OF_EACH
    };
    let mut movs = 0;
    for seed in 0..500 {
        let (mut shader, policy) = (program(seed), policy(seed));
        let limits = [OperandLimits::ONE_OF_EACH, OperandLimits::ONE_WIDE, SECOND, NONE][(seed / 5 % 4) as usize];
        let expected = execute(&shader);
        into_ssa(&mut shader);
        into_registers(&mut shader, policy);
        let before = shader.main().num_insts();
        legalize_operands(&mut shader, &limits, policy);
        movs += shader.main().num_insts() - before;
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_same(&expected, &execute(&shader), seed, "legalize_operands");
        check(&shader, policy, NO_OPERANDS).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let body = shader.main();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let is_mov = matches!(body.alu_op(inst), None | Some(AluOp::Mov));
            assert!(is_mov || chase::is_folded(body, inst, policy) || limits.allow(body, inst, policy), "seed {seed}");
        }
        assert!(!legalize_operands(&mut shader, &limits, policy), "seed {seed}: not done at once");
    }
    assert!(movs > 1000, "the programs are too simple: {movs} movs");
}

/// Clones an instruction at a cursor, with new loads of the registers it reads.
fn clone_with_loads(body: &mut Body, inst: Inst, cursor: Cursor) -> Option<Def> {
    let clone = body.clone_inst_before(inst);
    body.move_inst(cursor, clone);
    for source in body.sources(clone) {
        if let Some(load) = chase::load_reg_for_def(body, body.src_def(source)) {
            let again = body.clone_inst_before(load);
            body.move_inst(Cursor::Before(clone), again);
            let value = body.inst_def(again)?;
            body.set_src(source, value);
        }
    }
    body.inst_def(clone)
}

#[test]
fn operands_may_be_read_later() {
    let (mut moved, mut refused) = (0, 0);
    for seed in 0..500 {
        let mut shader = program(seed);
        let expected = execute(&shader);
        into_ssa(&mut shader);
        into_registers(&mut shader, policy(seed));
        let body = shader.main_mut();
        let later = LaterReads::of(body);
        let mut pairs = Vec::new();
        for block in body.blocks() {
            for producer in body.insts(block).filter(|&inst| body.alu_op(inst).is_some()) {
                let Some(def) = body.inst_def(producer) else { continue };
                for source in body.uses_of(def) {
                    let reads_register =
                        body.sources(producer).any(|s| chase::load_reg_for_def(body, body.src_def(s)).is_some());
                    if !reads_register {
                    } else if later.may_read_later(body, producer, body.user(source)) {
                        pairs.push((producer, source));
                    } else {
                        refused += 1;
                    }
                }
            }
        }
        moved += pairs.len();
        for (producer, source) in pairs {
            let cursor = Cursor::before_use(body, source);
            let clone = clone_with_loads(body, producer, cursor).unwrap();
            body.set_src(source, clone);
        }
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_same(&expected, &execute(&shader), seed, "later reads");
    }
    assert!(moved > 1000 && refused > 100, "{moved} {refused}");
}

#[test]
fn components_may_be_written_one_by_one() {
    let (mut split, mut refused) = (0, 0);
    for seed in 0..500 {
        let (mut shader, policy) = (program(seed), policy(seed));
        let expected = execute(&shader);
        if seed.is_multiple_of(2) {
            into_ssa(&mut shader);
        }
        into_registers(&mut shader, policy);
        let body = shader.main_mut();
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let (Some(_), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { continue };
                let dest = chase::chase_alu_dest(body, def, policy);
                let (Operand::Register(_), Some(store)) = (dest.operand, chase::store_reg_for_def(body, def)) else {
                    continue;
                };
                if reads_own_destination(body, inst, policy) {
                    refused += 1;
                    continue;
                }
                for component in (0..16).filter(|c| dest.write_mask & 1 << c != 0) {
                    let value = clone_with_loads(body, inst, Cursor::Before(inst)).unwrap();
                    let part = body.clone_inst_before(store);
                    body.move_inst(Cursor::Before(inst), part);
                    body.set_index(part, IndexKind::WriteMask, 1 << component);
                    body.set_src(body.source(part, 0), value);
                }
                body.remove_inst(store);
                body.remove_inst(inst);
                split += 1;
            }
        }
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_same(&expected, &execute(&shader), seed, "splitting");
    }
    assert!(split > 1000 && refused > 100, "{split} {refused}");
}

/// Makes one instruction in the first side of each `if` on a comparison of floats read the difference of the operands
/// compared.
fn read_differences(body: &mut Body) {
    for block in body.blocks_vec() {
        let Some(id) = body.following_if(block) else { continue };
        let compare = body.src_inst(body.if_condition(id));
        if !matches!(body.alu_op(compare), Some(AluOp::Flt | AluOp::Fge)) {
            continue;
        }
        let side = body.then_list(id).first;
        let is_reader = |&inst: &Inst| matches!(body.alu_op(inst), Some(AluOp::Fadd | AluOp::Fmul | AluOp::Fmax));
        let Some(reader) = body.insts(side).find(is_reader) else { continue };
        let operands = [0, 1].map(|number| AluSrc::of(body, body.source(compare, number)));
        let [a, b] = if reader.as_u32().is_multiple_of(2) { operands } else { [operands[1], operands[0]] };
        let mut builder = Builder::new(body, Cursor::Before(reader));
        let negated = builder.alu_sized(AluOp::Fneg, 1, &[b]);
        let difference = builder.alu_sized(AluOp::Fadd, 1, &[a, negated.into()]);
        // The condition holds in this side.
        let condition = builder.body.src_def(builder.body.if_condition(id)).into();
        let value = builder.alu_sized(AluOp::Bcsel, 1, &[condition, difference.into(), a]);
        let source = body.source(reader, 0);
        body.set_src(source, value);
        body.set_swizzle(source, Swizzle::replicate(0));
    }
}

#[test]
fn comparisons_may_be_computed_elsewhere() {
    let (mut differences, mut anew) = (0, 0);
    for seed in 0..500 {
        let mut shader = program(seed);
        into_ssa(&mut shader);
        read_differences(shader.main_mut());
        let expected = execute(&shader);
        differences += usize::from(opt_comparison_pre(&mut shader));
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_same(&expected, &execute(&shader), seed, "opt_comparison_pre");
        anew += usize::from(opt_rematerialize_compares(&mut shader));
        validate(&shader).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_same(&expected, &execute(&shader), seed, "opt_rematerialize_compares");
        into_registers(&mut shader, policy(seed));
        check(&shader, policy(seed), NO_OPERANDS).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
    }
    assert!(differences > 100 && anew > 10, "{differences} {anew}");
}

/// Walks a random path through the program; each operand must be where it was put.
fn walk(body: &Body, assignment: &Assignment, is_folded: &dyn Fn(&Body, Inst) -> bool, random: &mut Random) {
    let mut locations: Vec<Option<Def>> = vec![None; assignment.peak as usize];
    let mut block = body.start_block();
    for _ in 0..200 {
        for inst in body.insts(block) {
            if chase::is_register_access(body, inst) || is_folded(body, inst) {
                continue;
            }
            for source in body.sources(inst) {
                check_location(body, assignment, &locations, operand_of(body, source, is_folded));
            }
            let Some(mut def) = body.inst_def(inst) else { continue };
            let user = body.single_use(def).and_then(|source| body.user(source).inst());
            if let Some(saturation) = user
                && body.alu_op(saturation) == Some(AluOp::Fsat)
                && is_folded(body, saturation)
            {
                def = body.inst_def(saturation).unwrap();
            }
            let store = chase::store_reg_for_def(body, def).and_then(|store| chase::accessed_register(body, store));
            let operand = store.map_or(Operand::Ssa(def), Operand::Register);
            let written = match operand {
                Operand::Ssa(def) => def,
                Operand::Register(register) => register.handle,
            };
            if let Some(location) = assignment.location(written) {
                locations[location as usize] = Some(written);
            }
        }
        if let Some(id) = body.following_if(block) {
            check_location(body, assignment, &locations, chase::chase_src(body, body.if_condition(id)));
        }
        let next: Vec<_> = body.successors(block).collect();
        if next.is_empty() {
            return;
        }
        block = next[random.below(next.len() as u64) as usize];
    }
}

/// The operand of a source, behind folded modifiers.
fn operand_of(body: &Body, source: Use, is_folded: &dyn Fn(&Body, Inst) -> bool) -> Operand {
    let mut def = body.src_def(source);
    while is_folded(body, body.def_inst(def)) && body.alu_op(body.def_inst(def)) != Some(AluOp::Fsat) {
        def = body.src(body.def_inst(def), 0);
    }
    let load = chase::load_reg_for_def(body, def).and_then(|load| chase::accessed_register(body, load));
    load.map_or(Operand::Ssa(def), Operand::Register)
}

fn check_location(body: &Body, assignment: &Assignment, locations: &[Option<Def>], operand: Operand) {
    let read = match operand {
        Operand::Ssa(def) => def,
        Operand::Register(register) => {
            if let Some(index) = register.indirect {
                let load = chase::load_reg_for_def(body, index);
                let index = load.and_then(|load| chase::accessed_register(body, load)).map_or(index, |r| r.handle);
                check_value(assignment, locations, index, load.is_some());
            }
            register.handle
        }
    };
    check_value(assignment, locations, read, matches!(operand, Operand::Register(_)));
}

fn check_value(assignment: &Assignment, locations: &[Option<Def>], read: Def, is_register: bool) {
    let Some(location) = assignment.location(read) else { return };
    // A register that was not written may hold any value.
    let found = locations[location as usize];
    assert!(
        found == Some(read) || is_register && !locations.contains(&Some(read)) && found.is_none(),
        "{read}: {found:?}"
    );
}

#[test]
fn locations_are_not_shared() {
    let (mut values, mut peaks, mut fewer, mut shared) = (0, 0, 0, 0);
    for seed in 0..500 {
        let (mut shader, policy) = (program(seed), policy(seed));
        into_ssa(&mut shader);
        into_registers(&mut shader, policy);
        let body = shader.main();
        let is_folded = |body: &Body, inst: Inst| chase::is_folded(body, inst, policy);
        let needs_location = |body: &Body, def: Def| !matches!(body.inst(body.def_inst(def)), InstData::Deref { .. });
        let options = AssignOptions {
            limit: u32::MAX,
            is_folded: &is_folded,
            needs_location: &needs_location,
            reads_first: &|_, _| false,
        };
        let assignment = assign_registers(body, options).unwrap();
        values += body.blocks().flat_map(|b| body.insts(b)).filter(|&i| body.alu_op(i).is_some()).count();
        peaks += assignment.peak as usize;
        let mut random = Random(tgsi_environment::Random::new(seed));
        for _ in 0..20 {
            walk(body, &assignment, &is_folded, &mut random);
        }
        let peak = assignment.peak;
        assert!(assign_registers(body, AssignOptions { limit: peak, ..options }).is_ok());
        if peak > 0 {
            let error = assign_registers(body, AssignOptions { limit: peak - 1, ..options }).unwrap_err();
            assert_eq!((error.peak, error.limit), (peak, peak - 1));
        }
        // Operations of one instruction; products take several.
        let reads_first = |body: &Body, inst: Inst| body.alu_op(inst).is_some_and(|op| op != AluOp::Fmul);
        let assignment = assign_registers(body, AssignOptions { reads_first: &reads_first, ..options }).unwrap();
        assert!(assignment.peak <= peak);
        fewer += peak - assignment.peak;
        for _ in 0..20 {
            walk(body, &assignment, &is_folded, &mut random);
        }
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let Some(result) = body.inst_def(inst).and_then(|def| assignment.location(def)) else { continue };
            let operands = body.sources(inst).filter_map(|source| match operand_of(body, source, &is_folded) {
                Operand::Ssa(def) => assignment.location(def),
                Operand::Register(register) => assignment.location(register.handle),
            });
            let is_shared = operands.into_iter().any(|location| location == result);
            assert!(!is_shared || reads_first(body, inst), "seed {seed}: {inst}");
            shared += usize::from(is_shared);
        }
    }
    assert!(peaks * 2 < values, "{peaks} locations for {values} values");
    assert!(fewer > 50 && shared > 500, "{fewer} locations fewer, {shared} shared");
}

/// A backend that folds modifiers itself, also those of registers.
#[test]
fn locations_hold_behind_own_modifiers() {
    let (mut folded, mut of_registers) = (0, 0);
    for seed in 0..500 {
        let mut shader = program(seed);
        into_ssa(&mut shader);
        into_registers(&mut shader, ModifierPolicy::NONE);
        let body = shader.main();
        let later = LaterReads::of(body);
        let is_folded = |body: &Body, inst: Inst| {
            let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
            let is_nested = matches!(body.alu_op(body.def_inst(body.src(inst, 0))), Some(AluOp::Fneg | AluOp::Fabs));
            let may_move = |user: User| {
                let is_sum = user.inst().and_then(|user| body.alu_op(user)).is_some_and(|op| op != AluOp::Mov);
                is_sum && later.may_read_later(body, inst, user)
            };
            matches!(op, AluOp::Fneg | AluOp::Fabs)
                && !is_nested
                && chase::store_reg_for_def(body, def).is_none()
                && body.uses_of(def).all(|source| may_move(body.user(source)))
        };
        for inst in body.blocks().flat_map(|block| body.insts(block)).filter(|&inst| is_folded(body, inst)) {
            folded += 1;
            of_registers += usize::from(chase::load_reg_for_def(body, body.src(inst, 0)).is_some());
        }
        let needs_location = |body: &Body, def: Def| !matches!(body.inst(body.def_inst(def)), InstData::Deref { .. });
        let options = AssignOptions {
            limit: u32::MAX,
            is_folded: &is_folded,
            needs_location: &needs_location,
            reads_first: &|body, inst| body.alu_op(inst).is_some(),
        };
        let assignment = assign_registers(body, options).unwrap();
        let mut random = Random(tgsi_environment::Random::new(seed));
        for _ in 0..20 {
            walk(body, &assignment, &is_folded, &mut random);
        }
    }
    assert!(folded > 500 && of_registers > 50, "{folded} {of_registers}");
}

/// Constants whose words fit one row are one read.
#[test]
fn constants_share_rows() {
    const ROWS: OperandLimits<'static> = OperandLimits { reads: &rows_of_words, ..OperandLimits::ONE_OF_EACH };
    let mut shader = Shader::new(tgsi_ir::shader::ShaderStage::Vertex);
    let body = shader.main_mut();
    let mut b = Builder::at_end(body);
    let constants = [&[1.0, 2.0, 3.0][..], &[2.0, 3.0, 4.0], &[5.0, 1.0, 2.0]]
        .map(|words| b.constant(32, &words.iter().map(|word: &f32| word.to_bits().into()).collect::<Vec<_>>()));
    let fits = b.alu(AluOp::Fadd, &[constants[0], constants[1]]);
    let exceeds = b.alu(AluOp::Fadd, &[constants[1], constants[2]]);
    let insts = [fits, exceeds].map(|def| body.def_inst(def));
    let allowed = |limits: OperandLimits<'_>| insts.map(|inst| limits.allow(shader.main(), inst, ModifierPolicy::ALL));
    assert_eq!(allowed(ROWS), [true, false]);
    assert_eq!(allowed(OperandLimits::ONE_OF_EACH), [false, false]);
}
