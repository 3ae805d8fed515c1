//! The control tree, the block graph and analyses that do not match the code.

use super::*;

pub(super) fn control_flow_rules() {
    fn two_sides(b: &mut Builder) -> (If, Block) {
        let condition = b.bool_const(true);
        let id = b.push_if(condition);
        b.end_if(id);
        (id, b.block())
    }
    code_trips(&["block-parent"], |b| {
        let (_, after) = two_sides(b);
        b.body.corrupt_block_parent(after, None);
    });
    code_trips(&["block-twice"], |b| {
        let (id, _) = two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_if_next(id, Some(start));
    });
    code_trips(&["block-links"], |b| {
        two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_node_after(start, Some(CfNode::Loop(Loop::from_u32(7))));
    });
    code_trips(&["block-adjacent"], |b| {
        let (_, after) = two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_node_after(start, Some(CfNode::Block(after)));
    });
    code_trips(&["block-list-end"], |b| {
        two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_node_after(start, None);
    });
    code_trips(&["inst-links"], |b| {
        let x = b.u32_const(1);
        let inst = b.body.def_inst(x);
        b.body.corrupt_next_inst(inst, Some(inst));
    });
    code_trips(&["inst-links"], |b| {
        let x = b.u32_const(1);
        let inst = b.body.def_inst(x);
        b.body.corrupt_inst_block(inst, None);
    });
    code_trips(&["successors"], |b| {
        let (id, after) = two_sides(b);
        let start = b.body.start_block();
        let [then_block, else_block] = [b.body.then_list(id).first, b.body.else_list(id).first];
        b.body.corrupt_successors(start, [Some(else_block), Some(then_block)]);
        assert_ne!(start, after);
    });
    code_trips(&["successors-equal"], |b| {
        let (start, end) = (b.body.start_block(), b.body.end_block());
        let condition = b.bool_const(true);
        b.body.insert_jump(start, JumpKind::GotoIf { then_block: end, else_block: end }, Some(condition));
        b.body.corrupt_predecessors(end, &[start]);
    });
    code_trips(&["successor-unlisted"], |b| {
        let (_, after) = two_sides(b);
        b.body.corrupt_predecessors(after, &[]);
    });
    code_trips(&["predecessor-extra"], |b| {
        let (_, after) = two_sides(b);
        let mut preds = b.body.predecessors(after).to_vec();
        preds.push(preds[0]);
        b.body.corrupt_predecessors(after, &preds);
    });
    code_trips(&["predecessor-extra", "start-predecessor"], |b| {
        let (_, after) = two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_predecessors(start, &[after]);
    });
    code_trips(&["node-links"], |b| {
        let id = b.push_loop();
        b.body.corrupt_loop_prev(id, None);
    });
    code_trips(&["condition"], |b| {
        let condition = b.constant(1, &[1, 0]);
        b.push_if(condition);
    });
    code_trips(&["end-block"], |b| {
        let end = b.body.end_block();
        let undef = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        b.body.insert_inst(Cursor::BlockStart(end), undef);
    });
    code_trips(&["end-block"], |b| {
        let end = b.body.end_block();
        b.body.corrupt_block_parent(end, Some(CfParent::Function));
    });
    code_trips(&["use-stray", "use-undefined", "use-unlisted"], |b| {
        let (id, _) = two_sides(b);
        b.body.corrupt_if_condition(id, Use::from_u32(500));
    });
    trips(&Shader::without_functions(ShaderStage::Vertex), &["entry-point"]);
    let mut shader = Shader::new(ShaderStage::Vertex);
    let main = shader.entry_point().unwrap();
    shader.functions[main].parameters.push(Parameter {
        num_components: 1,
        bit_size: 32,
        name: String::new(),
        is_return: false,
    });
    trips(&shader, &["entry-point-parameters"]);
}

pub(super) fn analysis_rule() {
    code_trips(&["stale-analysis"], |b| {
        let x = b.u32_const(1);
        b.u32_const(2);
        let inst = b.body.def_inst(x);
        b.body.inst_order();
        // Moved without advancing the epoch.
        let end = Cursor::BlockEnd(b.block());
        b.body.corrupt_move_inst(end, inst);
    });
    code_trips(&["stale-analysis"], |b| {
        let x = b.bool_const(true);
        let id = b.push_if(x);
        let inner = b.bool_const(true);
        b.end_if(id);
        b.body.liveness();
        let condition = b.body.if_condition(id);
        let producer = b.body.def_inst(inner);
        let start = b.body.start_block();
        b.body.corrupt_move_inst(Cursor::BlockEnd(start), producer);
        let epoch = b.body.inst_epoch();
        b.body.set_src(condition, inner);
        assert_ne!(epoch, b.body.inst_epoch());
        b.body.block_order();
        b.body.liveness();
        b.body.corrupt_move_inst(Cursor::BlockStart(start), producer);
        b.body.corrupt_inst_def(producer, Some(inner));
        b.body.inst_order();
        b.body.corrupt_move_inst(Cursor::BlockEnd(start), producer);
    });
}
