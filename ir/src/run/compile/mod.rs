//! Compiles a shader to a program.

mod derefs;
mod function;
mod instructions;
mod io;
mod stores;

use hashbrown::HashSet;

use super::error::RunError;
use super::layout::Layout;
use super::plans::IoPlan;
use super::program::{Program, ShaderProperties};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;
use crate::variable::VariableModes;

/// Modes of variables in buffers and shared memory.
const MEMORY_MODES: VariableModes = VariableModes(VariableModes::MEM_SSBO.0 | VariableModes::MEM_SHARED.0);

impl ShaderProperties {
    fn new(shader: &Shader) -> ShaderProperties {
        ShaderProperties {
            stage: shader.stage,
            float_controls_execution_mode: shader.info.float_controls_execution_mode,
            scratch_size: shader.scratch_size,
            constant_data: shader.constant_data.clone(),
            first_ubo_buffer: shader.info.first_ubo_buffer(),
            has_memory_variables: shader.variables.values().any(|variable| variable.mode.intersects(MEMORY_MODES)),
            vertices_out: shader.info.gs.vertices_out,
            patch_vertices: shader.info.tess.tcs_vertices_out,
            functions: shader.functions.values().map(|function| function.name.clone()).collect(),
        }
    }
}

impl Program {
    /// Prepares a shader.
    ///
    /// # Errors
    /// If there is nothing to execute, or the shader is invalid such that it cannot be executed. An instruction that
    /// only some environments support is an error when it is executed.
    pub fn new(shader: &Shader) -> Result<Program, RunError> {
        let entry = shader.entry_point().ok_or(RunError::NoEntryPoint)?;
        let program = Program {
            properties: ShaderProperties::new(shader),
            ops: Vec::new(),
            alus: Vec::new(),
            alu_sources: Vec::new(),
            source_vectors: Vec::new(),
            intrinsics: Vec::new(),
            operands: Vec::new(),
            derefs: Vec::new(),
            textures: Vec::new(),
            copies: Vec::new(),
            calls: Vec::new(),
            registers: Vec::new(),
            copy_plans: Vec::new(),
            images: Vec::new(),
            constants: Vec::new(),
            read_inactive: Vec::new(),
            always_stored: Vec::new(),
            needs_lane_vectors: true,
            kept: Vec::new(),
            functions: Vec::new(),
            layout: Layout::new(shader),
            io: IoPlan::default(),
            num_value_vectors: 0,
            num_register_vectors: 0,
            native: None,
        };
        if shader.functions[entry].body.is_none() {
            return Err(RunError::NoEntryPoint);
        }
        let mut program = function::compile(program, shader, entry)?;
        program.constants.sort_unstable_by_key(|&(vector, _)| vector);
        program.read_inactive = vectors_read_inactive(&program);
        program.io = io::io_plan(&program, shader)?;
        program.always_stored = stores::always_stored(&program);
        Ok(program)
    }
}

/// Returns the lane vectors that derivatives and textures read in inactive lanes.
fn vectors_read_inactive(program: &Program) -> Vec<u32> {
    use IntrinsicOp as I;
    let mut vectors = Vec::new();
    for intrinsic in &program.intrinsics {
        if matches!(intrinsic.op, I::Ddx | I::DdxFine | I::DdxCoarse | I::Ddy | I::DdyFine | I::DdyCoarse)
            && let Some(source) = program.operands.get(intrinsic.sources as usize)
        {
            vectors.extend(source.vector..source.vector + source.vectors());
        }
    }
    for source in program.textures.iter().flat_map(|texture| &texture.sources) {
        vectors.extend(source.vector..source.vector + source.vectors());
    }
    vectors.sort_unstable();
    vectors.dedup();
    let constant: HashSet<u32> = program.constants.iter().map(|&(vector, _)| vector).collect();
    vectors.retain(|vector| !constant.contains(vector));
    vectors
}
