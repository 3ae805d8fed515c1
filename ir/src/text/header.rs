//! The header of the text form: one table for the printer and the parser.

use std::fmt::Write;

use crate::alu::ExecutionMode;
use crate::shader::{Shader, ShaderInfo, ShaderStage};

/// Types of header fields with a numeric representation.
trait Number: Sized {
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
enum Form {
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

enum Content {
    Number {
        form: Form,
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
struct Line {
    key: &'static str,
    stages: fn(ShaderStage) -> bool,
    /// Whether Mesa does not print it.
    own: bool,
    content: Content,
}

fn any(_: ShaderStage) -> bool {
    true
}

macro_rules! number {
    ($key:literal, $stages:expr, $form:expr, $($path:ident).+) => {
        number!($key, $stages, $form, false, $($path).+)
    };
    ($key:literal, $stages:expr, $form:expr, $own:literal, $($path:ident).+) => {
        Line {
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
        Line {
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
        Line {
            key: $key,
            stages: $stages,
            own: false,
            content: Content::List { get: |s| &s.$($path).+, get_mut: |s| &mut s.$($path).+, hex: $hex },
        }
    };
}

macro_rules! special {
    ($key:literal, $stages:expr, $content:ident) => {
        Line { key: $key, stages: $stages, own: false, content: Content::$content }
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

use Form::{Always, AlwaysHex, Decimal, Flag, Hex, Ranges, Words};

/// All lines after `shader:`, in print order.
static LINES: &[Line] = &[
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

/// Maximum size of the constant data in a header, in bytes.
const MAX_CONSTANT_DATA: usize = 1 << 24;

/// Prefix of the name of a stage.
const STAGE_PREFIX: &str = "MESA_SHADER_";

/// Appends a text without the control characters that would end the header line.
fn push_line_text(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if c.is_control() { '_' } else { c }));
}

/// Appends the header, with additional lines unless `mesa`.
pub(super) fn print_header(out: &mut String, shader: &Shader, mesa: bool) {
    let _ = writeln!(out, "shader: {STAGE_PREFIX}{}", shader.stage.name());
    for line in LINES {
        // Mesa omits fields of other stages; if they are set, they are printed unless `mesa`.
        let foreign = !(line.stages)(shader.stage);
        if mesa && (line.own || foreign) {
            continue;
        }
        if shader.stage == ShaderStage::Task && line.key == "inputs" {
            let _ = writeln!(out, "Unhandled stage {}", ShaderStage::Task as u32);
        }
        print_line(out, shader, line, foreign);
    }
    if !mesa && !shader.constant_data.is_empty() {
        out.push_str("constant_data: 0x");
        for byte in &shader.constant_data {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
    }
}

fn print_line(out: &mut String, shader: &Shader, line: &Line, foreign: bool) {
    let key = line.key;
    match &line.content {
        Content::Number { form, get, .. } => {
            let value = get(shader);
            if value == 0 && (foreign || !matches!(form, Always | AlwaysHex)) {
                return;
            }
            let _ = write!(out, "{key}: ");
            match *form {
                Decimal | Always => {
                    let _ = write!(out, "{value}");
                }
                Flag => out.push_str("true"),
                Ranges => push_ranges(out, value),
                Hex(digits) => {
                    let _ = write!(out, "0x{value:0digits$x}");
                }
                AlwaysHex => {
                    let _ = write!(out, "0x{value:02x}");
                }
                Words(count) => {
                    out.push_str("0x");
                    for i in (0..count).rev() {
                        let _ = write!(out, "{:08x}", (value >> (32 * i)) as u32);
                        if i > 0 {
                            out.push('\'');
                        }
                    }
                }
            }
            out.push('\n');
        }
        Content::Text { get, unknown, .. } => {
            let text = get(shader);
            if text.is_empty() && (!unknown || foreign) {
                return;
            }
            let _ = write!(out, "{key}: ");
            push_line_text(out, if text.is_empty() { "UNKNOWN" } else { text });
            out.push('\n');
        }
        Content::List { get, hex, .. } => {
            let values = get(shader);
            if values.iter().all(|&v| v == 0) {
                return;
            }
            let _ = write!(out, "{key}: {{");
            for (i, value) in values.iter().enumerate() {
                let separator = if i > 0 { ", " } else { "" };
                let _ = match hex {
                    true => write!(out, "{separator}0x{value:08x}"),
                    false => write!(out, "{separator}{value}"),
                };
            }
            out.push_str("}\n");
        }
        Content::WorkgroupSize => {
            let ShaderInfo { workgroup_size: [x, y, z], workgroup_size_variable, .. } = shader.info;
            if foreign && [x, y, z] == [0; 3] && !workgroup_size_variable {
                return;
            }
            let variable = if workgroup_size_variable { " (variable)" } else { "" };
            let _ = writeln!(out, "{key}: {x}, {y}, {z}{variable}");
        }
        Content::NextStage => {
            if let Some(stage) = shader.info.next_stage {
                let _ = writeln!(out, "{key}: {STAGE_PREFIX}{}", stage.name());
            }
        }
        Content::Constants => {
            if !shader.constant_data.is_empty() {
                let _ = writeln!(out, "{key}: {}", shader.constant_data.len());
            }
        }
    }
}

fn push_ranges(out: &mut String, mask: u128) {
    let mut bit = 0;
    let mut separator = "";
    while bit < 128 {
        if mask >> bit & 1 == 0 {
            bit += 1;
            continue;
        }
        let start = bit;
        while bit < 128 && mask >> bit & 1 == 1 {
            bit += 1;
        }
        let _ = match bit - start {
            1 => write!(out, "{separator}{start}"),
            _ => write!(out, "{separator}{start}-{}", bit - 1),
        };
        separator = ",";
    }
}

fn parse_ranges(text: &str) -> Option<u128> {
    let mut mask = 0;
    for part in text.split(',') {
        let (start, end) = part.split_once('-').unwrap_or((part, part));
        let (start, end) = (start.trim().parse::<u32>().ok()?, end.trim().parse::<u32>().ok()?);
        if start > end || end > 127 {
            return None;
        }
        mask |= (u128::MAX >> (127 - (end - start))) << start;
    }
    Some(mask)
}

fn parse_wide(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Parses the stage in a `shader:` or `next_stage:` line.
pub(super) fn parse_stage(text: &str) -> Option<ShaderStage> {
    text.strip_prefix(STAGE_PREFIX).and_then(ShaderStage::from_name)
}

/// Result of parsing a header line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeaderLine {
    /// The line was applied.
    Known,
    /// The key is unknown; the line is ignored.
    Unknown,
    /// The value is invalid.
    BadValue,
}

/// Parses and applies a line after `shader:`.
pub(super) fn parse_header_line(shader: &mut Shader, key: &str, value: &str) -> HeaderLine {
    if key == "constant_data" {
        return match parse_bytes(value) {
            Some(bytes) => {
                shader.constant_data = bytes;
                HeaderLine::Known
            }
            None => HeaderLine::BadValue,
        };
    }
    let Some(line) = LINES.iter().find(|l| l.key == key) else { return HeaderLine::Unknown };
    if parse_value(shader, &line.content, value).is_some() { HeaderLine::Known } else { HeaderLine::BadValue }
}

fn parse_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if digits.len() % 2 != 0 {
        return None;
    }
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn parse_value(shader: &mut Shader, content: &Content, value: &str) -> Option<()> {
    match content {
        Content::Number { form, set, .. } => {
            let number = match form {
                Flag => match value {
                    "true" => 1,
                    "false" => 0,
                    _ => return None,
                },
                Ranges => parse_ranges(value)?,
                Words(_) => {
                    let digits: String = value.strip_prefix("0x")?.chars().filter(|&c| c != '\'').collect();
                    u128::from_str_radix(&digits, 16).ok()?
                }
                Decimal | Always | Hex(_) | AlwaysHex => parse_wide(value)?,
            };
            set(shader, number).then_some(())
        }
        Content::Text { set, unknown, .. } => {
            set(shader, if *unknown && value == "UNKNOWN" { "" } else { value });
            Some(())
        }
        Content::List { get_mut, .. } => {
            let inner = value.strip_prefix('{')?.strip_suffix('}')?;
            let elements = get_mut(shader);
            let mut count = 0;
            for part in inner.split(',') {
                *elements.get_mut(count)? = u32::try_from(parse_wide(part.trim())?).ok()?;
                count += 1;
            }
            (count == elements.len()).then_some(())
        }
        Content::WorkgroupSize => {
            let (sizes, variable) = match value.strip_suffix("(variable)") {
                Some(sizes) => (sizes.trim_end(), true),
                None => (value, false),
            };
            let mut parts = sizes.split(',').map(|p| p.trim().parse::<u32>().ok());
            let size = [parts.next()??, parts.next()??, parts.next()??];
            if parts.next().is_some() {
                return None;
            }
            shader.info.workgroup_size = size;
            shader.info.workgroup_size_variable = variable;
            Some(())
        }
        Content::NextStage => {
            shader.info.next_stage = Some(parse_stage(value)?);
            Some(())
        }
        Content::Constants => {
            let size = value.parse::<usize>().ok().filter(|&s| s <= MAX_CONSTANT_DATA)?;
            // Text printed by Mesa does not have the bytes, so they are zero.
            shader.constant_data = vec![0; size];
            Some(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(content: &Content) -> &'static str {
        match content {
            Content::Number { form, .. } => match form {
                Decimal | Always => "7",
                Flag => "true",
                Ranges => "0,4-7,31-33,63",
                Hex(2) => "0xa5",
                Hex(4) => "0x12cd",
                Hex(_) => "0x0012cdef",
                AlwaysHex => "0x0b",
                Words(1) => "0x89abcdef",
                Words(2) => "0x80000001'00000000",
                Words(_) => "0x80000001'00000000'00000002'7fffffff",
            },
            Content::Text { unknown: true, .. } => "TRIANGLE_STRIP",
            Content::Text { .. } => "some text: with // anything",
            Content::List { get, hex: true, .. } => {
                assert_eq!(get(&Shader::without_functions(ShaderStage::Vertex)).len(), 8);
                "{0x00000001, 0x00000000, 0xffffffff, 0x00000004, 0x00000005, 0x00000006, 0x00000007, 0x00000008}"
            }
            Content::List { get, .. } => match get(&Shader::without_functions(ShaderStage::Vertex)).len() {
                3 => "{1, 0, 4294967295}",
                _ => "{1, 0, 4294967295, 9}",
            },
            Content::WorkgroupSize => "8, 4, 1 (variable)",
            Content::NextStage => "MESA_SHADER_TESS_CTRL",
            Content::Constants => "5",
        }
    }

    /// Every line of the table, in every stage (lines of other stages are only in the extended form).
    #[test]
    fn every_line_reads_back() {
        for &stage in ShaderStage::ALL {
            let mut all = Shader::without_functions(stage);
            for line in LINES {
                let mut shader = Shader::without_functions(stage);
                let value = sample(&line.content);
                assert_eq!(parse_header_line(&mut shader, line.key, value), HeaderLine::Known, "{}", line.key);
                let mut text = String::new();
                print_header(&mut text, &shader, false);
                let printed = format!("{}: {value}\n", line.key);
                assert!(text.contains(&printed), "{printed} not in {text}");
                assert_eq!(parse_header_line(&mut all, line.key, value), HeaderLine::Known);
                let mut mesa = String::new();
                print_header(&mut mesa, &shader, true);
                assert_eq!(mesa.contains(&printed), (line.stages)(stage) && !line.own, "{printed}");
            }
            all.constant_data = vec![1, 2, 0xff];
            let mut text = String::new();
            print_header(&mut text, &all, false);
            let again = super::super::parse(&text).expect("a header");
            assert_eq!(again.stage, stage);
            assert_eq!(again.info, all.info);
            assert_eq!(again.constant_data, all.constant_data);
            assert_eq!((again.num_inputs, again.num_outputs, again.num_uniforms, again.scratch_size), (7, 7, 7, 7));
        }
    }

    #[test]
    fn defaults_read_back() {
        for &stage in ShaderStage::ALL {
            let shader = Shader::without_functions(stage);
            let mut text = String::new();
            print_header(&mut text, &shader, false);
            let again = super::super::parse(&text).expect("a header");
            assert_eq!((again.stage, again.info), (stage, shader.info));
            assert_eq!(text.contains("Unhandled stage 6"), stage == ShaderStage::Task);
        }
    }

    #[test]
    fn wrong_values() {
        let mut shader = Shader::without_functions(ShaderStage::Vertex);
        for (key, value) in [
            ("num_ubos", "x"),
            ("num_ubos", "4294967296"),
            ("internal", "1"),
            ("inputs_read", "3-1"),
            ("inputs_read", "64"),
            ("inputs_read", "0-128"),
            ("textures_used", "12"),
            ("xfb_stride", "{1, 2}"),
            ("xfb_stride", "{1, 2, 3, 4, 5}"),
            ("workgroup_size", "1, 2"),
            ("next_stage", "VERTEX"),
            ("constants", "99999999999"),
            ("constant_data", "0x123"),
            ("constant_data", "0xzz"),
        ] {
            assert_eq!(parse_header_line(&mut shader, key, value), HeaderLine::BadValue, "{key}: {value}");
        }
        assert_eq!(parse_header_line(&mut shader, "of_the_future", "x"), HeaderLine::Unknown);
    }
}
