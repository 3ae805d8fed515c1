//! The use of the limits of the hardware.

use tgsi::tables::Processor;
use tgsi_compiler::{Fit, LimitUse};

use crate::isa::{GENERAL_REGISTERS, decode_program};
use crate::program::Program;

/// The source of the figures.
const SOURCE: &str = "the instruction formats, and Mesa's crocus";
/// The consequence of an excess: the compiler refuses such programs.
const BEYOND: &str = "there is no code";

fn limit(name: &'static str, about: &'static str, used: u32, limit: impl Into<Option<u32>>) -> LimitUse {
    LimitUse {
        name,
        about,
        used,
        limit: limit.into(),
        is_estimate: false,
        source: SOURCE,
        beyond: BEYOND,
        first: None,
        counts_instructions: false,
    }
}

/// The number of instructions of words.
pub(crate) fn instructions(program: &Program) -> u32 {
    let kernel = program.kernel();
    decode_program(&kernel.words, kernel.chip).map_or(0, |instructions| instructions.len() as u32)
}

/// Measures a program of a target.
pub(crate) fn fit(target: &'static str, program: &Program) -> Fit {
    let kernel = program.kernel();
    let mut limits = vec![
        limit("instructions", "instructions", instructions(program), None),
        limit("bytes", "bytes of code", kernel.words.len() as u32 * 4, None),
        limit("registers", "general registers", kernel.registers.into(), u32::from(GENERAL_REGISTERS)),
        limit("push", "pushed constants", kernel.push.len() as u32, 64),
        limit("scratch", "bytes of scratch space", kernel.scratch, 2 << 20),
    ];
    let (processor, slots) = match program {
        Program::Vertex(vertex) => {
            limits.push(limit("attributes", "attributes", vertex.interface.attributes.into(), 32));
            (Processor::Vertex, Some(vertex.interface.vue.len()))
        }
        Program::Geometry(geometry) => {
            limits.push(limit("vertices", "vertices of an entry", geometry.interface.limit, 1024));
            (Processor::Geometry, Some(geometry.interface.vue.len()))
        }
        Program::Fragment(fragment) => {
            limits.push(limit("attributes", "attributes", fragment.interface.attributes.into(), 32));
            (Processor::Fragment, None)
        }
    };
    if let Some(slots) = slots {
        limits.push(limit("slots", "slots of the vertex entry", slots as u32, None));
    }
    Fit { target, processor, limits, costs: Vec::new() }
}
