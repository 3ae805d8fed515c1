//! The walk over a body that emits the code.
//!
//! Blocks are emitted in program order, in which dominators precede the blocks they dominate. [`control_flow`] emits
//! labels, merges, branches and phis from the tree; the other files emit instructions, one file for each subject. An IR
//! block can become several SPIR-V blocks (guarded accesses); phis name the last of them.

mod alu;
mod buffers;
mod control_flow;
mod guards;
mod image;
mod interface;
mod lines;
mod locals;
mod memory_model;
mod moves;
mod parameters;
mod reflection;
mod subgroup;
mod system_values;
mod texture;
mod value_numbers;
mod values;

use cranelift_entity::SecondaryMap;
use spirv::{ExecutionModel, FunctionControl, Op};
use tgsi_compiler::Code;
use tgsi_compiler::reflection::Reflection;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Block, Body, Def, Inst, InstData, Shader, ShaderStage};

use crate::error::SpirvError;
use crate::module::{Class, Id, Module, push};
use crate::options::SpirvOptions;
use crate::plan::Classes;

pub use image::is_in_every_device;

use control_flow::{Edge, OpenLoop};
use value_numbers::ValueNumbers;

/// The words of a module, and its reflection.
#[derive(Debug)]
pub struct Emitted {
    /// The module.
    pub words: Vec<u32>,
    /// Locations, sets and bindings.
    pub reflection: Reflection,
    /// Pairs of a word index and the number of the source instruction that the code from that word on comes from.
    pub origins: Vec<(u32, u32)>,
}

impl Emitted {
    /// Returns the bytes of the module.
    pub fn into_code(self) -> Code {
        Code::Binary(self.words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}

/// The state of the walk.
pub struct Emitter<'a> {
    /// The shader.
    pub shader: &'a Shader,
    /// The body of its entry point.
    pub body: &'a Body,
    /// The target.
    pub options: &'a SpirvOptions,
    /// The classes of values.
    pub classes: Classes,
    /// The module without its code.
    pub module: Module,
    /// The id of the function.
    pub main: Id,
    /// The assigned interface.
    pub reflection: Reflection,
    /// Code after the label of the first block and the variables.
    code: Vec<u32>,
    /// Variables of the function.
    variables: Vec<u32>,
    /// Arrays of the function that a loop clears: variable, element type, length.
    cleared: Vec<(Id, Id, u32)>,
    /// The ids of values, each with its class.
    values: SecondaryMap<Def, Option<(Id, Class)>>,
    /// Values that repeat one scalar in all components.
    repeated: rustc_hash::FxHashSet<Def>,
    value_numbers: ValueNumbers,
    /// A private variable that holds zero, if one was created.
    opaque_zero: Option<Id>,
    lines: lines::Lines,
    /// Pairs of a word index in the code and the number of the source instruction.
    origins: Vec<(u32, u32)>,
    /// The label of the open SPIR-V block; `None` after its end.
    label: Option<Id>,
    labels: SecondaryMap<Block, Option<Id>>,
    edges: SecondaryMap<Block, Vec<Edge>>,
    loops: SecondaryMap<tgsi_ir::Loop, Option<OpenLoop>>,
    /// State of the files for single subjects.
    arithmetic: alu::Arithmetic,
    locals: locals::Locals,
    buffers: buffers::Buffers,
    io: interface::Io,
    parameters: parameters::Parameters,
    textures: texture::Textures,
    images: image::Images,
}

/// Translates a lowered shader. `source` is given if its text and lines are to be in the module; the note is embedded
/// as a string.
///
/// # Errors
/// [`SpirvError`]: the target cannot express the shader.
pub fn emit(
    shader: &Shader,
    options: &SpirvOptions,
    source: Option<&tgsi::Shader>,
    note: Option<&str>,
) -> Result<Emitted, SpirvError> {
    let entry = shader.entry_point().ok_or(SpirvError::NoEntryPoint)?;
    let body = shader.functions[entry].body.as_ref().ok_or(SpirvError::NoEntryPoint)?;
    let model = match shader.stage {
        ShaderStage::Vertex => ExecutionModel::Vertex,
        ShaderStage::TessCtrl => ExecutionModel::TessellationControl,
        ShaderStage::TessEval => ExecutionModel::TessellationEvaluation,
        ShaderStage::Geometry => ExecutionModel::Geometry,
        ShaderStage::Fragment => ExecutionModel::Fragment,
        ShaderStage::Compute => ExecutionModel::GLCompute,
        stage => return Err(SpirvError::Stage(stage)),
    };
    let mut module = Module::new(options.version);
    let main = module.id();
    let lines = source.map(|source| lines::Lines::of(source, &mut module)).unwrap_or_default();
    let mut emitter = Emitter {
        shader,
        body,
        options,
        classes: Classes::of(body),
        module,
        main,
        reflection: Reflection::default(),
        code: Vec::new(),
        variables: Vec::new(),
        cleared: Vec::new(),
        values: SecondaryMap::with_capacity(body.num_defs()),
        repeated: rustc_hash::FxHashSet::default(),
        value_numbers: ValueNumbers::default(),
        opaque_zero: None,
        lines,
        origins: Vec::new(),
        label: None,
        labels: SecondaryMap::new(),
        edges: SecondaryMap::new(),
        loops: SecondaryMap::new(),
        arithmetic: alu::Arithmetic::new(shader.stage, options),
        locals: locals::Locals::default(),
        buffers: buffers::Buffers::default(),
        io: interface::Io::default(),
        parameters: parameters::Parameters::default(),
        textures: texture::Textures::default(),
        images: image::Images::default(),
    };
    if options.vulkan_memory_model {
        emitter.module.use_vulkan_memory_model();
    }
    if options.names {
        emitter.module.name(main, "main");
    }
    if let Some(note) = note {
        emitter.module.string(note);
    }
    emitter.emit_execution_modes()?;
    let first = emitter.module.id();
    emitter.walk(first)?;
    let entry = emitter.module.id();
    let clears = emitter.clear_arrays(entry, first);
    emitter.emit_float_modes();
    emitter.declare_parameters();
    emitter.reflect_module();

    let Emitter { mut module, code, variables, reflection, mut origins, .. } = emitter;
    let void = module.void_type();
    let signature = module.plain_type(Op::TypeFunction, &[void.0]);
    let mut function = Vec::with_capacity(code.len() + variables.len() + 16);
    push(&mut function, Op::Function, &[void.0, main.0, FunctionControl::NONE.bits(), signature.0]);
    push(&mut function, Op::Label, &[if clears.is_some() { entry } else { first }.0]);
    function.extend(variables);
    function.extend(clears.into_iter().flatten());
    let (before, of_code) = (function.len(), code.len());
    function.extend(code);
    push(&mut function, Op::FunctionEnd, &[]);
    let end = function.len() - before - of_code;
    let words = module.finish(model, main, &function)?;
    // The function is at the end of the module.
    let first = (words.len() - of_code - end) as u32;
    origins.iter_mut().for_each(|(at, _)| *at += first);
    Ok(Emitted { words, reflection, origins })
}

impl Emitter<'_> {
    /// Emits an instruction other than a phi or jump.
    fn emit_instruction(&mut self, inst: Inst) -> Result<(), SpirvError> {
        if !matches!(self.body.inst(inst), InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. }) {
            self.emit_line(inst);
        }
        match *self.body.inst(inst) {
            InstData::Alu { op, flags } => self.emit_alu(inst, op, flags),
            InstData::Tex(_) => self.emit_texture(inst),
            InstData::Intrinsic { op, .. } => self.emit_intrinsic(inst, op),
            // Constants and pointers are emitted at their uses.
            InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. } => Ok(()),
            InstData::Call { .. } => Err(SpirvError::NotLowered { inst, what: "a call" }),
            InstData::ParallelCopy(_) => Err(SpirvError::NotLowered { inst, what: "a parallel copy" }),
            InstData::Phi | InstData::Jump(_) => Ok(()),
        }
    }

    fn emit_intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        use IntrinsicOp::*;
        match op {
            DeclReg | LoadReg | LoadRegIndirect | StoreReg | StoreRegIndirect => self.emit_register_access(inst, op),
            LoadDeref | StoreDeref => self.emit_deref_access(inst, op),
            LoadUniform | LoadUbo | LoadUboVec4 | LoadPushConstant | GetUboSize => {
                self.emit_constant_buffer_access(inst, op)
            }
            LoadSsbo | StoreSsbo | GetSsboSize | SsboAtomic | SsboAtomicSwap => {
                self.emit_storage_buffer_access(inst, op)
            }
            LoadScratch | StoreScratch | LoadConstant => self.emit_private_memory_access(inst, op),
            LoadShared | StoreShared | SharedAtomic | SharedAtomicSwap => self.emit_shared_memory_access(inst, op),
            op if op.is_atomic_counter() => self.emit_atomic_counter(inst, op),
            LoadInput | LoadPerVertexInput | LoadOutput | LoadPerVertexOutput | StoreOutput | StorePerVertexOutput => {
                self.emit_indexed_io(inst, op)
            }
            InterpDerefAtCentroid | InterpDerefAtSample | InterpDerefAtOffset => self.emit_interpolation(inst, op),
            EmitVertex | EndPrimitive | EmitVertexWithCounter | EndPrimitiveWithCounter => self.emit_geometry(inst, op),
            Terminate | TerminateIf | Demote | DemoteIf | IsHelperInvocation => self.emit_kill(inst, op),
            BeginInvocationInterlock | EndInvocationInterlock => self.emit_interlock(inst, op),
            Ddx | Ddy | DdxFine | DdyFine | DdxCoarse | DdyCoarse => self.emit_derivative(inst, op),
            op if op.is_image_access() => self.emit_image_access(inst, op),
            Ballot | VoteAny | VoteAll | VoteIeq | VoteFeq | ReadInvocation | ReadFirstInvocation | Elect
            | ShaderClock | Barrier | Reduce | InclusiveScan | ExclusiveScan | Shuffle | ShuffleXor | ShuffleUp
            | ShuffleDown | Rotate | QuadBroadcast | QuadSwapHorizontal | QuadSwapVertical | QuadSwapDiagonal => {
                self.emit_subgroup(inst, op)
            }
            VulkanResourceIndex | LoadVulkanDescriptor => {
                Err(SpirvError::Unsupported { inst, what: "Vulkan has no handles of bound textures and images" })
            }
            op => self.emit_system_value(inst, op),
        }
    }
}
