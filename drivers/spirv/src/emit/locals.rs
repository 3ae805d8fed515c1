//! Registers and variables of the function.
//!
//! Both are variables of storage class `Function` that start as zero, or as their initializer says. Variables that are
//! only initialized are `Private`, those that a workgroup shares `Workgroup`. An element is made in the class that most
//! accesses want. Elements outside of an array read as zero, and what is stored there is dropped.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op, StorageClass};
use tgsi_ir::body::DerefKind;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::{ScalarType, TypeData};
use tgsi_ir::variable::{Initializer, VariableModes};
use tgsi_ir::{Body, Def, Inst, InstData, Type, User, Variable};

use super::Emitter;
use super::buffers::{Check, Place};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// A register.
#[derive(Clone, Copy, Debug)]
struct Register {
    id: Id,
    ty: ValueType,
    /// Elements; 0 if it is no array.
    elements: u32,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
struct Local {
    id: Id,
    storage: StorageClass,
    /// The class of its 32-bit numbers, if all are made alike.
    class: Option<Class>,
}

/// Votes for the class of a variable.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    floats: u32,
    signed: u32,
    unsigned: u32,
    is_stored: bool,
}

impl Votes {
    fn add(&mut self, class: Class) {
        match class {
            Class::Float => self.floats += 1,
            Class::Int => self.signed += 1,
            Class::Uint | Class::Bool => self.unsigned += 1,
        }
    }

    fn class(self) -> Class {
        if self.floats > 0 && self.floats >= self.signed.max(self.unsigned) {
            Class::Float
        } else if self.signed > self.unsigned {
            Class::Int
        } else {
            Class::Uint
        }
    }
}

/// State.
#[derive(Debug, Default)]
pub struct Locals {
    registers: FxHashMap<Def, Register>,
    variables: FxHashMap<Variable, Local>,
    votes: Option<FxHashMap<Variable, Votes>>,
    types: FxHashMap<(Type, Option<Class>), Id>,
}

/// A pointer into a variable.
struct Pointer {
    local: Local,
    /// The indices of an access chain.
    indices: SmallVec<[Id; 4]>,
    /// Whether they are inside.
    check: Check,
    /// The vector it points at.
    ty: ValueType,
}

/// Class and size of a scalar type.
fn scalar_of(scalar: ScalarType, components: u8, class: Option<Class>) -> Option<ValueType> {
    use ScalarType as S;
    let own = match scalar {
        S::Bool => Class::Bool,
        S::Int8 | S::Int16 | S::Int | S::Int64 => Class::Int,
        S::Uint8 | S::Uint16 | S::Uint | S::Uint64 => Class::Uint,
        S::Float16 | S::Float | S::Double => Class::Float,
        S::Void => return None,
    };
    let class = class.filter(|_| scalar.bit_size() == 32).unwrap_or(own);
    (1..=4).contains(&components).then(|| ValueType::new(class, scalar.bit_size(), components))
}

/// The variable that a chain of derefs starts from.
fn root(body: &Body, deref: Def) -> Option<Variable> {
    let mut at = deref;
    loop {
        let inst = body.def_inst(at);
        match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => return Some(variable),
            InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. } => at = body.src(inst, 0),
            _ => return None,
        }
    }
}

impl Emitter<'_> {
    pub(super) fn register(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let base = body.index(inst, IndexKind::Base) as u32;
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
                    IntrinsicOp::LoadReg => Place::Known(base),
                    _ => self.place(base, body.src(inst, 1), 0)?,
                };
                let value = self.load_register(register, place);
                self.modified(inst, def, value, register.ty);
                Ok(())
            }
            _ => {
                let register = self.register_of(inst, body.src(inst, 1))?;
                let place = match op {
                    IntrinsicOp::StoreReg => Place::Known(base),
                    _ => self.place(base, body.src(inst, 2), 0)?,
                };
                let mask = body.index(inst, IndexKind::WriteMask) as u32;
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
        let mut ty_id = self.module.value_type(ty);
        if elements > 0 {
            ty_id = self.module.array_type(ty_id, elements, None);
        }
        let id = self.function_variable(ty_id, None, &format!("r{}", def.as_u32()));
        self.locals.registers.insert(def, Register { id, ty, elements });
    }

    fn register_of(&self, inst: Inst, handle: Def) -> Result<Register, SpirvError> {
        let found = self.locals.registers.get(&handle).copied();
        found.ok_or(SpirvError::NotLowered { inst, what: "a register that is not declared" })
    }

    /// The index of an element in an access chain, and whether it is inside. A register that is no array is its own
    /// element 0.
    fn element(&mut self, place: Place, elements: u32) -> (SmallVec<[Id; 4]>, Check) {
        if elements == 0 {
            let check = if matches!(place, Place::Known(0)) { Check::Always } else { Check::Never };
            return (SmallVec::new(), check);
        }
        let check = self.check(place, 1, elements);
        (smallvec::smallvec![self.place_id(place)], check)
    }

    fn load_register(&mut self, register: Register, place: Place) -> Id {
        let (indices, check) = self.element(place, register.elements);
        let local = Local { id: register.id, storage: StorageClass::Function, class: None };
        let pointer = Pointer { local, indices, check, ty: register.ty };
        self.load_at(pointer, &[register.elements])
    }

    /// The result of a load with its modifiers: the absolute value, then the negation.
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

    /// A value in another class.
    fn cast(&mut self, id: Id, from: ValueType, to: Class) -> Id {
        if from.class == to || from.bits == 1 {
            return id;
        }
        self.pure_of(Op::Bitcast, ValueType { class: to, ..from }, &[id])
    }

    /// `load_deref`, `store_deref` of variables that are no inputs or outputs.
    pub(super) fn local_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let (pointer, lengths) = self.pointer(inst, body.src(inst, 0))?;
        if op == IntrinsicOp::LoadDeref {
            let Some(def) = body.inst_def(inst) else { return Ok(()) };
            let class = pointer.ty.class;
            let id = self.load_at(pointer, &lengths);
            self.define(def, id, class);
            return Ok(());
        }
        let value = self.value(body.src(inst, 1), pointer.ty.class)?;
        self.store_at(&pointer, value, body.index(inst, IndexKind::WriteMask) as u32)
    }

    /// The place that a deref points at, and the length of what each of its indices indexes; 0 for fields.
    fn pointer(&mut self, inst: Inst, deref: Def) -> Result<(Pointer, SmallVec<[u32; 4]>), SpirvError> {
        let body = self.body;
        let mut steps: SmallVec<[(DerefKind, Inst); 4]> = SmallVec::new();
        let mut at = deref;
        let variable = loop {
            let step = body.def_inst(at);
            match *body.inst(step) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => break variable,
                InstData::Deref { kind: kind @ (DerefKind::Array | DerefKind::Struct(_)), .. } => {
                    steps.push((kind, step));
                    at = body.src(step, 0);
                }
                _ => return Err(SpirvError::NotLowered { inst, what: "a pointer that is no path into a variable" }),
            }
        };
        let local = self.local(inst, variable)?;
        let types = &self.shader.types;
        let mut ty = self.shader.variables[variable].ty;
        let mut component_of = None;
        let (mut indices, mut lengths) = (SmallVec::new(), SmallVec::new());
        let mut conditions: SmallVec<[Id; 2]> = SmallVec::new();
        let mut outside = false;
        for &(kind, step) in steps.iter().rev() {
            let whole = SpirvError::NotLowered { inst, what: "an access of a whole array or struct" };
            let length = match (kind, types.get(ty)) {
                (DerefKind::Struct(field), TypeData::Struct { fields, .. }) => {
                    let Some(found) = fields.get(field as usize) else { return Err(whole) };
                    ty = found.ty;
                    indices.push(self.module.uint(field));
                    lengths.push(0);
                    continue;
                }
                (DerefKind::Array, &TypeData::Array { element, length, .. }) => {
                    ty = element;
                    length
                }
                (DerefKind::Array, &TypeData::Matrix { scalar, columns, rows }) => {
                    component_of = Some((scalar, rows));
                    u32::from(columns)
                }
                (DerefKind::Array, &TypeData::Vector { scalar, components }) => {
                    let length = component_of.map_or(components, |(_, rows)| rows);
                    component_of = Some((component_of.map_or(scalar, |(scalar, _)| scalar), 1));
                    u32::from(length)
                }
                _ => return Err(whole),
            };
            let place = self.place(0, body.src(step, 1), 0)?;
            match self.check(place, 1, length) {
                Check::Always => {}
                Check::Never => outside = true,
                Check::If(condition) => conditions.push(condition),
            }
            indices.push(self.place_id(place));
            lengths.push(length);
        }
        let vector = component_of.or_else(|| types.as_vector(ty));
        let value_type = vector.and_then(|(scalar, components)| scalar_of(scalar, components, local.class));
        let Some(value_type) = value_type else {
            return Err(SpirvError::NotLowered { inst, what: "an access of a whole array or struct" });
        };
        let check = if outside {
            Check::Never
        } else {
            let all = conditions.into_iter().reduce(|a, b| self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[a, b]));
            all.map_or(Check::Always, Check::If)
        };
        Ok((Pointer { local, indices, check, ty: value_type }, lengths))
    }

    /// A pointer to a vector of a variable, or to a component of it.
    fn chain(&mut self, pointer: &Pointer, component: Option<u8>) -> Id {
        let component = component.map(|component| self.module.uint(component.into()));
        if pointer.indices.is_empty() && component.is_none() {
            return pointer.local.id;
        }
        let ty = if component.is_some() { pointer.ty.scalar() } else { pointer.ty };
        let ty = self.module.value_type(ty);
        let ty = self.module.pointer_type(pointer.local.storage, ty);
        let operands: SmallVec<[u32; 6]> = [pointer.local.id]
            .into_iter()
            .chain(pointer.indices.iter().copied())
            .chain(component)
            .map(|id| id.0)
            .collect();
        self.pure(Op::AccessChain, ty, &operands)
    }

    /// Loads a vector. `lengths` are those of what the indices index; 0 where there is nothing to exceed.
    fn load_at(&mut self, mut pointer: Pointer, lengths: &[u32]) -> Id {
        let ty = self.module.value_type(pointer.ty);
        let Check::If(condition) = pointer.check else {
            if pointer.check == Check::Never {
                return self.module.null(ty);
            }
            let chain = self.chain(&pointer, None);
            return self.result(Op::Load, ty, &[chain.0]);
        };
        // Devices take any element for one outside, or fail: one inside is read, and not used.
        for (index, &length) in pointer.indices.iter_mut().zip(lengths).filter(|(_, length)| **length > 0) {
            let last = self.module.uint(length - 1);
            *index = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[*index, last]);
        }
        let chain = self.chain(&pointer, None);
        let value = self.result(Op::Load, ty, &[chain.0]);
        let zero = self.module.null(ty);
        self.select(pointer.ty, condition, value, zero)
    }

    /// Stores the components of a mask.
    fn store_at(&mut self, pointer: &Pointer, value: Id, mask: u32) -> Result<(), SpirvError> {
        let store = |e: &mut Self| {
            let components = pointer.ty.components;
            let all = (1 << components) - 1;
            if mask & all == all {
                let chain = e.chain(pointer, None);
                e.push(Op::Store, &[chain.0, value.0]);
                return Ok(());
            }
            for component in (0..components).filter(|c| mask >> c & 1 != 0) {
                let part = e.take(value, pointer.ty, tgsi_ir::body::Swizzle::replicate(component), 1);
                let chain = e.chain(pointer, Some(component));
                e.push(Op::Store, &[chain.0, part.0]);
            }
            Ok(())
        };
        match pointer.check {
            Check::Never => Ok(()),
            Check::Always => store(self),
            Check::If(condition) => self.if_then(condition, store),
        }
    }

    /// The votes of all accesses.
    fn variable_votes(&mut self, variable: Variable) -> Votes {
        let body = self.body;
        if self.locals.votes.is_none() {
            let mut votes: FxHashMap<Variable, Votes> = FxHashMap::default();
            for block in body.blocks() {
                for inst in body.insts(block) {
                    let (value, is_stored) = match body.intrinsic(inst) {
                        Some(IntrinsicOp::LoadDeref) => (body.inst_def(inst), false),
                        Some(IntrinsicOp::StoreDeref) => (Some(body.src(inst, 1)), true),
                        _ => continue,
                    };
                    let (Some(value), Some(variable)) = (value, root(body, body.src(inst, 0))) else { continue };
                    let found = votes.entry(variable).or_default();
                    found.is_stored |= is_stored;
                    if body.def_constant(value).is_none() {
                        found.add(self.classes.get(value));
                    }
                }
            }
            self.locals.votes = Some(votes);
        }
        self.locals.votes.as_ref().and_then(|votes| votes.get(&variable)).copied().unwrap_or_default()
    }

    /// The variable of the module that a variable is.
    fn local(&mut self, inst: Inst, variable: Variable) -> Result<Local, SpirvError> {
        if let Some(&local) = self.locals.variables.get(&variable) {
            return Ok(local);
        }
        let votes = self.variable_votes(variable);
        let shader = self.shader;
        let data = &shader.variables[variable];
        let mode = data.mode;
        let own = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP).union(VariableModes::MEM_CONSTANT);
        let storage = if mode.intersects(VariableModes::MEM_SHARED) {
            StorageClass::Workgroup
        } else if !mode.intersects(own) {
            return Err(SpirvError::Unsupported { inst, what: "a pointer into this kind of memory" });
        } else if data.initializer.is_some() && !votes.is_stored {
            StorageClass::Private
        } else {
            StorageClass::Function
        };
        // What has no fields is of one class.
        let inner = shader.types.without_arrays(data.ty);
        let class = (!matches!(shader.types.get(inner), TypeData::Struct { .. })).then(|| votes.class());
        let ty = self.local_type(inst, data.ty, class)?;
        let initializer = match &data.initializer {
            Some(initializer) => Some(self.initializer(inst, initializer, data.ty, class)?),
            None => None,
        };
        let id = match storage {
            StorageClass::Function => self.function_variable(ty, initializer, &data.name),
            _ => {
                let clears = storage == StorageClass::Workgroup;
                let zero = (!clears || self.clears_at_once()).then(|| self.module.null(ty));
                let id = self.module.global_variable(ty, storage, initializer.filter(|_| !clears).or(zero));
                if self.options.names {
                    self.module.name(id, &data.name);
                }
                id
            }
        };
        let local = Local { id, storage, class };
        self.locals.variables.insert(variable, local);
        Ok(local)
    }

    /// The shared variables that code points into, with their types.
    pub(super) fn shared_variables(&mut self) -> Result<Vec<(Id, Id)>, SpirvError> {
        let (shader, body) = (self.shader, self.body);
        let mut found = Vec::new();
        for block in body.blocks() {
            for inst in body.insts(block) {
                let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) else { continue };
                let data = &shader.variables[variable];
                if !data.mode.intersects(VariableModes::MEM_SHARED) {
                    continue;
                }
                let local = self.local(inst, variable)?;
                let ty = self.local_type(inst, data.ty, local.class)?;
                if !found.contains(&(local.id, ty)) {
                    found.push((local.id, ty));
                }
            }
        }
        Ok(found)
    }

    /// The type of a variable. Types are made of earlier ones, so that no recursion is needed.
    fn local_type(&mut self, inst: Inst, ty: Type, class: Option<Class>) -> Result<Id, SpirvError> {
        let types = &self.shader.types;
        let mut pending = vec![ty];
        while let Some(&at) = pending.last() {
            if self.locals.types.contains_key(&(at, class)) {
                pending.pop();
                continue;
            }
            let data = types.get(at);
            let parts: SmallVec<[Type; 4]> = match data {
                TypeData::Array { element, .. } => smallvec::smallvec![*element],
                TypeData::Struct { fields, .. } => fields.iter().map(|field| field.ty).collect(),
                _ => SmallVec::new(),
            };
            let before = pending.len();
            pending.extend(parts.iter().filter(|&&part| !self.locals.types.contains_key(&(part, class))));
            if pending.len() > before {
                continue;
            }
            let parts: SmallVec<[u32; 4]> =
                parts.iter().filter_map(|&part| self.locals.types.get(&(part, class))).map(|id| id.0).collect();
            let made = match *data {
                TypeData::Vector { scalar, components } => {
                    scalar_of(scalar, components, class).map(|ty| self.module.value_type(ty))
                }
                TypeData::Matrix { scalar, columns, rows } => scalar_of(scalar, rows, class).map(|ty| {
                    let column = self.module.value_type(ty);
                    self.module.array_type(column, columns.into(), None)
                }),
                TypeData::Array { length, .. } if length > 0 => {
                    parts.first().map(|&element| self.module.array_type(Id(element), length, None))
                }
                TypeData::Struct { .. } => Some(self.module.plain_type(Op::TypeStruct, &parts)),
                _ => None,
            };
            let Some(made) = made else {
                return Err(SpirvError::Unsupported { inst, what: "a variable of this type" });
            };
            self.locals.types.insert((at, class), made);
            pending.pop();
        }
        let found = self.locals.types.get(&(ty, class)).copied();
        found.ok_or(SpirvError::Unsupported { inst, what: "a variable of this type" })
    }

    /// The constant that an initializer is.
    fn initializer(
        &mut self,
        inst: Inst,
        initializer: &Initializer,
        ty: Type,
        class: Option<Class>,
    ) -> Result<Id, SpirvError> {
        struct Open<'a> {
            ty: Type,
            elements: &'a [Initializer],
            made: Vec<u32>,
        }
        let unsupported = SpirvError::Unsupported { inst, what: "an initializer of this kind" };
        let types = &self.shader.types;
        let mut open: Vec<Open<'_>> = Vec::new();
        let (mut at, mut at_ty) = (initializer, ty);
        loop {
            // A leaf is made, or a list is opened.
            let mut made = match at {
                Initializer::Null => {
                    let ty = self.local_type(inst, at_ty, class)?;
                    Some(self.module.null(ty))
                }
                Initializer::Vector(bits) => {
                    let Some((scalar, components)) = types.as_vector(at_ty) else { return Err(unsupported) };
                    let Some(ty) = scalar_of(scalar, components, class) else { return Err(unsupported) };
                    let mut bits: SmallVec<[u64; 4]> = bits.iter().copied().collect();
                    bits.resize(usize::from(components), 0);
                    Some(self.module.constant(ty, &bits))
                }
                Initializer::Elements(elements) => {
                    open.push(Open { ty: at_ty, elements, made: Vec::new() });
                    None
                }
                Initializer::Pointer(_) => return Err(unsupported),
            };
            // Lists that are complete are closed.
            loop {
                let Some(list) = open.last_mut() else {
                    return made.ok_or(unsupported);
                };
                list.made.extend(made.take().map(|id| id.0));
                let part = |number: usize| match types.get(list.ty) {
                    TypeData::Array { element, length, .. } => ((number as u32) < *length).then_some(*element),
                    TypeData::Struct { fields, .. } => fields.get(number).map(|field| field.ty),
                    _ => None,
                };
                match (part(list.made.len()), list.elements.get(list.made.len())) {
                    (Some(ty), Some(next)) => {
                        (at, at_ty) = (next, ty);
                        break;
                    }
                    (Some(ty), None) => {
                        let ty = self.local_type(inst, ty, class)?;
                        made = Some(self.module.null(ty));
                    }
                    (None, _) => {
                        let Some(list) = open.pop() else { return Err(unsupported) };
                        if list.made.is_empty() {
                            return Err(unsupported);
                        }
                        let ty = self.local_type(inst, list.ty, class)?;
                        made = Some(self.module.constant_of(Op::ConstantComposite, ty, &list.made));
                    }
                }
            }
        }
    }
}
