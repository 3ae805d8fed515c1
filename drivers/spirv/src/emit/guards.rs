//! Small pieces of control flow and selection that the emitter adds: guarded reads and writes.

use spirv::{Op, SelectionControl};

use super::Emitter;
use super::buffers::Chunks;
use crate::error::SpirvError;
use crate::module::{Id, ValueType};

impl Emitter<'_> {
    /// Code under a condition. What it makes is not known after it.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn if_then(
        &mut self,
        condition: Id,
        inner: impl FnOnce(&mut Self) -> Result<(), SpirvError>,
    ) -> Result<(), SpirvError> {
        let (then, merge) = (self.module.id(), self.module.id());
        self.push(Op::SelectionMerge, &[merge.0, SelectionControl::NONE.bits()]);
        self.end(Op::BranchConditional, &[condition.0, then.0, merge.0]);
        self.open(then);
        self.known.enter();
        let result = inner(self);
        self.known.leave();
        self.end(Op::Branch, &[merge.0]);
        self.open(merge);
        result
    }

    /// A value that is made only under a condition, and is zero otherwise.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn if_then_value(
        &mut self,
        condition: Id,
        ty: ValueType,
        inner: impl FnOnce(&mut Self) -> Result<Id, SpirvError>,
    ) -> Result<Id, SpirvError> {
        let ty = self.module.value_type(ty);
        let zero = self.module.null(ty);
        let Some(before) = self.label else { return Ok(zero) };
        let (mut value, mut from) = (zero, before);
        self.if_then(condition, |emitter| {
            value = inner(emitter)?;
            from = emitter.label.unwrap_or(before);
            Ok(())
        })?;
        Ok(self.result(Op::Phi, ty, &[value.0, from.0, zero.0, before.0]))
    }

    /// Several values that are made only under a condition, and are zero otherwise.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn if_then_values(
        &mut self,
        condition: Id,
        types: &[ValueType],
        inner: impl FnOnce(&mut Self) -> Result<Chunks, SpirvError>,
    ) -> Result<Chunks, SpirvError> {
        let Some(before) = self.label else { return Ok(self.zeros(types)) };
        let (mut values, mut from) = (Chunks::new(), before);
        self.if_then(condition, |emitter| {
            values = inner(emitter)?;
            from = emitter.label.unwrap_or(before);
            Ok(())
        })?;
        let mut results = Chunks::new();
        for (value, &ty) in values.into_iter().zip(types) {
            let ty = self.module.value_type(ty);
            let zero = self.module.null(ty);
            results.push(self.result(Op::Phi, ty, &[value.0, from.0, zero.0, before.0]));
        }
        Ok(results)
    }

    /// `condition ? a : b`, of scalars or vectors of one type, with a scalar condition.
    pub fn select(&mut self, ty: ValueType, condition: Id, a: Id, b: Id) -> Id {
        let condition = if ty.components > 1 && !self.module.at_least(1, 4) {
            self.repeat(condition, ValueType::BOOL, ty.components)
        } else {
            condition
        };
        self.pure_of(Op::Select, ty, &[condition, a, b])
    }

    /// `index < length`, of unsigned scalars.
    pub fn is_below(&mut self, index: Id, length: Id) -> Id {
        self.pure_of(Op::ULessThan, ValueType::BOOL, &[index, length])
    }

    /// A variable of the function that starts as zero, unless it has another initializer. `ty` is what it holds.
    pub fn function_variable(&mut self, ty: Id, initializer: Option<Id>, name: &str) -> Id {
        let class = spirv::StorageClass::Function;
        let pointer = self.module.pointer_type(class, ty);
        let initializer = initializer.unwrap_or_else(|| self.module.null(ty));
        let id = self.module.id();
        crate::module::push(&mut self.variables, Op::Variable, &[pointer.0, id.0, class as u32, initializer.0]);
        if self.options.names {
            self.module.name(id, name);
        }
        id
    }
}
