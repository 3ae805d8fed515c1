//! A shader of a draw, with its registers.

use tgsi_environment::{Inputs, Outputs};
use tgsi_ir::Shader;
use tgsi_ir::variable::VariableModes;

use super::link::{self, Slot};
use crate::buffer::Buffer;
use crate::error::Refusal;
use crate::program::Program;
use crate::resources;

/// A shader of a draw.
pub(crate) struct Stage<'a> {
    program: &'a Program,
    registers: resources::Registers,
    /// Its inputs.
    pub inputs: Vec<Slot>,
    /// Its outputs.
    pub outputs: Vec<Slot>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(program: &'a Program, registers: resources::Registers) -> Stage<'a> {
        let inputs = link::slots(&program.ir, VariableModes::SHADER_IN);
        let outputs = link::slots(&program.ir, VariableModes::SHADER_OUT);
        Stage { program, registers, inputs, outputs }
    }

    /// The shader as it was read.
    pub(crate) fn ir(&self) -> &Shader {
        &self.program.ir
    }

    /// Runs the shader once, with the constants, buffers, textures and images of its pipeline.
    pub(crate) fn run(&self, inputs: &mut Inputs, buffers: &mut [Buffer]) -> Result<Outputs, Refusal> {
        self.registers.set(inputs, buffers);
        let outputs = self.program.run(inputs, &mut self.registers.images(buffers))?;
        self.registers.store(&outputs, buffers);
        Ok(outputs)
    }
}
