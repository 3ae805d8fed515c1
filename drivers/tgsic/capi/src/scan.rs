//! The scan of a shader, in C structs. Numbers of semantics, files, targets and so on are those of the token stream.

use tgsi::scan::{MAX_SCANNED_CONSTANT_BUFFERS, Resource, ShaderScan};
use tgsi::tables::{File, Processor, PropertyName};

use crate::resource::{resource, tgsic_resource};
use crate::sized::SizedStruct;

/// Vertex shaders, in `processor` of a scan.
pub const TGSIC_STAGE_VERTEX: u32 = 0;
/// Tessellation control shaders.
pub const TGSIC_STAGE_TESSELLATION_CONTROL: u32 = 1;
/// Tessellation evaluation shaders.
pub const TGSIC_STAGE_TESSELLATION_EVALUATION: u32 = 2;
/// Geometry shaders.
pub const TGSIC_STAGE_GEOMETRY: u32 = 3;
/// Fragment shaders.
pub const TGSIC_STAGE_FRAGMENT: u32 = 4;
/// Compute shaders.
pub const TGSIC_STAGE_COMPUTE: u32 = 5;

/// Registers of a scan: the file of inputs.
pub const TGSIC_FILE_INPUT: u32 = 2;
/// Registers of a scan: the file of outputs.
pub const TGSIC_FILE_OUTPUT: u32 = 3;
/// Registers of a scan: the file of system values.
pub const TGSIC_FILE_SYSTEM_VALUE: u32 = 8;

/// Number of register files.
pub const TGSIC_NUM_FILES: usize = 15;
/// Number of properties.
pub const TGSIC_NUM_PROPERTIES: usize = 29;
/// Number of constant buffers covered by a scan.
pub const TGSIC_NUM_CONSTANT_BUFFERS: usize = 32;

// The header has only numbers.
const _: () = assert!(TGSIC_STAGE_VERTEX == Processor::Vertex.value() as u32);
const _: () = assert!(TGSIC_STAGE_TESSELLATION_CONTROL == Processor::TessControl.value() as u32);
const _: () = assert!(TGSIC_STAGE_TESSELLATION_EVALUATION == Processor::TessEval.value() as u32);
const _: () = assert!(TGSIC_STAGE_GEOMETRY == Processor::Geometry.value() as u32);
const _: () = assert!(TGSIC_STAGE_FRAGMENT == Processor::Fragment.value() as u32);
const _: () = assert!(TGSIC_STAGE_COMPUTE == Processor::Compute.value() as u32);
const _: () =
    assert!(TGSIC_FILE_INPUT == File::Input.value() as u32 && TGSIC_FILE_OUTPUT == File::Output.value() as u32);
const _: () = assert!(TGSIC_FILE_SYSTEM_VALUE == File::SystemValue.value() as u32);
const _: () = assert!(TGSIC_NUM_FILES == File::ALL.len() && TGSIC_NUM_PROPERTIES == PropertyName::ALL.len());
const _: () = assert!(TGSIC_NUM_CONSTANT_BUFFERS == MAX_SCANNED_CONSTANT_BUFFERS);

/// In `facts` of a scan: `KILL` or `KILL_IF` occurs.
pub const TGSIC_USES_KILL: u64 = 1 << 0;
/// In `facts` of a scan: `FBFETCH` occurs.
pub const TGSIC_USES_FBFETCH: u64 = 1 << 1;
/// In `facts` of a scan: the primitive id is read.
pub const TGSIC_USES_PRIMITIVE_ID: u64 = 1 << 2;
/// In `facts` of a scan: the facing is read.
pub const TGSIC_USES_FRONT_FACE: u64 = 1 << 3;
/// In `facts` of a scan: the instance id is read.
pub const TGSIC_USES_INSTANCE_ID: u64 = 1 << 4;
/// In `facts` of a scan: the vertex id is read.
pub const TGSIC_USES_VERTEX_ID: u64 = 1 << 5;
/// In `facts` of a scan: the vertex id without its base is read.
pub const TGSIC_USES_VERTEX_ID_NO_BASE: u64 = 1 << 6;
/// In `facts` of a scan: the base vertex is read.
pub const TGSIC_USES_BASE_VERTEX: u64 = 1 << 7;
/// In `facts` of a scan: the invocation id is read.
pub const TGSIC_USES_INVOCATION_ID: u64 = 1 << 8;
/// In `facts` of a scan: the size of the grid is read.
pub const TGSIC_USES_GRID_SIZE: u64 = 1 << 9;
/// In `facts` of a scan: a fragment shader reads z of its position.
pub const TGSIC_READS_DEPTH: u64 = 1 << 10;
/// In `facts` of a scan: a fragment shader writes its depth.
pub const TGSIC_WRITES_DEPTH: u64 = 1 << 11;
/// In `facts` of a scan: the stencil value is written.
pub const TGSIC_WRITES_STENCIL: u64 = 1 << 12;
/// In `facts` of a scan: the sample mask is written.
pub const TGSIC_WRITES_SAMPLE_MASK: u64 = 1 << 13;
/// In `facts` of a scan: the position is written, not by a fragment shader.
pub const TGSIC_WRITES_POSITION: u64 = 1 << 14;
/// In `facts` of a scan: the point size is written.
pub const TGSIC_WRITES_POINT_SIZE: u64 = 1 << 15;
/// In `facts` of a scan: the clip vertex is written.
pub const TGSIC_WRITES_CLIP_VERTEX: u64 = 1 << 16;
/// In `facts` of a scan: the edge flag is written.
pub const TGSIC_WRITES_EDGE_FLAG: u64 = 1 << 17;
/// In `facts` of a scan: the layer is written.
pub const TGSIC_WRITES_LAYER: u64 = 1 << 18;
/// In `facts` of a scan: the viewport index is written.
pub const TGSIC_WRITES_VIEWPORT_INDEX: u64 = 1 << 19;
/// In `facts` of a scan: a buffer or image is written, or an atomic operation occurs.
pub const TGSIC_WRITES_MEMORY: u64 = 1 << 20;
/// In `facts` of a scan: a tessellation control shader reads its per-vertex outputs.
pub const TGSIC_READS_PER_VERTEX_OUTPUTS: u64 = 1 << 21;
/// In `facts` of a scan: a tessellation control shader reads its per-patch outputs.
pub const TGSIC_READS_PER_PATCH_OUTPUTS: u64 = 1 << 22;
/// In `facts` of a scan: a tessellation control shader reads the levels that it wrote.
pub const TGSIC_READS_TESSELLATION_LEVELS: u64 = 1 << 23;

fn facts(scan: &ShaderScan) -> u64 {
    let facts = [
        (scan.uses_kill, TGSIC_USES_KILL),
        (scan.uses_fbfetch, TGSIC_USES_FBFETCH),
        (scan.uses_primid, TGSIC_USES_PRIMITIVE_ID),
        (scan.uses_frontface, TGSIC_USES_FRONT_FACE),
        (scan.uses_instanceid, TGSIC_USES_INSTANCE_ID),
        (scan.uses_vertexid, TGSIC_USES_VERTEX_ID),
        (scan.uses_vertexid_nobase, TGSIC_USES_VERTEX_ID_NO_BASE),
        (scan.uses_basevertex, TGSIC_USES_BASE_VERTEX),
        (scan.uses_invocationid, TGSIC_USES_INVOCATION_ID),
        (scan.uses_grid_size, TGSIC_USES_GRID_SIZE),
        (scan.reads_z, TGSIC_READS_DEPTH),
        (scan.writes_z, TGSIC_WRITES_DEPTH),
        (scan.writes_stencil, TGSIC_WRITES_STENCIL),
        (scan.writes_samplemask, TGSIC_WRITES_SAMPLE_MASK),
        (scan.writes_position, TGSIC_WRITES_POSITION),
        (scan.writes_psize, TGSIC_WRITES_POINT_SIZE),
        (scan.writes_clipvertex, TGSIC_WRITES_CLIP_VERTEX),
        (scan.writes_edgeflag, TGSIC_WRITES_EDGE_FLAG),
        (scan.writes_layer, TGSIC_WRITES_LAYER),
        (scan.writes_viewport_index, TGSIC_WRITES_VIEWPORT_INDEX),
        (scan.writes_memory, TGSIC_WRITES_MEMORY),
        (scan.reads_pervertex_outputs, TGSIC_READS_PER_VERTEX_OUTPUTS),
        (scan.reads_perpatch_outputs, TGSIC_READS_PER_PATCH_OUTPUTS),
        (scan.reads_tessfactor_outputs, TGSIC_READS_TESSELLATION_LEVELS),
    ];
    facts.into_iter().filter(|&(is, _)| is).fold(0, |facts, (_, fact)| facts | fact)
}

/// Facts about a shader.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_scan_info {
    /// `sizeof(tgsic_scan_info)`, to be set by the caller.
    pub size: usize,
    /// The stage: `TGSIC_STAGE_...`.
    pub processor: u32,
    /// Instructions, `END` included.
    pub num_instructions: u32,
    /// Declared temporaries, each counted once.
    pub num_temporaries: u32,
    /// Immediates.
    pub num_immediates: u32,
    /// Inputs: the highest number plus one.
    pub num_inputs: u32,
    /// Outputs: the highest number plus one.
    pub num_outputs: u32,
    /// System values: the highest number plus one.
    pub num_system_values: u32,
    /// Values of `NUM_CLIPDIST_ENABLED`.
    pub num_clip_distances: u32,
    /// Values of `NUM_CULLDIST_ENABLED`.
    pub num_cull_distances: u32,
    /// A bit per sampler.
    pub samplers: u32,
    /// A bit per buffer.
    pub buffers: u32,
    /// A bit per buffer that is loaded from.
    pub buffers_loaded: u32,
    /// A bit per buffer that is stored to.
    pub buffers_stored: u32,
    /// A bit per buffer with atomic operations.
    pub buffers_atomic: u32,
    /// A bit per constant buffer.
    pub constant_buffers: u32,
    /// A bit per file that is addressed by an indirect index.
    pub indirect_files: u32,
    /// A bit per file with a buffer or vertex that is selected by an indirect index.
    pub dimension_indirect_files: u32,
    /// Must not be used.
    pub reserved: u32,
    /// A bit per image.
    pub images: u64,
    /// Bits `TGSIC_USES_...`, `TGSIC_READS_...`, `TGSIC_WRITES_...`.
    pub facts: u64,
    /// Declared registers per file.
    pub file_count: [u32; TGSIC_NUM_FILES],
    /// The highest declared register per file, -1 without any.
    pub file_max: [i32; TGSIC_NUM_FILES],
    /// The highest declared constant per buffer, -1 without any.
    pub constants_max: [i32; TGSIC_NUM_CONSTANT_BUFFERS],
    /// The value of each property, 0 for those that are absent.
    pub properties: [u32; TGSIC_NUM_PROPERTIES],
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_scan_info {}

/// An input, output or system value of a shader.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_register {
    /// `sizeof(tgsic_register)`, to be set by the caller.
    pub size: usize,
    /// The semantic.
    pub semantic: u32,
    /// The index among those with this semantic.
    pub semantic_index: u32,
    /// A bit per component: of inputs, the read ones; of outputs, the declared ones.
    pub usage_mask: u32,
    /// Interpolation of an input.
    pub interpolation: u32,
    /// Location at which it is interpolated.
    pub interpolation_location: u32,
    /// Stream of each component of an output, two bits each, x lowest.
    pub streams: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_register {}

/// A scan in C form.
pub(crate) struct Scan {
    pub(crate) info: tgsic_scan_info,
    inputs: Vec<tgsic_register>,
    outputs: Vec<tgsic_register>,
    system_values: Vec<tgsic_register>,
    pub(crate) resources: Vec<tgsic_resource>,
}

impl Scan {
    pub(crate) fn of(scan: &ShaderScan, resources: &[Resource]) -> Scan {
        let per_file = |value: &dyn Fn(File) -> u32| std::array::from_fn(|index| value(File::ALL[index]));
        let info = tgsic_scan_info {
            size: size_of::<tgsic_scan_info>(),
            processor: scan.processor.value().into(),
            num_instructions: scan.num_instructions,
            num_temporaries: scan.temporaries,
            num_immediates: scan.immediate_count,
            num_inputs: scan.num_inputs,
            num_outputs: scan.num_outputs,
            num_system_values: scan.num_system_values,
            num_clip_distances: scan.num_written_clipdistance,
            num_cull_distances: scan.num_written_culldistance,
            samplers: scan.samplers_declared,
            buffers: scan.shader_buffers_declared,
            buffers_loaded: scan.shader_buffers_load,
            buffers_stored: scan.shader_buffers_store,
            buffers_atomic: scan.shader_buffers_atomic,
            constant_buffers: scan.const_buffers_declared,
            indirect_files: scan.indirect_files.bits().into(),
            dimension_indirect_files: scan.dim_indirect_files.bits().into(),
            reserved: 0,
            images: scan.images_declared,
            facts: facts(scan),
            file_count: per_file(&|file| scan.file_count[file]),
            file_max: std::array::from_fn(|index| scan.file_max[File::ALL[index]]),
            constants_max: scan.const_file_max,
            properties: std::array::from_fn(|index| scan.properties[PropertyName::ALL[index]]),
        };
        let register = |semantic: u32, semantic_index: u32, usage_mask: u32| tgsic_register {
            size: size_of::<tgsic_register>(),
            semantic,
            semantic_index,
            usage_mask,
            interpolation: 0,
            interpolation_location: 0,
            streams: 0,
        };
        let at = |list: &[u8], index: usize| u32::from(list.get(index).copied().unwrap_or(0));
        let inputs = scan.input_semantic_name.iter().enumerate().map(|(index, semantic)| {
            let interpolation = scan.input_interpolate.get(index).map_or(0, |i| i.value().into());
            let location = scan.input_interpolate_loc.get(index).map_or(0, |l| l.value().into());
            let (number, mask) = (at(&scan.input_semantic_index, index), at(&scan.input_usage_mask, index));
            let plain = register(semantic.value().into(), number, mask);
            tgsic_register { interpolation, interpolation_location: location, ..plain }
        });
        let outputs = scan.output_semantic_name.iter().enumerate().map(|(index, semantic)| {
            let (number, mask) = (at(&scan.output_semantic_index, index), at(&scan.output_usagemask, index));
            let plain = register(semantic.value().into(), number, mask);
            tgsic_register { streams: at(&scan.output_streams, index), ..plain }
        });
        let system_values = scan.system_value_semantic_name.iter().map(|s| register(s.value().into(), 0, 0xf));
        Scan {
            info,
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            system_values: system_values.collect(),
            resources: resources.iter().map(resource).collect(),
        }
    }

    pub(crate) fn register(&self, file: u32, index: usize) -> Option<&tgsic_register> {
        match file {
            TGSIC_FILE_INPUT => self.inputs.get(index),
            TGSIC_FILE_OUTPUT => self.outputs.get(index),
            TGSIC_FILE_SYSTEM_VALUE => self.system_values.get(index),
            _ => None,
        }
    }
}
