//! The lines of the header: names, fields, notations.

use crate::alu::ExecutionMode;
use crate::shader::{Shader, ShaderStage};

/// Types of header fields with a numeric representation.
pub(super) trait Number: Sized {
    fn to_wide(&self) -> u128;
    fn from_wide(value: u128) -> Option<Self>;
}

macro_rules! numbers {
    ($($ty:ty),+) => {$(
        impl Number for $ty {
            fn to_wide(&self) -> u128 { u128::from(*self) }
            fn from_wide(value: u128) -> Option<Self> { <$ty>::try_from(value).ok() }
        }
    )+};
}
numbers!(u8, u16, u32, u64, u128);

impl Number for bool {
    fn to_wide(&self) -> u128 {
        u128::from(*self)
    }
    fn from_wide(value: u128) -> Option<Self> {
        Some(value != 0)
    }
}

impl Number for ExecutionMode {
    fn to_wide(&self) -> u128 {
        u128::from(self.0)
    }
    fn from_wide(value: u128) -> Option<Self> {
        u32::try_from(value).ok().map(ExecutionMode)
    }
}

/// Format of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberFormat {
    /// Decimal, omitted if 0.
    Decimal,
    /// Decimal, never omitted.
    Always,
    /// `true`, omitted if false.
    Flag,
    /// Bit ranges `0,4-7`, omitted if empty.
    Ranges,
    /// `0x` and this number of digits, omitted if 0.
    Hex(usize),
    /// This number of 32-bit words, most significant first, omitted if 0.
    Words(u32),
    /// Hexadecimal with at least two digits, never omitted.
    AlwaysHex,
}

pub(super) enum Content {
    Number {
        form: NumberFormat,
        get: fn(&Shader) -> u128,
        set: fn(&mut Shader, u128) -> bool,
    },
    /// A word or text; if empty, omitted or printed as `UNKNOWN`, according to the third field.
    Text {
        get: fn(&Shader) -> &str,
        set: fn(&mut Shader, &str),
        unknown: bool,
    },
    /// `{%u, %u}`, omitted if all are 0.
    List {
        get: fn(&Shader) -> &[u32],
        get_mut: fn(&mut Shader) -> &mut [u32],
        hex: bool,
    },
    WorkgroupSize,
    NextStage,
    Constants,
}

/// A line of the header.
pub(super) struct HeaderField {
    pub(super) key: &'static str,
    pub(super) stages: fn(ShaderStage) -> bool,
    /// Whether Mesa does not print it.
    pub(super) own: bool,
    pub(super) content: Content,
}

fn any(_: ShaderStage) -> bool {
    true
}

macro_rules! number {
    ($key:literal, $stages:expr, $form:expr, $($path:ident).+) => {
        number!($key, $stages, $form, false, $($path).+)
    };
    ($key:literal, $stages:expr, $form:expr, $own:literal, $($path:ident).+) => {
        HeaderField {
            key: $key,
            stages: $stages,
            own: $own,
            content: Content::Number {
                form: $form,
                get: |s| s.$($path).+.to_wide(),
                set: |s, v| Number::from_wide(v).map(|v| s.$($path).+ = v).is_some(),
            },
        }
    };
}

macro_rules! text {
    ($key:literal, $stages:expr, $unknown:literal, $($path:ident).+) => {
        HeaderField {
            key: $key,
            stages: $stages,
            own: false,
            content: Content::Text {
                get: |s| &s.$($path).+,
                set: |s, v| s.$($path).+ = v.to_string(),
                unknown: $unknown,
            },
        }
    };
}

macro_rules! list {
    ($key:literal, $stages:expr, $hex:literal, $($path:ident).+) => {
        HeaderField {
            key: $key,
            stages: $stages,
            own: false,
            content: Content::List { get: |s| &s.$($path).+, get_mut: |s| &mut s.$($path).+, hex: $hex },
        }
    };
}

macro_rules! special {
    ($key:literal, $stages:expr, $content:ident) => {
        HeaderField { key: $key, stages: $stages, own: false, content: Content::$content }
    };
}

fn vertex(stage: ShaderStage) -> bool {
    stage == ShaderStage::Vertex
}
fn tessellation(stage: ShaderStage) -> bool {
    matches!(stage, ShaderStage::TessCtrl | ShaderStage::TessEval)
}
fn geometry(stage: ShaderStage) -> bool {
    stage == ShaderStage::Geometry
}
fn fragment(stage: ShaderStage) -> bool {
    stage == ShaderStage::Fragment
}
fn compute(stage: ShaderStage) -> bool {
    matches!(stage, ShaderStage::Compute | ShaderStage::Kernel)
}
fn mesh(stage: ShaderStage) -> bool {
    stage == ShaderStage::Mesh
}
fn task_or_mesh(stage: ShaderStage) -> bool {
    matches!(stage, ShaderStage::Task | ShaderStage::Mesh)
}

use NumberFormat::{Always, AlwaysHex, Decimal, Flag, Hex, Ranges, Words};

/// All lines after `shader:`, in print order.
pub(super) static LINES: &[HeaderField] = &[
    list!("source_blake3", any, true, info.source_blake3),
    text!("name", any, false, info.name),
    text!("label", any, false, info.label),
    number!("internal", any, Flag, info.internal),
    special!("workgroup_size", ShaderStage::has_workgroups, WorkgroupSize),
    special!("next_stage", any, NextStage),
    number!("num_textures", any, Decimal, info.num_textures),
    number!("num_ubos", any, Decimal, info.num_ubos),
    number!("num_abos", any, Decimal, info.num_abos),
    number!("num_ssbos", any, Decimal, info.num_ssbos),
    number!("num_images", any, Decimal, info.num_images),
    number!("inputs_read", any, Ranges, info.inputs_read),
    number!("dual_slot_inputs", any, Ranges, info.dual_slot_inputs),
    number!("outputs_written", any, Ranges, info.outputs_written),
    number!("outputs_read", any, Ranges, info.outputs_read),
    number!("system_values_read", any, Words(4), info.system_values_read),
    number!("per_primitive_inputs", any, Ranges, info.per_primitive_inputs),
    number!("per_primitive_outputs", any, Ranges, info.per_primitive_outputs),
    number!("per_view_outputs", any, Ranges, info.per_view_outputs),
    number!("inputs_read_16bit", any, Hex(4), info.inputs_read_16bit),
    number!("outputs_written_16bit", any, Hex(4), info.outputs_written_16bit),
    number!("outputs_read_16bit", any, Hex(4), info.outputs_read_16bit),
    number!("inputs_read_indirectly_16bit", any, Hex(4), info.inputs_read_indirectly_16bit),
    number!("outputs_accessed_indirectly_16bit", any, Hex(4), info.outputs_accessed_indirectly_16bit),
    number!("patch_inputs_read", any, Hex(8), info.patch_inputs_read),
    number!("patch_outputs_written", any, Hex(8), info.patch_outputs_written),
    number!("patch_outputs_read", any, Hex(8), info.patch_outputs_read),
    number!("inputs_read_indirectly", any, Ranges, info.inputs_read_indirectly),
    number!("outputs_accessed_indirectly", any, Ranges, info.outputs_accessed_indirectly),
    number!("patch_inputs_read_indirectly", any, Ranges, info.patch_inputs_read_indirectly),
    number!("patch_outputs_accessed_indirectly", any, Ranges, info.patch_outputs_accessed_indirectly),
    number!("textures_used", any, Words(4), info.textures_used),
    number!("textures_used_by_txf", any, Words(4), info.textures_used_by_txf),
    number!("samplers_used", any, Words(1), info.samplers_used),
    number!("images_used", any, Words(2), info.images_used),
    number!("image_buffers", any, Words(2), info.image_buffers),
    number!("msaa_images", any, Words(2), info.msaa_images),
    number!("float_controls_execution_mode", any, Hex(8), info.float_controls_execution_mode),
    number!("shared_size", any, Decimal, info.shared_size),
    number!("task_payload_size", task_or_mesh, Always, info.task_payload_size),
    number!("ray queries", any, Decimal, info.ray_queries),
    number!("subgroup_size", any, Always, info.subgroup_size),
    number!("uses_wide_subgroup_intrinsics", any, Flag, info.uses_wide_subgroup_intrinsics),
    list!("xfb_stride", any, false, info.xfb_stride),
    list!("inlinable_uniform_dw_offsets", any, false, info.inlinable_uniform_dw_offsets),
    number!("num_inlinable_uniforms", any, Decimal, info.num_inlinable_uniforms),
    number!("clip_distance_array_size", any, Decimal, info.clip_distance_array_size),
    number!("cull_distance_array_size", any, Decimal, info.cull_distance_array_size),
    number!("uses_texture_gather", any, Flag, info.uses_texture_gather),
    number!("uses_resource_info_query", any, Flag, info.uses_resource_info_query),
    number!("divergence_analysis_run", any, Flag, info.divergence_analysis_run),
    number!("bit_sizes_float", any, Hex(2), info.bit_sizes_float),
    number!("bit_sizes_int", any, Hex(2), info.bit_sizes_int),
    number!("first_ubo_is_default_ubo", any, Flag, info.first_ubo_is_default_ubo),
    number!("separate_shader", any, Flag, info.separate_shader),
    number!("has_transform_feedback_varyings", any, Flag, info.has_transform_feedback_varyings),
    number!("flrp_lowered", any, Flag, info.flrp_lowered),
    number!("io_lowered", any, Flag, info.io_lowered),
    number!("writes_memory", any, Flag, info.writes_memory),
    number!("derivative_group", any, Decimal, info.derivative_group),
    number!("double_inputs", vertex, Ranges, info.vs.double_inputs),
    number!("blit_sgprs_amd", vertex, Decimal, info.vs.blit_sgprs_amd),
    number!("window_space_position", vertex, Flag, info.vs.window_space_position),
    number!("needs_edge_flag", vertex, Flag, info.vs.needs_edge_flag),
    number!("primitive_mode", tessellation, Always, info.tess.primitive_mode),
    number!("tcs_vertices_out", tessellation, Always, info.tess.tcs_vertices_out),
    number!("spacing", tessellation, Always, info.tess.spacing),
    number!("ccw", tessellation, Flag, info.tess.ccw),
    number!("point_mode", tessellation, Flag, info.tess.point_mode),
    number!("tcs_same_invocation_inputs_read", tessellation, Ranges, info.tess.tcs_same_invocation_inputs_read),
    number!("tcs_cross_invocation_inputs_read", tessellation, Ranges, info.tess.tcs_cross_invocation_inputs_read),
    number!("tcs_cross_invocation_outputs_read", tessellation, Ranges, info.tess.tcs_cross_invocation_outputs_read),
    text!("output_primitive", geometry, true, info.gs.output_primitive),
    text!("input_primitive", geometry, true, info.gs.input_primitive),
    number!("vertices_out", geometry, Always, info.gs.vertices_out),
    number!("invocations", geometry, Always, info.gs.invocations),
    number!("vertices_in", geometry, Always, info.gs.vertices_in),
    number!("uses_end_primitive", geometry, Flag, info.gs.uses_end_primitive),
    number!("active_stream_mask", geometry, AlwaysHex, info.gs.active_stream_mask),
    number!("uses_discard", fragment, Flag, info.fs.uses_discard),
    number!("uses_fbfetch_output", fragment, Flag, info.fs.uses_fbfetch_output),
    number!("color_is_dual_source", fragment, Flag, info.fs.color_is_dual_source),
    number!("require_full_quads", fragment, Flag, info.fs.require_full_quads),
    number!("needs_quad_helper_invocations", fragment, Flag, info.fs.needs_quad_helper_invocations),
    number!("uses_sample_qualifier", fragment, Flag, info.fs.uses_sample_qualifier),
    number!("uses_sample_shading", fragment, Flag, info.fs.uses_sample_shading),
    number!("early_fragment_tests", fragment, Flag, info.fs.early_fragment_tests),
    number!("inner_coverage", fragment, Flag, info.fs.inner_coverage),
    number!("post_depth_coverage", fragment, Flag, info.fs.post_depth_coverage),
    number!("pixel_center_integer", fragment, Flag, info.fs.pixel_center_integer),
    number!("origin_upper_left", fragment, Flag, info.fs.origin_upper_left),
    number!("pixel_interlock_ordered", fragment, Flag, info.fs.pixel_interlock_ordered),
    number!("pixel_interlock_unordered", fragment, Flag, info.fs.pixel_interlock_unordered),
    number!("sample_interlock_ordered", fragment, Flag, info.fs.sample_interlock_ordered),
    number!("sample_interlock_unordered", fragment, Flag, info.fs.sample_interlock_unordered),
    number!("untyped_color_outputs", fragment, Flag, info.fs.untyped_color_outputs),
    number!("depth_layout", fragment, Decimal, info.fs.depth_layout),
    text!("color0_interp", fragment, false, info.fs.color0_interp),
    number!("color0_sample", fragment, Flag, info.fs.color0_sample),
    number!("color0_centroid", fragment, Flag, info.fs.color0_centroid),
    text!("color1_interp", fragment, false, info.fs.color1_interp),
    number!("color1_sample", fragment, Flag, info.fs.color1_sample),
    number!("color1_centroid", fragment, Flag, info.fs.color1_centroid),
    number!("advanced_blend_modes", fragment, Hex(8), info.fs.advanced_blend_modes),
    list!("workgroup_size_hint", compute, false, info.cs.workgroup_size_hint),
    number!("user_data_components_amd", compute, Decimal, info.cs.user_data_components_amd),
    number!("ptr_size", compute, Decimal, info.cs.ptr_size),
    number!("ms_cross_invocation_output_access", mesh, Ranges, info.mesh.ms_cross_invocation_output_access),
    number!("max_vertices_out", mesh, Always, info.mesh.max_vertices_out),
    number!("max_primitives_out", mesh, Always, info.mesh.max_primitives_out),
    number!("primitive_type", mesh, Always, info.mesh.primitive_type),
    number!("nv", mesh, Flag, info.mesh.nv),
    number!("inputs", any, Decimal, num_inputs),
    number!("outputs", any, Decimal, num_outputs),
    number!("uniforms", any, Decimal, num_uniforms),
    number!("scratch", any, Decimal, scratch_size),
    special!("constants", any, Constants),
    number!("use_legacy_math_rules", any, Flag, true, info.use_legacy_math_rules),
    number!("prohibit_ucps", any, Flag, true, info.prohibit_ucps),
    number!("layer_viewport_relative", any, Flag, true, info.layer_viewport_relative),
];
