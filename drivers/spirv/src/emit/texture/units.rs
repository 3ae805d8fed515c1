//! Resolution of the texture, sampler or image that an instruction accesses.
//!
//! A dynamic index is clamped to the array, and results for indices outside of it are zero. A target without descriptor
//! arrays (`portable`) has a variable for each unit, and selects among all of them.

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

/// The target of a pointer to a texture, sampler or image.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The variable; `None` for handles.
    pub variable: Option<Variable>,
    /// Its type, or that of its elements; `None` for handles.
    pub ty: Option<Type>,
    /// TGSI's number of the first element.
    pub first: u32,
    /// The number of elements; 0 for handles, for which it is unknown.
    pub count: u32,
    /// The index of the element.
    pub index: Index,
}

/// The index of an element.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    /// Constant.
    Constant(u32),
    /// Dynamic.
    Dynamic {
        /// The IR value.
        def: Def,
        /// Its id, unsigned.
        id: Id,
        /// Whether it may differ between invocations of a subgroup.
        divergent: bool,
    },
}

/// An existing element.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    /// With a constant index.
    Constant(u32),
    /// With a dynamic index, within the array.
    Dynamic {
        /// Its id, unsigned.
        id: Id,
        /// Whether it may differ between invocations of a subgroup.
        divergent: bool,
    },
}

/// Emits code for an element and returns its value.
pub type ForElement<'f, 'a> = &'f mut dyn FnMut(&mut Emitter<'a>, Element) -> Result<Id, SpirvError>;

impl<'a> Emitter<'a> {
    /// Resolves a pointer.
    ///
    /// # Errors
    /// [`SpirvError::NotLowered`]: the pointer is neither a variable nor an element of an array.
    pub fn unit(&mut self, inst: Inst, deref: Def) -> Result<Unit, SpirvError> {
        let body = self.body;
        let mut index = None;
        let mut at = deref;
        loop {
            let Some(InstData::Deref { kind, ty, .. }) = body.try_def_inst(at).map(|producer| *body.inst(producer))
            else {
                return Err(SpirvError::NotLowered { inst, what: "a texture that is not a variable" });
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

    /// Returns the IR variable of a unit.
    pub fn unit_data(&self, unit: &Unit) -> Option<&'a VariableData> {
        unit.variable.map(|variable| &self.shader.variables[variable])
    }

    /// Emits a value for the element of a unit, zero if there is no such element. `inner` must not have side effects:
    /// without descriptor arrays it runs for each element.
    ///
    /// # Errors
    /// The errors of `inner`.
    pub fn of_element(&mut self, unit: &Unit, ty: ValueType, inner: ForElement<'_, 'a>) -> Result<Id, SpirvError> {
        let type_id = self.module.value_type(ty);
        match unit.index {
            Index::Constant(number) if number < unit.count => inner(self, Element::Constant(number)),
            Index::Constant(_) => Ok(self.module.null(type_id)),
            // The number of descriptors for handles is unknown.
            Index::Dynamic { id, divergent, .. } if unit.count == 0 || self.is_unguarded(unit) => {
                inner(self, Element::Dynamic { id, divergent })
            }
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

    /// As [`of_element`](Self::of_element), except that `inner` may have side effects: it runs only for the selected
    /// element.
    ///
    /// # Errors
    /// The errors of `inner`.
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
            Index::Dynamic { id, divergent, .. } if unit.count > 0 && !self.is_unguarded(unit) => {
                let count = self.module.uint(unit.count);
                let inside = self.is_below(id, count);
                let element = self.held_within(id, unit.count, divergent);
                self.if_then_value(inside, ty, |e| inner(e, element))
            }
            Index::Constant(_) | Index::Dynamic { .. } => self.of_element(unit, ty, inner),
        }
    }

    /// Returns whether an index may select an element that does not exist.
    pub fn is_unguarded(&self, unit: &Unit) -> bool {
        self.options.unguarded && !self.options.portable && unit.count > 1
    }

    fn held_within(&mut self, id: Id, count: u32, divergent: bool) -> Element {
        if count == 1 {
            return Element::Constant(0);
        }
        let last = self.module.uint(count - 1);
        let id = self.glsl(GlslStd450Op::UMin, ValueType::UINT, &[id, last]);
        Element::Dynamic { id, divergent }
    }

    /// Declares that an id may differ between invocations of a subgroup.
    pub fn non_uniform(&mut self, id: Id) {
        if self.textures.non_uniform.insert(id) {
            self.module.need(spirv::Capability::ShaderNonUniform);
            self.module.need_extension("SPV_EXT_descriptor_indexing", Some((1, 5)));
            self.module.decorate(id, Decoration::NonUniform, &[]);
        }
    }
}
