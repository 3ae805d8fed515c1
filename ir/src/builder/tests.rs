use super::*;
use crate::body::CfParent;

#[test]
fn places_of_indices_of_registers() {
    let slot = |op: IntrinsicOp, kind| op.info().index_slot(kind);
    assert_eq!(slot(IntrinsicOp::LoadReg, IndexKind::Base), Some(Builder::LOAD_REG_BASE));
    assert_eq!(slot(IntrinsicOp::StoreReg, IndexKind::Base), Some(Builder::STORE_REG_BASE));
    assert_eq!(slot(IntrinsicOp::StoreReg, IndexKind::WriteMask), Some(Builder::STORE_REG_WRITE_MASK));
}

fn counting_loop(body: &mut Body) -> (Loop, Def) {
    let mut b = Builder::at_end(body);
    let zero = b.u32_const(0);
    let ten = b.u32_const(10);
    let one = b.u32_const(1);
    let before = b.block();
    let id = b.push_loop();
    let head = b.block();
    let phi = b.phi(Shape::new(1, 32), &[(before, zero)]);
    let done = b.alu(AluOp::Uge, &[phi, ten]);
    let exit = b.push_if(done);
    b.jump(JumpKind::Break);
    b.end_if(exit);
    let next = b.alu(AluOp::Iadd, &[phi, one]);
    let latch = b.block();
    let phi_inst = b.body.def_inst(phi);
    b.body.add_phi_source(phi_inst, latch, next);
    b.end_loop(id);
    assert_eq!(b.body.loop_body(id).first, head);
    (id, phi)
}

#[test]
fn edges_of_a_loop() {
    let mut body = Body::new();
    let (id, phi) = counting_loop(&mut body);
    let head = body.loop_body(id).first;
    let latch = body.loop_body(id).last;
    assert_eq!(body.successors(latch).collect::<Vec<_>>(), [head]);
    let mut preds = body.predecessors(head).to_vec();
    preds.sort_unstable();
    assert_eq!(preds.len(), 2);
    let after = body.block_after_loop(id);
    assert_eq!(body.predecessors(after).len(), 1);
    assert_eq!(body.uses_of(phi).count(), 2);
    let dominance = body.dominance();
    assert!(dominance.dominates(head, latch) && !dominance.dominates(latch, head));
    assert_eq!(body.frontiers().of(latch), [head]);
    assert!(body.liveness().is_live_out(head, phi));
    assert!(!body.liveness().is_live_in(after, phi));
    assert_eq!(body.loop_tree().depth(latch), 1);
    assert_eq!(body.loop_tree().info(id).exits.len(), 1);
}

#[test]
fn removing_a_loop_leaves_undef_behind() {
    let mut body = Body::new();
    let (id, phi) = counting_loop(&mut body);
    let mut b = Builder::at_end(&mut body);
    let kept = b.alu(AluOp::Ineg, &[phi]);
    body.remove_node(crate::body::CfNode::Loop(id));
    assert_eq!(body.blocks().count(), 1);
    assert_eq!(body.successors(body.start_block()).collect::<Vec<_>>(), [body.end_block()]);
    assert!(matches!(body.inst(body.def_inst(body.src(body.def_inst(kept), 0))), InstData::Undef));
}

#[test]
fn inlining_a_side_takes_the_phi_value() {
    let mut body = Body::new();
    let mut b = Builder::at_end(&mut body);
    let c = b.bool_const(true);
    let id = b.push_if(c);
    let x = b.u32_const(1);
    let inner = b.push_if(c);
    b.end_if(inner);
    let then_end = b.block();
    b.push_else(id);
    let y = b.u32_const(2);
    let else_end = b.block();
    b.end_if(id);
    let phi = b.phi(Shape::new(1, 32), &[(then_end, x), (else_end, y)]);
    let user = b.alu(AluOp::Ineg, &[phi]);
    body.inline_side(id, true);
    assert_eq!(body.src(body.def_inst(user), 0), x);
    assert_eq!(body.blocks().count(), 4);
    for block in body.blocks_vec() {
        assert_eq!(
            body.derived_successors(block).into_iter().flatten().collect::<Vec<_>>(),
            body.successors(block).collect::<Vec<_>>()
        );
    }
}

#[test]
fn clones_are_independent() {
    let mut body = Body::new();
    let (id, _) = counting_loop(&mut body);
    let original = body.clone();
    let mut remap = crate::body::Remap::default();
    let list = body.clone_list(&original, original.body_list(), &mut remap);
    let last = body.body_list().last;
    body.insert_list(Cursor::BlockEnd(last), list);
    assert_eq!(body.loop_tree().loops.len(), 2);
    assert_eq!(body.blocks().count(), 2 * original.blocks().count() - 1);
    for block in body.blocks_vec() {
        assert_eq!(
            body.derived_successors(block).into_iter().flatten().collect::<Vec<_>>(),
            body.successors(block).collect::<Vec<_>>()
        );
        for phi in body.phis(block) {
            let mut from: Vec<Block> = body.phi_sources(phi).map(|(b, _)| b).collect();
            let mut preds = body.predecessors(block).to_vec();
            from.sort_unstable();
            preds.sort_unstable();
            assert_eq!(from, preds);
        }
    }
    assert!(matches!(body.block_parent(body.loop_body(id).first), Some(CfParent::Body(_))));
}

#[test]
fn sources_move_and_go() {
    let mut body = Body::new();
    let mut b = Builder::at_end(&mut body);
    let (x, y) = (b.u32_const(1), b.u32_const(2));
    let phi = b.phi(Shape::new(1, 32), &[(Block::from_u32(0), x)]);
    let inst = b.body.def_inst(phi);
    b.alu(AluOp::Iadd, &[x, y]);
    body.add_phi_source(inst, Block::from_u32(1), y);
    assert_eq!(body.num_sources(inst), 2);
    assert_eq!(body.uses_of(x).count(), 2);
    body.remove_source(inst, 0);
    assert_eq!((body.num_sources(inst), body.src(inst, 0)), (1, y));
    assert_eq!(body.uses_of(x).count(), 1);
    body.replace_all_uses(y, x);
    assert!(body.is_unused(y) && body.uses_of(x).count() == 3);
}
