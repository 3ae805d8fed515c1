//! Small control flow that the emitter adds: guarded reads and writes, loops over arrays.

use smallvec::SmallVec;
use spirv::{LoopControl, Op, SelectionControl};

use super::Emitter;
use super::buffers::ResultVectors;
use crate::error::SpirvError;
use crate::module::{Id, ValueType};

/// Most elements of an array with an initializer. Compilers expand initializers to a store for each element, and
/// optimise those in superlinear time; text languages list each element.
const MAX_INITIALIZED: u32 = 64;

impl Emitter<'_> {
    /// Emits code under a condition. Values computed inside are not reused after it.
    ///
    /// # Errors
    /// The errors of `inner`.
    pub fn if_then(
        &mut self,
        condition: Id,
        inner: impl FnOnce(&mut Self) -> Result<(), SpirvError>,
    ) -> Result<(), SpirvError> {
        let (then, merge) = (self.module.id(), self.module.id());
        self.push(Op::SelectionMerge, &[merge.0, SelectionControl::NONE.bits()]);
        self.end(Op::BranchConditional, &[condition.0, then.0, merge.0]);
        self.open(then);
        self.value_numbers.enter();
        let result = inner(self);
        self.value_numbers.leave();
        self.end(Op::Branch, &[merge.0]);
        self.open(merge);
        result
    }

    /// Emits a value that is computed only under a condition, and is zero otherwise.
    ///
    /// # Errors
    /// The errors of `inner`.
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

    /// Emits several values that are computed only under a condition, and are zero otherwise.
    ///
    /// # Errors
    /// The errors of `inner`.
    pub fn if_then_values(
        &mut self,
        condition: Id,
        types: &[ValueType],
        inner: impl FnOnce(&mut Self) -> Result<ResultVectors, SpirvError>,
    ) -> Result<ResultVectors, SpirvError> {
        let Some(before) = self.label else { return Ok(self.zeros(types)) };
        let (mut values, mut from) = (ResultVectors::new(), before);
        self.if_then(condition, |emitter| {
            values = inner(emitter)?;
            from = emitter.label.unwrap_or(before);
            Ok(())
        })?;
        let mut results = ResultVectors::new();
        for (value, &ty) in values.into_iter().zip(types) {
            let ty = self.module.value_type(ty);
            let zero = self.module.null(ty);
            results.push(self.result(Op::Phi, ty, &[value.0, from.0, zero.0, before.0]));
        }
        Ok(results)
    }

    /// Emits `condition ? a : b` of scalars or vectors of one type, with a scalar condition.
    pub fn select(&mut self, ty: ValueType, condition: Id, a: Id, b: Id) -> Id {
        let condition = if ty.components > 1 && !self.module.at_least(1, 4) {
            self.repeat(condition, ValueType::BOOL, ty.components)
        } else {
            condition
        };
        self.pure_of(Op::Select, ty, &[condition, a, b])
    }

    /// Emits `index < length` of unsigned scalars.
    pub fn is_below(&mut self, index: Id, length: Id) -> Id {
        self.pure_of(Op::ULessThan, ValueType::BOOL, &[index, length])
    }

    /// Emits a loop over `first`, `first + step`, ... below `length`, all unsigned.
    pub fn for_each(&mut self, first: Id, step: u32, length: u32, inner: impl FnOnce(&mut Self, Id)) {
        let Some(before) = self.label else { return };
        let uint = self.module.value_type(ValueType::UINT);
        let (length, step) = (self.module.uint(length), self.module.uint(step));
        let [header, test, body, continues, merge, next] = std::array::from_fn(|_| self.module.id());
        self.value_numbers.enter();
        self.end(Op::Branch, &[header.0]);
        self.open(header);
        let index = self.result(Op::Phi, uint, &[first.0, before.0, next.0, continues.0]);
        self.push(Op::LoopMerge, &[merge.0, continues.0, LoopControl::NONE.bits()]);
        self.end(Op::Branch, &[test.0]);
        self.open(test);
        let is_inside = self.is_below(index, length);
        self.end(Op::BranchConditional, &[is_inside.0, body.0, merge.0]);
        self.open(body);
        inner(self, index);
        self.end(Op::Branch, &[continues.0]);
        self.open(continues);
        self.push(Op::IAdd, &[uint.0, next.0, index.0, step.0]);
        self.end(Op::Branch, &[header.0]);
        self.value_numbers.leave();
        self.open(merge);
    }

    /// Declares a zero-initialised array of the function; without guards its elements are undefined.
    pub fn function_array(&mut self, element: Id, length: u32, name: &str) -> Id {
        let ty = self.module.array_type(element, length, None);
        if self.options.unguarded {
            return self.declare_variable(ty, None, name);
        }
        if length <= MAX_INITIALIZED || self.options.wgsl {
            return self.function_variable(ty, None, name);
        }
        let id = self.declare_variable(ty, None, name);
        self.cleared.push((id, element, length));
        id
    }

    /// Emits the code that clears arrays without initializer, from after the variables up to the block labelled
    /// `first`. None if there are no such arrays.
    pub fn clear_arrays(&mut self, entry: Id, first: Id) -> Option<Vec<u32>> {
        let cleared = std::mem::take(&mut self.cleared);
        if cleared.is_empty() {
            return None;
        }
        let code = std::mem::take(&mut self.code);
        self.label = Some(entry);
        self.value_numbers.enter();
        for (array, element, length) in cleared {
            let (start, zero) = (self.module.uint(0), self.module.null(element));
            let pointer = self.module.pointer_type(spirv::StorageClass::Function, element);
            self.for_each(start, 1, length, |e, index| {
                let place = e.pure(Op::AccessChain, pointer, &[array.0, index.0]);
                e.push(Op::Store, &[place.0, zero.0]);
            });
        }
        self.value_numbers.leave();
        self.end(Op::Branch, &[first.0]);
        self.open(first);
        Some(std::mem::replace(&mut self.code, code))
    }

    /// Declares a variable of the function, initialised to zero if there is no initializer. `ty` is the type of its
    /// value.
    pub fn function_variable(&mut self, ty: Id, initializer: Option<Id>, name: &str) -> Id {
        let initializer = initializer.unwrap_or_else(|| self.module.null(ty));
        self.declare_variable(ty, Some(initializer), name)
    }

    fn declare_variable(&mut self, ty: Id, initializer: Option<Id>, name: &str) -> Id {
        let class = spirv::StorageClass::Function;
        let pointer = self.module.pointer_type(class, ty);
        let id = self.module.id();
        let operands: SmallVec<[u32; 4]> =
            [pointer.0, id.0, class as u32].into_iter().chain(initializer.map(|id| id.0)).collect();
        crate::module::push(&mut self.variables, Op::Variable, &operands);
        if self.options.names {
            self.module.name(id, name);
        }
        id
    }
}
