//! Registers.

use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op, StorageClass};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst, User};

use super::{Local, Pointer, Register, Votes};
use crate::emit::Emitter;
use crate::emit::buffers::{ArrayIndex, BoundsCheck};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    pub(in crate::emit) fn emit_register_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let base = body.base(inst);
        match op {
            IntrinsicOp::DeclReg => {
                if let Some(def) = body.inst_def(inst) {
                    self.declare_register(inst, def);
                }
                Ok(())
            }
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let register = self.register_of(inst, body.src(inst, 0))?;
                let place = match op {
                    IntrinsicOp::LoadReg => ArrayIndex::Constant(base),
                    _ => self.place(base, body.src(inst, 1), 0)?,
                };
                let value = self.load_register(register, place);
                self.modified(inst, def, value, register.ty);
                Ok(())
            }
            _ => {
                let register = self.register_of(inst, body.src(inst, 1))?;
                let place = match op {
                    IntrinsicOp::StoreReg => ArrayIndex::Constant(base),
                    _ => self.place(base, body.src(inst, 2), 0)?,
                };
                let mask = body.write_mask(inst);
                let value = if body.index(inst, IndexKind::LegacyFsat) != 0 {
                    let ty = ValueType { class: Class::Float, ..register.ty };
                    let value = self.value(body.src(inst, 0), Class::Float)?;
                    let one = if ty.bits == 64 { 1f64.to_bits() } else { 1f32.to_bits().into() };
                    let (zero, one) = (self.module.splat(ty, 0), self.module.splat(ty, one));
                    let value = self.glsl(GlslStd450Op::NClamp, ty, &[value, zero, one]);
                    self.cast(value, ty, register.ty.class)
                } else {
                    self.value(body.src(inst, 0), register.ty.class)?
                };
                let (indices, check) = self.element(place, register.elements);
                let local = Local { id: register.id, storage: StorageClass::Function, class: None };
                self.store_at(&Pointer { local, indices, check, ty: register.ty }, value, mask)
            }
        }
    }

    fn declare_register(&mut self, inst: Inst, def: Def) {
        let body = self.body;
        let index = |kind| body.index(inst, kind);
        let (bits, components) = (index(IndexKind::BitSize) as u8, index(IndexKind::NumComponents) as u8);
        let elements = index(IndexKind::NumArrayElems).max(0) as u32;
        let mut votes = Votes::default();
        for source in body.uses_of(def) {
            let User::Inst(user) = body.user(source) else { continue };
            let value = body.inst_def(user).unwrap_or_else(|| body.src(user, 0));
            if body.def_constant(value).is_none() {
                votes.add(self.classes.get(value));
            }
        }
        let ty = ValueType::new(votes.class(), bits, components);
        let (ty_id, name) = (self.module.value_type(ty), format!("r{}", def.as_u32()));
        let id = match elements {
            0 => self.function_variable(ty_id, None, &name),
            length => self.function_array(ty_id, length, &name),
        };
        self.locals.registers.insert(def, Register { id, ty, elements });
    }

    fn register_of(&self, inst: Inst, handle: Def) -> Result<Register, SpirvError> {
        let found = self.locals.registers.get(&handle).copied();
        found.ok_or(SpirvError::NotLowered { inst, what: "a register that is not declared" })
    }

    /// Returns the indices of an element in an access chain, and their bounds check. A register that is not an array
    /// counts as element 0.
    fn element(&mut self, place: ArrayIndex, elements: u32) -> (SmallVec<[Id; 4]>, BoundsCheck) {
        if elements == 0 {
            let check = if matches!(place, ArrayIndex::Constant(0)) { BoundsCheck::Always } else { BoundsCheck::Never };
            return (SmallVec::new(), check);
        }
        let check = self.check(place, 1, elements);
        (smallvec::smallvec![self.place_id(place)], check)
    }

    fn load_register(&mut self, register: Register, place: ArrayIndex) -> Id {
        let (indices, check) = self.element(place, register.elements);
        let local = Local { id: register.id, storage: StorageClass::Function, class: None };
        let pointer = Pointer { local, indices, check, ty: register.ty };
        self.load_at(pointer, &[register.elements])
    }

    /// Defines the result of a load with its modifiers: the absolute value, then the negation.
    fn modified(&mut self, inst: Inst, def: Def, value: Id, ty: ValueType) {
        let body = self.body;
        let (fabs, fneg) = (body.index(inst, IndexKind::LegacyFabs) != 0, body.index(inst, IndexKind::LegacyFneg) != 0);
        if !fabs && !fneg {
            return self.define(def, value, ty.class);
        }
        let float = ValueType { class: Class::Float, ..ty };
        let mut value = self.cast(value, ty, Class::Float);
        if fabs {
            value = self.glsl(GlslStd450Op::FAbs, float, &[value]);
        }
        if fneg {
            value = self.pure_of(Op::FNegate, float, &[value]);
        }
        self.define(def, value, Class::Float);
    }

    /// Casts a value to another class.
    fn cast(&mut self, id: Id, from: ValueType, to: Class) -> Id {
        if from.class == to || from.bits == 1 {
            return id;
        }
        self.pure_of(Op::Bitcast, ValueType { class: to, ..from }, &[id])
    }
}
