//! Gives undefined behaviour a result, so that executors which choose different ones can be compared.

use spirv::{Op, StorageClass};

use crate::editor::{Editor, TypeClass};
use crate::module::{Inst, Module, MutateError};
use crate::random::Random;

/// The largest float that is converted to an integer.
const MAX_CONVERTED: f32 = 1e6;
/// The bits of divisors that are kept, and one that is set: they are positive.
const DIVISOR_BITS: [u32; 2] = [0xff, 1];

/// Returns a module that computes the same wherever it has a defined meaning with small operands:
///
/// - variables and outputs start as zero, and undefined values are zero;
/// - indices of arrays of fixed length, vectors and matrices wrap around;
/// - divisors of integers are reduced to odd numbers below 256, shift counts to the width;
/// - floats beyond a million are zero before they are converted to integers.
///
/// # Errors
/// The module has unknown opcodes, or is not a module.
pub fn define(words: &[u32]) -> Result<Vec<u32>, MutateError> {
    let mut editor = Editor { module: Module::read(words)?, random: Random::new(0) };
    editor.define_globals();
    for function in 0..editor.module.functions.len() {
        editor.define_function(function);
    }
    Ok(editor.module.words())
}

impl Editor {
    /// The zero of a type of data.
    fn null(&mut self, ty: u32) -> Option<u32> {
        if !self.class(ty).is_data() {
            return None;
        }
        Some(self.find_or_add(Op::ConstantNull, Some(ty), &[]))
    }

    /// The type behind a pointer.
    fn pointee(&self, ty: u32) -> Option<u32> {
        self.module.global(ty).filter(|inst| inst.op == Op::TypePointer).map(|inst| inst.words[2])
    }

    /// Whether a variable has no initial value, and gets one.
    fn is_unset(&self, inst: &Inst) -> bool {
        let classes = [StorageClass::Private, StorageClass::Function, StorageClass::Output].map(|class| class as u32);
        inst.op == Op::Variable && inst.words.len() == 3 && classes.contains(&inst.words[2])
    }

    fn define_globals(&mut self) {
        // Constants precede their uses, so variables with a new value are moved to the end.
        let mut moved = Vec::new();
        for place in 0..self.module.globals.len() {
            let inst = self.module.globals[place].clone();
            if !self.is_unset(&inst) {
                continue;
            }
            // Blocks of built-ins have decorations, too.
            let is_output = inst.words[2] == StorageClass::Output as u32;
            let ty = self.pointee(inst.words[0]).filter(|&ty| is_output || self.class(ty) != TypeClass::LaidOut);
            if let Some(null) = ty.and_then(|ty| self.null(ty)) {
                let words: Vec<u32> = inst.words.iter().copied().chain([null]).collect();
                moved.push((place, Inst::new(Op::Variable, words)));
            }
        }
        let all = std::mem::take(&mut self.module.globals).into_iter().enumerate();
        let kept = all.filter(|(place, _)| moved.iter().all(|(other, _)| other != place)).map(|(_, inst)| inst);
        let mut globals: Vec<Inst> = kept.collect();
        globals.extend(moved.into_iter().map(|(_, inst)| inst));
        self.module.set_globals(globals);
        for place in 0..self.module.globals.len() {
            let inst = &self.module.globals[place];
            if inst.op == Op::Undef && self.class(inst.words[0]).is_data() {
                self.module.globals[place].op = Op::ConstantNull;
            }
        }
    }

    fn define_function(&mut self, function: usize) {
        let types = self.module.value_types();
        for block in 0..self.module.functions[function].blocks.len() {
            let body = std::mem::take(&mut self.module.functions[function].blocks[block].body);
            let mut defined = Vec::with_capacity(body.len());
            for mut inst in body {
                let type_of = |id: u32| types.get(&id).copied();
                match inst.op {
                    Op::Variable if self.is_unset(&inst) => {
                        let ty = self.pointee(inst.words[0]).filter(|&ty| self.class(ty) != TypeClass::LaidOut);
                        inst.words.extend(ty.and_then(|ty| self.null(ty)));
                    }
                    Op::AccessChain | Op::InBoundsAccessChain => {
                        let mut ty = type_of(inst.words[2]).and_then(|ty| self.pointee(ty));
                        for place in 3..inst.words.len() {
                            let Some(outer) = ty else { break };
                            ty = self.wrap_index(outer, &mut inst.words[place], &type_of, &mut defined);
                        }
                    }
                    Op::VectorExtractDynamic | Op::VectorInsertDynamic => {
                        let place = inst.words.len() - 1;
                        if let Some(outer) = type_of(inst.words[2]) {
                            self.wrap_index(outer, &mut inst.words[place], &type_of, &mut defined);
                        }
                    }
                    Op::UDiv | Op::SDiv | Op::UMod | Op::SRem | Op::SMod => {
                        self.masked(&mut inst.words, &type_of, DIVISOR_BITS, &mut defined);
                    }
                    Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                        let width = self.vector(inst.words[0]).and_then(|(ty, _)| self.module.global(ty));
                        if let Some(&width) = width.and_then(|ty| ty.words.get(1)) {
                            self.masked(&mut inst.words, &type_of, [width.wrapping_sub(1), 0], &mut defined);
                        }
                    }
                    Op::ConvertFToS | Op::ConvertFToU => {
                        if let Some(id) = self.bounded(inst.words[2], &type_of, inst.op, &mut defined) {
                            inst.words[2] = id;
                        }
                    }
                    Op::Undef => {
                        if let Some(null) = self.null(inst.words[0]) {
                            inst = Inst::new(Op::CopyObject, [inst.words[0], inst.words[1], null]);
                        }
                    }
                    _ => {}
                }
                defined.push(inst);
            }
            self.module.functions[function].blocks[block].body = defined;
        }
    }

    /// Wraps an index of a type around its length. Returns the type of the element.
    fn wrap_index(
        &mut self,
        outer: u32,
        index: &mut u32,
        type_of: &impl Fn(u32) -> Option<u32>,
        to: &mut Vec<Inst>,
    ) -> Option<u32> {
        let inst = self.module.global(outer)?.clone();
        let length = match inst.op {
            Op::TypeStruct => {
                let member = self.module.global(*index).filter(|inst| inst.op == Op::Constant)?.words[2];
                return inst.words.get(1 + member as usize).copied();
            }
            Op::TypeRuntimeArray => return Some(inst.words[1]),
            Op::TypeArray => self.module.global(inst.words[2]).filter(|inst| inst.op == Op::Constant)?.words[2],
            Op::TypeVector | Op::TypeMatrix => inst.words[2],
            _ => return None,
        };
        let element = Some(inst.words[1]);
        if self.module.global(*index).is_some() || length == 0 {
            return element;
        }
        let uint = self.int_type(false);
        let ty = type_of(*index)?;
        if self.module.global(ty)?.words.get(1) != Some(&32) {
            return element;
        }
        let mut id = *index;
        if ty != uint {
            let cast = self.fresh();
            to.push(Inst::new(Op::Bitcast, [uint, cast, id]));
            id = cast;
        }
        let length = self.int_constant(uint, length);
        let wrapped = self.fresh();
        to.push(Inst::new(Op::UMod, [uint, wrapped, id, length]));
        *index = wrapped;
        element
    }

    /// Replaces the last operand, an integer of 32 bits, by `operand & bits[0] | bits[1]`.
    fn masked(
        &mut self,
        words: &mut [u32],
        type_of: &impl Fn(u32) -> Option<u32>,
        bits: [u32; 2],
        to: &mut Vec<Inst>,
    ) -> Option<()> {
        let last = words.last_mut()?;
        let ty = type_of(*last)?;
        let (component, count) = self.vector(ty)?;
        self.module.global(component).filter(|inst| inst.op == Op::TypeInt && inst.words[1] == 32)?;
        for (op, bits) in [Op::BitwiseAnd, Op::BitwiseOr].into_iter().zip(bits) {
            let mut constant = self.int_constant(component, bits);
            if count > 1 {
                constant = self.composite_constant(ty, &vec![constant; count as usize]);
            }
            let id = self.fresh();
            to.push(Inst::new(op, [ty, id, *last, constant]));
            *last = id;
        }
        Some(())
    }

    /// Returns a float of 32 bits that is zero if it is too large or NaN, or if it is negative and converted to an
    /// unsigned integer.
    fn bounded(&mut self, id: u32, type_of: &impl Fn(u32) -> Option<u32>, op: Op, to: &mut Vec<Inst>) -> Option<u32> {
        let ty = type_of(id)?;
        let (component, count) = self.vector(ty)?;
        self.module.global(component).filter(|inst| inst.op == Op::TypeFloat && inst.words[1] == 32)?;
        let mut bool_type = self.bool_type();
        let least = if op == Op::ConvertFToU { 0.0 } else { -MAX_CONVERTED };
        let mut bounds = [least, MAX_CONVERTED].map(|bound: f32| self.int_constant(component, bound.to_bits()));
        if count > 1 {
            bool_type = self.vector_type(bool_type, count);
            bounds = bounds.map(|bound| self.composite_constant(ty, &vec![bound; count as usize]));
        }
        let zero = self.null(ty)?;
        let [above, below, both, result] = [(); 4].map(|()| self.fresh());
        to.push(Inst::new(Op::FOrdGreaterThan, [bool_type, above, id, bounds[0]]));
        to.push(Inst::new(Op::FOrdLessThan, [bool_type, below, id, bounds[1]]));
        to.push(Inst::new(Op::LogicalAnd, [bool_type, both, above, below]));
        to.push(Inst::new(Op::Select, [ty, result, both, id, zero]));
        Some(result)
    }
}
