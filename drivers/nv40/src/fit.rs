//! The use of the limits of a chip, and an estimate of the costs.

use tgsi::tables::Processor;
use tgsi_compiler::{Fit, LimitUse};

use crate::program::{FragmentProgram, Program, VertexProgram};

/// The source of the figures.
const SOURCE: &str = "the instruction formats, and Mesa's nouveau (nv30)";
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

/// Measures a program of a target.
pub(crate) fn fit(target: &'static str, program: &Program, temporaries: u8) -> Fit {
    match program {
        Program::Vertex(program) => of_vertex(target, program, temporaries),
        Program::Fragment(program) => of_fragment(target, program),
    }
}

fn of_vertex(target: &'static str, program: &VertexProgram, temporaries: u8) -> Fit {
    let limits = &program.chip.limits().vertex;
    let limits = vec![
        limit("instructions", "instructions", program.slots.len() as u32, u32::from(limits.slots)),
        limit("temporaries", "temporary registers", program.temporaries.into(), u32::from(temporaries)),
        limit("constants", "constants", program.constants.into(), u32::from(limits.constants)),
        limit("attributes", "attributes", program.inputs.len() as u32, u32::from(limits.inputs)),
        limit("textures", "textures", program.textures.len() as u32, u32::from(limits.textures)),
    ];
    Fit { target, processor: Processor::Vertex, limits, costs: Vec::new() }
}

fn of_fragment(target: &'static str, program: &FragmentProgram) -> Fit {
    let limits = &program.chip.limits().fragment;
    let instructions = program.program.instructions(program.chip);
    let patches = program.program.patches.len() as u32;
    let passes =
        LimitUse { is_estimate: true, ..limit("passes", "passes, each executed once", program.passes(), None) };
    let limits = vec![
        limit("slots", "slots of instructions and constants", program.program.slots(), limits.slots),
        limit("instructions", "instructions", instructions, None),
        // With more registers, chips process fewer fragments at a time.
        limit("registers", "R registers, at full speed up to 4", program.registers.into(), u32::from(limits.full)),
        limit("patches", "constants that uniforms change", patches, None),
        limit("coordinates", "texture coordinates", program.texcoords().count_ones(), None),
        limit("textures", "textures", program.textures.len() as u32, u32::from(limits.textures)),
        passes,
    ];
    Fit { target, processor: Processor::Fragment, limits, costs: Vec::new() }
}
