//! Clip and cull distances: arrays of floats in the language, components of two vectors in the pipeline, in which the
//! distances of culling follow those of clipping.
//!
//! The shader uses arrays in memory. Outputs are stored to the vectors where outputs are stored; inputs are loaded from
//! them at the start. Drivers need no arrays of floats that share registers.

use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Function as IrFunction, Type as IrType, Variable as IrVariable};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Builder, Cursor};

use super::{Context, Emitter, index};
use crate::builtins::variables::Distance;
use crate::program::{Storage, VariableId};
use crate::types::{TypeData, TypeId};

/// Components of a vector.
const COMPONENTS: u32 = 4;

/// The distances that a shader uses.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Distances {
    clip: Option<Array>,
    cull: Option<Array>,
    /// The variable of the vectors, once it is needed.
    vectors: Option<IrVariable>,
}

/// An array of distances in memory.
#[derive(Clone, Copy, Debug)]
struct Array {
    id: VariableId,
    memory: IrVariable,
    count: u32,
}

/// The place of an array: the array, and the number of its first component.
type Placed = (Array, u32);

impl Distances {
    fn placed(&self) -> impl Iterator<Item = Placed> {
        let first = self.clip.map_or(0, |array| array.count);
        self.clip.map(|array| (array, 0)).into_iter().chain(self.cull.map(|array| (array, first)))
    }
}

impl Context<'_> {
    /// The array of a variable of distances that is no member of a block; `None` for other variables.
    pub(super) fn distances(&mut self, id: VariableId) -> Option<IrVariable> {
        let variable = self.program.variable(id);
        let Storage::Builtin(builtin) = variable.storage else { return None };
        let distance = builtin.distance(self.program.stage)?;
        let TypeData::Array { length, .. } = self.program.types.get(variable.ty) else { return None };
        let count = length.unwrap_or(1);
        let ty = self.ir_type(variable.ty);
        let memory = self.temporary(builtin.name(), ty);
        let array = Some(Array { id, memory, count });
        match distance {
            Distance::Clip => {
                self.distances.clip = array;
                self.shader.info.clip_distance_array_size = count;
            }
            Distance::Cull => {
                self.distances.cull = array;
                self.shader.info.cull_distance_array_size = count;
            }
        }
        Some(memory)
    }

    /// The variable of the vectors, and its type.
    fn distance_vectors(&mut self, mode: VariableModes) -> Option<(IrVariable, IrType)> {
        let (first, _) = self.distances.placed().next()?;
        let count = self.distances.placed().fold(0u32, |sum, (array, _)| sum.saturating_add(array.count));
        let element = self.ir_type(TypeId::VEC4);
        let length = count.div_ceil(COMPONENTS);
        let ty = self.shader.types.intern(IrTypeData::Array { element, length, stride: 0 });
        let vectors = match self.distances.vectors {
            Some(known) => known,
            None => self.interface_variable(first.id, ty, mode),
        };
        self.distances.vectors = Some(vectors);
        Some((vectors, ty))
    }

    /// Loads the distances that a shader reads at the start of the entry point.
    pub(super) fn load_distances(&mut self, entry: IrFunction) {
        if self.program.stage != ShaderStage::Fragment {
            return;
        }
        let Some(vectors) = self.distance_vectors(VariableModes::SHADER_IN) else { return };
        let Some(mut body) = self.shader.functions.get_mut(entry).and_then(|data| data.body.take()) else { return };
        let start = body.start_block();
        let mut emitter = Emitter {
            context: self,
            b: Builder::new(&mut body, Cursor::BlockStart(start)),
            samplers: Vec::new(),
            result: None,
            loops: Vec::new(),
            is_unreachable: false,
        };
        let placed: Vec<Placed> = emitter.context.distances.placed().collect();
        for (array, first) in placed {
            for number in 0..array.count {
                let component = first.saturating_add(number);
                let vector = emitter.distance_vector(vectors, component / COMPONENTS, VariableModes::SHADER_IN);
                let vector = emitter.b.load_deref(vector, Shape::new(COMPONENTS as u8, 32));
                let value = emitter.b.channel(vector, (component % COMPONENTS) as u8);
                let to = emitter.distance(array, number);
                emitter.b.store_deref(to, value, 1);
            }
        }
        if let Some(data) = self.shader.functions.get_mut(entry) {
            data.body = Some(body);
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// Stores the distances that the shader writes.
    pub(super) fn store_distances(&mut self) {
        if self.context.program.stage == ShaderStage::Fragment {
            return;
        }
        let Some(vectors) = self.context.distance_vectors(VariableModes::SHADER_OUT) else { return };
        let placed: Vec<Placed> = self.context.distances.placed().collect();
        let elements = placed.iter().flat_map(|&(array, _)| (0..array.count).map(move |number| (array, number)));
        let elements: Vec<(Array, u32)> = elements.collect();
        for (number, components) in (0..).zip(elements.chunks(COMPONENTS as usize)) {
            let mut values: Vec<Def> = Vec::with_capacity(COMPONENTS as usize);
            for &(array, element) in components {
                let from = self.distance(array, element);
                values.push(self.b.load_deref(from, Shape::new(1, 32)));
            }
            let zero = self.b.f32_const(0.0);
            values.resize(COMPONENTS as usize, zero);
            let value = self.b.vec_of(&values);
            let to = self.distance_vector(vectors, number, VariableModes::SHADER_OUT);
            self.b.store_deref(to, value, 0xf);
        }
    }

    /// A vector of distances.
    fn distance_vector(&mut self, (variable, ty): (IrVariable, IrType), number: u32, mode: VariableModes) -> Def {
        let whole = self.b.deref_var(variable, mode, ty);
        let number = index(&mut self.b, number);
        self.element_deref(whole, number, TypeId::VEC4)
    }

    /// An element of an array of distances.
    fn distance(&mut self, array: Array, number: u32) -> Def {
        let ty = self.context.program.variable(array.id).ty;
        let whole = self.deref_temporary(array.memory, ty);
        let number = index(&mut self.b, number);
        self.element_deref(whole, number, TypeId::FLOAT)
    }
}
