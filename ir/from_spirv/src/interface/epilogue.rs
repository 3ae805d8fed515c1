//! The function that stores outputs: copies from shadows, and the conventions of positions.

use tgsi_ir::AluFlags;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::{Def, Type as IrType, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::storage::Storage;
use crate::emit::{Context, Emitter};
use crate::interface::PortVariable;
use crate::options::{Depth, Environment};
use crate::types::{TypeData, TypeId};

impl Context<'_> {
    /// Adds the output of a shadow.
    fn add_output(&mut self, port: usize, ty: TypeId, element: u32, data: VariableData) -> IrVariable {
        let variable = self.shader.add_variable(data);
        if let Some(port) = self.interface.ports.get_mut(port) {
            port.variables.push(PortVariable { ty, variable, element });
        }
        variable
    }

    /// Whether the rasteriser uses the positions of the shader, unless a stage of another module follows.
    pub(super) fn is_last(&self) -> bool {
        self.next_stage().is_none()
            && matches!(self.stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry)
    }

    /// The next stage of the module before the rasteriser.
    pub(super) fn next_stage(&self) -> Option<ShaderStage> {
        let stages = self.module.entry_points.iter().filter_map(|entry| crate::compile::stage_of(entry.model));
        let is_next = |next: &ShaderStage| match self.stage {
            ShaderStage::Vertex => {
                matches!(next, ShaderStage::TessCtrl | ShaderStage::TessEval | ShaderStage::Geometry)
            }
            ShaderStage::TessEval => *next == ShaderStage::Geometry,
            _ => false,
        };
        stages.filter(is_next).min_by_key(|&stage| stage as u32)
    }
}

impl Emitter<'_, '_, '_> {
    /// Stores the outputs that are written from their shadows.
    pub(crate) fn store_all_outputs(&mut self) {
        for number in 0..self.context.interface.ports.len() {
            self.store_output(number);
        }
        self.store_distances();
    }

    fn store_output(&mut self, number: usize) {
        let Some(port) = self.context.interface.ports.get(number) else { return };
        let (Some(data), Storage::Memory(shadow)) = (port.output.clone(), port.storage) else { return };
        if !port.is_written() {
            return;
        }
        let (ty, is_patch, location) = (port.ty, port.is_patch, port.location);
        let elements = match *self.context.module.types.get(ty) {
            TypeData::Array { element, .. } if !port.written.is_whole => {
                Some((element, port.written.elements.iter().copied().collect::<Vec<u32>>()))
            }
            _ => None,
        };
        let whole = data.ty;
        let from = self.b.deref_var(shadow.variable, shadow.mode, whole);
        let Some((element, elements)) = elements else {
            let variable = self.context.add_output(number, ty, 0, data);
            self.copy_output(variable, from, whole);
            return;
        };
        // Elements with constant indices are separate outputs, so that only those that are written exist.
        let ir_type = self.context.ir_type(element);
        let slots = self.context.shader.types.slots(ir_type);
        for index in elements {
            let first = location.unwrap_or(0).saturating_add(index.saturating_mul(slots));
            let slot = match self.context.environment {
                // Elements have consecutive slots there, even if those of other variables begin at a location.
                Environment::Tgsic => Ok(data.location.saturating_add_unsigned(index.saturating_mul(slots))),
                _ => self.context.slot_of((true, is_patch), &data.name, first, slots),
            };
            let Ok(slot) = slot else { continue };
            let name = format!("{}[{index}]", data.name);
            let data = VariableData { name, ty: ir_type, location: slot, driver_location: first, ..data.clone() };
            let variable = self.context.add_output(number, element, index, data);
            let index = self.constant(32, &[index.into()]);
            let from = self.b.deref_array(from, index, ir_type);
            self.copy_output(variable, from, ir_type);
        }
    }

    /// Copies a shadow, or an element of it, to its output.
    fn copy_output(&mut self, output: IrVariable, from: Def, ty: IrType) {
        let Some(data) = self.context.shader.variables.get(output) else { return };
        let is_position = data.location == i32::from(VaryingSlot::POS) && self.context.is_last();
        let is_invariant = data.invariant;
        let to = self.b.deref_var(output, VariableModes::SHADER_OUT, ty);
        let Some((scalar, count)) = self.context.shader.types.as_vector(ty) else {
            self.b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
            return;
        };
        let mut value = self.b.load_deref(from, Shape::new(count, scalar.bit_size()));
        if is_position && count == 4 {
            value = self.position(value, is_invariant);
        }
        self.b.store_deref(to, value, (1 << count) - 1);
    }

    /// A position by the conventions of the consumer.
    fn position(&mut self, value: Def, is_invariant: bool) -> Def {
        let options = self.context.options;
        let (flips, moves) = (options.flip_y, options.depth == Depth::MinusOneToOne);
        if !flips && !moves {
            return value;
        }
        self.b.flags = if is_invariant { AluFlags::EXACT } else { AluFlags::NONE };
        let [x, mut y, mut z, w] = [0, 1, 2, 3].map(|component| self.b.channel(value, component));
        if flips {
            y = self.b.alu(AluOp::Fneg, &[y]);
        }
        if moves {
            let twice = self.b.alu(AluOp::Fadd, &[z, z]);
            z = self.b.alu(AluOp::Fsub, &[twice, w]);
        }
        self.b.flags = AluFlags::NONE;
        self.b.vec(&[x, y, z, w].map(|part| AluSrc::component(part, 0)))
    }

    /// Stores the vectors of clip and cull distances.
    fn store_distances(&mut self) {
        let Some(distances) = self.context.interface.distances[1].clone().filter(|known| known.is_written) else {
            return;
        };
        let count = distances.clip + distances.cull;
        for (number, (data, shadow)) in distances.outputs.into_iter().zip(distances.vectors).enumerate() {
            let (Some(data), Some(shadow)) = (data, shadow) else { continue };
            let ty = data.ty;
            let variable = self.context.shader.add_variable(data);
            if let Some(distances) = &mut self.context.interface.distances[1] {
                distances.variables[number] = Some(variable);
            }
            let value = self.load_variable(shadow, Shape::new(4, 32));
            let to = self.b.deref_var(variable, VariableModes::SHADER_OUT, ty);
            let lanes = count.saturating_sub(4 * number as u32).min(4);
            self.b.store_deref(to, value, (1 << lanes) - 1);
        }
    }
}
