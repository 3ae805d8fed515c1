//! Comparisons of pointers.

use std::rc::Rc;

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;

use super::{Targets, misfit};
use crate::emit::Emitter;
use crate::emit::pointer::{Pointer, Step};
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// Whether pointers are equal. Those to different variables differ.
    ///
    /// # Errors
    /// The operands are not pointers.
    pub(in crate::emit) fn same_pointers(&mut self, inst: &Inst<'_>, is_negated: bool) -> Result<Value, SpirvError> {
        let (a, b) = (self.pointer(inst.word(2))?, self.pointer(inst.word(3))?);
        if self.result_shape(inst) != Shape::new(1, 1) {
            return Err(misfit("the result is not a boolean"));
        }
        let (a, b) = (self.targets(&a), self.targets(&b));
        let mut same = None;
        if a.is_nullable && b.is_nullable {
            let (a, b) = (self.null_test(&a), self.null_test(&b));
            same = Some(self.b.alu(AluOp::Iand, &[a, b]));
        }
        self.each_pair(&a, &b, |emitter, a, b, is_pair| {
            let Some(mut equal) = emitter.same_elements(a, b) else { return };
            if let Some(is_pair) = is_pair {
                equal = emitter.b.alu(AluOp::Iand, &[is_pair, equal]);
            }
            same = Some(match same {
                Some(before) => emitter.b.alu(AluOp::Ior, &[before, equal]),
                None => equal,
            });
        });
        let same = same.unwrap_or_else(|| self.constant(1, &[0]));
        Ok(Value::Vector(if is_negated { self.b.alu(AluOp::Inot, &[same]) } else { same }))
    }

    /// Whether no target is chosen.
    fn null_test(&mut self, targets: &Targets) -> Def {
        let (selector, zero) = (self.selector(targets), self.constant(32, &[0]));
        self.b.alu(AluOp::Ieq, &[selector, zero])
    }

    /// Visits the pairs of targets that may be of one variable, with the condition that they are the chosen ones.
    fn each_pair(
        &mut self,
        a: &Targets,
        b: &Targets,
        mut visit: impl FnMut(&mut Self, &Rc<Pointer>, &Rc<Pointer>, Option<Def>),
    ) {
        for (number_a, target_a) in a.pointers.iter().enumerate() {
            for (number_b, target_b) in b.pointers.iter().enumerate() {
                if !self.may_be_same(target_a, target_b) {
                    continue;
                }
                let mut condition = None;
                for (targets, number) in [(a, number_a), (b, number_b)] {
                    let Some(selector) = targets.selector else { continue };
                    let is_chosen = self.is_target(selector, number);
                    condition = Some(match condition {
                        Some(before) => self.b.alu(AluOp::Iand, &[before, is_chosen]),
                        None => is_chosen,
                    });
                }
                visit(self, target_a, target_b, condition);
            }
        }
    }

    /// Whether pointers lead to one variable by the same members.
    fn may_be_same(&mut self, a: &Pointer, b: &Pointer) -> bool {
        if a.base != b.base || a.steps.len() != b.steps.len() {
            return false;
        }
        let Some(mut ty) = self.base_type(a.base) else { return false };
        for (&a, &b) in a.steps.iter().zip(&b.steps) {
            if self.is_struct(ty) && a != b {
                return false;
            }
            let Some(next) = self.step_type(ty, a) else { return false };
            ty = next;
        }
        true
    }

    /// Whether pointers to one variable have the same indices; `None` if they never have.
    fn same_elements(&mut self, a: &Pointer, b: &Pointer) -> Option<Def> {
        let mut same = None;
        for (&a, &b) in a.steps.iter().zip(&b.steps).filter(|(a, b)| a != b) {
            if let (Step::Part(_), Step::Part(_)) = (a, b) {
                return None;
            }
            let (a, b) = (self.step_index(a), self.step_index(b));
            let equal = self.b.alu(AluOp::Ieq, &[a, b]);
            same = Some(match same {
                Some(before) => self.b.alu(AluOp::Iand, &[before, equal]),
                None => equal,
            });
        }
        Some(same.unwrap_or_else(|| self.constant(1, &[1])))
    }

    /// The distance of pointers to elements of one array, in elements.
    ///
    /// # Errors
    /// The operands are not pointers.
    pub(in crate::emit) fn pointer_difference(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (a, b) = (self.pointer(inst.word(2))?, self.pointer(inst.word(3))?);
        let shape = self.result_shape(inst);
        let (a, b) = (self.targets(&a), self.targets(&b));
        let mut result = self.constant(32, &[0]);
        self.each_pair(&a, &b, |emitter, a, b, is_pair| {
            let (Some(&a), Some(&b)) = (a.steps.last(), b.steps.last()) else { return };
            let (a, b) = (emitter.step_index(a), emitter.step_index(b));
            let difference = emitter.b.alu(AluOp::Isub, &[a, b]);
            result = match is_pair {
                Some(is_pair) => emitter.b.alu(AluOp::Bcsel, &[is_pair, difference, result]),
                None => difference,
            };
        });
        Ok(Value::Vector(match shape {
            Shape { num_components: 1, bit_size: 8 } => self.b.alu(AluOp::I2i8, &[result]),
            Shape { num_components: 1, bit_size: 16 } => self.b.alu(AluOp::I2i16, &[result]),
            Shape { num_components: 1, bit_size: 32 } => result,
            Shape { num_components: 1, bit_size: 64 } => self.b.alu(AluOp::I2i64, &[result]),
            _ => return Err(misfit("the result is not an integer")),
        }))
    }
}
