//! Blocks, conditions, loops.

use tgsi::tables::Opcode;
use tgsi_ir::body::{CfEvent, JumpKind};
use tgsi_registers::chase;

use super::Selector;
use crate::DriverError;

impl Selector<'_> {
    /// Selects the whole body.
    pub(super) fn select_control_flow(&mut self) -> Result<(), DriverError> {
        let body = self.body;
        for event in body.events() {
            match event {
                CfEvent::Block(block) => {
                    self.forget_addresses();
                    self.coordinates.clear();
                    let mut next = body.first_inst(block);
                    while let Some(inst) = next {
                        let first = self.program.instructions().len();
                        self.select_instruction(inst)?;
                        self.refuse_integers(inst, first)?;
                        next = body.next_inst(inst);
                    }
                }
                CfEvent::If(id) => {
                    let condition = match chase::chase_src(body, body.if_condition(id)) {
                        chase::Operand::Ssa(def) => self.value(def),
                        chase::Operand::Register(register) => self.register_value(register),
                    };
                    let opcode = if self.options.native_integers { Opcode::Uif } else { Opcode::If };
                    self.emit_bare(opcode, &[condition.lane(0)]);
                }
                CfEvent::Else(id) if body.is_else_empty(id) => {}
                CfEvent::Else(_) => self.emit_bare(Opcode::Else, &[]),
                CfEvent::EndIf(_) => self.emit_bare(Opcode::Endif, &[]),
                CfEvent::Loop(_) => self.emit_bare(Opcode::Bgnloop, &[]),
                CfEvent::Continue(_) => return Err(DriverError::ContinueConstruct),
                CfEvent::EndLoop(_) => self.emit_bare(Opcode::Endloop, &[]),
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
