//! Modifiers with very many uses: the work must not be quadratic in them.

use std::cell::Cell;

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Builder, Def, Shader, ShaderStage, Shape};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;
use tgsi_registers::check::check;
use tgsi_registers::modifiers::{ModifierPolicy, SourceModifiers};
use tgsi_registers::{NO_OPERANDS, legacy_trivialize};

const MANY: usize = 20_000;

thread_local! {
    static QUESTIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts its calls.
const POLICY: ModifierPolicy<'static> = ModifierPolicy {
    source: &|_, _| {
        QUESTIONS.set(QUESTIONS.get() + 1);
        SourceModifiers::ALL
    },
    saturate: &|_| true,
};

/// Trivialises a chain of sums, each of which reads one of the given values, and chases every operand. Returns how many
/// operands are read through modifiers.
fn chased(operands: impl Fn(&mut Builder, Def) -> Vec<Def>) -> usize {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let scalar = Shape::new(1, 32);
    let registers = [b.decl_reg(scalar, 0), b.decl_reg(scalar, 0)];
    let one = b.f32_const(1.0);
    b.store_reg(one, registers[0], 0, 1);
    let loaded = b.load_reg(registers[0], 0);
    let operands = operands(&mut b, loaded);
    let mut sum = one;
    for number in 0..MANY {
        sum = b.alu(AluOp::Fadd, &[sum, operands[number % operands.len()]]);
    }
    b.store_reg(sum, registers[1], 0, 1);
    QUESTIONS.set(0);
    legacy_trivialize(&mut shader, POLICY, NO_OPERANDS);
    assert_eq!(check(&shader, POLICY, NO_OPERANDS), Ok(()));
    let body = shader.main();
    let mut through_modifiers = 0;
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if body.alu_op(inst).is_some() && !chase::is_folded(body, inst, POLICY) {
            for number in 0..body.num_sources(inst) {
                let source = chase::chase_alu_src(body, inst, number, POLICY);
                through_modifiers += usize::from(source.absolute || source.negate);
                assert!(!matches!(source.operand, Operand::Ssa(def) if def == loaded));
            }
        }
    }
    let questions = QUESTIONS.get();
    assert!(questions < 5000 * MANY, "asked {questions} times");
    through_modifiers
}

#[test]
fn of_one_modifier() {
    for op in [AluOp::Fneg, AluOp::Fabs] {
        // A modifier of a load.
        assert_eq!(chased(|b, loaded| vec![b.alu(op, &[loaded])]), 0);
        // A modifier of another value.
        assert_eq!(
            chased(|b, loaded| {
                let sum = b.alu(AluOp::Fadd, &[loaded, loaded]);
                vec![b.alu(op, &[sum])]
            }),
            0
        );
    }
}

#[test]
fn of_many_modifiers() {
    let many = chased(|b, loaded| {
        let sum = b.alu(AluOp::Fadd, &[loaded, loaded]);
        (0..MANY / 100).map(|_| b.alu(AluOp::Fneg, &[sum])).collect()
    });
    assert_eq!(many, MANY);
}

#[test]
fn of_many_negations_of_one_absolute_value() {
    for negations in [2, 200, MANY / 100, MANY] {
        chased(|b, loaded| {
            let sum = b.alu(AluOp::Fadd, &[loaded, loaded]);
            let absolute = b.alu(AluOp::Fabs, &[sum]);
            (0..negations).map(|_| b.alu(AluOp::Fneg, &[absolute])).collect()
        });
    }
}
