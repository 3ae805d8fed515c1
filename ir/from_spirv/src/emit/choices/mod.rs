//! Pointers whose variable is chosen at run time.
//!
//! The variables that a pointer may lead to, its *targets*, are known; a number chooses one, 0 none. Memory accessed
//! through such a pointer is accessed in each target, if it is the chosen one. Reads through null give zeros, writes
//! are dropped. Pointers to different elements of one variable have one target with indices chosen at run time.
//!
//! ```text
//! p = select c, &a.x[i], &b.y[2]          selector = c ? 1 : 2
//! v = load p                              if selector == 1 { v = a.x[i] }  if selector == 2 { v = b.y[2] }
//! p = select c, &a.x[i], &a.x[j]          p = &a.x[c ? i : j]
//! ```
//!
//! Phis, variables of pointers and results of functions keep a pointer as words (`words`): the number and the indices.
//! Their targets are found before the emission (`paths`), because a word can be read before the place that stores it is
//! emitted.

mod compare;
pub(crate) mod paths;
pub(crate) mod words;

use std::rc::Rc;

use smallvec::SmallVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::Emitter;
use super::pointer::{Base, Pointer, Step};
use super::value::Value;
use crate::error::SpirvError;
use crate::types::{TypeData, TypeId};

/// A choice among targets.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The number of the target, from 1 on.
    selector: Def,
    targets: Vec<Pointer>,
    /// Whether the number may be 0.
    is_nullable: bool,
}

/// The targets of any pointer.
#[derive(Debug)]
pub(super) struct Targets {
    /// The number of the target; `None` if there is only one possibility.
    pub(super) selector: Option<Def>,
    pub(super) pointers: Vec<Rc<Pointer>>,
    pub(super) is_nullable: bool,
}

/// The error about operands of a selection.
fn misfit(why: &'static str) -> SpirvError {
    SpirvError::Types { op: "the pointer".to_owned(), why }
}

impl Pointer {
    /// Whether the variable is chosen at run time, or does not exist.
    pub(crate) fn is_chosen(&self) -> bool {
        matches!(self.base, Base::Choice(_) | Base::Null)
    }

    /// The null pointer.
    pub(crate) fn null(ty: TypeId, class: u32) -> Pointer {
        Pointer { base: Base::Null, steps: SmallVec::new(), ty, class, access: AccessFlags::NONE }
    }
}

impl Emitter<'_, '_, '_> {
    /// The targets of a pointer.
    pub(super) fn targets(&self, pointer: &Rc<Pointer>) -> Targets {
        let number = match pointer.base {
            Base::Global(_) | Base::Local(_) => {
                return Targets { selector: None, pointers: vec![pointer.clone()], is_nullable: false };
            }
            Base::Choice(number) => Some(number),
            Base::Null => None,
        };
        let Some(choice) = number.and_then(|number| self.choices.get(number as usize)) else {
            return Targets { selector: None, pointers: Vec::new(), is_nullable: true };
        };
        let pointers = choice.targets.iter().map(|target| {
            let mut whole = target.clone();
            whole.steps.extend_from_slice(&pointer.steps);
            whole.ty = pointer.ty;
            whole.access = whole.access.union(pointer.access);
            Rc::new(whole)
        });
        let pointers = pointers.collect();
        Targets { selector: Some(choice.selector), pointers, is_nullable: choice.is_nullable }
    }

    /// The number of the chosen target.
    pub(super) fn selector(&mut self, targets: &Targets) -> Def {
        match targets.selector {
            Some(selector) => selector,
            None => self.constant(32, &[u64::from(!targets.pointers.is_empty())]),
        }
    }

    /// Whether a selector has the number of a target, which is one less.
    fn is_target(&mut self, selector: Def, number: usize) -> Def {
        let number = self.constant(32, &[number as u64 + 1]);
        self.b.alu(AluOp::Ieq, &[selector, number])
    }

    /// A pointer with targets.
    ///
    /// # Errors
    /// There are more than the limit.
    pub(super) fn choose(
        &mut self,
        selector: Def,
        mut targets: Vec<Pointer>,
        is_nullable: bool,
        (ty, class): (TypeId, u32),
    ) -> Result<Pointer, SpirvError> {
        let (count, limit) = (targets.len() as u64, u64::from(self.context.options.limits.targets));
        if count > limit {
            return Err(SpirvError::TooLarge { what: "variables that a pointer may lead to", count, limit });
        }
        if !is_nullable
            && targets.len() == 1
            && let Some(only) = targets.pop()
        {
            return Ok(only);
        }
        if targets.is_empty() {
            return Ok(Pointer::null(ty, class));
        }
        let number = self.choices.len() as u32;
        self.choices.push(Rc::new(Choice { selector, targets, is_nullable }));
        Ok(Pointer { base: Base::Choice(number), ..Pointer::null(ty, class) })
    }

    /// The pointer that a value is.
    pub(crate) fn as_pointer(&self, value: &Value) -> Option<Rc<Pointer>> {
        match value {
            Value::Pointer(pointer) => Some(pointer.clone()),
            Value::Known(known) => {
                let module = &self.context.module;
                let (class, ty) = module.types.pointee(module.constants.type_of(*known))?;
                Some(Rc::new(Pointer::null(ty, class)))
            }
            _ => None,
        }
    }

    /// Selects a pointer by a boolean.
    ///
    /// # Errors
    /// The values are not pointers to one type, or lead to too many variables.
    pub(crate) fn select_pointer(&mut self, condition: Def, a: &Value, b: &Value) -> Result<Value, SpirvError> {
        let not_pointers = || misfit("an operand is not a pointer");
        let (a, b) = (self.as_pointer(a).ok_or_else(not_pointers)?, self.as_pointer(b).ok_or_else(not_pointers)?);
        if a.class != b.class || !self.context.module.types.are_equal(a.ty, b.ty) {
            return Err(misfit("the operands lead to different types"));
        }
        let (ty, class) = (a.ty, a.class);
        let (from_a, from_b) = (self.targets(&a), self.targets(&b));
        let mut targets: Vec<Pointer> = from_a.pointers.iter().map(|pointer| Pointer::clone(pointer)).collect();
        // By target of b: its number in the result.
        let mut numbers = Vec::with_capacity(from_b.pointers.len());
        for pointer in &from_b.pointers {
            let known = (0..from_a.pointers.len()).find_map(|number| {
                let steps = self.select_steps(condition, targets.get(number)?, pointer)?;
                Some((number, steps))
            });
            match known {
                Some((number, steps)) => {
                    if let Some(target) = targets.get_mut(number) {
                        target.steps = steps;
                        target.access = target.access.union(pointer.access);
                    }
                    numbers.push(number);
                }
                None => {
                    numbers.push(targets.len());
                    targets.push(Pointer::clone(pointer));
                }
            }
        }
        let is_nullable = from_a.is_nullable || from_b.is_nullable;
        let selector = if targets.len() == 1 && !is_nullable {
            self.constant(32, &[1])
        } else {
            let (in_a, in_b) = (self.selector(&from_a), self.selector(&from_b));
            let in_b = self.renumber(in_b, &from_b, &numbers);
            self.b.alu(AluOp::Bcsel, &[condition, in_a, in_b])
        };
        Ok(Value::Pointer(Rc::new(self.choose(selector, targets, is_nullable, (ty, class))?)))
    }

    /// A selector with other numbers.
    fn renumber(&mut self, selector: Def, targets: &Targets, numbers: &[usize]) -> Def {
        if numbers.iter().enumerate().all(|(old, &new)| old == new) {
            return selector;
        }
        if targets.selector.is_none() {
            return match numbers.first() {
                Some(&number) => self.constant(32, &[number as u64 + 1]),
                None => selector,
            };
        }
        let mut result = self.constant(32, &[0]);
        for (old, &new) in numbers.iter().enumerate() {
            let is_old = self.is_target(selector, old);
            let new = self.constant(32, &[new as u64 + 1]);
            result = self.b.alu(AluOp::Bcsel, &[is_old, new, result]);
        }
        result
    }

    /// The steps of two pointers that lead to elements of one variable by the same members.
    fn select_steps(&mut self, condition: Def, a: &Pointer, b: &Pointer) -> Option<SmallVec<[Step; 4]>> {
        if a.base != b.base || a.steps.len() != b.steps.len() {
            return None;
        }
        // Nothing is emitted before all steps are known to fit.
        let mut ty = self.base_type(a.base)?;
        for (&a, &b) in a.steps.iter().zip(&b.steps) {
            if self.is_struct(ty) && a != b {
                return None;
            }
            ty = self.step_type(ty, a)?;
        }
        let mut steps = SmallVec::new();
        for (&a, &b) in a.steps.iter().zip(&b.steps) {
            steps.push(if a == b {
                a
            } else {
                let (a, b) = (self.step_index(a), self.step_index(b));
                Step::Index(self.b.alu(AluOp::Bcsel, &[condition, a, b]))
            });
        }
        Some(steps)
    }

    /// The number of a step as a value.
    pub(super) fn step_index(&mut self, step: Step) -> Def {
        match step {
            Step::Part(number) => self.constant(32, &[number.into()]),
            Step::Index(def) => def,
        }
    }

    /// The type of a variable.
    fn base_type(&self, base: Base) -> Option<TypeId> {
        match base {
            Base::Global(number) => self.context.module.globals.get(number as usize).map(|global| global.ty),
            Base::Local(memory) => Some(memory.ty),
            Base::Choice(_) | Base::Null => None,
        }
    }

    fn is_struct(&self, ty: TypeId) -> bool {
        matches!(self.context.module.types.get(ty), TypeData::Struct { .. })
    }

    /// The type to which a step leads.
    fn step_type(&mut self, ty: TypeId, step: Step) -> Option<TypeId> {
        match (self.context.module.types.get(ty), step) {
            (TypeData::Struct { members, .. }, Step::Part(number)) => {
                members.get(number as usize).map(|member| member.ty)
            }
            (TypeData::Array { element, .. }, _) => Some(*element),
            (&TypeData::Matrix { scalar, rows, .. }, _) => Some(self.context.vector_type(scalar, rows)),
            (&TypeData::Vector { scalar, count }, _) if count > 1 => Some(self.context.vector_type(scalar, 1)),
            _ => None,
        }
    }

    /// The most that a constant index in place of the last step may be; `None` if that is not one to an element, column
    /// or component.
    pub(super) fn last_element(&mut self, pointer: &Pointer) -> Option<u32> {
        let mut ty = self.base_type(pointer.base)?;
        for &step in pointer.steps.split_last()?.1 {
            ty = self.step_type(ty, step)?;
        }
        match *self.context.module.types.get(ty) {
            // Elements beyond the end are not accessed.
            TypeData::Array { .. } => Some(u32::MAX),
            TypeData::Matrix { columns: count, .. } | TypeData::Vector { count, .. } => {
                Some(u32::from(count).saturating_sub(1))
            }
            _ => None,
        }
    }

    /// The pointer after a change of each target.
    ///
    /// # Errors
    /// Those of the change.
    pub(super) fn map_targets(
        &mut self,
        pointer: &Rc<Pointer>,
        mut change: impl FnMut(&mut Self, &Pointer) -> Result<Pointer, SpirvError>,
    ) -> Result<Pointer, SpirvError> {
        let targets = self.targets(pointer);
        let mut changed = Vec::with_capacity(targets.pointers.len());
        for target in &targets.pointers {
            changed.push(change(self, target)?);
        }
        let selector = self.selector(&targets);
        self.choose(selector, changed, targets.is_nullable, (pointer.ty, pointer.class))
    }

    /// Emits an access to each target, where it is the chosen one. Returns the results of the chosen access, zeros for
    /// null.
    ///
    /// # Errors
    /// Those of the accesses.
    pub(crate) fn at_targets(
        &mut self,
        pointer: &Rc<Pointer>,
        shapes: &[Shape],
        mut access: impl FnMut(&mut Self, &Rc<Pointer>) -> Result<Vec<Def>, SpirvError>,
    ) -> Result<Vec<Def>, SpirvError> {
        let targets = self.targets(pointer);
        let registers: Vec<Def> = shapes.iter().map(|&shape| self.b.decl_reg(shape, 0)).collect();
        for (&register, shape) in registers.iter().zip(shapes) {
            let zeros = self.constant(shape.bit_size, &vec![0; shape.num_components.into()]);
            self.b.store_reg(zeros, register, 0, (1 << shape.num_components) - 1);
        }
        let selector = self.selector(&targets);
        for (number, target) in targets.pointers.iter().enumerate() {
            let is_chosen = self.is_target(selector, number);
            let side = self.b.push_if(is_chosen);
            let results = access(self, target);
            if let Ok(results) = &results {
                for ((&register, &result), shape) in registers.iter().zip(results).zip(shapes) {
                    if (self.b.body.num_components(result), self.b.body.bit_size(result))
                        == (shape.num_components, shape.bit_size)
                    {
                        self.b.store_reg(result, register, 0, (1 << shape.num_components) - 1);
                    }
                }
            }
            self.b.end_if(side);
            results?;
        }
        Ok(registers.iter().map(|&register| self.b.load_reg(register, 0)).collect())
    }

    /// Loads through a pointer whose variable is chosen at run time.
    ///
    /// # Errors
    /// Images cannot be chosen, and those of loads.
    pub(super) fn load_chosen(&mut self, pointer: &Rc<Pointer>) -> Result<Value, SpirvError> {
        self.check_leaves(pointer)?;
        let shapes = self.context.module.types.leaf_shapes(pointer.ty);
        if self.context.module.types.is_opaque(pointer.ty) {
            return Err(misfit("images cannot be chosen at run time"));
        }
        let leaves = self.at_targets(pointer, &shapes, |emitter, target| {
            let value = emitter.load(target)?;
            let leaves = emitter.leaves_of(&value).ok_or_else(|| misfit("the memory has no values"))?;
            Ok(leaves.to_vec())
        })?;
        Ok(self.leaves_to_value(pointer.ty, &leaves))
    }

    /// Checks the number of accesses to leaves in all targets.
    fn check_leaves(&self, pointer: &Rc<Pointer>) -> Result<(), SpirvError> {
        let leaves = u64::from(self.context.module.types.leaves(pointer.ty));
        // Null has no target, and its loads are zeros.
        let count = leaves.saturating_mul(self.targets(pointer).pointers.len().max(1) as u64);
        let limit = self.context.options.limits.leaves.into();
        if count > limit { Err(SpirvError::TooLarge { what: "parts of a value", count, limit }) } else { Ok(()) }
    }

    /// Stores through a pointer whose variable is chosen at run time.
    ///
    /// # Errors
    /// Those of stores.
    pub(super) fn store_chosen(&mut self, pointer: &Rc<Pointer>, value: &Value) -> Result<(), SpirvError> {
        self.check_leaves(pointer)?;
        self.at_targets(pointer, &[], |emitter, target| {
            emitter.store(target, value)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }
}
