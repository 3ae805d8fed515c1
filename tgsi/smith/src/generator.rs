//! The state of a shader under construction, and the order of its parts: interface, first values, statements, results,
//! subroutines.

use super::choices::Choices;
use super::operands::{Destination, Target};
use super::registers::{Array, Input, Output, RegisterState, RegisterType, SystemInput, Temporary};
use super::{Config, FLOAT_STAGES, Features, OF_INTEGERS, STAGES};
use tgsi::builder::{BuildError, RegisterArray, ShaderBuilder, Subroutine};
use tgsi::shader::{Dst, Indirect, Instruction, Register, Shader, Src};
use tgsi::tables::{Opcode, PixelFormat, Processor, TextureTarget};

/// The vertices that a geometry shader emits.
#[derive(Clone, Copy, Default)]
pub(super) struct EmittedVertices {
    /// The limit that the shader declares.
    pub(super) most: u32,
    /// An upper bound of the vertices of all primitives.
    pub(super) bound: u32,
    /// Whether there may be several primitives.
    pub(super) ends_primitives: bool,
}

/// The control flow around a statement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// Number of enclosing blocks.
    pub(super) depth: u32,
    /// Number of enclosing loops.
    pub(super) loops: u32,
    /// Whether `BRK` is possible.
    pub(super) in_loop: bool,
    /// Whether `CONT` is possible: a loop tests before anything else.
    pub(super) can_continue: bool,
    /// Whether `BRK` leaves a switch.
    pub(super) in_switch: bool,
    /// The number of the subroutine.
    pub(super) subroutine: Option<usize>,
}

/// A shader under construction.
pub(super) struct Generator<'a> {
    pub(super) choices: Choices<'a>,
    pub(super) stage: Processor,
    pub(super) features: Features,
    /// Whether integers may be used.
    pub(super) integers: bool,
    pub(super) builder: ShaderBuilder,
    /// Number of instructions still to generate.
    budget: u32,
    pub(super) temporaries: Vec<Temporary>,
    pub(super) arrays: Vec<Array>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    pub(super) system_values: Vec<SystemInput>,
    /// Registers for computed indices.
    pub(super) indices: Vec<Register>,
    /// The index of the invocation's own vertex (tessellation control).
    pub(super) own_vertex: Option<Indirect>,
    pub(super) state: RegisterState,
    /// Whether some lane may have left, or been killed.
    pub(super) diverged: bool,
    pub(super) subroutines: Vec<Subroutine>,
    /// Number of vertices of an input primitive or patch.
    pub(super) vertices: u16,
    /// Number of invocations of a workgroup (compute), per dimension.
    pub(super) block: [u32; 3],
    /// Number of output vertices of a patch.
    pub(super) patch_vertices: u16,
    /// The vertices that a geometry shader emits.
    pub(super) emitted: EmittedVertices,
    /// Whether fragments are discarded, so that no instruction may depend on other lanes.
    pub(super) kills: bool,
    /// The register with the lane's first address, if there is memory.
    pub(super) lane_base: Option<Register>,
    /// Targets and formats of the images that were used.
    pub(super) images: [Option<(TextureTarget, PixelFormat)>; 2],
    /// Targets of the textures that were used.
    pub(super) targets: [Option<TextureTarget>; 4],
    /// Whether textures and samplers are separate.
    pub(super) sample_family: bool,
    /// Atomic counters, if there are any.
    pub(super) counters: Option<RegisterArray>,
    /// The next scratch register.
    pub(super) next_scratch: usize,
}

/// Generates the shader that the decisions determine.
pub(super) fn generate(mut choices: Choices<'_>, config: &Config) -> Result<Shader, BuildError> {
    let mut features = config.features;
    let stages: &[Processor] = if config.integers { &STAGES } else { &FLOAT_STAGES };
    let stage = config.stage.or_else(|| choices.pick(stages)).unwrap_or(Processor::Fragment);
    if !config.integers {
        features = features.without(OF_INTEGERS);
    }
    if stage == Processor::Vertex && !config.vertex_flow {
        features = features.without(Features::FLOW).without(Features::SWITCH).without(Features::SUBROUTINES);
    }
    if config.without_textures.contains(&stage) {
        features = features.without(Features::TEXTURES);
    }
    // With some features disabled, shaders of the same size cover the others in more depth.
    for &(_, feature) in Features::NAMES {
        if !super::KEPT.contains(feature) && choices.one_in(4) {
            features = features.without(feature);
        }
    }
    let budget = config.size / 4 + choices.below((config.size as usize * 3 / 4).max(1)) as u32;
    let mut generator = Generator {
        choices,
        stage,
        features,
        integers: config.integers,
        builder: ShaderBuilder::new(stage),
        budget,
        temporaries: Vec::new(),
        arrays: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        system_values: Vec::new(),
        indices: Vec::new(),
        own_vertex: None,
        state: RegisterState::default(),
        diverged: false,
        subroutines: Vec::new(),
        vertices: 1,
        block: [4, 1, 1],
        patch_vertices: 1,
        emitted: EmittedVertices::default(),
        kills: false,
        lane_base: None,
        images: [None; 2],
        targets: [None; 4],
        sample_family: false,
        counters: None,
        next_scratch: 0,
    };
    generator.shader();
    generator.builder.finish()
}

impl Generator<'_> {
    fn shader(&mut self) {
        self.interface();
        if self.stage == Processor::Compute
            || [Features::MEMORY, Features::IMAGES].into_iter().any(|feature| self.features.contains(feature))
        {
            self.first_address();
        }
        self.first_values();
        let entry = self.state.clone();
        while self.wants_more() {
            self.statement(Context::default());
        }
        self.results();
        self.builder.end();
        // Subroutines can rely on the values from before the first statement, and on nothing else.
        let mut number = 0;
        while number < self.subroutines.len() {
            self.state = entry.clone();
            self.state.forget_indices();
            self.budget = 3 + self.choices.below(8) as u32;
            self.subroutine(number);
            number += 1;
        }
        self.bound_vertices();
    }

    /// Whether the budget allows another statement.
    pub(super) fn wants_more(&self) -> bool {
        self.budget > 0 && !self.choices.exhausted()
    }

    /// Allocates budget for the statements inside a block.
    pub(super) fn some_of_budget(&mut self) -> u32 {
        (1 + self.choices.below(6) as u32).min(self.budget)
    }

    /// Returns the kind, or finite floats if the kind needs integers and these may not be used.
    pub(super) fn available(&self, kind: RegisterType) -> RegisterType {
        if self.integers || kind.is_float() { kind } else { RegisterType::Finite }
    }

    /// Returns the kind of floats that may be compared or rounded.
    pub(super) fn comparable(&self) -> RegisterType {
        if self.integers { RegisterType::Float } else { RegisterType::Finite }
    }

    /// Whether all lanes execute the statements at this point.
    pub(super) fn together(&self, context: Context) -> bool {
        context.depth == 0 && context.subroutine.is_none() && !self.diverged
    }

    /// Creates a temporary, initially unwritten.
    pub(super) fn new_temporary(&mut self, kind: RegisterType) -> usize {
        let register = self.builder.temporary();
        self.temporaries.push(Temporary { register, kind });
        self.state.temporaries.resize(self.temporaries.len(), 0);
        self.temporaries.len() - 1
    }

    /// Appends an instruction.
    pub(super) fn put(&mut self, instruction: Instruction) {
        self.budget = self.budget.saturating_sub(1);
        self.builder.push(instruction);
    }

    /// Appends an instruction that writes `destination`, and records the write.
    pub(super) fn put_to(&mut self, opcode: Opcode, destination: Destination, sources: &[Src]) {
        self.put_instruction(Instruction::with_operands(opcode, None, sources), destination);
    }

    /// Adds `destination` to an instruction and appends it, and records the write.
    pub(super) fn put_instruction(&mut self, mut instruction: Instruction, destination: Destination) {
        instruction.dst.push(destination.dst);
        self.put(instruction);
        self.written(destination, destination.dst.write_mask);
    }

    /// Records that components of a destination are written.
    pub(super) fn written(&mut self, destination: Destination, mask: u8) {
        let words = match destination.target {
            Target::Temporary(index) => self.state.temporaries.get_mut(index),
            Target::Output(index) => self.state.outputs.get_mut(index),
            Target::Other => None,
        };
        if let Some(word) = words {
            *word |= mask;
        }
    }

    /// Appends an instruction that computes all components of a temporary of a kind, and returns that temporary as a
    /// source.
    pub(super) fn compute(&mut self, kind: RegisterType, opcode: Opcode, sources: &[Src]) -> Src {
        let position = self.temporary_to_write(kind);
        let destination = self.to_temporary(position, 15);
        self.put_to(opcode, destination, sources);
        Src::new(self.temporaries[position].register)
    }

    /// Appends an instruction without recording its write, which is not part of the state.
    pub(super) fn emit(&mut self, opcode: Opcode, dst: Option<Dst>, sources: &[Src]) {
        self.budget = self.budget.saturating_sub(1);
        self.builder.emit(opcode, dst, sources);
    }
}
