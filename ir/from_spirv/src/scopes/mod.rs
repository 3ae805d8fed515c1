//! What reaches beyond an invocation: atomics, barriers, subgroups, derivatives, vertices of geometry shaders.

mod atomics;
mod ballots;
mod barriers;
mod derivatives;
mod private_atomics;
mod stages;
mod subgroups;

use spirv::Op;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;

use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::error::SpirvError;
use crate::grammar;
use crate::words::Inst;

/// A boolean.
const BOOL: Shape = Shape { num_components: 1, bit_size: 1 };

/// A 32-bit word.
const WORD: Shape = Shape { num_components: 1, bit_size: 32 };

impl Emitter<'_, '_, '_> {
    /// Emits an instruction of this group.
    ///
    /// # Errors
    /// Operands of other types, and operations that no target has.
    pub(crate) fn scope_group(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let groups = [Self::atomic, Self::barrier, Self::subgroup, Self::ballot_query, Self::derivative, Self::stage];
        for group in groups {
            match group(self, op, inst)? {
                Outcome::Other => {}
                outcome => return Ok(outcome),
            }
        }
        Ok(Outcome::Other)
    }

    /// The shape of a value.
    fn shape(&self, def: Def) -> Shape {
        Shape::new(self.b.body.num_components(def), self.b.body.bit_size(def))
    }

    /// The operand of an instruction at a word, which must have a shape.
    fn operand(&mut self, inst: &Inst<'_>, word: usize, shape: Shape) -> Result<Def, SpirvError> {
        let def = self.vector(inst.word(word))?;
        if self.shape(def) == shape { Ok(def) } else { Err(types(inst, "an operand has another type")) }
    }

    /// An integer scalar of any width at a word, as 32 bits.
    fn index_operand(&mut self, inst: &Inst<'_>, word: usize) -> Result<Def, SpirvError> {
        let def = self.vector(inst.word(word))?;
        match self.shape(def) {
            Shape { num_components: 1, bit_size: 8..=64 } => Ok(self.to_32_bits(def, false)),
            _ => Err(types(inst, "a number is not an integer")),
        }
    }

    /// The operand at a word that must have the type of the result.
    fn like_result(&mut self, inst: &Inst<'_>, word: usize) -> Result<Def, SpirvError> {
        let module = &self.context.module;
        if module.types.as_vector(module.result_type(inst)).is_none() {
            return Err(types(inst, "the result is not a scalar or vector"));
        }
        let shape = self.result_shape(inst);
        self.operand(inst, word, shape)
    }

    /// Checks that the result is a scalar or vector of a shape.
    fn expect_result(&self, inst: &Inst<'_>, shape: Shape) -> Result<(), SpirvError> {
        if self.result_shape(inst) == shape { Ok(()) } else { Err(types(inst, "the result has another type")) }
    }
}

/// The error about operands that do not fit.
fn types(inst: &Inst<'_>, why: &'static str) -> SpirvError {
    SpirvError::Types { op: grammar::name(inst.op), why }
}

/// The error about an operation that no target has.
fn unsupported(inst: &Inst<'_>, why: &'static str) -> SpirvError {
    SpirvError::Instruction { name: grammar::name(inst.op), why }
}
