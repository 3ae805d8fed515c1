//! Places: memory that expressions name, and values.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::VariableModes;

use super::packed::Packed;
use super::{EmitError, Emitter, bit_size, index};
use crate::program::{ExprId, ExprKind};
use crate::types::{TypeData, TypeId};

/// A value, or memory that holds it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// No value: of `void` functions.
    None,
    /// A scalar, vector or matrix.
    Operand(Operand<Def>),
    /// Memory of a type. Arrays and structs always are in memory.
    Memory(Def, TypeId),
    /// Structs of state, and arrays of them, which share registers.
    State(Def, TypeId),
    /// Scalars that share vectors.
    Packed(Packed),
}

/// Components of a vector in memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lanes {
    /// These, in the order of the value's components.
    Fixed([u8; 4], u8),
    /// One at a run-time index.
    Indexed(Def),
}

/// A target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) deref: Def,
    pub(super) ty: TypeId,
    /// Components of a vector; `None` for all.
    pub(super) lanes: Option<Lanes>,
    /// Scalars that share vectors, instead of memory of the type.
    pub(super) packed: Option<Packed>,
}

impl Place {
    /// All of the memory of a type.
    pub(super) fn new(deref: Def, ty: TypeId) -> Place {
        Place { deref, ty, lanes: None, packed: None }
    }
}

impl Emitter<'_, '_, '_> {
    fn vector_shape(&self, ty: TypeId) -> Shape {
        match self.context.program.types.as_vector(ty) {
            Some((scalar, components)) => Shape::new(components, bit_size(scalar)),
            None => Shape::new(1, 32),
        }
    }

    /// The deref of an element of an array, a column of a matrix, or a component of a vector.
    pub(super) fn element_deref(&mut self, parent: Def, number: Def) -> Def {
        let ty = self.b.body.deref_type(parent);
        let element = ty.and_then(|ty| self.context.shader.types.element(ty)).map(|(element, _)| element);
        let element = element.unwrap_or_else(|| self.context.ir_type(TypeId::FLOAT));
        self.b.deref_array(parent, number, element)
    }

    /// The deref of a field of a struct.
    pub(super) fn field_deref(&mut self, parent: Def, field: u32) -> Def {
        let of_parent = self.b.body.deref_type(parent).map(|ty| self.context.shader.types.get(ty));
        let ty = match of_parent {
            Some(IrTypeData::Struct { fields, .. }) => fields.get(field as usize).map(|field| field.ty),
            _ => None,
        };
        let ty = ty.unwrap_or_else(|| self.context.ir_type(TypeId::FLOAT));
        self.b.deref_struct(parent, field, ty)
    }

    /// Loads a scalar, vector or matrix.
    pub(super) fn load(&mut self, deref: Def, ty: TypeId) -> Operand<Def> {
        match self.context.program.types.get(ty) {
            TypeData::Matrix { scalar, columns, rows } => {
                let column = TypeId::vector(scalar, rows);
                let shape = self.vector_shape(column);
                let mut loaded = ArrayVec::new();
                for number in 0..columns {
                    let number = index(&mut self.b, number.into());
                    let deref = self.element_deref(deref, number);
                    loaded.push(self.b.load_deref(deref, shape));
                }
                Operand::Matrix(loaded)
            }
            _ => Operand::Vector(self.b.load_deref(deref, self.vector_shape(ty))),
        }
    }

    /// The value in registers, or arrays and structs in memory.
    pub(super) fn loaded(&mut self, value: Value) -> Value {
        match value {
            Value::Memory(deref, ty) if self.context.program.types.scalar(ty).is_some() => {
                Value::Operand(self.load(deref, ty))
            }
            value => self.unpacked(value),
        }
    }

    /// The scalar, vector or matrix of a value. A value of another type is 0.
    pub(super) fn operand(&mut self, value: Value) -> Operand<Def> {
        match self.loaded(value) {
            Value::Operand(operand) => operand,
            Value::None | Value::Memory(..) | Value::State(..) | Value::Packed(_) => {
                Operand::Vector(self.b.u32_const(0))
            }
        }
    }

    /// Stores a value to a target.
    pub(super) fn store(&mut self, place: Place, value: Value) {
        let Place { deref, ty, lanes, packed } = place;
        if let Some(packed) = packed {
            let value = self.unpacked(value);
            self.store_scalars(packed, value);
            return;
        }
        match (self.unpacked(value), lanes) {
            (Value::None, _) => {}
            (Value::Memory(from, of), None) if self.context.program.types.scalar(of).is_none() => {
                self.copy(deref, from, of);
            }
            (value, None) => match self.operand(value) {
                Operand::Vector(def) => self.store_vector(deref, def),
                Operand::Matrix(columns) => {
                    for (number, &column) in columns.iter().enumerate() {
                        let number = index(&mut self.b, number as u32);
                        let deref = self.element_deref(deref, number);
                        self.store_vector(deref, column);
                    }
                }
            },
            (value, Some(Lanes::Fixed(lanes, count))) => {
                let Operand::Vector(def) = self.operand(value) else { return };
                self.store_lanes(deref, ty, def, lanes, count);
            }
            (value, Some(Lanes::Indexed(number))) => {
                let Operand::Vector(def) = self.operand(value) else { return };
                let Operand::Vector(old) = self.load(deref, ty) else { return };
                let new = self.replace_component(old, number, def);
                self.store_vector(deref, new);
            }
        }
    }

    fn store_vector(&mut self, deref: Def, value: Def) {
        let count = self.b.body.num_components(value);
        self.b.store_deref(deref, value, (1 << count) - 1);
    }

    fn store_lanes(&mut self, deref: Def, ty: TypeId, value: Def, lanes: [u8; 4], count: u8) {
        let components = self.vector_shape(ty).num_components;
        let mut sources = [AluSrc::component(value, 0); 4];
        let mut mask = 0;
        for (number, &lane) in lanes.iter().enumerate().take(count.into()) {
            if let Some(source) = sources.get_mut(usize::from(lane)) {
                *source = AluSrc::component(value, number as u8);
                mask |= 1 << lane;
            }
        }
        let sources = sources.get(..usize::from(components)).unwrap_or(&sources);
        let spread = self.b.vec(sources);
        self.b.store_deref(deref, spread, mask);
    }

    /// A vector with one component, at a run-time index, replaced. An index out of range replaces nothing.
    fn replace_component(&mut self, vector: Def, number: Def, value: Def) -> Def {
        let count = self.b.body.num_components(vector);
        let mut components = ArrayVec::<Def, 4>::new();
        for lane in 0..count.min(4) {
            let lane_number = index(&mut self.b, lane.into());
            let is_lane = self.b.alu(AluOp::Ieq, &[number, lane_number]);
            let old = self.b.channel(vector, lane);
            components.push(self.b.alu(AluOp::Bcsel, &[is_lane, value, old]));
        }
        self.b.vec_of(&components)
    }

    /// The component of a vector at a run-time index: 0 out of range.
    pub(super) fn component_at(&mut self, vector: Def, number: Def) -> Def {
        let count = self.b.body.num_components(vector);
        let bits = self.b.body.bit_size(vector);
        let mut result = self.b.constant(bits, &[0]);
        for lane in (0..count).rev() {
            let lane_number = index(&mut self.b, lane.into());
            let is_lane = self.b.alu(AluOp::Ieq, &[number, lane_number]);
            let component = self.b.channel(vector, lane);
            result = self.b.alu(AluOp::Bcsel, &[is_lane, component, result]);
        }
        result
    }

    /// The column of a matrix at a run-time index: 0 out of range.
    pub(super) fn column_at(&mut self, columns: &[Def], number: Def) -> Def {
        let Some(&first) = columns.first() else { return number };
        let (bits, rows) = (self.b.body.bit_size(first), self.b.body.num_components(first));
        let zeros = [0; 4];
        let mut result = self.b.constant(bits, zeros.get(..usize::from(rows)).unwrap_or(&zeros));
        for (column, &value) in columns.iter().enumerate().rev() {
            let column_number = index(&mut self.b, column as u32);
            let is_column = self.b.alu(AluOp::Ieq, &[number, column_number]);
            let condition = AluSrc::new(is_column, Swizzle::replicate(0));
            result = self.b.alu_sized(AluOp::Bcsel, rows, &[condition, value.into(), result.into()]);
        }
        result
    }

    /// Evaluates the indices of a target.
    pub(super) fn place(&mut self, expr: ExprId) -> Result<Place, EmitError> {
        // From the target down to its variable.
        let mut path = Vec::new();
        let mut current = expr;
        let root = loop {
            match self.context.program.expr(current).kind {
                ExprKind::Swizzle(base, _) | ExprKind::Index(base, _) | ExprKind::Field(base, _) => {
                    path.push(current);
                    current = base;
                }
                _ => break current,
            }
        };
        let ty = self.context.program.expr(root).ty;
        let mut place = match self.value(root)? {
            Value::Memory(deref, ty) => Place::new(deref, ty),
            Value::Packed(packed) => Place { packed: Some(packed), ..Place::new(packed.deref, ty) },
            value => {
                // Not a target; semantic analysis reports those.
                let deref = self.temporary_of(ty);
                let place = Place::new(deref, ty);
                self.store(place, value);
                place
            }
        };
        for node in path.into_iter().rev() {
            let node = *self.context.program.expr(node);
            place = match node.kind {
                ExprKind::Field(_, field) => Place::new(self.field_deref(place.deref, field), node.ty),
                ExprKind::Swizzle(_, lanes) => {
                    let count = self.context.program.types.as_vector(node.ty).map_or(1, |(_, count)| count);
                    Place { lanes: Some(compose(place.lanes, lanes, count)), ..place }
                }
                ExprKind::Index(_, number) => self.index_place(place, number, node.ty)?,
                _ => place,
            };
        }
        Ok(place)
    }

    fn index_place(&mut self, place: Place, number: ExprId, ty: TypeId) -> Result<Place, EmitError> {
        if let Some(packed) = place.packed {
            if !packed.is_arrayed {
                return self.packed_scalar(packed, number);
            }
            let number = self.vector_of(number)?;
            let deref = self.element_deref(packed.deref, number);
            let packed = Packed { deref, is_arrayed: false, ..packed };
            return Ok(Place { packed: Some(packed), ..Place::new(deref, ty) });
        }
        // Other invocations may write the other components of shared memory at the same time.
        let is_shared = self.b.body.deref_modes(place.deref).intersects(self.shared_modes());
        if is_shared && place.lanes.is_none() || self.context.program.types.as_vector(place.ty).is_none() {
            let value = self.value(number)?;
            let number = self.scalar(value);
            return Ok(Place::new(self.element_deref(place.deref, number), ty));
        }
        let constant = self.context.program.value(number).and_then(|value| value.bits.first().copied());
        let lanes = match constant {
            Some(component) => compose(place.lanes, [component.min(3) as u8; 4], 1),
            None => {
                let value = self.value(number)?;
                let number = self.scalar(value);
                match place.lanes {
                    None => Lanes::Indexed(number),
                    Some(Lanes::Fixed(lanes, count)) => {
                        // The component of the vector that the component of the swizzle is.
                        let table: ArrayVec<u64, 4> = lanes.iter().take(count.into()).map(|&l| l.into()).collect();
                        let table = self.b.constant(32, &table);
                        Lanes::Indexed(self.component_at(table, number))
                    }
                    Some(Lanes::Indexed(_)) => Lanes::Indexed(number),
                }
            }
        };
        if let Lanes::Indexed(number) = lanes
            && is_shared
        {
            return Ok(Place::new(self.element_deref(place.deref, number), ty));
        }
        Ok(Place { lanes: Some(lanes), ..place })
    }

    /// The modes of memory that several invocations write.
    pub(super) fn shared_modes(&self) -> VariableModes {
        let memory = VariableModes::MEM_SSBO.union(VariableModes::MEM_SHARED);
        match self.context.program.stage {
            ShaderStage::TessCtrl => memory.union(VariableModes::SHADER_OUT),
            _ => memory,
        }
    }

    /// Copies an array or struct. Memory with a layout has another type than memory without, and is copied leaf by leaf.
    fn copy(&mut self, to: Def, from: Def, ty: TypeId) {
        if self.b.body.deref_type(to) == self.b.body.deref_type(from) {
            self.b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
            return;
        }
        let mut pending = vec![(to, from, ty)];
        while let Some((to, from, ty)) = pending.pop() {
            match self.context.program.types.get(ty) {
                TypeData::Array { element, length } => {
                    for number in (0..length.unwrap_or(0)).rev() {
                        let number = index(&mut self.b, number);
                        let (to, from) = (self.element_deref(to, number), self.element_deref(from, number));
                        pending.push((to, from, element));
                    }
                }
                TypeData::Struct(_) => {
                    for (number, field) in self.context.program.types.fields(ty).iter().enumerate().rev() {
                        let number = number as u32;
                        pending.push((self.field_deref(to, number), self.field_deref(from, number), field.ty));
                    }
                }
                _ => {
                    let value = Value::Operand(self.load(from, ty));
                    self.store(Place::new(to, ty), value);
                }
            }
        }
    }

    /// The value of a target.
    pub(super) fn load_place(&mut self, place: Place) -> Value {
        let Place { deref, ty, lanes, packed } = place;
        if let Some(packed) = packed {
            return self.unpacked(Value::Packed(packed));
        }
        let Some(lanes) = lanes else { return self.loaded(Value::Memory(deref, ty)) };
        let Operand::Vector(vector) = self.load(deref, ty) else { return Value::None };
        Value::Operand(Operand::Vector(self.lanes_of(vector, lanes)))
    }

    /// Components of a vector.
    pub(super) fn lanes_of(&mut self, vector: Def, lanes: Lanes) -> Def {
        match lanes {
            Lanes::Fixed(lanes, count) => self.b.mov(AluSrc::new(vector, swizzle(lanes)), count),
            Lanes::Indexed(number) => self.component_at(vector, number),
        }
    }
}

/// A swizzle of the components of a swizzle.
fn compose(outer: Option<Lanes>, lanes: [u8; 4], count: u8) -> Lanes {
    match outer {
        Some(Lanes::Fixed(of, _)) => {
            Lanes::Fixed(lanes.map(|lane| of.get(usize::from(lane)).copied().unwrap_or(0)), count)
        }
        // A component has only itself.
        Some(Lanes::Indexed(number)) => Lanes::Indexed(number),
        None => Lanes::Fixed(lanes, count),
    }
}

/// The swizzle of an operand.
pub(super) fn swizzle(lanes: [u8; 4]) -> Swizzle {
    Swizzle::new(&lanes)
}
