//! Arrays of scalars that share vectors of four: clip and cull distances, levels of tessellation, and inputs and outputs
//! that linking packs.
//!
//! The IR variable of such an array is an array of vectors, with an outer dimension if there is an element for each
//! vertex. Cull distances follow clip distances in the same variable.

use tgsi_arithmetic::Operand;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Type as IrType};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::types::TypeData as IrTypeData;

use super::places::{Lanes, Place, Value};
use super::{Context, EmitError, Emitter, index};
use crate::builtins::variables::Role;
use crate::program::{ExprId, Storage, VariableId};
use crate::types::{Scalar, TypeData, TypeId};

/// An array that shares vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packed {
    /// The deref of the array of vectors.
    pub(super) deref: Def,
    /// The number of the first scalar in it.
    pub(super) first: u32,
    /// Number of scalars.
    pub(super) length: u32,
    pub(super) scalar: Scalar,
    /// Whether an index of a vertex is still to come.
    pub(super) is_arrayed: bool,
}

/// The slot of a direction's distances.
fn slot_of(role: Role) -> Option<(bool, u8)> {
    match role {
        Role::Input(slot) => Some((true, slot)),
        Role::Output(slot) => Some((false, slot)),
        _ => None,
    }
}

impl Context<'_> {
    /// The type and number of the scalars of a variable that is such an array; `None` for others.
    pub(super) fn packed_scalars(&self, id: VariableId) -> Option<(Scalar, u32)> {
        if !self.program.is_packed(id) {
            return None;
        }
        match self.program.types.get(self.program.type_of_vertex(id)) {
            TypeData::Array { element, length } => {
                Some((self.program.types.scalar(element).unwrap_or(Scalar::Float), length.unwrap_or(1)))
            }
            _ => None,
        }
    }

    /// The number of scalars of such an array.
    pub(super) fn packed_length(&self, id: VariableId) -> Option<u32> {
        self.packed_scalars(id).map(|(_, length)| length)
    }

    /// The variable of the clip distances of the same direction as cull distances, or the reverse.
    fn other_distances(&self, id: VariableId) -> Option<VariableId> {
        let version = self.program.version;
        let role = |id: VariableId| match self.program.variable(id).storage {
            Storage::Builtin(builtin) => slot_of(builtin.role(version)),
            _ => None,
        };
        let (is_input, slot) = role(id)?;
        let other = match slot {
            VaryingSlot::CLIP_DIST0 => VaryingSlot::CULL_DIST0,
            VaryingSlot::CULL_DIST0 => VaryingSlot::CLIP_DIST0,
            _ => return None,
        };
        let is_used = |id: &&VariableId| {
            let variable = self.program.variable(**id);
            variable.is_read || variable.is_written
        };
        self.program.globals.iter().filter(is_used).find(|&&id| role(id) == Some((is_input, other))).copied()
    }

    /// Whether a variable holds cull distances.
    fn is_cull(&self, id: VariableId) -> bool {
        match self.program.variable(id).storage {
            Storage::Builtin(builtin) => {
                slot_of(builtin.role(self.program.version)).is_some_and(|(_, slot)| slot == VaryingSlot::CULL_DIST0)
            }
            _ => false,
        }
    }

    /// The variable that a packed array is in, and the number of its first scalar.
    pub(super) fn packed_place(&self, id: VariableId) -> (VariableId, u32) {
        match self.other_distances(id).filter(|_| self.is_cull(id)) {
            Some(clip) => (clip, self.packed_length(clip).unwrap_or(0)),
            None => (id, 0),
        }
    }

    /// The IR type of a packed array, with the scalars of the array that shares it.
    pub(super) fn packed_array_type(&mut self, id: VariableId) -> IrType {
        let (scalar, own) = self.packed_scalars(id).unwrap_or((Scalar::Float, 1));
        let of_other = self.other_distances(id).and_then(|other| self.packed_length(other)).unwrap_or(0);
        let vectors = own.saturating_add(of_other).div_ceil(4).max(1);
        let element = self.ir_type(TypeId::vector(scalar, 4));
        let array = self.shader.types.intern(IrTypeData::Array { element, length: vectors, stride: 0 });
        let variable = self.program.variable(id);
        match self.program.types.get(variable.ty) {
            TypeData::Array { length, .. } if variable.is_per_vertex => {
                let length = length.unwrap_or(1);
                self.shader.types.intern(IrTypeData::Array { element: array, length, stride: 0 })
            }
            _ => array,
        }
    }

    /// Records the numbers of distances in the shader's information.
    pub(super) fn note_distances(&mut self, id: VariableId) {
        let length = self.packed_length(id).unwrap_or(0);
        let Storage::Builtin(builtin) = self.program.variable(id).storage else { return };
        // Those of `gl_in` are the outputs of another stage.
        let is_fragment = self.program.stage == ShaderStage::Fragment;
        let role = slot_of(builtin.role(self.program.version));
        let Some((_, slot)) = role.filter(|&(is_input, _)| is_input == is_fragment) else { return };
        match slot {
            VaryingSlot::CLIP_DIST0 => self.shader.info.clip_distance_array_size = length,
            VaryingSlot::CULL_DIST0 => self.shader.info.cull_distance_array_size = length,
            _ => {}
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// An index of a packed array: a vertex, or a scalar.
    pub(super) fn packed_index(&mut self, packed: Packed, number: ExprId) -> Result<Value, EmitError> {
        if packed.is_arrayed {
            let number = self.vector_of(number)?;
            let deref = self.element_deref(packed.deref, number);
            return Ok(Value::Packed(Packed { deref, is_arrayed: false, ..packed }));
        }
        let place = self.packed_scalar(packed, number)?;
        Ok(self.load_place(place))
    }

    /// The place of a scalar.
    pub(super) fn packed_scalar(&mut self, packed: Packed, number: ExprId) -> Result<Place, EmitError> {
        let constant = self.context.program.value(number).and_then(|value| value.bits.first().copied());
        if let Some(number) = constant {
            return Ok(self.packed_at(packed, number as u32));
        }
        let number = self.vector_of(number)?;
        let first = index(&mut self.b, packed.first);
        let number = if packed.first == 0 { number } else { self.b.alu(AluOp::Iadd, &[number, first]) };
        let (two, three) = (index(&mut self.b, 2), index(&mut self.b, 3));
        let vector = self.b.alu(AluOp::Ushr, &[number, two]);
        let component = self.b.alu(AluOp::Iand, &[number, three]);
        let deref = self.element_deref(packed.deref, vector);
        if self.b.body.deref_modes(deref).intersects(self.shared_modes()) {
            let deref = self.element_deref(deref, component);
            return Ok(Place::new(deref, TypeId::vector(packed.scalar, 1)));
        }
        let vector = TypeId::vector(packed.scalar, 4);
        Ok(Place { lanes: Some(Lanes::Indexed(component)), ..Place::new(deref, vector) })
    }

    /// The place of a scalar with a known number.
    fn packed_at(&mut self, packed: Packed, number: u32) -> Place {
        let number = packed.first.saturating_add(number.min(packed.length.saturating_sub(1)));
        let vector = index(&mut self.b, number / 4);
        let deref = self.element_deref(packed.deref, vector);
        let vector_type = TypeId::vector(packed.scalar, 4);
        Place { lanes: Some(Lanes::Fixed([(number % 4) as u8; 4], 1)), ..Place::new(deref, vector_type) }
    }

    /// Copies a packed array to memory of its type.
    pub(super) fn unpack_scalars(&mut self, packed: Packed) -> Value {
        let vertices = if packed.is_arrayed { self.length_of(packed.deref) } else { 1 };
        let ty = self.packed_type(packed, vertices);
        let Some(ty) = ty else { return Value::None };
        let to = self.temporary_of(ty);
        for vertex in 0..vertices {
            let (from, to) = match packed.is_arrayed {
                true => {
                    let number = index(&mut self.b, vertex);
                    let deref = self.element_deref(packed.deref, number);
                    (Packed { deref, is_arrayed: false, ..packed }, self.element_deref(to, number))
                }
                false => (packed, to),
            };
            for number in 0..packed.length {
                let place = self.packed_at(from, number);
                let value = self.load_place(place);
                let number = index(&mut self.b, number);
                let deref = self.element_deref(to, number);
                self.store(Place::new(deref, TypeId::vector(packed.scalar, 1)), value);
            }
        }
        Value::Memory(to, ty)
    }

    /// Stores an array to a packed array.
    pub(super) fn store_scalars(&mut self, packed: Packed, value: Value) {
        let Value::Memory(from, _) = value else { return };
        for number in 0..packed.length {
            let at = index(&mut self.b, number);
            let deref = self.element_deref(from, at);
            let loaded = Value::Operand(Operand::Vector(self.b.load_deref(deref, Shape::new(1, 32))));
            let place = self.packed_at(packed, number);
            self.store(place, loaded);
        }
    }

    fn length_of(&self, deref: Def) -> u32 {
        let ty = self.b.body.deref_type(deref).map(|ty| self.context.shader.types.get(ty));
        match ty {
            Some(&IrTypeData::Array { length, .. }) => length,
            _ => 1,
        }
    }

    /// The type of a packed array in the language, which the unit has.
    fn packed_type(&self, packed: Packed, vertices: u32) -> Option<TypeId> {
        let types = &self.context.program.types;
        let scalars = types.find_array(TypeId::vector(packed.scalar, 1), packed.length)?;
        if packed.is_arrayed { types.find_array(scalars, vertices) } else { Some(scalars) }
    }
}
