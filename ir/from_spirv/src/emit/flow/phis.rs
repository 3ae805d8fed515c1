//! Phis: registers that branches store to and blocks load from.

use std::rc::Rc;

use spirv::Op;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;

use super::Emitter;
use crate::emit::choices::words::{PointerWords, Templates};
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
    /// A register for each leaf. Those of a pointer are the number of the variable, if it matters, and the indices.
    registers: Vec<Def>,
    /// The variables to which a pointer leads.
    pointer: Option<Rc<Templates>>,
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
                    let (shapes, pointer) = match self.phi_shapes(&inst, ty) {
                        Ok(found) => found,
                        Err(error) => {
                            self.report(error, &inst);
                            (Vec::new(), None)
                        }
                    };
                    let registers = shapes.iter().map(|&shape| self.b.decl_reg(shape, 0)).collect();
                    phis.push(Phi { at: (inst.at, inst.number), id: inst.word(1), ty, registers, pointer });
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

    /// The shapes of the registers of a phi, and the variables to which a pointer leads.
    fn phi_shapes(&mut self, inst: &Inst<'_>, ty: TypeId) -> Result<(Vec<Shape>, Option<Rc<Templates>>), SpirvError> {
        let id = inst.word(1);
        let types = &self.context.module.types;
        if types.pointee(ty).is_some() {
            let templates = self.phi_templates(id, ty)?;
            let count = templates.num_indices + usize::from(templates.has_number());
            return Ok((vec![Shape::new(1, 32); count], Some(templates)));
        }
        let limit = self.context.options.limits.leaves;
        if types.leaves(ty) > limit {
            let (count, limit) = (types.leaves(ty).into(), limit.into());
            return Err(SpirvError::TooLarge { what: "parts of a value", count, limit });
        }
        // An empty struct has no registers.
        if types.is_opaque(ty) { Err(SpirvError::Pointer { id }) } else { Ok((types.leaf_shapes(ty), None)) }
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
            let Some(inst) = words.at(phi.at.0, phi.at.1).filter(|_| !self.context.is_exhausted) else { continue };
            if let Err(error) = self.store_phi(phi, &inst, predecessor) {
                self.report(error, &inst);
            }
        }
    }

    fn store_phi(&mut self, phi: &Phi, inst: &Inst<'_>, predecessor: u32) -> Result<(), SpirvError> {
        self.check_body()?;
        let operands = inst.rest(2).chunks_exact(2);
        let operand = operands.filter_map(|pair| pair.split_first()).find(|(_, rest)| *rest == [predecessor]);
        let Some((&operand, _)) = operand else { return Err(SpirvError::Phi { id: phi.id, predecessor }) };
        let module = &self.context.module;
        if !module.types.are_equal(self.type_of(operand), phi.ty) {
            return Err(SpirvError::Types { op: "OpPhi".to_owned(), why: "an operand has another type" });
        }
        // Undefined operands keep the old value.
        if let Value::Known(crate::constants::Known::Undef(_)) = self.value(operand)? {
            return Ok(());
        }
        let leaves = match &phi.pointer {
            Some(templates) => {
                let pointer = self.pointer(operand)?;
                let words = self.pointer_words(&pointer, templates)?;
                let number = templates.has_number().then_some(words.number);
                number.into_iter().chain(words.indices).collect()
            }
            None => self.leaves(operand)?,
        };
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
            let value = match &phi.pointer {
                Some(templates) => self.phi_pointer(templates, &leaves),
                None => self.leaves_to_value(phi.ty, &leaves),
            };
            self.set(phi.id, value);
        }
    }

    /// The pointer of a phi from its registers.
    fn phi_pointer(&mut self, templates: &Templates, words: &[Def]) -> Value {
        let (number, indices) = match words.split_first() {
            Some((&number, indices)) if templates.has_number() => (number, indices),
            _ => (self.constant(32, &[1]), words),
        };
        let words = PointerWords { number, indices: indices.into() };
        // The limit was checked with the templates.
        self.words_pointer(&words, templates).map_or(Value::None, Value::Pointer)
    }
}
