//! The plan of a program's inputs and outputs: the registers of the cells of variables.

use crate::intrinsics::indices::IoSemantics;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::run::error::RunError;
use crate::run::layout::{COMMON, IoCell, UNSIZED_VERTICES, is_opaque};
use crate::run::plans::{IoPlan, Link};
use crate::run::program::Program;
use crate::shader::{Shader, ShaderStage};
use crate::types::TypeData;
use crate::variable::VariableModes;

/// Maximum number of output registers; stores beyond them are dropped.
const MAX_OUTPUT_REGISTERS: u32 = 4096;

/// Links the cells of all allocated variables to inputs and outputs.
pub(super) fn io_plan(program: &Program, shader: &Shader) -> Result<IoPlan, RunError> {
    let mut plan = IoPlan { output_registers: shader.num_outputs, ..IoPlan::default() };
    for (_, data) in shader.globals_with(VariableModes::SHADER_OUT) {
        let ty = match *shader.types.get(data.ty) {
            TypeData::Array { element, .. } if data.per_vertex => element,
            _ => data.ty,
        };
        let slots = if data.compact { shader.types.array_elements(ty).div_ceil(4) } else { shader.types.slots(ty) };
        plan.output_registers = plan.output_registers.max(data.driver_location.saturating_add(slots));
    }
    for intrinsic in &program.intrinsics {
        if matches!(intrinsic.op, IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput) {
            let slots = IoSemantics::from_i32(intrinsic.index(IndexKind::IoSemantics)).num_slots;
            // A wide value continues in the next registers.
            let value = program.operands.get(intrinsic.sources as usize).map_or(0, |value| value.vectors());
            let width = (value + u32::from(intrinsic.first_component())).div_ceil(4);
            let slots = u32::from(slots).max(intrinsic.index(IndexKind::Range) as u32).max(width);
            plan.output_registers = plan.output_registers.max((intrinsic.base as u32).saturating_add(slots));
        }
    }
    plan.output_registers = plan.output_registers.min(MAX_OUTPUT_REGISTERS);
    for (variable, allocation) in program.layout.allocations() {
        let data = &shader.variables[variable];
        if is_opaque(shader, data.ty) {
            continue;
        }
        if let Some(initializer) = &data.initializer
            && data.mode != VariableModes::FUNCTION_TEMP
        {
            let words = program.layout.initial_words(shader, data.ty, initializer);
            plan.initial.extend(words.into_iter().map(|(cell, word)| (allocation.address.saturating_add(cell), word)));
        }
        let first = allocation.address % COMMON;
        let location = data.driver_location;
        if data.mode == VariableModes::SYSTEM_VALUE {
            let number = u32::try_from(data.location).unwrap_or(u32::MAX);
            let cells = program.layout.io_cells(shader, data.ty, false, 0)?;
            plan.system_values.extend((0u32..).zip(cells).map(|(word, cell)| Link {
                cell: first + word,
                vertex: 0,
                register: number,
                component: word.min(255) as u8,
                scalar: cell.scalar,
            }));
            continue;
        }
        if data.mode == VariableModes::UNIFORM {
            plan.uniforms.extend(links(&program.layout.io_cells(shader, data.ty, false, 0)?, first, 0, location));
            continue;
        }
        if !data.mode.intersects(VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0)) {
            continue;
        }
        if let (true, TypeData::Array { element, length, .. }) = (data.per_vertex, shader.types.get(data.ty)) {
            let cells = program.layout.io_cells(shader, *element, data.compact, data.location_frac)?;
            let length = if *length == 0 { UNSIZED_VERTICES } else { *length };
            let list =
                if data.mode == VariableModes::SHADER_IN { &mut plan.vertex_inputs } else { &mut plan.vertex_outputs };
            for vertex in 0..length.min(allocation.cells / (cells.len() as u32).max(1)) {
                list.extend(links(&cells, first + vertex * cells.len() as u32, vertex, location));
            }
            continue;
        }
        let cells = program.layout.io_cells(shader, data.ty, data.compact, data.location_frac)?;
        if data.mode == VariableModes::SHADER_IN {
            plan.inputs.extend(links(&cells, first, 0, location));
        } else if shader.stage == ShaderStage::TessCtrl {
            plan.patch_outputs.extend(links(&cells, first, 0, location));
        } else {
            plan.outputs.extend(links(&cells, first, 0, location));
            if data.fb_fetch_output {
                plan.framebuffer.extend(links(&cells, allocation.framebuffer, 0, location));
            }
        }
    }
    Ok(plan)
}

fn links(cells: &[IoCell], first: u32, vertex: u32, location: u32) -> impl Iterator<Item = Link> + '_ {
    (first..).zip(cells).map(move |(cell, io)| Link {
        cell,
        vertex,
        register: location.saturating_add(io.register),
        component: io.component,
        scalar: io.scalar,
    })
}
