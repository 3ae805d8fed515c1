//! The shader: types, variables, functions, and properties of the shader as a whole.

use cranelift_entity::PrimaryMap;

use crate::alu::ExecutionMode;
use crate::body::Body;
use crate::entities::{Function, Type, Variable};
use crate::types::TypeTable;
use crate::variable::{VariableData, VariableModes};
use tgsi_environment::named_enum;

named_enum! {
    /// Shader stages. Their names in the text form have the prefix `MESA_SHADER_`.
    ShaderStage {
        Vertex = 0 "VERTEX" "Vertex.",
        TessCtrl = 1 "TESS_CTRL" "Tessellation control.",
        TessEval = 2 "TESS_EVAL" "Tessellation evaluation.",
        Geometry = 3 "GEOMETRY" "Geometry.",
        Fragment = 4 "FRAGMENT" "Fragment.",
        Compute = 5 "COMPUTE" "Compute.",
        Task = 6 "TASK" "Task.",
        Mesh = 7 "MESH" "Mesh.",
        Kernel = 8 "KERNEL" "OpenCL kernel.",
    }
}

impl ShaderStage {
    /// Whether results of the stage may become a position, which other programs may need to compute identically.
    pub const fn may_reach_position(self) -> bool {
        !matches!(self, ShaderStage::Fragment | ShaderStage::Compute | ShaderStage::Kernel)
    }

    /// Whether the stage runs as workgroups.
    pub const fn has_workgroups(self) -> bool {
        matches!(self, ShaderStage::Compute | ShaderStage::Task | ShaderStage::Mesh | ShaderStage::Kernel)
    }
}

/// A shader of one stage.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Stage.
    pub stage: ShaderStage,
    /// Types of variables and derefs.
    pub types: TypeTable,
    /// All variables, including those of functions.
    pub variables: PrimaryMap<Variable, VariableData>,
    /// Variables of the shader (not of a function), in list order. Removed variables are not in any list.
    pub globals: Vec<Variable>,
    /// Functions.
    pub functions: PrimaryMap<Function, FunctionData>,
    /// Properties of the shader as a whole.
    pub info: ShaderInfo,
    /// Number of inputs, in units of the driver, as are outputs and uniforms.
    pub num_inputs: u32,
    /// See [`num_inputs`](Self::num_inputs).
    pub num_outputs: u32,
    /// See [`num_inputs`](Self::num_inputs).
    pub num_uniforms: u32,
    /// Size of scratch memory in bytes.
    pub scratch_size: u32,
    /// Constant data for `load_constant`, in bytes.
    pub constant_data: Vec<u8>,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Components.
    pub num_components: u8,
    /// Bit size.
    pub bit_size: u8,
    /// Name, empty if unnamed.
    pub name: String,
    /// Whether it is the pointer that receives the result.
    pub is_return: bool,
}

/// The attribute that prevents inlining of a function.
pub const NO_INLINE: &str = "noinline";

/// A function.
#[derive(Clone, Debug)]
pub struct FunctionData {
    /// Name.
    pub name: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Execution of the shader starts here.
    pub is_entry_point: bool,
    /// Visible to other shaders.
    pub is_exported: bool,
    /// Other attributes of the declaration (`inline`, `noinline`).
    pub attributes: Vec<String>,
    /// The code; `None` for a declaration.
    pub body: Option<Body>,
}

impl FunctionData {
    /// Whether calls of the function must not be inlined.
    pub fn stays(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute == NO_INLINE)
    }
}

impl Shader {
    /// A shader with an empty entry point `main`.
    pub fn new(stage: ShaderStage) -> Shader {
        let mut shader = Shader::without_functions(stage);
        shader.functions.push(FunctionData {
            name: "main".to_string(),
            parameters: Vec::new(),
            is_entry_point: true,
            is_exported: false,
            attributes: Vec::new(),
            body: Some(Body::new()),
        });
        shader
    }

    /// A shader without functions.
    pub fn without_functions(stage: ShaderStage) -> Shader {
        Shader {
            stage,
            types: TypeTable::default(),
            variables: PrimaryMap::new(),
            globals: Vec::new(),
            functions: PrimaryMap::new(),
            info: ShaderInfo::default(),
            num_inputs: 0,
            num_outputs: 0,
            num_uniforms: 0,
            scratch_size: 0,
            constant_data: Vec::new(),
        }
    }

    /// The entry point, if there is one.
    pub fn entry_point(&self) -> Option<Function> {
        self.functions.iter().find(|(_, f)| f.is_entry_point).map(|(id, _)| id)
    }

    /// The code of the entry point.
    ///
    /// # Panics
    /// If the shader has no entry point with a body, which the validator rejects.
    pub fn main(&self) -> &Body {
        self.functions.values().find(|f| f.is_entry_point).and_then(|f| f.body.as_ref()).expect("an entry point")
    }

    /// Like [`main`](Self::main), but mutable.
    ///
    /// # Panics
    /// Like [`main`](Self::main).
    pub fn main_mut(&mut self) -> &mut Body {
        self.functions.values_mut().find(|f| f.is_entry_point).and_then(|f| f.body.as_mut()).expect("an entry point")
    }

    /// The bodies of all functions that have one.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        self.functions.values_mut().filter_map(|f| f.body.as_mut())
    }

    /// A counter that advances with every change of the code of any function; see [`Body::inst_epoch`].
    pub fn inst_epoch(&self) -> u64 {
        self.functions.values().filter_map(|f| f.body.as_ref()).map(Body::inst_epoch).sum()
    }

    /// Adds a global variable. (For a variable of a function, see [`add_local`](Self::add_local).)
    pub fn add_variable(&mut self, data: VariableData) -> Variable {
        let variable = self.variables.push(data);
        self.globals.push(variable);
        variable
    }

    /// Adds a `function_temp` variable to a function.
    pub fn add_local(&mut self, function: Function, name: impl Into<String>, ty: Type) -> Variable {
        let variable = self.variables.push(VariableData::new(name, ty, VariableModes::FUNCTION_TEMP));
        if let Some(body) = &mut self.functions[function].body {
            body.locals.push(variable);
        }
        variable
    }

    /// Variables of the shader that have a mode of `modes`, in list order.
    pub fn globals_with(&self, modes: VariableModes) -> impl Iterator<Item = (Variable, &VariableData)> {
        self.globals.iter().map(|&v| (v, &self.variables[v])).filter(move |(_, data)| data.mode.intersects(modes))
    }
}

impl ShaderInfo {
    /// The constant buffer of uniform buffer 0: the first one after the buffer of `load_uniform`, or that buffer
    /// itself.
    pub fn first_ubo_buffer(&self) -> u32 {
        u32::from(!self.first_ubo_is_default_ubo)
    }
}

/// Properties of a shader as a whole, printed as its header. Fields that do not apply to the stage keep their defaults.
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the print header, which the text module documents")]
#[non_exhaustive]
pub struct ShaderInfo {
    pub name: String,
    pub label: String,
    pub source_blake3: [u32; 8],
    pub internal: bool,
    pub workgroup_size: [u32; 3],
    pub workgroup_size_variable: bool,
    pub next_stage: Option<ShaderStage>,
    pub num_textures: u32,
    pub num_ubos: u32,
    pub num_abos: u32,
    pub num_ssbos: u32,
    pub num_images: u32,
    pub inputs_read: u64,
    pub dual_slot_inputs: u64,
    pub outputs_written: u64,
    pub outputs_read: u64,
    pub system_values_read: u128,
    pub per_primitive_inputs: u64,
    pub per_primitive_outputs: u64,
    pub per_view_outputs: u64,
    pub inputs_read_16bit: u16,
    pub outputs_written_16bit: u16,
    pub outputs_read_16bit: u16,
    pub inputs_read_indirectly_16bit: u16,
    pub outputs_accessed_indirectly_16bit: u16,
    pub patch_inputs_read: u32,
    pub patch_outputs_written: u32,
    pub patch_outputs_read: u32,
    pub inputs_read_indirectly: u64,
    pub outputs_accessed_indirectly: u64,
    pub patch_inputs_read_indirectly: u64,
    pub patch_outputs_accessed_indirectly: u64,
    pub textures_used: u128,
    pub textures_used_by_txf: u128,
    pub samplers_used: u32,
    pub images_used: u64,
    pub image_buffers: u64,
    pub msaa_images: u64,
    pub float_controls_execution_mode: ExecutionMode,
    pub shared_size: u32,
    pub task_payload_size: u32,
    pub ray_queries: u32,
    pub subgroup_size: u32,
    pub uses_wide_subgroup_intrinsics: bool,
    pub xfb_stride: [u32; 4],
    pub inlinable_uniform_dw_offsets: [u32; 4],
    pub num_inlinable_uniforms: u32,
    pub clip_distance_array_size: u32,
    pub cull_distance_array_size: u32,
    pub uses_texture_gather: bool,
    pub uses_resource_info_query: bool,
    pub divergence_analysis_run: bool,
    pub bit_sizes_float: u8,
    pub bit_sizes_int: u8,
    pub first_ubo_is_default_ubo: bool,
    pub separate_shader: bool,
    pub has_transform_feedback_varyings: bool,
    pub flrp_lowered: bool,
    pub io_lowered: bool,
    pub writes_memory: bool,
    pub derivative_group: u32,
    /// The product of 0 and any number is 0 in every 32-bit float multiplication (not printed).
    pub use_legacy_math_rules: bool,
    /// Drivers may ignore user clip planes (TGSI's `VS_PROHIBIT_UCPS`; not printed).
    pub prohibit_ucps: bool,
    /// The layer is relative to the viewport index (not printed).
    pub layer_viewport_relative: bool,
    pub vs: VertexInfo,
    pub tess: TessellationInfo,
    pub gs: GeometryInfo,
    pub fs: FragmentInfo,
    pub cs: ComputeInfo,
    pub mesh: MeshInfo,
}

/// Vertex part of [`ShaderInfo`].
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "see ShaderInfo")]
#[non_exhaustive]
pub struct VertexInfo {
    pub double_inputs: u64,
    pub blit_sgprs_amd: u32,
    pub window_space_position: bool,
    pub needs_edge_flag: bool,
}

/// Tessellation part of [`ShaderInfo`].
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "see ShaderInfo")]
#[non_exhaustive]
pub struct TessellationInfo {
    /// 0 unspecified, 1 triangles, 2 quads, 3 isolines.
    pub primitive_mode: u32,
    pub tcs_vertices_out: u32,
    /// 0 unspecified, 1 equal, 2 fractional odd, 3 fractional even.
    pub spacing: u32,
    pub ccw: bool,
    pub point_mode: bool,
    pub tcs_same_invocation_inputs_read: u64,
    pub tcs_cross_invocation_inputs_read: u64,
    pub tcs_cross_invocation_outputs_read: u64,
}

/// Geometry part of [`ShaderInfo`].
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "see ShaderInfo")]
#[non_exhaustive]
pub struct GeometryInfo {
    /// Names as in the text form: `POINTS`, `TRIANGLE_STRIP`, ...; empty for `UNKNOWN`.
    pub output_primitive: String,
    pub input_primitive: String,
    pub vertices_out: u32,
    pub invocations: u32,
    pub vertices_in: u32,
    pub uses_end_primitive: bool,
    pub active_stream_mask: u8,
}

/// Fragment part of [`ShaderInfo`].
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "see ShaderInfo")]
#[non_exhaustive]
pub struct FragmentInfo {
    pub uses_discard: bool,
    pub uses_fbfetch_output: bool,
    pub color_is_dual_source: bool,
    pub require_full_quads: bool,
    pub needs_quad_helper_invocations: bool,
    pub uses_sample_qualifier: bool,
    pub uses_sample_shading: bool,
    pub early_fragment_tests: bool,
    pub inner_coverage: bool,
    pub post_depth_coverage: bool,
    pub pixel_center_integer: bool,
    pub origin_upper_left: bool,
    pub pixel_interlock_ordered: bool,
    pub pixel_interlock_unordered: bool,
    pub sample_interlock_ordered: bool,
    pub sample_interlock_unordered: bool,
    pub untyped_color_outputs: bool,
    pub depth_layout: u32,
    /// Interpolation of colours 0 and 1 as printed; empty if not printed.
    pub color0_interp: String,
    pub color0_sample: bool,
    pub color0_centroid: bool,
    pub color1_interp: String,
    pub color1_sample: bool,
    pub color1_centroid: bool,
    pub advanced_blend_modes: u32,
}

/// Compute part of [`ShaderInfo`].
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "see ShaderInfo")]
#[non_exhaustive]
pub struct ComputeInfo {
    pub workgroup_size_hint: [u32; 3],
    pub user_data_components_amd: u32,
    pub ptr_size: u32,
}

/// Mesh part of [`ShaderInfo`].
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "see ShaderInfo")]
#[non_exhaustive]
pub struct MeshInfo {
    pub ms_cross_invocation_output_access: u64,
    pub max_vertices_out: u32,
    pub max_primitives_out: u32,
    pub primitive_type: u32,
    pub nv: bool,
}
