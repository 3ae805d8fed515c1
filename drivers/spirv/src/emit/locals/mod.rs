//! Registers and variables of the function.
//!
//! Both are variables of storage class `Function` that start as zero, or with their initializer. Variables that are
//! never stored to are `Private`, variables shared by a workgroup `Workgroup`. Elements have the class of most
//! accesses. Reads outside of an array give zero, and writes are dropped.

mod derefs;
mod registers;
mod types;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{GlslStd450Op, Op, StorageClass};
use tgsi_ir::body::DerefKind;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Inst, InstData, Type, Variable};

use super::Emitter;
use super::buffers::BoundsCheck;
use super::memory_model::Qualifiers;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// A register.
#[derive(Clone, Copy, Debug)]
struct Register {
    id: Id,
    ty: ValueType,
    /// Number of elements; 0 if it is not an array.
    elements: u32,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
struct Local {
    id: Id,
    storage: StorageClass,
    /// The class of its 32-bit numbers, if all have the same.
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

/// The emitter's state for registers and variables.
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
    /// Whether the indices are inside.
    check: BoundsCheck,
    /// The type of the vector it points to.
    ty: ValueType,
}

/// Returns the variable at the root of a chain of derefs.
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
    /// Emits a pointer to a vector of a variable, or to a component of it.
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

    /// Loads a vector. `lengths` are the lengths of the arrays that the indices index; 0 if an index cannot exceed
    /// them.
    fn load_at(&mut self, mut pointer: Pointer, lengths: &[u32]) -> Id {
        let ty = self.module.value_type(pointer.ty);
        let BoundsCheck::If(condition) = pointer.check else {
            if pointer.check == BoundsCheck::Never {
                return self.module.null(ty);
            }
            let chain = self.chain(&pointer, None);
            return self.load_shared(ty, chain, pointer.local.storage, Qualifiers::default());
        };
        // Out-of-range accesses read any element on some devices and fail on others, so the index is clamped and the
        // value discarded.
        for (index, &length) in pointer.indices.iter_mut().zip(lengths).filter(|(_, length)| **length > 0) {
            let last = self.module.uint(length - 1);
            *index = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[*index, last]);
        }
        let chain = self.chain(&pointer, None);
        let value = self.load_shared(ty, chain, pointer.local.storage, Qualifiers::default());
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
                e.store_shared(chain, value, pointer.local.storage, Qualifiers::default());
                return Ok(());
            }
            for component in (0..components).filter(|c| mask >> c & 1 != 0) {
                let part = e.take(value, pointer.ty, tgsi_ir::body::Swizzle::replicate(component), 1);
                let chain = e.chain(pointer, Some(component));
                e.store_shared(chain, part, pointer.local.storage, Qualifiers::default());
            }
            Ok(())
        };
        match pointer.check {
            BoundsCheck::Never => Ok(()),
            BoundsCheck::Always => store(self),
            BoundsCheck::If(condition) => self.if_then(condition, store),
        }
    }

    /// Returns the votes of all accesses to a variable.
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

    /// Returns the SPIR-V variable of an IR variable.
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
        // Variables without structs have a single class.
        let inner = shader.types.without_arrays(data.ty);
        let class = (!matches!(shader.types.get(inner), TypeData::Struct { .. })).then(|| votes.class());
        let ty = self.local_type(inst, data.ty, class)?;
        let initializer = match &data.initializer {
            Some(initializer) => Some(self.initializer(inst, initializer, data.ty, class)?),
            None => None,
        };
        let id = match storage {
            StorageClass::Function => match (initializer, shader.types.get(data.ty)) {
                (None, &TypeData::Array { element, length, .. }) => {
                    let element = self.local_type(inst, element, class)?;
                    self.function_array(element, length, &data.name)
                }
                _ => self.function_variable(ty, initializer, &data.name),
            },
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

    /// Returns the shared variables that code accesses, with their types.
    pub(in crate::emit) fn shared_variables(&mut self) -> Result<Vec<(Id, Id)>, SpirvError> {
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
}
