//! Consumers that take TGSI one to one: Mesa's interpreter, hosts of virgl, VGPU10 (whose translation adds few
//! instructions to those of TGSI).

use tgsi::Shader;

use super::registers::{Numbering, RegisterCount, count_nesting};
use super::usage::{Resource, Usage};

/// Counts instructions, registers and blocks as the shader has them.
pub(crate) fn count(shader: &Shader, usage: &mut Usage) {
    let registers = RegisterCount::new(shader, Numbering::default());
    for instruction in &shader.instructions {
        usage.add(Resource::Instructions, 1, instruction.span);
        registers.instruction(instruction, usage);
    }
    registers.declarations(shader, usage);
    count_nesting(shader, usage);
}
