//! Runs shaders with the driver `cpu`.

use std::num::NonZeroUsize;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tgsi::tables::Semantic;
use tgsi_compiler::Stage;
use tgsi_driver_cpu::{HostResources, compile as compile_program};
use tgsi_environment::SamplerDim;
use tgsi_environment::{
    ImageTexel, Inputs, LaneRegisters, MAX_LANES, Outputs, RunLimits, TextureLookup, TextureRequest, TextureSize, Vec4,
};
use tgsi_ir::ShaderStage;

use super::slices::{Memory, REGISTER, SystemValueWords};
use super::{RunKind, Slices, tgsic_program_info};
use crate::compiler::tgsic_compiler;
use crate::failure::Failure;
use crate::guard;
use crate::resources::*;
use crate::result::tgsic_result;

/// Maximum number of threads.
const MAX_THREADS: usize = 1024;
/// Stack size of a thread, which thus does not depend on the environment.
const STACK: usize = 1 << 20;
/// Maximum number of invocations that are run at once: their inputs and outputs are copied, and more than this gains
/// nothing.
const MAX_CHUNK: usize = 1 << 16;
/// Maximum size of inputs and outputs that are copied at once, in bytes.
const MAX_CHUNK_BYTES: usize = 1 << 26;
/// Invocations of a chunk are a multiple of this, so that only the last one has blocks that are not full.
const CHUNK_UNIT: usize = 256;
/// Stages that can be run.
const STAGES: [ShaderStage; 5] =
    [ShaderStage::Vertex, ShaderStage::TessEval, ShaderStage::Fragment, ShaderStage::Compute, ShaderStage::Kernel];

/// The struct behind the symbol of an object file.
pub(super) use tgsi_driver_cpu::ObjectData as Object;

/// A program.
pub(super) struct Program {
    program: tgsi_driver_cpu::Program,
}

/// Threads.
pub(super) struct Threads {
    pool: ThreadPool,
}

pub(super) fn compile(compiler: &tgsic_compiler, bytes: &[u8], result: &mut tgsic_result) -> Result<Program, Failure> {
    let options = compiler
        .run_options
        .ok_or_else(|| Failure::argument("the compiler is not one of the driver `cpu`, which runs shaders"))?;
    let (language, shader) = compiler.read(bytes, result)?;
    let mut error = |error| result.compile_error(bytes, language, &error);
    let lowered = compiler.compiler.ir_at(Stage::Registers, shader).map_err(&mut error)?;
    check_stage(lowered.stage)?;
    let program = compile_program(&lowered, options).map_err(|error| Failure::shader(error.to_string()))?;
    Ok(Program { program })
}

fn check_stage(stage: ShaderStage) -> Result<(), Failure> {
    if STAGES.contains(&stage) {
        return Ok(());
    }
    Err(Failure::shader("only vertex, tessellation evaluation, fragment and compute shaders can be run"))
}

/// # Safety
/// As for [`tgsi_driver_cpu::load`].
pub(super) unsafe fn load(object: *const Object) -> Result<Program, Failure> {
    // SAFETY: guaranteed by the caller.
    let program = unsafe { tgsi_driver_cpu::load(object) };
    let program = program.map_err(|error| Failure::argument(format!("{error} [{}]", error.code())))?;
    check_stage(program.stage())?;
    Ok(Program { program })
}

pub(super) fn info(program: &Program) -> tgsic_program_info {
    tgsic_program_info {
        size: size_of::<tgsic_program_info>(),
        stage: tgsi_to_ir::slots::processor_of(program.program.stage()).value().into(),
        num_outputs: program.program.output_registers() as u32,
        workgroup: program.program.workgroup(),
        writes_memory: program.program.writes_memory().into(),
    }
}

pub(super) fn start_threads(count: usize) -> Result<Threads, Failure> {
    if count > MAX_THREADS {
        return Err(Failure::argument(format!("more than {MAX_THREADS} threads")));
    }
    // Never 0: then the environment would determine the number.
    let count = match count {
        0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS),
        count => count,
    };
    let builder = ThreadPoolBuilder::new().num_threads(count).stack_size(STACK);
    let builder = builder.thread_name(|_| "tgsic".to_owned()).start_handler(|_| guard::is_of_library());
    let pool = builder.build();
    pool.map(|pool| Threads { pool }).map_err(|error| Failure::argument(format!("no threads can be started: {error}")))
}

pub(super) fn run(
    program: &Program,
    slices: Slices<'_>,
    threads: Option<&Threads>,
    work: RunKind,
) -> Result<(), Failure> {
    let stage = program.program.stage();
    let is_of_stage = match work {
        RunKind::Vertices => matches!(stage, ShaderStage::Vertex | ShaderStage::TessEval),
        RunKind::Quads => stage == ShaderStage::Fragment,
        RunKind::Dispatch { .. } => matches!(stage, ShaderStage::Compute | ShaderStage::Kernel),
    };
    if !is_of_stage {
        return Err(Failure::argument(format!("the program is a {} shader", format!("{stage:?}").to_lowercase())));
    }
    let own;
    let threads = match threads {
        Some(threads) => threads,
        None => {
            own = start_threads(1)?;
            &own
        }
    };
    threads.pool.install(|| match work {
        RunKind::Vertices | RunKind::Quads => run_invocations(&program.program, slices, work),
        RunKind::Dispatch { groups, workgroup } => dispatch(program, slices, groups, workgroup),
    })
}

/// Returns the words of a buffer. Fewer than four bytes at the end are ignored.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| u32::from_ne_bytes(bytes))
}

/// Returns the inputs that all invocations share.
fn common_inputs(slices: &Slices<'_>) -> Inputs {
    let vertex = slices.num_vertex_inputs * REGISTER;
    let vertices = if vertex == 0 {
        Vec::new()
    } else {
        let registers = |bytes: &[u8]| bytes.chunks_exact(REGISTER).map(register).collect();
        slices.vertices.chunks_exact(vertex).map(registers).collect()
    };
    Inputs {
        vertices,
        constants: slices.constants.iter().map(|bytes| words(bytes).collect()).collect(),
        buffers: slices.buffers.iter().map(Memory::read).collect(),
        counters: slices.counters.iter().map(|memory| words(&memory.read()).collect()).collect(),
        shared_size: slices.shared_size,
        ..Inputs::default()
    }
}

fn register(bytes: &[u8]) -> Vec4 {
    let mut register = [0; 4];
    for (target, word) in register.iter_mut().zip(words(bytes)) {
        *target = word;
    }
    register
}

fn limits(slices: &Slices<'_>) -> RunLimits {
    let mut limits = RunLimits::default();
    if slices.max_steps > 0 {
        limits.steps = slices.max_steps;
    }
    if slices.max_memory > 0 {
        limits.memory = slices.max_memory;
    }
    limits
}

/// Returns the registers of some invocations, by lane. In the bytes, the registers of an invocation are contiguous.
fn lanes_of(bytes: &[u8], num_registers: usize, first: usize, count: usize) -> LaneRegisters {
    let mut lanes = LaneRegisters::new(count, num_registers);
    let stride = num_registers * REGISTER;
    let Some(bytes) = bytes.get(first * stride..(first + count) * stride) else { return lanes };
    for number in 0..num_registers {
        for component in 0..4 {
            let offset = number * REGISTER + component * 4;
            for (target, invocation) in
                lanes.component_mut(number, component).iter_mut().zip(bytes.chunks_exact(stride))
            {
                *target = words(&invocation[offset..]).next().unwrap_or(0);
            }
        }
    }
    lanes
}

/// Writes the outputs of some invocations.
fn write_outputs(slices: &mut Slices<'_>, outputs: &Outputs, first: usize, count: usize) {
    let stride = slices.num_outputs * 4;
    let mut words = vec![0u32; stride * count];
    for number in 0..slices.num_outputs.min(outputs.outputs.len()) {
        for component in 0..4 {
            let source = outputs.outputs.component(number, component);
            let targets = words.iter_mut().skip(number * 4 + component).step_by(stride);
            targets.zip(source).for_each(|(target, &word)| *target = word);
        }
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    slices.outputs.write(first * slices.num_outputs * REGISTER, &bytes);
    let live: Vec<u8> = outputs.live.iter().take(count).map(|&live| live.into()).collect();
    slices.live.write(first, &live);
}

fn put_system_value(inputs: &mut Inputs, value: &SystemValueWords<'_>, first: usize, count: usize) {
    let Some(kind) = Semantic::from_value(value.semantic).and_then(Semantic::system_value) else { return };
    let stride = value.num_components * 4;
    let (first, step) = if value.is_uniform { (0, 0) } else { (first, stride) };
    let lanes = |component: usize| {
        let at = |lane: usize| value.words.get(first * stride + lane * step + component * 4..);
        (0..count).map(|lane| at(lane).and_then(|bytes| words(bytes).next()).unwrap_or(0)).collect()
    };
    inputs.system_values.insert(kind, (0..value.num_components).map(lanes).collect());
}

/// Copies buffers and counters back to the caller's memory.
fn write_memory(slices: &mut Slices<'_>, inputs: &Inputs) {
    for (target, buffer) in slices.buffers.iter_mut().zip(&inputs.buffers) {
        target.write(0, buffer);
    }
    for (target, counters) in slices.counters.iter_mut().zip(&inputs.counters) {
        let bytes: Vec<u8> = counters.iter().flat_map(|word| word.to_ne_bytes()).collect();
        target.write(0, &bytes);
    }
}

fn run_error(error: &impl ToString) -> Failure {
    Failure::shader(error.to_string())
}

/// Runs vertices or fragments in chunks.
fn run_invocations(program: &tgsi_driver_cpu::Program, mut slices: Slices<'_>, work: RunKind) -> Result<(), Failure> {
    let mut inputs = common_inputs(&slices);
    let (resources, limits) = (slices.resources, limits(&slices));
    // A call of the driver copies the buffers, so a chunk must not be much smaller than these.
    let memory: usize = slices.buffers.iter().map(Memory::len).sum();
    let registers = slices.num_inputs + slices.num_framebuffer + program.output_registers() + 1;
    let chunk = (MAX_CHUNK_BYTES / (registers * REGISTER)).min(MAX_CHUNK.max(memory / 64));
    let chunk = chunk.next_multiple_of(CHUNK_UNIT);
    let mut first = 0;
    while first < slices.count {
        let count = chunk.min(slices.count - first);
        inputs.lanes = count;
        inputs.inputs = lanes_of(slices.inputs, slices.num_inputs, first, count);
        inputs.framebuffer = lanes_of(slices.framebuffer, slices.num_framebuffer, first, count);
        inputs.helpers = slices.helpers.iter().skip(first).take(count).map(|&helper| helper != 0).collect();
        for value in &slices.system_values {
            put_system_value(&mut inputs, value, first, count);
        }
        let outputs = match work {
            RunKind::Quads => program.run_quads(&inputs, &resources, limits),
            _ => program.run_vertices(&inputs, &resources, limits),
        };
        let outputs = outputs.map_err(|error| run_error(&error))?;
        write_outputs(&mut slices, &outputs, first, count);
        if program.writes_memory() {
            (inputs.buffers, inputs.counters) = (outputs.buffers, outputs.counters);
        }
        first += count;
    }
    if program.writes_memory() {
        write_memory(&mut slices, &inputs);
    }
    Ok(())
}

fn dispatch(
    program: &Program,
    mut slices: Slices<'_>,
    groups: [u32; 3],
    workgroup: Option<[u32; 3]>,
) -> Result<(), Failure> {
    let fixed = program.program.workgroup();
    let workgroup = match workgroup {
        None if fixed == [0; 3] => return Err(Failure::argument("the shader does not specify the workgroup size")),
        None => fixed,
        Some(workgroup) if fixed != [0; 3] && workgroup != fixed => {
            return Err(Failure::argument(format!(
                "the workgroup size is {workgroup:?}, but the shader specifies {fixed:?}"
            )));
        }
        Some(workgroup) => workgroup,
    };
    let lanes = workgroup.iter().fold(1usize, |product, &size| product.saturating_mul(size as usize));
    if lanes > MAX_LANES {
        return Err(Failure::argument(format!("a workgroup has {lanes} invocations; at most {MAX_LANES} can be run")));
    }
    if lanes == 0 || groups.contains(&0) {
        return Ok(());
    }
    let mut inputs = common_inputs(&slices);
    for value in &slices.system_values {
        put_system_value(&mut inputs, value, 0, lanes);
    }
    let (resources, limits) = (slices.resources, limits(&slices));
    let run = program.program.dispatch(groups, workgroup, &mut inputs, &resources, limits);
    run.map_err(|error| run_error(&error))?;
    write_memory(&mut slices, &inputs);
    Ok(())
}

fn texture_size(size: tgsic_texture_size) -> TextureSize {
    TextureSize { size: [size.width, size.height, size.depth], levels: size.levels, samples: size.samples }
}

fn texel((image, [x, y, z], sample): ImageTexel) -> tgsic_texel {
    tgsic_texel { image, x, y, z, sample }
}

impl tgsic_resources {
    fn ask_size(
        &self,
        function: tgsic_size_function,
        unit: u32,
        level: u32,
        dim: SamplerDim,
        is_array: bool,
    ) -> TextureSize {
        let mut size = tgsic_texture_size { width: 0, height: 0, depth: 0, levels: 0, samples: 0 };
        if let Some(function) = function {
            // SAFETY: the caller passed the function for this; the size can be written.
            unsafe { function(self.user, unit, level, dim as u32, is_array.into(), &raw mut size) };
        }
        texture_size(size)
    }
}

impl HostResources for tgsic_resources {
    fn texture(&self, request: &TextureRequest) -> [[u32; 4]; 4] {
        let mut result = [[0; 4]; 4];
        let Some(function) = self.texture else { return result };
        let (lookup, component) = match request.lookup {
            TextureLookup::Implicit => (TGSIC_LOOKUP_IMPLICIT, 0),
            TextureLookup::Bias => (TGSIC_LOOKUP_BIAS, 0),
            TextureLookup::Explicit => (TGSIC_LOOKUP_EXPLICIT, 0),
            TextureLookup::Gradient => (TGSIC_LOOKUP_GRADIENT, 0),
            TextureLookup::Gather { component } => (TGSIC_LOOKUP_GATHER, component.into()),
            TextureLookup::Fetch => (TGSIC_LOOKUP_FETCH, 0),
            TextureLookup::QueryLod => (TGSIC_LOOKUP_QUERY_LOD, 0),
        };
        let own = tgsic_texture_request {
            size: size_of::<tgsic_texture_request>(),
            texture: request.texture,
            sampler: request.sampler,
            lookup,
            component,
            dim: request.dim as u32,
            is_array: request.is_array.into(),
            is_shadow: request.is_shadow.into(),
            has_gather_offsets: request.gather_offsets.is_some().into(),
            coordinate: request.coordinate,
            comparator: request.comparator,
            lod: request.lod,
            ddx: request.ddx,
            ddy: request.ddy,
            offset: request.offset,
            gather_offsets: request.gather_offsets.unwrap_or_default(),
        };
        // SAFETY: the caller passed the function for this; there is space for four times four words.
        unsafe { function(self.user, &raw const own, result.as_mut_ptr()) };
        result
    }

    fn texture_size(&self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.ask_size(self.texture_size, texture, level, dim, is_array)
    }

    fn image_load(&self, of: ImageTexel) -> Vec4 {
        let mut result = [0; 4];
        if let Some(function) = self.image_load {
            let texel = texel(of);
            // SAFETY: the caller passed the function for this; there is space for four words.
            unsafe { function(self.user, &raw const texel, result.as_mut_ptr()) };
        }
        result
    }

    fn image_store(&self, of: ImageTexel, value: Vec4) {
        if let Some(function) = self.image_store {
            let texel = texel(of);
            // SAFETY: the caller passed the function for this; there are four words.
            unsafe { function(self.user, &raw const texel, value.as_ptr()) };
        }
    }

    fn image_size(&self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.ask_size(self.image_size, image, 0, dim, is_array)
    }

    fn unit_of_handle(&self, handle: u64) -> u32 {
        match self.unit_of_handle {
            // SAFETY: the caller passed the function for this.
            Some(function) => unsafe { function(self.user, handle) },
            None => handle as u32,
        }
    }
}
