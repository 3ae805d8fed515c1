//! Which texture, sampler or image of those that are bound an instruction names.
//!
//! An index that is known when the shader runs is held within the array, and what it names outside of it is zero. A
//! target without arrays of descriptors (`portable`) has a variable for each unit, and asks each of them.

use spirv::{Decoration, GlslStd450Op};
use tgsi_ir::analysis::divergence::is_use_divergent;
use tgsi_ir::body::DerefKind;
use tgsi_ir::entities::{Type, Variable};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableData;
use tgsi_ir::{Def, Inst, InstData};

use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Id, ValueType};

/// What a pointer to a texture, sampler or image names.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The variable; none for what a handle names.
    pub variable: Option<Variable>,
    /// Its type, or that of its elements; none for what a handle names.
    pub ty: Option<Type>,
    /// Number in TGSI of the first element.
    pub first: u32,
    /// Number of elements; 0 for what handles name, whose number nobody knows.
    pub count: u32,
    /// The element.
    pub index: Index,
}

/// The number of an element.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    /// Known.
    Constant(u32),
    /// Known when the shader runs.
    Dynamic {
        /// The value of the IR.
        def: Def,
        /// Its id, unsigned.
        id: Id,
        /// Whether it may differ between invocations that run together.
        divergent: bool,
    },
}

/// An element that exists.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// Of this number.
    Constant(u32),
    /// Of a number known when the shader runs, within the array.
    Dynamic {
        /// Its id, unsigned.
        id: Id,
        /// Whether it may differ between invocations that run together.
        divergent: bool,
    },
}

/// Code that is emitted for an element, and gives a value.
pub type ForElement<'f, 'a> = &'f mut dyn FnMut(&mut Emitter<'a>, Element) -> Result<Id, SpirvError>;

impl<'a> Emitter<'a> {
    /// What a pointer names.
    ///
    /// # Errors
    /// [`SpirvError::NotLowered`]: it is no variable or element of an array.
    pub fn unit(&mut self, inst: Inst, deref: Def) -> Result<Unit, SpirvError> {
        let body = self.body;
        let mut index = None;
        let mut at = deref;
        loop {
            let Some(InstData::Deref { kind, ty, .. }) = body.try_def_inst(at).map(|producer| *body.inst(producer))
            else {
                return Err(SpirvError::NotLowered { inst, what: "a texture that is no variable" });
            };
            match kind {
                DerefKind::Var(variable) => {
                    let first = self.shader.variables[variable].driver_location;
                    let (count, ty) = match self.shader.types.get(ty) {
                        TypeData::Array { element, length, .. } => (*length, *element),
                        _ => (1, ty),
                    };
                    let index = index.unwrap_or(Index::Constant(0));
                    return Ok(Unit { variable: Some(variable), ty: Some(ty), first, count: count.max(1), index });
                }
                DerefKind::Array if index.is_none() => {
                    let pointer = body.def_inst(at);
                    let source = body.source(pointer, 1);
                    let def = body.src_def(source);
                    index = Some(match body.constant_component(def, 0) {
                        Some(number) => Index::Constant(number as u32),
                        None => {
                            let divergent = is_use_divergent(body, &body.loop_tree(), source);
                            let id = self.component(def, 0, crate::module::Class::Uint)?;
                            Index::Dynamic { def, id, divergent }
                        }
                    });
                    at = body.src(pointer, 0);
                }
                _ => return Err(SpirvError::NotLowered { inst, what: "a pointer to part of a texture" }),
            }
        }
    }

    /// The variable of the IR that a unit names.
    pub fn unit_data(&self, unit: &Unit) -> Option<&'a VariableData> {
        unit.variable.map(|variable| &self.shader.variables[variable])
    }

    /// A value of the element that a unit names, zero if there is no such element. `inner` may not have effects: where
    /// descriptors are in no array it runs for each of them.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn of_element(&mut self, unit: &Unit, ty: ValueType, inner: ForElement<'_, 'a>) -> Result<Id, SpirvError> {
        let type_id = self.module.value_type(ty);
        match unit.index {
            Index::Constant(number) if number < unit.count => inner(self, Element::Constant(number)),
            Index::Constant(_) => Ok(self.module.null(type_id)),
            // The number of what handles name is not known.
            Index::Dynamic { id, divergent, .. } if unit.count == 0 => inner(self, Element::Dynamic { id, divergent }),
            Index::Dynamic { id, .. } if self.options.portable => {
                let mut result = self.module.null(type_id);
                for number in 0..unit.count {
                    let value = inner(self, Element::Constant(number))?;
                    let own = self.module.uint(number);
                    let chosen = self.pure_of(spirv::Op::IEqual, ValueType::BOOL, &[id, own]);
                    result = self.select(ty, chosen, value, result);
                }
                Ok(result)
            }
            Index::Dynamic { id, divergent, .. } => {
                let element = self.held_within(id, unit.count, divergent);
                let value = inner(self, element)?;
                let count = self.module.uint(unit.count);
                let inside = self.is_below(id, count);
                let zero = self.module.null(type_id);
                Ok(self.select(ty, inside, value, zero))
            }
        }
    }

    /// As [`of_element`](Self::of_element), but `inner` may have effects: it runs only for the element that is named.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn at_element(&mut self, unit: &Unit, ty: ValueType, inner: ForElement<'_, 'a>) -> Result<Id, SpirvError> {
        let type_id = self.module.value_type(ty);
        match unit.index {
            Index::Dynamic { id, .. } if self.options.portable && unit.count > 0 => {
                let mut result = self.module.null(type_id);
                for number in 0..unit.count {
                    let own = self.module.uint(number);
                    let chosen = self.pure_of(spirv::Op::IEqual, ValueType::BOOL, &[id, own]);
                    let value = self.if_then_value(chosen, ty, |e| inner(e, Element::Constant(number)))?;
                    result = self.select(ty, chosen, value, result);
                }
                Ok(result)
            }
            Index::Dynamic { id, divergent, .. } if unit.count > 0 => {
                let count = self.module.uint(unit.count);
                let inside = self.is_below(id, count);
                let element = self.held_within(id, unit.count, divergent);
                self.if_then_value(inside, ty, |e| inner(e, element))
            }
            Index::Constant(_) | Index::Dynamic { .. } => self.of_element(unit, ty, inner),
        }
    }

    fn held_within(&mut self, id: Id, count: u32, divergent: bool) -> Element {
        if count == 1 {
            return Element::Constant(0);
        }
        let last = self.module.uint(count - 1);
        let id = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[id, last]);
        Element::Dynamic { id, divergent }
    }

    /// Says that an id may differ between invocations that run together.
    pub fn non_uniform(&mut self, id: Id) {
        if self.textures.non_uniform.insert(id) {
            self.module.need(spirv::Capability::ShaderNonUniform);
            self.module.need_extension("SPV_EXT_descriptor_indexing", Some((1, 5)));
            self.module.decorate(id, Decoration::NonUniform, &[]);
        }
    }
}
