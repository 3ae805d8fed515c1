//! Blocks, conditions, loops.

use tgsi::tables::Opcode;
use tgsi_ir::If;
use tgsi_ir::body::{CfList, CfNode, JumpKind};
use tgsi_registers::chase;

use super::Selector;
use crate::DriverError;

/// The pending steps.
enum TraversalStep {
    List(CfList),
    Node(CfNode),
    Else(If),
    EndIf,
    EndLoop,
}

impl Selector<'_> {
    /// Selects the whole body.
    pub(super) fn select_control_flow(&mut self) -> Result<(), DriverError> {
        let body = self.body;
        let mut steps = vec![TraversalStep::List(body.body_list())];
        while let Some(step) = steps.pop() {
            match step {
                TraversalStep::List(list) => steps.push(TraversalStep::Node(CfNode::Block(list.first))),
                TraversalStep::Node(node) => match node {
                    CfNode::Block(block) => {
                        self.forget_addresses();
                        self.coordinates.clear();
                        if let Some(next) = body.node_after(block) {
                            steps.push(TraversalStep::Node(next));
                        }
                        let mut next = body.first_inst(block);
                        while let Some(inst) = next {
                            let first = self.program.instructions().len();
                            self.select_instruction(inst)?;
                            self.refuse_integers(inst, first)?;
                            next = body.next_inst(inst);
                        }
                    }
                    CfNode::If(id) => {
                        steps.push(TraversalStep::Node(CfNode::Block(body.block_after_if(id))));
                        steps.push(TraversalStep::EndIf);
                        steps.push(TraversalStep::Else(id));
                        steps.push(TraversalStep::List(body.then_list(id)));
                        let condition = match chase::chase_src(body, body.if_condition(id)) {
                            chase::Operand::Ssa(def) => self.value(def),
                            chase::Operand::Register(register) => self.register_value(register),
                        };
                        let opcode = if self.options.native_integers { Opcode::Uif } else { Opcode::If };
                        self.emit_bare(opcode, &[condition.lane(0)]);
                    }
                    CfNode::Loop(id) => {
                        if body.loop_continue_list(id).is_some() {
                            return Err(DriverError::ContinueConstruct);
                        }
                        steps.push(TraversalStep::Node(CfNode::Block(body.block_after_loop(id))));
                        steps.push(TraversalStep::EndLoop);
                        steps.push(TraversalStep::List(body.loop_body(id)));
                        self.emit_bare(Opcode::Bgnloop, &[]);
                    }
                },
                TraversalStep::Else(id) => {
                    let list = body.else_list(id);
                    let empty = list.first == list.last && body.first_inst(list.first).is_none();
                    if !empty {
                        self.emit_bare(Opcode::Else, &[]);
                        steps.push(TraversalStep::List(list));
                    }
                }
                TraversalStep::EndIf => self.emit_bare(Opcode::Endif, &[]),
                TraversalStep::EndLoop => self.emit_bare(Opcode::Endloop, &[]),
            }
        }
        Ok(())
    }

    pub(super) fn select_jump(&mut self, kind: JumpKind) -> Result<(), DriverError> {
        match kind {
            JumpKind::Break => self.emit_bare(Opcode::Brk, &[]),
            JumpKind::Continue => self.emit_bare(Opcode::Cont, &[]),
            // Returns at the end of the program need nothing; others must have been lowered.
            JumpKind::Return | JumpKind::Halt => return Err(DriverError::Jump(kind)),
            _ => return Err(DriverError::Jump(kind)),
        }
        Ok(())
    }
}
