//! Loops that begin with an `if` whose sides are for the first iteration and for all others.

use super::random_shaders::Random;
use super::*;
use crate::alu::AluOp;
use crate::body::{Body, CfNode, JumpKind, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::{IndexKind, IntrinsicOp};

/// Random work on registers.
fn bump(b: &mut Builder<'_>, registers: &[Def], random: &mut Random) {
    for _ in 0..random.below(3) {
        let [to, from] = [0; 2].map(|_| registers[random.below(registers.len())]);
        let (x, y) = (b.load_reg(to, 0), b.load_reg(from, 0));
        let op = [AluOp::Iadd, AluOp::Ixor, AluOp::Isub][random.below(3)];
        let value = b.alu(op, &[x, y]);
        b.store_reg(value, to, 0, 1 + random.below(15) as u32);
    }
}

/// Gives every loop of the main function such an `if`, told by a register that is set the first time.
fn add_initial_ifs(body: &mut Body, random: &mut Random) {
    let is_vector = |&inst: &Inst| {
        let is = |kind, value| body.index(inst, kind) == value;
        body.intrinsic(inst) == Some(IntrinsicOp::DeclReg)
            && is(IndexKind::NumArrayElems, 0)
            && is(IndexKind::NumComponents, 4)
            && is(IndexKind::BitSize, 32)
    };
    let registers: Vec<Def> =
        body.insts(body.start_block()).filter(is_vector).filter_map(|inst| body.inst_def(inst)).collect();
    for before in body.blocks_vec() {
        let Some(CfNode::Loop(id)) = body.node_after(before) else { continue };
        let mut b = Builder::at_start(body);
        let flag = b.decl_reg(Shape::new(1, 32), 0);
        let before = b.body.block_before_loop(id);
        b = Builder::new(body, Cursor::before_jump(body, before));
        let values = if random.below(2) == 0 { [0, 1] } else { [5, 0] };
        let [first, later] = values.map(|value| b.u32_const(value));
        b.store_reg(first, flag, 0, 1);
        let head = b.body.loop_body(id).first;
        let mut b = Builder::new(body, Cursor::BlockStart(head));
        bump(&mut b, &registers, random);
        let told = b.load_reg(flag, 0);
        let zero = b.u32_const(0);
        let condition = b.alu(AluOp::Ine, &[told, zero]);
        let first_if = b.push_if(condition);
        for is_then in [true, false] {
            bump(&mut b, &registers, random);
            let is_first = is_then == (values[0] != 0);
            if !is_first && random.below(3) == 0 || random.below(20) == 0 {
                let some = b.load_reg(registers[random.below(registers.len())], 0);
                let some = b.channel(some, random.below(4) as u8);
                let limit = b.u32_const(1 << 31);
                let leaves = b.alu(AluOp::Ult, &[some, limit]);
                let exit = b.push_if(leaves);
                b.jump(JumpKind::Break);
                b.end_if(exit);
                bump(&mut b, &registers, random);
            }
            if is_then {
                b.push_else(first_if);
            }
        }
        b.end_if(first_if);
        b.store_reg(later, flag, 0, 1);
    }
}

#[test]
fn initial_ifs() {
    let (mut loops, mut peeled, mut left) = (0, 0, 0);
    for seed in 0..2 * seeds().end {
        let kills = seed % 3 == 2;
        let options = Options { statements: 100, functions: 0, returns: false, kills };
        let mut shader = random_shader(seed + 10_000_000, options);
        let mut random = Random::new(seed);
        add_initial_ifs(shader.main_mut(), &mut random);
        validate(&shader).unwrap_or_else(|errors| panic!("seed {seed}: {errors}"));
        let expected = outcome(&shader);
        into_ssa(&mut shader);
        opt_copy_prop(&mut shader);
        opt_dce(&mut shader);
        loops += shader.main().loop_tree().loops.len();
        let mut runs = 0;
        let order: [Pass; 4] = [
            ("peel_if", peel_if),
            ("peel_if", peel_if),
            if seed % 2 == 0 { ("opt_loop", opt_loop) } else { ("peel", peel) },
            ("peel_if", peel_if),
        ];
        for (name, pass) in order {
            let before = shader.clone();
            let changed = pass(&mut shader);
            validate(&shader).unwrap_or_else(|errors| {
                panic!("seed {seed}, {name}: {errors}\nbefore:\n{}\nafter:\n{}", print(&before), print(&shader))
            });
            if outcome(&shader) != expected {
                panic!("seed {seed}, {name}\nbefore:\n{}\nafter:\n{}", print(&before), print(&shader));
            }
            if !changed {
                assert_eq!(print(&before), print(&shader), "seed {seed}");
            }
            runs += usize::from(changed && name == "peel_if");
        }
        peeled += usize::from(runs > 0);
        while peel_if(&mut shader) {
            left += 1;
        }
        optimized(&mut shader);
        assert_eq!(outcome(&shader), expected, "seed {seed}");
    }
    println!("{loops} loops, {peeled} shaders changed, {left} runs more");
    assert!(loops > seeds().end as usize / 2 && peeled > loops / 3, "{loops} {peeled}");
}
