//! Values: reads of emitted values in the class and with the components of a use.
//!
//! Pure instructions are emitted once for each scope ([`Emitter::pure`]). Instructions of a block are visible in the
//! lists nested after it and in the rest of its list, because the block dominates these.

use spirv::{GlslStd450Op, Op};
use tgsi_ir::body::Swizzle;
use tgsi_ir::{Def, InstData, Use};

use super::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType, push};

impl Emitter<'_> {
    /// Appends an instruction without a result.
    pub fn push(&mut self, op: Op, operands: &[u32]) {
        push(&mut self.code, op, operands);
    }

    /// Appends an instruction with a result.
    pub fn result(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.module.id();
        self.code.push(((operands.len() as u32 + 3) << 16) | op as u32);
        self.code.extend([ty.0, id.0]);
        self.code.extend_from_slice(operands);
        id
    }

    /// Appends an instruction without dependencies other than its operands, unless the scope already contains it.
    pub fn pure(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        if let Some(id) = self.value_numbers.get(op, ty, operands) {
            return id;
        }
        let id = self.result(op, ty, operands);
        self.value_numbers.insert(op, ty, operands, id);
        id
    }

    /// Emits a pure operation on values of the same type as its result.
    pub fn pure_of(&mut self, op: Op, ty: ValueType, operands: &[Id]) -> Id {
        let ty = self.module.value_type(ty);
        let words: smallvec::SmallVec<[u32; 8]> = operands.iter().map(|id| id.0).collect();
        self.pure(op, ty, &words)
    }

    /// Emits a `GLSL.std.450` instruction.
    pub fn glsl(&mut self, op: GlslStd450Op, ty: ValueType, operands: &[Id]) -> Id {
        let ty = self.module.value_type(ty);
        let set = self.module.glsl();
        let words: smallvec::SmallVec<[u32; 8]> =
            [set.0, op as u32].into_iter().chain(operands.iter().map(|id| id.0)).collect();
        self.pure(Op::ExtInst, ty, &words)
    }

    /// Defines a value by an id of the given class, with the bits and components of the value.
    pub fn define(&mut self, def: Def, id: Id, class: Class) {
        self.values[def] = Some((id, if self.body.bit_size(def) == 1 { Class::Bool } else { class }));
    }

    /// Defines a value of which one component is used by a scalar, repeated in all components.
    pub fn define_repeated(&mut self, def: Def, id: Id, class: Class) {
        self.define(def, id, class);
        self.repeated.insert(def);
    }

    /// Returns the type of a value in a class.
    pub fn type_of(&self, def: Def, class: Class) -> ValueType {
        ValueType::new(class, self.body.bit_size(def), self.body.num_components(def))
    }

    /// Returns a constant with the given bits of its components.
    pub fn constant(&mut self, ty: ValueType, bits: &[u64]) -> Id {
        let spelled = |&bits: &u64| crate::module::is_plain_float(bits as u32);
        if self.options.portable && ty.class == Class::Float && ty.bits == 32 && !bits.iter().all(spelled) {
            let uint = ValueType { class: Class::Uint, ..ty };
            let mut words = self.module.constant(uint, bits);
            if self.options.wgsl && bits.iter().any(|&bits| !f32::from_bits(bits as u32).is_finite()) {
                // WGSL evaluates constant expressions at compile time and rejects infinities and NaN in them.
                let zero = self.opaque_zero(uint);
                words = self.pure_of(Op::BitwiseOr, uint, &[words, zero]);
            }
            return self.pure_of(Op::Bitcast, ty, &[words]);
        }
        self.module.constant(ty, bits)
    }

    /// Emits zeros that compilers of text languages cannot take for constants.
    fn opaque_zero(&mut self, ty: ValueType) -> Id {
        let uint = self.module.value_type(ValueType::UINT);
        let variable = match self.opaque_zero {
            Some(variable) => variable,
            None => {
                let zero = self.module.uint(0);
                let variable = self.module.global_variable(uint, spirv::StorageClass::Private, Some(zero));
                self.opaque_zero = Some(variable);
                variable
            }
        };
        let zero = self.result(Op::Load, uint, &[variable.0]);
        if ty.components < 2 {
            return zero;
        }
        let parts: smallvec::SmallVec<[Id; 4]> = (0..ty.components).map(|_| zero).collect();
        self.pure_of(Op::CompositeConstruct, ty, &parts)
    }

    /// Returns a value in a class.
    ///
    /// # Errors
    /// [`SpirvError::NotLowered`]: the value was not emitted.
    pub fn value(&mut self, def: Def, class: Class) -> Result<Id, SpirvError> {
        let ty = self.type_of(def, class);
        if let Some(bits) = self.body.def_constant(def) {
            return Ok(self.constant(ty, bits));
        }
        let Some((id, made)) = self.values[def] else {
            let inst = self.body.def_inst(def);
            if matches!(self.body.inst(inst), InstData::Undef) {
                let ty = self.module.value_type(ty);
                return Ok(self.module.null(ty));
            }
            return Err(SpirvError::NotLowered { inst, what: "a value without a definition" });
        };
        if self.repeated.contains(&def) {
            return self.swizzled(def, Swizzle::replicate(0), ty.components, class);
        }
        if made == ty.class {
            return Ok(id);
        }
        Ok(self.pure_of(Op::Bitcast, ty, &[id]))
    }

    /// Returns component `component` of a value in a class.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn component(&mut self, def: Def, component: u8, class: Class) -> Result<Id, SpirvError> {
        self.swizzled(def, Swizzle::replicate(component), 1, class)
    }

    /// Returns components of a value, in a class.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn swizzled(&mut self, def: Def, swizzle: Swizzle, count: u8, class: Class) -> Result<Id, SpirvError> {
        let from = self.body.num_components(def);
        let ty = self.type_of(def, class).with_components(count);
        if let Some(bits) = self.body.def_constant(def) {
            let bits: smallvec::SmallVec<[u64; 4]> =
                swizzle.iter(usize::from(count)).map(|c| bits.get(usize::from(c)).copied().unwrap_or(0)).collect();
            return Ok(self.constant(ty, &bits));
        }
        if matches!(self.body.inst(self.body.def_inst(def)), InstData::Undef) {
            let ty = self.module.value_type(ty);
            return Ok(self.module.null(ty));
        }
        let is_repeated = self.repeated.contains(&def);
        if from == count && swizzle.is_identity(usize::from(count)) && !is_repeated {
            return self.value(def, class);
        }
        // Takes the components first, so that only these are cast.
        let Some((id, made)) = self.values[def] else {
            return self.value(def, class);
        };
        let made_ty_of_def = self.type_of(def, made);
        let (whole, swizzle) =
            if is_repeated { (made_ty_of_def.scalar(), Swizzle::replicate(0)) } else { (made_ty_of_def, swizzle) };
        let taken = self.take(id, whole, swizzle, count);
        let made_ty = ValueType { class: made, ..ty };
        if made == ty.class {
            return Ok(taken);
        }
        debug_assert_eq!(made_ty.bits, ty.bits);
        Ok(self.pure_of(Op::Bitcast, ty, &[taken]))
    }

    /// Takes components of an id of type `from`.
    pub fn take(&mut self, id: Id, from: ValueType, swizzle: Swizzle, count: u8) -> Id {
        let ty = from.with_components(count);
        let ty_id = self.module.value_type(ty);
        match (from.components, count) {
            (1, 1) => id,
            (1, _) => self.pure(Op::CompositeConstruct, ty_id, &[id.0; 4][..usize::from(count)]),
            (_, 1) => self.pure(Op::CompositeExtract, ty_id, &[id.0, u32::from(swizzle.get(0))]),
            // A value with more than four components is an array.
            (5.., _) => {
                let parts: smallvec::SmallVec<[Id; 4]> = swizzle
                    .iter(usize::from(count))
                    .map(|component| self.take(id, from, Swizzle::replicate(component), 1))
                    .collect();
                self.pure_of(Op::CompositeConstruct, ty, &parts)
            }
            _ if from.components == count && swizzle.is_identity(usize::from(count)) => id,
            _ => {
                let mut words: smallvec::SmallVec<[u32; 8]> = smallvec::smallvec![id.0, id.0];
                words.extend(swizzle.iter(usize::from(count)).map(u32::from));
                self.pure(Op::VectorShuffle, ty_id, &words)
            }
        }
    }

    /// Repeats a scalar.
    pub fn repeat(&mut self, id: Id, scalar: ValueType, count: u8) -> Id {
        self.take(id, scalar, Swizzle::replicate(0), count)
    }

    /// Returns an ALU operand as the instruction reads it: swizzled, in a class.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn operand(&mut self, source: Use, class: Class) -> Result<Id, SpirvError> {
        let count = match self.body.user(source) {
            tgsi_ir::User::Inst(inst) if self.body.alu_op(inst).is_some() => {
                self.body.alu_src_components(inst, self.body.source_number(source)) as u8
            }
            _ => return self.value(self.body.src_def(source), class),
        };
        self.swizzled(self.body.src_def(source), self.body.swizzle(source), count, class)
    }

    /// Returns the bits of the components of an ALU source, if it is constant.
    pub fn constant_operand(&self, source: Use, count: usize) -> Option<smallvec::SmallVec<[u64; 4]>> {
        let bits = self.body.def_constant(self.body.src_def(source))?;
        let swizzle = self.body.swizzle(source);
        Some(swizzle.iter(count).map(|c| bits.get(usize::from(c)).copied().unwrap_or(0)).collect())
    }
}
