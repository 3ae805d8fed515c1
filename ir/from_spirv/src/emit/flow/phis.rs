//! Phis: registers that branches store to and blocks load from.

use std::rc::Rc;

use spirv::Op;
use tgsi_ir::entities::Def;

use super::Emitter;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::types::TypeId;
use crate::words::Inst;

/// A phi.
#[derive(Debug)]
pub(super) struct Phi {
    /// Position and number of the instruction.
    at: (u32, u32),
    id: u32,
    ty: TypeId,
    /// A register for each leaf.
    registers: Vec<Def>,
}

impl Emitter<'_, '_, '_> {
    /// The phis of a block, with their registers.
    fn phis_of(&mut self, number: u32) -> Rc<[Phi]> {
        let Some(block) = self.flow.blocks.get(number as usize).copied() else { return Rc::from([]) };
        if !block.has_phis {
            return Rc::from([]);
        }
        if let Some(known) = self.flow.phis.get(number as usize).and_then(Option::as_ref) {
            return known.clone();
        }
        let words = self.context.module.words.clone();
        let mut phis = Vec::new();
        let (mut at, mut instruction) = block.first;
        while let Some(inst) = words.at(at, instruction).filter(|_| at < block.last.0) {
            match Op::from_u32(inst.op.into()) {
                Some(Op::Phi) => {
                    let ty = self.context.module.result_type(&inst);
                    let shapes = self.context.module.types.leaf_shapes(ty);
                    if shapes.is_empty() {
                        self.report(SpirvError::Pointer { id: inst.word(1) }, &inst);
                    }
                    let registers = shapes.iter().map(|&shape| self.b.decl_reg(shape, 0)).collect();
                    phis.push(Phi { at: (inst.at, inst.number), id: inst.word(1), ty, registers });
                }
                Some(Op::Line | Op::NoLine | Op::ExtInst) => {}
                _ => break,
            }
            at += inst.words.len() as u32 + 1;
            instruction += 1;
        }
        let phis: Rc<[Phi]> = phis.into();
        if let Some(place) = self.flow.phis.get_mut(number as usize) {
            *place = Some(phis.clone());
        }
        phis
    }

    /// Stores the operands of the phis of a block for the edge from another one.
    pub(super) fn store_phis(&mut self, from: u32, target: u32) {
        let phis = self.phis_of(target);
        if phis.is_empty() {
            return;
        }
        let words = self.context.module.words.clone();
        let predecessor = self.flow.blocks.get(from as usize).map_or(0, |block| block.label);
        for phi in phis.iter() {
            let Some(inst) = words.at(phi.at.0, phi.at.1) else { continue };
            if let Err(error) = self.store_phi(phi, &inst, predecessor) {
                self.report(error, &inst);
            }
        }
    }

    fn store_phi(&mut self, phi: &Phi, inst: &Inst<'_>, predecessor: u32) -> Result<(), SpirvError> {
        let operands = inst.rest(2).chunks_exact(2);
        let operand = operands.filter_map(|pair| pair.split_first()).find(|(_, rest)| *rest == [predecessor]);
        let Some((&operand, _)) = operand else { return Err(SpirvError::Phi { id: phi.id, predecessor }) };
        let module = &self.context.module;
        if !module.types.are_equal(self.type_of(operand), phi.ty) {
            return Err(SpirvError::Types { op: "OpPhi".to_owned(), why: "an operand has another type" });
        }
        // Undefined operands leave what is there.
        if let Value::Known(crate::constants::Known::Undef(_)) = self.value(operand)? {
            return Ok(());
        }
        let leaves = self.leaves(operand)?;
        for (&register, &leaf) in phi.registers.iter().zip(leaves.iter()) {
            let count = self.b.body.num_components(leaf);
            self.b.store_reg(leaf, register, 0, (1 << count) - 1);
        }
        Ok(())
    }

    /// Loads all phis of a block.
    pub(super) fn load_phis(&mut self, number: u32) {
        for phi in self.phis_of(number).iter() {
            let leaves: Vec<Def> = phi.registers.iter().map(|&register| self.b.load_reg(register, 0)).collect();
            let value = self.from_leaves(phi.ty, &leaves);
            self.set(phi.id, value);
        }
    }
}
