//! Clip and cull distances: components of two vectors, in which those of culling follow those of clipping.
//!
//! The declarations of other stages, which may not be known, must lead to the same components. Compilers declare clip
//! distances that no code uses, so distances that no instruction mentions take no components.

use spirv::{BuiltIn, Op, StorageClass};
use tgsi_ir::entities::Variable as IrVariable;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::Context;
use crate::emit::storage::{Packed, Storage};
use crate::error::SpirvError;
use crate::interface::{Port, WHOLE};
use crate::types::TypeData;

/// Floats of both vectors.
const MOST: u32 = 8;

/// The vectors of clip and cull distances of one direction.
#[derive(Clone, Debug)]
pub(super) struct Distances {
    /// Number of clip distances.
    pub(super) clip: u32,
    /// Number of cull distances.
    pub(super) cull: u32,
    /// What instructions access.
    pub(super) vectors: [Option<IrVariable>; 2],
    /// The outputs that shadows are copied to.
    pub(super) outputs: [Option<VariableData>; 2],
    /// The inputs or outputs.
    pub(super) variables: [Option<IrVariable>; 2],
    pub(super) is_written: bool,
}

impl Context<'_> {
    /// Gives a port the components of its distances.
    pub(super) fn add_distances(
        &mut self,
        number: u32,
        port: &mut Port,
        built_in: BuiltIn,
        length: u32,
        vertices: Option<u32>,
    ) -> Result<(), SpirvError> {
        let direction = usize::from(port.is_output);
        let is_clip = built_in == BuiltIn::ClipDistance;
        if self.interface.distances[direction].is_none() {
            let other = if is_clip { BuiltIn::CullDistance } else { BuiltIn::ClipDistance };
            let other = self.mentioned_length(port.is_output, other);
            let (clip, cull) = if is_clip { (length, other) } else { (other, length) };
            let count = clip.saturating_add(cull);
            if count > MOST {
                let limit = MOST.into();
                return Err(SpirvError::TooLarge { what: "clip and cull distances", count: count.into(), limit });
            }
            let distances = self.create_distances(number, port.is_output, clip, cull, vertices);
            self.interface.distances[direction] = Some(distances);
        }
        let Some(distances) = &self.interface.distances[direction] else { return Ok(()) };
        let (first, known) = if is_clip { (0, distances.clip) } else { (distances.clip, distances.cull) };
        if known != length {
            return Err(SpirvError::Types {
                op: format!("{built_in:?}"),
                why: "the variable is not in the interface of the entry point",
            });
        }
        let mode = match (port.is_output, self.stage) {
            (true, ShaderStage::TessCtrl) => VariableModes::SHADER_OUT,
            (true, _) => VariableModes::SHADER_TEMP,
            (false, _) => VariableModes::SHADER_IN,
        };
        let is_arrayed = vertices.is_some();
        port.storage = Storage::Packed(Packed { vectors: distances.vectors, mode, first, length, is_arrayed });
        Ok(())
    }

    fn create_distances(
        &mut self,
        number: u32,
        is_output: bool,
        clip: u32,
        cull: u32,
        vertices: Option<u32>,
    ) -> Distances {
        let mut ty = self.shader.types.vector(ScalarType::Float, 4);
        if let Some(length) = vertices {
            ty = self.shader.types.array(ty, length);
        }
        let mut distances = Distances {
            clip,
            cull,
            vectors: [None; 2],
            outputs: [None, None],
            variables: [None; 2],
            is_written: false,
        };
        let has_shadows = is_output && self.stage != ShaderStage::TessCtrl;
        let centroid = self
            .module
            .globals
            .get(number as usize)
            .is_some_and(|global| self.module.decorations.has(global.id, spirv::Decoration::Centroid));
        for vector in 0..(clip + cull).div_ceil(4).min(2) as usize {
            let mode = if is_output { VariableModes::SHADER_OUT } else { VariableModes::SHADER_IN };
            let mut data = VariableData::new(format!("clip_distances_{vector}"), ty, mode);
            data.location = i32::from(VaryingSlot::CLIP_DIST0) + vector as i32;
            data.per_vertex = vertices.is_some();
            if self.stage == ShaderStage::Fragment {
                data.interpolation = InterpMode::Smooth;
                data.centroid = centroid;
            }
            let variable = match has_shadows {
                true => {
                    let name = data.name.clone();
                    distances.outputs[vector] = Some(data);
                    self.temporary(&name, ty)
                }
                false => {
                    let variable = self.shader.add_variable(data);
                    distances.variables[vector] = Some(variable);
                    variable
                }
            };
            distances.vectors[vector] = Some(variable);
        }
        distances
    }

    /// The length of a built-in of the entry point's interface, if it is mentioned.
    fn mentioned_length(&mut self, is_output: bool, built_in: BuiltIn) -> u32 {
        let class = if is_output { StorageClass::Output } else { StorageClass::Input };
        let interface = self.module.entry_points.get(self.entry).map(|entry| entry.interface.clone());
        for id in interface.unwrap_or_default() {
            let crate::module::Id::Variable(number) = self.module.id(id) else { continue };
            let is_of_class =
                self.module.globals.get(number as usize).is_some_and(|global| global.class == class as u32);
            let Some(layout) = Some(number).filter(|_| is_of_class).and_then(|number| self.layout(number)) else {
                continue;
            };
            let found = layout.parts().find(|(_, part)| part.built_in == Some(built_in));
            let Some((member, part)) = found else { continue };
            if let TypeData::Array { length, .. } = *self.module.types.get(part.ty)
                && self.is_mentioned(number, member, layout.vertices.is_some())
            {
                return length;
            }
        }
        0
    }

    /// Whether an instruction of a function may access a variable, or a member of it.
    fn is_mentioned(&self, number: u32, member: u32, is_arrayed: bool) -> bool {
        let module = &*self.module;
        let Some(global) = module.globals.get(number as usize) else { return false };
        if global.initializer.is_some() && self.is_output(number) {
            return true;
        }
        let blocks = module.functions.iter().flat_map(|function| &function.blocks);
        blocks.flat_map(|block| module.instructions(block)).any(|inst| match Op::from_u32(inst.op.into()) {
            Some(Op::AccessChain | Op::InBoundsAccessChain) if inst.word(2) == global.id => {
                let index = inst.words.get(3 + usize::from(is_arrayed));
                let chosen = index.and_then(|&index| module.integer(index));
                member == WHOLE || chosen.is_none_or(|chosen| chosen == member.into())
            }
            Some(
                Op::Load
                | Op::Store
                | Op::CopyMemory
                | Op::CopyObject
                | Op::FunctionCall
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain,
            ) => inst.words.contains(&global.id),
            _ => false,
        })
    }
}
