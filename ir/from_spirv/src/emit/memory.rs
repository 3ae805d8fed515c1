//! Loads and stores.

use std::rc::Rc;

use arrayvec::ArrayVec;
use smallvec::SmallVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Type as IrType};
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::VariableModes;

use super::Emitter;
use super::pointer::{Base, Pointer, Step};
use super::storage::{Memory, Packed, Storage};
use super::value::Value;
use crate::constants::Known;
use crate::error::SpirvError;
use crate::types::{TypeData, TypeId};

/// The part of the memory at a deref that a pointer leads to.
#[derive(Clone, Copy, Debug)]
enum Part {
    Whole,
    /// A column of a matrix that is stored by rows; the deref is that of the matrix.
    Column(Step),
    /// A component of a vector, where the mode of the memory has no derefs of components.
    Component(Step),
}

/// Memory that a pointer leads to.
#[derive(Clone, Copy, Debug)]
struct Place {
    deref: Def,
    ty: IrType,
    part: Part,
    /// Whether matrices are stored by rows.
    row_major: bool,
    access: AccessFlags,
}

impl Emitter<'_, '_, '_> {
    /// Loads a value.
    ///
    /// # Errors
    /// Pointers in memory, and values beyond the limits.
    pub(crate) fn load(&mut self, pointer: &Rc<Pointer>) -> Result<Value, SpirvError> {
        if pointer.is_chosen() {
            return self.load_chosen(pointer);
        }
        match *self.context.module.types.get(pointer.ty) {
            TypeData::Vector { .. } => Ok(Value::Vector(self.load_leaf(pointer)?)),
            TypeData::Pointer { class, pointee, .. } => {
                let words = self.load_leaf(pointer)?;
                Ok(self.vector_pointer(words, class, pointee))
            }
            TypeData::Image(_) | TypeData::Sampler | TypeData::SampledImage(_) => {
                Ok(Value::Opaque(self.forwarded(pointer)))
            }
            TypeData::Matrix { rows, .. } => {
                if let Some(place) = self.whole_matrix(pointer)?.filter(|place| place.row_major) {
                    let rows = (0..u32::from(rows)).map(|row| self.load_row(&place, row));
                    return Ok(Value::Transposed(rows.collect()));
                }
                self.load_composite(pointer)
            }
            TypeData::Array { .. } | TypeData::Struct { .. } => self.load_composite(pointer),
            _ => Err(SpirvError::WrongKind {
                id: 0,
                found: self.context.module.types.kind(pointer.ty),
                expected: "a type that can be loaded",
            }),
        }
    }

    fn load_composite(&mut self, pointer: &Rc<Pointer>) -> Result<Value, SpirvError> {
        if self.context.module.types.is_opaque(pointer.ty) {
            // Structs of samplers are not values.
            return Ok(Value::Opaque(self.forwarded(pointer)));
        }
        let parts = self.leaf_pointers(pointer)?;
        let mut leaves = Vec::with_capacity(parts.len());
        for part in parts {
            self.check_body()?;
            leaves.push(self.load_leaf(&part)?);
        }
        Ok(Value::Composite(leaves.into()))
    }

    /// Pointers to the leaves of a composite, in order.
    fn leaf_pointers(&mut self, pointer: &Pointer) -> Result<Vec<Pointer>, SpirvError> {
        let limit = self.context.options.limits.leaves;
        let count = self.context.module.types.leaves(pointer.ty);
        if count > limit {
            let (count, limit) = (count.into(), limit.into());
            return Err(SpirvError::TooLarge { what: "parts of a value", count, limit });
        }
        let mut leaves = Vec::with_capacity(count as usize);
        let mut pending = vec![pointer.clone()];
        while let Some(pointer) = pending.pop() {
            match self.context.module.types.get(pointer.ty).clone() {
                // Arrays of empty structs may have any length.
                _ if self.context.module.types.leaves(pointer.ty) == 0 => {}
                TypeData::Array { element, length, .. } => {
                    pending.extend((0..length).rev().map(|number| pointer.part(number, element)));
                }
                TypeData::Struct { id, members } => {
                    for (number, member) in members.iter().enumerate().rev() {
                        let mut part = pointer.part(number as u32, member.ty);
                        part.access.0 |= self.context.access_of(id, Some(number as u32)).0;
                        pending.push(part);
                    }
                }
                TypeData::Matrix { scalar, columns, rows } => {
                    let column = self.context.vector_type(scalar, rows);
                    pending.extend((0..columns.into()).rev().map(|number| pointer.part(number, column)));
                }
                _ => leaves.push(pointer),
            }
        }
        Ok(leaves)
    }

    /// Stores a value.
    ///
    /// # Errors
    /// Pointers as values, and values beyond the limits.
    pub(crate) fn store(&mut self, pointer: &Rc<Pointer>, value: &Value) -> Result<(), SpirvError> {
        // Any bits may be stored for an undefined value, and those that are there are as good.
        if let Value::Known(Known::Undef(_)) = value {
            return Ok(());
        }
        if pointer.is_chosen() {
            return self.store_chosen(pointer, value);
        }
        if let Value::Transposed(rows) = value
            && let Some(place) = self.whole_matrix(pointer)?.filter(|place| place.row_major)
        {
            if let (Storage::Memory(memory), _) = self.resolve(pointer)? {
                self.note_store(pointer, memory.mode)?;
            }
            for (number, &row) in rows.iter().enumerate() {
                let deref = self.element(&place, Step::Part(number as u32));
                self.store_to(&Place { deref: deref.0, ty: deref.1, ..place }, row);
            }
            return Ok(());
        }
        if let Value::Opaque(image) = value {
            return self.store_opaque(pointer, image);
        }
        let parts = self.leaf_pointers(pointer)?;
        let leaves = self.leaves_of(value).filter(|_| !self.context.module.types.is_opaque(pointer.ty));
        let Some(leaves) = leaves else {
            return Err(SpirvError::Types { op: "OpStore".to_owned(), why: "pointers and images cannot be stored" });
        };
        if parts.len() != leaves.len() {
            return Err(SpirvError::Types { op: "OpStore".to_owned(), why: "value and memory differ" });
        }
        for (part, &leaf) in parts.iter().zip(leaves.iter()) {
            self.check_body()?;
            let shape = self.context.module.types.shape(part.ty);
            if (self.b.body.num_components(leaf), self.b.body.bit_size(leaf)) != (shape.num_components, shape.bit_size)
            {
                return Err(SpirvError::Types { op: "OpStore".to_owned(), why: "value and memory differ" });
            }
            self.store_leaf(part, leaf)?;
        }
        Ok(())
    }

    /// The storage of a pointer's variable, and the steps from it. Blocks of inputs and outputs have one for each
    /// member.
    pub(crate) fn resolve(&mut self, pointer: &Pointer) -> Result<(Storage, SmallVec<[Step; 4]>), SpirvError> {
        match pointer.base {
            Base::Local(memory) => Ok((Storage::Memory(memory), pointer.steps.clone())),
            Base::Global(number) => self.context.storage_of(number, &pointer.steps),
            Base::Choice(_) | Base::Null => Err(SpirvError::Types {
                op: "the access".to_owned(),
                why: "a variable that is chosen at run time has no such access",
            }),
        }
    }

    fn load_leaf(&mut self, pointer: &Pointer) -> Result<Def, SpirvError> {
        let shape = self.context.module.types.shape(pointer.ty);
        let (storage, steps) = self.resolve(pointer)?;
        match storage {
            Storage::Memory(memory) => {
                let place = self.place(memory, &steps, pointer.access);
                Ok(self.load_from(&place, shape))
            }
            Storage::Packed(packed) => Ok(self.load_packed(packed, &steps)),
            Storage::Bytes(block) => Ok(self.load_bytes(block, &steps, shape)),
            Storage::System(system) => {
                let values = self.system_value(system, pointer)?;
                Ok(self.part_of(&values, &steps, shape))
            }
            Storage::Opaque | Storage::Error => Ok(self.undefined(shape)),
        }
    }

    fn store_leaf(&mut self, pointer: &Pointer, value: Def) -> Result<(), SpirvError> {
        let (storage, steps) = self.resolve(pointer)?;
        match storage {
            Storage::Memory(memory) => {
                self.note_store(pointer, memory.mode)?;
                let place = self.place(memory, &steps, pointer.access);
                self.store_to(&place, value);
            }
            Storage::Packed(packed) => {
                self.note_store(pointer, packed.mode)?;
                self.store_packed(packed, &steps, value);
            }
            Storage::Bytes(block) => self.store_bytes(block, &steps, value),
            Storage::System(_) => {
                return Err(SpirvError::Types { op: "OpStore".to_owned(), why: "inputs cannot be written" });
            }
            Storage::Opaque | Storage::Error => {}
        }
        Ok(())
    }

    /// Records that memory of a mode is written.
    ///
    /// # Errors
    /// It is read-only.
    fn note_store(&mut self, pointer: &Pointer, mode: VariableModes) -> Result<(), SpirvError> {
        if mode.intersects(VariableModes::READ_ONLY.union(VariableModes::MEM_PUSH_CONST)) {
            return Err(SpirvError::Types { op: "OpStore".to_owned(), why: "inputs cannot be written" });
        }
        self.context.shader.info.writes_memory |= mode == VariableModes::MEM_SSBO;
        if let Base::Global(number) = pointer.base {
            self.context.note_written(number, &pointer.steps);
        }
        Ok(())
    }

    /// The deref of memory that atomics access.
    ///
    /// # Errors
    /// The pointer leads to something else than memory.
    pub(crate) fn deref(&mut self, pointer: &Pointer) -> Result<(Def, VariableModes), SpirvError> {
        match self.resolve(pointer)? {
            (Storage::Memory(memory), steps) => {
                if let Base::Global(number) = pointer.base {
                    self.context.note_written(number, &pointer.steps);
                }
                Ok((self.place(memory, &steps, pointer.access).deref, memory.mode))
            }
            _ => Err(SpirvError::Types { op: "the access".to_owned(), why: "the pointer does not lead to memory" }),
        }
    }

    /// The deref of an input, for interpolation; with it the component that the pointer leads to.
    pub(crate) fn input_deref(&mut self, pointer: &Pointer) -> Result<(Def, IrType, Option<Step>), SpirvError> {
        match self.resolve(pointer)? {
            (Storage::Memory(memory), steps) if memory.mode == VariableModes::SHADER_IN => {
                let place = self.place(memory, &steps, pointer.access);
                let component = match place.part {
                    Part::Component(step) => Some(step),
                    _ => None,
                };
                Ok((place.deref, place.ty, component))
            }
            _ => Err(SpirvError::Types { op: "the interpolation".to_owned(), why: "the pointer is not to an input" }),
        }
    }

    /// The memory of a whole matrix.
    fn whole_matrix(&mut self, pointer: &Pointer) -> Result<Option<Place>, SpirvError> {
        if !matches!(self.context.module.types.get(pointer.ty), TypeData::Matrix { .. }) {
            return Ok(None);
        }
        Ok(match self.resolve(pointer)? {
            (Storage::Memory(memory), steps) => Some(self.place(memory, &steps, pointer.access)),
            _ => None,
        })
    }

    /// Follows steps by derefs.
    fn place(&mut self, memory: Memory, steps: &[Step], access: AccessFlags) -> Place {
        let ty = self.context.shader.variables.get(memory.variable).map(|data| data.ty);
        let ty = ty.unwrap_or_else(|| self.context.ir_type(TypeId::ERROR));
        let deref = self.b.deref_var(memory.variable, memory.mode, ty);
        let mut place = Place { deref, ty, part: Part::Whole, row_major: memory.row_major, access };
        let mut source = memory.ty;
        for &step in steps {
            match self.context.module.types.get(source).clone() {
                TypeData::Struct { members, .. } => {
                    let (Step::Part(number), IrTypeData::Struct { fields, .. }) =
                        (step, self.context.shader.types.get(place.ty))
                    else {
                        break;
                    };
                    let (Some(field), Some(member)) = (fields.get(number as usize), members.get(number as usize))
                    else {
                        break;
                    };
                    let field = field.ty;
                    place.deref = self.b.deref_struct(place.deref, number, field);
                    place.ty = field;
                    place.row_major = member.row_major && super::types::has_layout_mode(memory.mode);
                    source = member.ty;
                }
                TypeData::Array { element, .. } => {
                    (place.deref, place.ty) = self.element(&place, step);
                    source = element;
                }
                TypeData::Matrix { scalar, rows, .. } => {
                    if place.row_major {
                        place.part = Part::Column(step);
                    } else {
                        (place.deref, place.ty) = self.element(&place, step);
                    }
                    source = self.context.vector_type(scalar, rows);
                }
                TypeData::Vector { scalar, .. } => {
                    if let Part::Column(column) = place.part {
                        (place.deref, place.ty) = self.element(&place, step);
                        place.part = Part::Whole;
                        (place.deref, place.ty) = self.element(&place, column);
                    } else if memory.mode.intersects(VariableModes::VECTOR_INDEXABLE) {
                        (place.deref, place.ty) = self.element(&place, step);
                    } else {
                        place.part = Part::Component(step);
                    }
                    source = self.context.vector_type(scalar, 1);
                }
                _ => break,
            }
        }
        place
    }

    /// The deref of an element, column or component.
    fn element(&mut self, place: &Place, step: Step) -> (Def, IrType) {
        let element = self.context.shader.types.element(place.ty).map_or(place.ty, |(element, _)| element);
        let index = match step {
            Step::Part(number) => self.constant(32, &[number.into()]),
            Step::Index(def) => def,
        };
        (self.b.deref_array(place.deref, index, element), element)
    }

    fn load_row(&mut self, place: &Place, row: u32) -> Def {
        let (deref, ty) = self.element(place, Step::Part(row));
        let shape = self.ir_shape(ty);
        self.load_from(&Place { deref, ty, part: Part::Whole, ..*place }, shape)
    }

    fn ir_shape(&self, ty: IrType) -> Shape {
        let vector = self.context.shader.types.as_vector(ty);
        vector.map_or(Shape::new(1, 32), |(scalar, count)| Shape::new(count, scalar.bit_size()))
    }

    fn load_from(&mut self, place: &Place, shape: Shape) -> Def {
        let access = [(IndexKind::Access, place.access.0 as i32)];
        match place.part {
            Part::Whole => self.b.intrinsic_def(IntrinsicOp::LoadDeref, &[place.deref], &access, shape),
            Part::Column(column) => {
                let scalars: ArrayVec<Def, 4> = (0..u32::from(shape.num_components).min(4))
                    .map(|row| {
                        let (deref, ty) = self.element(place, Step::Part(row));
                        let (deref, _) = self.element(&Place { deref, ty, ..*place }, column);
                        let scalar = Shape::new(1, shape.bit_size);
                        self.b.intrinsic_def(IntrinsicOp::LoadDeref, &[deref], &access, scalar)
                    })
                    .collect();
                self.b.vec_of(&scalars)
            }
            Part::Component(step) => {
                let whole = self.ir_shape(place.ty);
                let vector = self.b.intrinsic_def(IntrinsicOp::LoadDeref, &[place.deref], &access, whole);
                self.component_at(vector, step)
            }
        }
    }

    fn store_to(&mut self, place: &Place, value: Def) {
        let store = |emitter: &mut Self, deref: Def, value: Def| {
            let count = emitter.b.body.num_components(value);
            let indices = [(IndexKind::WriteMask, (1 << count) - 1), (IndexKind::Access, place.access.0 as i32)];
            emitter.b.intrinsic(IntrinsicOp::StoreDeref, &[deref, value], &indices, None);
        };
        match place.part {
            Part::Whole => store(self, place.deref, value),
            Part::Column(column) => {
                for row in 0..self.b.body.num_components(value) {
                    let (deref, ty) = self.element(place, Step::Part(row.into()));
                    let (deref, _) = self.element(&Place { deref, ty, ..*place }, column);
                    let scalar = self.b.channel(value, row);
                    store(self, deref, scalar);
                }
            }
            // Only memory that cannot be written has such places.
            Part::Component(_) => {}
        }
    }

    /// The component of a vector that a step leads to; undefined beyond the end.
    pub(crate) fn component_at(&mut self, vector: Def, step: Step) -> Def {
        let count = self.b.body.num_components(vector);
        let index = match step {
            Step::Part(number) => return self.b.channel(vector, (number as u8).min(count.saturating_sub(1))),
            Step::Index(index) => index,
        };
        let mut result = self.b.channel(vector, 0);
        for lane in 1..count {
            let number = self.constant(32, &[lane.into()]);
            let is_lane = self.b.alu(AluOp::Ieq, &[index, number]);
            let component = self.b.channel(vector, lane);
            result = self.b.alu(AluOp::Bcsel, &[is_lane, component, result]);
        }
        result
    }

    /// A vector with the component that a step leads to replaced.
    pub(crate) fn with_component(&mut self, vector: Def, step: Step, value: Def) -> Def {
        let count = self.b.body.num_components(vector);
        let components: ArrayVec<Def, 4> = (0..count.min(4))
            .map(|lane| {
                let old = self.b.channel(vector, lane);
                match step {
                    Step::Part(number) if number == u32::from(lane) => value,
                    Step::Part(_) => old,
                    Step::Index(index) => {
                        let number = self.constant(32, &[lane.into()]);
                        let is_lane = self.b.alu(AluOp::Ieq, &[index, number]);
                        self.b.alu(AluOp::Bcsel, &[is_lane, value, old])
                    }
                }
            })
            .collect();
        self.b.vec_of(&components)
    }

    /// The part of a built-in, given as vectors, that steps lead to: an element of an array of scalars, a component of
    /// a vector, or the whole.
    fn part_of(&mut self, values: &[Def], steps: &[Step], shape: Shape) -> Def {
        let Some(&first) = values.first() else { return self.undefined(shape) };
        match *steps {
            [] => first,
            // The only element of a mask, or a component of a vector.
            [step] if self.b.body.num_components(first) > 1 => self.component_at(first, step),
            _ => first,
        }
    }

    /// The vector and component of a float, if its number is constant.
    fn packed_at(packed: Packed, number: u32) -> (usize, u8) {
        let number = packed.first.saturating_add(number.min(packed.length.saturating_sub(1)));
        ((number / 4) as usize, (number % 4) as u8)
    }

    /// The deref of one of the vectors of packed floats.
    fn packed_deref(&mut self, packed: Packed, number: usize, vertex: Option<Step>) -> Option<Def> {
        let variable = packed.vectors.get(number).copied().flatten()?;
        let ty = self.context.shader.variables.get(variable)?.ty;
        let deref = self.b.deref_var(variable, packed.mode, ty);
        let place = Place { deref, ty, part: Part::Whole, row_major: false, access: AccessFlags::NONE };
        Some(match vertex {
            Some(vertex) if packed.is_arrayed => self.element(&place, vertex).0,
            _ => deref,
        })
    }

    fn packed_steps(packed: Packed, steps: &[Step]) -> (Option<Step>, Step) {
        let (vertex, rest) =
            if packed.is_arrayed { (steps.first().copied(), steps.get(1..)) } else { (None, Some(steps)) };
        (vertex, rest.and_then(|rest| rest.first()).copied().unwrap_or(Step::Part(0)))
    }

    fn load_packed(&mut self, packed: Packed, steps: &[Step]) -> Def {
        let (vertex, step) = Self::packed_steps(packed, steps);
        let vec4 = Shape::new(4, 32);
        if let Step::Part(number) = step {
            let (vector, component) = Self::packed_at(packed, number);
            let Some(deref) = self.packed_deref(packed, vector, vertex) else {
                return self.undefined(Shape::new(1, 32));
            };
            let loaded = self.b.load_deref(deref, vec4);
            return self.b.channel(loaded, component);
        }
        let mut result = None;
        for number in (0..packed.length).rev() {
            let (vector, component) = Self::packed_at(packed, number);
            let Some(deref) = self.packed_deref(packed, vector, vertex) else { continue };
            let loaded = self.b.load_deref(deref, vec4);
            let float = self.b.channel(loaded, component);
            result = Some(match (result, step) {
                (Some(rest), Step::Index(index)) => {
                    let number = self.constant(32, &[number.into()]);
                    let is_this = self.b.alu(AluOp::Ieq, &[index, number]);
                    self.b.alu(AluOp::Bcsel, &[is_this, float, rest])
                }
                _ => float,
            });
        }
        result.unwrap_or_else(|| self.undefined(Shape::new(1, 32)))
    }

    fn store_packed(&mut self, packed: Packed, steps: &[Step], value: Def) {
        let (vertex, step) = Self::packed_steps(packed, steps);
        let store = |emitter: &mut Self, number: u32| {
            let (vector, component) = Self::packed_at(packed, number);
            let Some(deref) = emitter.packed_deref(packed, vector, vertex) else { return };
            let splat = emitter.b.mov(tgsi_ir::builder::AluSrc::component(value, 0), 4);
            emitter.b.store_deref(deref, splat, 1 << component);
        };
        match step {
            Step::Part(number) => store(self, number),
            // Other invocations may write the other components at the same time.
            Step::Index(index) => {
                for number in 0..packed.length {
                    let this = self.constant(32, &[number.into()]);
                    let is_this = self.b.alu(AluOp::Ieq, &[index, this]);
                    let side = self.b.push_if(is_this);
                    store(self, number);
                    self.b.end_if(side);
                }
            }
        }
    }
}
