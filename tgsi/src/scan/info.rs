//! The facts that a scan gathers.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::tables::{
    File, Interpolation, InterpolationLocation, Opcode, Processor, PropertyName, ReturnType, Semantic, TextureTarget,
};

/// Length of the table indexed by constant buffer.
pub const MAX_SCANNED_CONSTANT_BUFFERS: usize = 32;

/// One value per register file. Serialised as a map from file name to value.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PerFile<T>(pub(super) [T; 15]);

impl<T> std::ops::Index<File> for PerFile<T> {
    type Output = T;
    fn index(&self, file: File) -> &T {
        &self.0[file as usize]
    }
}

impl<T> std::ops::IndexMut<File> for PerFile<T> {
    fn index_mut(&mut self, file: File) -> &mut T {
        &mut self.0[file as usize]
    }
}

impl<T: Serialize> Serialize for PerFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(File::ALL.iter().map(|&file| (file.name(), &self[file])))
    }
}

/// A set of register files. Serialised as a list of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileSet(u16);

impl FileSet {
    /// Adds a file.
    pub fn insert(&mut self, file: File) {
        self.0 |= 1 << file as u32;
    }

    /// Whether the file is in the set.
    pub fn contains(self, file: File) -> bool {
        self.0 & 1 << file as u32 != 0
    }

    /// Returns the set as one bit per file number.
    pub fn bits(self) -> u16 {
        self.0
    }
}

impl Serialize for FileSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for &file in File::ALL {
            if self.contains(file) {
                list.serialize_element(&file)?;
            }
        }
        list.end()
    }
}

/// Occurrences by opcode. Serialised as a map from mnemonic to count, without zeros.
#[derive(Clone, PartialEq, Debug)]
pub struct OpcodeCount(pub(super) Box<[u32; 256]>);

impl Default for OpcodeCount {
    fn default() -> OpcodeCount {
        OpcodeCount(Box::new([0; 256]))
    }
}

impl std::ops::Index<Opcode> for OpcodeCount {
    type Output = u32;
    fn index(&self, opcode: Opcode) -> &u32 {
        &self.0[opcode as usize]
    }
}

impl Serialize for OpcodeCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for &opcode in Opcode::ALL {
            if self[opcode] != 0 {
                map.serialize_entry(opcode.name(), &self[opcode])?;
            }
        }
        map.end()
    }
}

/// Values of the properties, 0 for absent ones (1 for `GS_INVOCATIONS` of a geometry shader). Serialised as a map by
/// name.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PropertyValues(pub(super) [u32; 29]);

impl std::ops::Index<PropertyName> for PropertyValues {
    type Output = u32;
    fn index(&self, name: PropertyName) -> &u32 {
        &self.0[name as usize]
    }
}

impl Serialize for PropertyValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(PropertyName::ALL.iter().map(|&name| (name.name(), self[name])))
    }
}

/// The result of a scan.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize)]
#[non_exhaustive]
pub struct ShaderScan {
    /// Stage.
    pub processor: Processor,
    /// Number of instructions, `END` included.
    pub num_instructions: u32,
    /// The same number, under the name that reports use.
    pub instruction_count: u32,
    /// Number of declared `TEMP` registers without duplicates.
    pub temporaries: u32,
    /// Occurrences of each opcode.
    pub opcode_count: OpcodeCount,
    /// Number of immediates.
    pub immediate_count: u32,
    /// Last value of each property.
    pub properties: PropertyValues,
    /// Value of `NUM_CLIPDIST_ENABLED`.
    pub num_written_clipdistance: u32,
    /// Value of `NUM_CULLDIST_ENABLED`.
    pub num_written_culldistance: u32,
    /// `KILL` or `KILL_IF` occurs.
    pub uses_kill: bool,
    /// `FBFETCH` occurs.
    pub uses_fbfetch: bool,

    /// Bit `r % 32` for every declared register `r`.
    pub file_mask: PerFile<u32>,
    /// Number of declared registers, summed over declarations.
    pub file_count: PerFile<u32>,
    /// Highest declared register, -1 if none.
    pub file_max: PerFile<i32>,
    /// Files addressed with an indirect inner index.
    pub indirect_files: FileSet,
    /// Files addressed with an indirect outer index.
    pub dim_indirect_files: FileSet,

    /// Highest declared vec4 per constant buffer, -1 if none.
    pub const_file_max: [i32; MAX_SCANNED_CONSTANT_BUFFERS],
    /// Bit per constant buffer with a declaration.
    pub const_buffers_declared: u32,

    /// Highest input + 1.
    pub num_inputs: u32,
    /// Semantic name per input.
    pub input_semantic_name: Vec<Semantic>,
    /// Semantic index per input.
    pub input_semantic_index: Vec<u8>,
    /// Interpolation per input.
    pub input_interpolate: Vec<Interpolation>,
    /// Interpolation location per input.
    pub input_interpolate_loc: Vec<InterpolationLocation>,
    /// Components that instructions read, per input.
    pub input_usage_mask: Vec<u8>,
    /// First register of each input array.
    pub input_array_first: BTreeMap<u16, u16>,
    /// `PRIM_ID` is declared as an input or system value.
    pub uses_primid: bool,
    /// `FACE` is declared as an input or system value.
    pub uses_frontface: bool,

    /// Highest output + 1.
    pub num_outputs: u32,
    /// Semantic name per output.
    pub output_semantic_name: Vec<Semantic>,
    /// Semantic index per output.
    pub output_semantic_index: Vec<u8>,
    /// Union of the declared usage masks, per output.
    pub output_usagemask: Vec<u8>,
    /// Stream of each component, two bits each, x lowest; per output.
    pub output_streams: Vec<u8>,
    /// Declared components per vertex stream.
    pub num_stream_output_components: [u32; 4],
    /// First register of each output array.
    pub output_array_first: BTreeMap<u16, u16>,
    /// `VIEWPORT_INDEX` is an output.
    pub writes_viewport_index: bool,
    /// `LAYER` is an output.
    pub writes_layer: bool,
    /// `PSIZE` is an output.
    pub writes_psize: bool,
    /// `CLIPVERTEX` is an output.
    pub writes_clipvertex: bool,
    /// `STENCIL` is an output.
    pub writes_stencil: bool,
    /// `SAMPLEMASK` is an output.
    pub writes_samplemask: bool,
    /// `EDGEFLAG` is an output.
    pub writes_edgeflag: bool,
    /// `POSITION` is an output of a fragment shader.
    pub writes_z: bool,
    /// `POSITION` is an output of another stage.
    pub writes_position: bool,
    /// Tessellation control: a per-vertex output is read.
    pub reads_pervertex_outputs: bool,
    /// Tessellation control: a `PATCH` output is read.
    pub reads_perpatch_outputs: bool,
    /// Tessellation control: a tessellation level is read.
    pub reads_tessfactor_outputs: bool,
    /// Fragment: component z of the `POSITION` input is read.
    pub reads_z: bool,

    /// Highest first register of a system value declaration + 1.
    pub num_system_values: u32,
    /// Semantic per system value register.
    pub system_value_semantic_name: Vec<Semantic>,
    /// `INSTANCEID` is declared.
    pub uses_instanceid: bool,
    /// `VERTEXID` is declared.
    pub uses_vertexid: bool,
    /// `VERTEXID_NOBASE` is declared.
    pub uses_vertexid_nobase: bool,
    /// `BASEVERTEX` is declared.
    pub uses_basevertex: bool,
    /// `INVOCATIONID` is declared.
    pub uses_invocationid: bool,
    /// Compute: `GRID_SIZE` is read.
    pub uses_grid_size: bool,

    /// Bit per sampler.
    pub samplers_declared: u32,
    /// Texture target per view or sampler.
    pub sampler_targets: Vec<TextureTarget>,
    /// Return type of component x per view.
    pub sampler_type: Vec<ReturnType>,
    /// Bit per image.
    pub images_declared: u64,
    /// Bit per image with target `BUFFER`.
    pub images_buffers: u64,
    /// Bit per image accessed as multisampled.
    pub msaa_images_declared: u64,
    /// Bit per buffer.
    pub shader_buffers_declared: u32,
    /// Buffers that are loaded from.
    pub shader_buffers_load: u32,
    /// Buffers that are stored to.
    pub shader_buffers_store: u32,
    /// Buffers with atomic operations.
    pub shader_buffers_atomic: u32,
    /// Bit per atomic counter register.
    pub hw_atomic_declared: u32,
    /// Any file except `MEMORY` is stored to or accessed atomically.
    pub writes_memory: bool,
}
