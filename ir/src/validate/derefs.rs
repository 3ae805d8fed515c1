//! Rules 8 to 11: derefs and their types.

use hashbrown::HashSet;

use super::{Checker, ValidationErrorKind};
use crate::body::{CastLayout, DerefKind, InstData, Shape};
use crate::entities::{Def, Inst, Type};
use crate::types::{TypeData, TypeTable};
use crate::variable::VariableModes;

/// Number of sources of a deref.
pub(super) fn num_sources(kind: DerefKind) -> usize {
    match kind {
        DerefKind::Var(_) => 0,
        DerefKind::ArrayWildcard | DerefKind::Struct(_) | DerefKind::Cast { .. } => 1,
        DerefKind::Array | DerefKind::PtrAsArray => 2,
    }
}

/// The properties of a deref that its children are checked against.
struct Parent {
    kind: DerefKind,
    modes: VariableModes,
    ty: Type,
    shape: Shape,
}

impl Checker<'_> {
    pub(super) fn check_deref(&mut self, inst: Inst, kind: DerefKind, modes: VariableModes, ty: Type) {
        if !self.shader.types.contains(ty) {
            return self.report_inst(inst, ValidationErrorKind::DerefType);
        }
        match kind {
            DerefKind::Var(variable) => {
                let Some(data) = self.shader.variables.get(variable) else {
                    return self.report_inst(inst, ValidationErrorKind::DerefVarUndeclared { variable });
                };
                let declared = self.declared.is_declared_for(variable, self.function);
                self.expect(inst, declared, ValidationErrorKind::DerefVarUndeclared { variable });
                self.expect(inst, modes == data.mode, ValidationErrorKind::DerefVarModes);
                self.expect(inst, ty == data.ty, ValidationErrorKind::DerefVarType);
            }
            DerefKind::Cast(cast) => {
                let CastLayout { align_mul, align_offset, .. } = self.body.cast(cast);
                self.check_cast(inst, modes);
                let possible = match align_mul {
                    0 => align_offset == 0,
                    _ => align_mul.is_power_of_two() && align_offset < align_mul,
                };
                self.expect(inst, possible, ValidationErrorKind::CastAlign { align_mul, align_offset });
            }
            DerefKind::Array | DerefKind::ArrayWildcard | DerefKind::PtrAsArray | DerefKind::Struct(_) => {
                self.check_child(inst, kind, modes, ty);
            }
        }
    }

    fn parent(&self, inst: Inst) -> Option<Parent> {
        let def = self.body.src(inst, 0);
        match *self.body.inst(self.body.checked_def_inst(def)?) {
            InstData::Deref { kind, modes, ty } if self.shader.types.contains(ty) => {
                Some(Parent { kind, modes, ty, shape: self.body.shape(def) })
            }
            _ => None,
        }
    }

    fn check_cast(&mut self, inst: Inst, modes: VariableModes) {
        if !VariableModes::GENERIC.contains(modes) {
            self.expect(inst, modes.is_single(), ValidationErrorKind::CastModes);
        }
        match self.parent(inst) {
            Some(parent) => {
                self.expect(inst, modes.intersects(parent.modes), ValidationErrorKind::CastParentModes);
            }
            None => self.expect(inst, modes != VariableModes::NONE, ValidationErrorKind::CastNoModes),
        }
    }

    fn check_child(&mut self, inst: Inst, kind: DerefKind, modes: VariableModes, ty: Type) {
        let Some(parent) = self.parent(inst) else {
            return self.report_inst(inst, ValidationErrorKind::DerefParent);
        };
        let shape = self.def_shape(inst);
        self.expect(inst, shape == parent.shape, ValidationErrorKind::DerefParentShape);
        self.expect(inst, modes == parent.modes, ValidationErrorKind::DerefParentModes);
        match kind {
            DerefKind::Struct(field) => match self.shader.types.get(parent.ty) {
                TypeData::Struct { fields, .. } => match fields.get(field as usize) {
                    Some(data) => self.expect(inst, data.ty == ty, ValidationErrorKind::DerefFieldType),
                    None => self.report_inst(inst, ValidationErrorKind::DerefField { field }),
                },
                // The text form of a struct may give its name only.
                TypeData::Opaque(_) => {}
                _ => self.report_inst(inst, ValidationErrorKind::DerefNotStruct),
            },
            DerefKind::PtrAsArray => {
                let fits = matches!(parent.kind, DerefKind::Array | DerefKind::PtrAsArray | DerefKind::Cast { .. });
                self.expect(inst, fits, ValidationErrorKind::DerefPtrParent);
            }
            _ => match is_element(&self.shader.types, parent.ty, modes, ty) {
                Some(fits) => self.expect(inst, fits, ValidationErrorKind::DerefElementType),
                None => self.report_inst(inst, ValidationErrorKind::DerefNotArray),
            },
        }
        if matches!(kind, DerefKind::Array | DerefKind::PtrAsArray) {
            let index = self.src_shape(inst, 1);
            let fits = index == Shape::new(1, shape.bit_size);
            self.expect(inst, fits, ValidationErrorKind::DerefIndex);
        }
    }

    /// Checks a deref that is a source of a phi.
    pub(super) fn check_phi_deref(&mut self, inst: Inst, def: Def) {
        let unmovable = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT).union(VariableModes::UNIFORM);
        if let Some(producer) = self.body.checked_def_inst(def)
            && let InstData::Deref { modes, .. } = self.body.inst(producer)
            && modes.intersects(unmovable)
        {
            self.report_inst(inst, ValidationErrorKind::DerefPhi { def });
        }
    }
}

/// Whether `ty` is the element type of `parent`; `None` if derefs of these modes cannot index `parent`.
fn is_element(types: &TypeTable, parent: Type, modes: VariableModes, ty: Type) -> Option<bool> {
    Some(match *types.get(parent) {
        TypeData::Array { element, .. } => element == ty,
        TypeData::Matrix { scalar, rows, .. } => *types.get(ty) == TypeData::Vector { scalar, components: rows },
        TypeData::Vector { scalar, components }
            if components > 1 && VariableModes::VECTOR_INDEXABLE.contains(modes) =>
        {
            *types.get(ty) == TypeData::Vector { scalar, components: 1 }
        }
        _ => return None,
    })
}

/// Whether two types are equal except for strides and offsets. Uses an explicit stack, because the input determines the
/// nesting of types.
pub(super) fn are_bare_types_equal(types: &TypeTable, a: Type, b: Type) -> bool {
    let mut pending = vec![(a, b)];
    // The same pair of types may be reachable on many paths.
    let mut seen = HashSet::new();
    while let Some((a, b)) = pending.pop() {
        if a == b || !seen.insert((a, b)) {
            continue;
        }
        match (types.get(a), types.get(b)) {
            (
                TypeData::Array { element: a, length: length_a, .. },
                TypeData::Array { element: b, length: length_b, .. },
            ) if length_a == length_b => pending.push((*a, *b)),
            (
                TypeData::Matrix { scalar: a, columns: columns_a, rows: rows_a, .. },
                TypeData::Matrix { scalar: b, columns: columns_b, rows: rows_b, .. },
            ) if a == b && columns_a == columns_b && rows_a == rows_b => {}
            (
                TypeData::Struct { name: name_a, fields: a, interface: interface_a },
                TypeData::Struct { name: name_b, fields: b, interface: interface_b },
            ) if name_a == name_b && interface_a == interface_b && a.len() == b.len() => {
                if a.iter().zip(b).any(|(a, b)| a.name != b.name) {
                    return false;
                }
                pending.extend(a.iter().zip(b).map(|(a, b)| (a.ty, b.ty)));
            }
            _ => return false,
        }
    }
    true
}
