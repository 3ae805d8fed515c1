//! Translation by SPIRV-Cross: GLSL, ESSL, MSL, HLSL.
//!
//! The bindings of GLSL, ESSL and MSL count from 0 for each kind of resource, in the order of sets and bindings;
//! comments at the start of the text list them. In GLSL and ESSL the stages of a program share bindings: those of
//! linked shaders continue from stage to stage. The name of each resource begins with the stage, by which a host can
//! bind resources of separately translated shaders. HLSL keeps the module's numbers as spaces and registers.
//!
//! | language | additional requirements |
//! |---|---|
//! | GLSL | `layout(origin_upper_left)` if the module has that origin |
//! | GLSL, ESSL | inputs and outputs of patches, and those at locations of 32 or more, which no implementation has, have no location: both sides have the same name |
//! | GLSL, ESSL | names of resources begin with the stage, since the stages of a program share them |
//! | GLSL, ESSL | a separate texture and sampler become one variable for each pair that the shader uses |
//! | HLSL | the number of workgroups is a constant buffer, space 0, register 254 |

use std::collections::BTreeSet;
use std::fmt::Write as _;

use spirv::{Decoration, ExecutionMode, ExecutionModel};
use spirv_cross2::compile::glsl::GlslVersion;
use spirv_cross2::compile::hlsl::HlslShaderModel;
use spirv_cross2::compile::{CompilableTarget, msl};
use spirv_cross2::handle::{Handle, VariableId};
use spirv_cross2::reflect::{AllResources, DecorationValue, Resource};
use spirv_cross2::targets::{Glsl, Hlsl, Msl};
use spirv_cross2::{Compiler, Module, SpirvCrossError};

use crate::error::TextError;
use crate::language::Language;
use crate::options::TextOptions;
use crate::spirv_cross_workarounds::rewrite_words;

const CROSS: &str = "SPIRV-Cross";

/// Words before the first instruction.
const HEADER: usize = 5;

/// Locations between stages: the usual limit, and Mesa's maximum.
const LOCATIONS: u32 = 32;

/// The register of the number of workgroups in HLSL, in space 0.
const NUM_WORKGROUPS: u32 = 254;

fn reader(error: SpirvCrossError) -> TextError {
    TextError::Reader(CROSS, message(&error))
}

fn writer(error: SpirvCrossError) -> TextError {
    TextError::Writer(CROSS, message(&error))
}

/// Classifies an error: features that GLSL has only for Vulkan are lacking in the language, others are faults of the
/// writer.
fn lacks_or(error: SpirvCrossError, language: Language) -> TextError {
    if message(&error).contains("only supported in Vulkan semantics") {
        return TextError::Lacks(language.name(), "such operation of subgroups, except for Vulkan".to_owned());
    }
    writer(error)
}

/// Returns the message of SPIRV-Cross, without the context added by the crate.
fn message(error: &SpirvCrossError) -> String {
    error.to_string().trim().to_owned()
}

/// Translates a module.
///
/// # Errors
/// [`TextError`].
pub fn translate(words: &[u32], options: &TextOptions) -> Result<String, TextError> {
    let words = rewrite_words(words, options.language);
    let module = Module::from_words(&words);
    match options.language {
        Language::Msl => to_msl(module, &atomic_images(&words), options),
        Language::Hlsl => to_hlsl(module, options),
        Language::Glsl | Language::Essl | Language::Wgsl => to_glsl(module, options),
    }
}

/// A variable with a set and a binding.
struct Bound {
    place: (u32, u32),
    id: Handle<VariableId>,
}

fn literal<T>(compiler: &Compiler<T>, id: Handle<VariableId>, decoration: Decoration) -> Result<u32, TextError> {
    let value = compiler.decoration(id, decoration).map_err(reader)?;
    Ok(value.as_ref().and_then(DecorationValue::as_literal).unwrap_or(0))
}

/// Returns the variables of a kind in the order of sets and bindings.
fn bound<'a, T>(
    compiler: &Compiler<T>,
    resources: impl IntoIterator<Item = &'a Resource<'static>>,
) -> Result<Vec<Bound>, TextError> {
    let mut found = resources
        .into_iter()
        .map(|resource| {
            let set = literal(compiler, resource.id, Decoration::DescriptorSet)?;
            let binding = literal(compiler, resource.id, Decoration::Binding)?;
            Ok(Bound { place: (set, binding), id: resource.id })
        })
        .collect::<Result<Vec<_>, TextError>>()?;
    found.sort_by_key(|bound| bound.place);
    Ok(found)
}

fn resources_of<T>(compiler: &Compiler<T>) -> Result<AllResources<'static>, TextError> {
    compiler.shader_resources().and_then(|resources| resources.all_resources()).map_err(reader)
}

fn to_glsl(module: Module<'_>, options: &TextOptions) -> Result<String, TextError> {
    let mut compiler = Compiler::<Glsl>::new(module).map_err(reader)?;
    let resources = resources_of(&compiler)?;
    let mut comment = String::new();
    let mut first = options.first_bindings;
    let kinds = [
        ("uniform buffer", bound(&compiler, &resources.uniform_buffers)?),
        ("storage buffer", bound(&compiler, &resources.storage_buffers)?),
        ("image", bound(&compiler, &resources.storage_images)?),
    ];
    for (kind, variables) in kinds {
        let first = first.of(kind).map_or(0, |first| *first);
        for (number, variable) in (first..).zip(variables) {
            let (set, binding) = variable.place;
            let _ = writeln!(comment, "// {kind} {number}: set {set}, binding {binding}");
            rebind(&mut compiler, variable.id, number)?;
            name_resource(&mut compiler, variable.id, variable.id, &kind.replace(' ', "_"), number)?;
        }
    }
    let mut texture = first.texture;
    for variable in bound(&compiler, &resources.sampled_images)? {
        let (set, binding) = variable.place;
        let _ = writeln!(comment, "// texture {texture}: set {set}, binding {binding}");
        rebind(&mut compiler, variable.id, texture)?;
        name_resource(&mut compiler, variable.id, variable.id, "texture", texture)?;
        texture += 1;
    }
    if !resources.separate_images.is_empty() {
        let sampler = compiler.create_dummy_sampler_for_combined_images().map_err(reader)?;
        compiler.build_combined_image_samplers(sampler).map_err(reader)?;
        let samplers: BTreeSet<u32> = resources.separate_samplers.iter().map(|sampler| sampler.id.id()).collect();
        let pairs: Vec<_> = compiler.combined_image_samplers().map_err(reader)?.collect();
        let mut paired = BTreeSet::new();
        for pair in pairs {
            paired.insert(pair.image_id.id());
            let set = literal(&compiler, pair.image_id, Decoration::DescriptorSet)?;
            let binding = literal(&compiler, pair.image_id, Decoration::Binding)?;
            let _ = write!(comment, "// texture {texture}: set {set}, binding {binding}");
            // Fetches are paired with a dummy sampler instead.
            if samplers.contains(&pair.sampler_id.id()) {
                let set = literal(&compiler, pair.sampler_id, Decoration::DescriptorSet)?;
                let binding = literal(&compiler, pair.sampler_id, Decoration::Binding)?;
                let _ = write!(comment, ", sampler of set {set}, binding {binding}");
            }
            comment.push('\n');
            rebind(&mut compiler, pair.combined_id, texture)?;
            name_resource(&mut compiler, pair.combined_id, pair.image_id, "texture", texture)?;
            texture += 1;
        }
        // Texel buffers have no samplers.
        let alone = resources.separate_images.iter().filter(|image| !paired.contains(&image.id.id()));
        for variable in bound(&compiler, alone)? {
            let (set, binding) = variable.place;
            let _ = writeln!(comment, "// texture {texture}: set {set}, binding {binding}");
            rebind(&mut compiler, variable.id, texture)?;
            name_resource(&mut compiler, variable.id, variable.id, "texture", texture)?;
            texture += 1;
        }
    }
    name_varyings(&mut compiler, &resources)?;
    let layers = spirv::Capability::ShaderViewportIndexLayerEXT;
    if options.language == Language::Glsl && compiler.declared_capabilities().map_err(reader)?.contains(&layers) {
        compiler.require_extension("GL_ARB_shader_viewport_layer_array").map_err(writer)?;
    }
    // GLSL ES does not include point sizes of stages other than the vertex shader.
    let model = compiler.execution_model().map_err(reader)?;
    let outputs = resources.builtin_outputs.iter().chain(&resources.builtin_inputs);
    let has_size = outputs.into_iter().any(|built_in| built_in.builtin == spirv::BuiltIn::PointSize);
    let extension = match model {
        ExecutionModel::Geometry => Some("GL_EXT_geometry_point_size"),
        ExecutionModel::TessellationControl | ExecutionModel::TessellationEvaluation => {
            Some("GL_EXT_tessellation_point_size")
        }
        _ => None,
    };
    if let (Language::Essl, true, Some(extension)) = (options.language, has_size, extension) {
        compiler.require_extension(extension).map_err(writer)?;
    }
    let is_upper = compiler.execution_modes().map_err(reader)?.contains(&ExecutionMode::OriginUpperLeft);
    let reads_place = resources.builtin_inputs.iter().any(|built_in| built_in.builtin == spirv::BuiltIn::FragCoord);
    if options.language == Language::Glsl && is_upper && reads_place {
        compiler.add_header_line("layout(origin_upper_left) in vec4 gl_FragCoord;").map_err(writer)?;
    }
    let mut writer_options = Glsl::options();
    writer_options.version = match (options.language, options.version) {
        (Language::Essl, 310) => GlslVersion::Glsl310Es,
        (Language::Essl, _) => GlslVersion::Glsl320Es,
        (_, 430) => GlslVersion::Glsl430,
        (_, 460) => GlslVersion::Glsl460,
        _ => GlslVersion::Glsl450,
    };
    writer_options.es_default_float_precision_highp = true;
    writer_options.es_default_int_precision_highp = true;
    let text = compiler.compile(&writer_options).map_err(|error| lacks_or(error, options.language))?.to_string();
    // `#version` must be the first line.
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    // Part of the language since 4.20.
    let rest = rest.replace("#extension GL_ARB_conservative_depth : require\n", "");
    // SPIRV-Cross uses a wrong name for this extension.
    let rest = rest.replace("GL_ARB_texture_query_samples", "GL_ARB_shader_texture_image_samples");
    let is_distance =
        |built_in: spirv::BuiltIn| matches!(built_in, spirv::BuiltIn::ClipDistance | spirv::BuiltIn::CullDistance);
    let rest = match model {
        ExecutionModel::TessellationControl => without_output_block(rest),
        ExecutionModel::TessellationEvaluation | ExecutionModel::Geometry
            if resources.builtin_inputs.iter().any(|built_in| is_distance(built_in.builtin)) =>
        {
            without_distances(&rest)
        }
        _ => rest,
    };
    Ok(format!("{first}\n{comment}{rest}"))
}

/// Removes the block of built-in outputs from a tessellation control shader. SPIRV-Cross declares it with the lengths
/// of clip and cull distances. Linkers require the same declaration in the next stage, which may read fewer of them.
/// The lengths follow from the constant indices.
fn without_output_block(text: String) -> String {
    let Some(start) = text.find("out gl_PerVertex\n{\n") else { return text };
    let Some(length) = text[start..].find("} gl_out[") else { return text };
    let Some(rest) = text[start + length..].find("\n\n") else { return text };
    format!("{}{}", &text[..start], &text[start + length + rest + 2..])
}

/// Removes the lengths of clip and cull distances that SPIRV-Cross declares for outputs, although they are those of
/// inputs.
fn without_distances(text: &str) -> String {
    let declares = |line: &&str| {
        !line.starts_with("out float gl_ClipDistance[") && !line.starts_with("out float gl_CullDistance[")
    };
    text.split_inclusive('\n').filter(declares).collect()
}

/// Names the inputs and outputs that are matched by name: those of patches, which share locations with those of
/// vertices, and those at unsupported locations.
fn name_varyings(compiler: &mut Compiler<Glsl>, resources: &AllResources<'static>) -> Result<(), TextError> {
    let model = compiler.execution_model().map_err(reader)?;
    let inputs = resources.stage_inputs.iter().filter(|_| model != ExecutionModel::Vertex);
    let outputs = resources.stage_outputs.iter().filter(|_| model != ExecutionModel::Fragment);
    for variable in inputs.chain(outputs) {
        let location = literal(compiler, variable.id, Decoration::Location)?;
        let is_patch = compiler.decoration(variable.id, Decoration::Patch).map_err(reader)?.is_some();
        if is_patch || location >= LOCATIONS {
            let name = format!("{}{location}", if is_patch { "patch" } else { "varying" });
            compiler.set_decoration(variable.id, Decoration::Location, None::<u32>).map_err(reader)?;
            compiler.set_name(variable.id, name).map_err(reader)?;
        }
    }
    Ok(())
}

/// Names a resource after its stage and its variable: in a program, resources with the same name are one resource,
/// which both stages must declare identically.
fn name_resource(
    compiler: &mut Compiler<Glsl>,
    id: Handle<VariableId>,
    origin: Handle<VariableId>,
    kind: &str,
    number: u32,
) -> Result<(), TextError> {
    let stage = match compiler.execution_model().map_err(reader)? {
        ExecutionModel::Vertex => "vs_",
        ExecutionModel::TessellationControl => "tcs_",
        ExecutionModel::TessellationEvaluation => "tes_",
        ExecutionModel::Geometry => "gs_",
        ExecutionModel::Fragment => "fs_",
        _ => "",
    };
    let name =
        compiler.name(origin).map_err(reader)?.map_or_else(|| format!("{kind}{number}"), |name| name.to_string());
    compiler.set_name(id, format!("{stage}{name}")).map_err(reader)
}

fn rebind(compiler: &mut Compiler<Glsl>, id: Handle<VariableId>, number: u32) -> Result<(), TextError> {
    compiler.set_decoration(id, Decoration::DescriptorSet, None::<u32>).map_err(reader)?;
    compiler.set_decoration(id, Decoration::Binding, Some(number)).map_err(reader)
}

/// Returns the image variables that a module has atomics on.
fn atomic_images(words: &[u32]) -> BTreeSet<u32> {
    let mut images = BTreeSet::new();
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        let (instruction, others) = rest.split_at(((first >> 16).max(1) as usize).min(rest.len()));
        if first & 0xffff == spirv::Op::ImageTexelPointer as u32 {
            images.extend(instruction.get(3));
        }
        rest = others;
    }
    images
}

fn to_msl(module: Module<'_>, atomics: &BTreeSet<u32>, options: &TextOptions) -> Result<String, TextError> {
    let mut compiler = Compiler::<Msl>::new(module).map_err(reader)?;
    let resources = resources_of(&compiler)?;
    let model = compiler.execution_model().map_err(reader)?;
    let mut comment = String::new();
    let buffers = resources.uniform_buffers.iter().chain(&resources.storage_buffers);
    let textures = resources.separate_images.iter().chain(&resources.storage_images).chain(&resources.sampled_images);
    let kinds = [
        ("buffer", bound(&compiler, buffers)?),
        ("texture", bound(&compiler, textures)?),
        ("sampler", bound(&compiler, &resources.separate_samplers)?),
    ];
    let mut num_buffers = 0;
    for (kind, variables) in kinds {
        for (number, variable) in (0u32..).zip(variables) {
            let (set, binding) = variable.place;
            let _ = writeln!(comment, "// {kind} {number}: set {set}, binding {binding}");
            let mut place = msl::BindTarget { buffer: 0, texture: 0, sampler: 0, count: None };
            match kind {
                "buffer" => {
                    place.buffer = number;
                    num_buffers = number + 1;
                }
                "texture" => {
                    place.texture = number;
                    // In Metal such an image additionally needs a buffer that aliases its memory.
                    if atomics.contains(&variable.id.id()) {
                        place.buffer = num_buffers;
                        let _ = writeln!(comment, "// buffer {num_buffers}: the texels of texture {number}");
                        num_buffers += 1;
                    }
                }
                _ => place.sampler = number,
            }
            let binding = msl::ResourceBinding::Qualified { set, binding };
            compiler.add_resource_binding(model, binding, &place).map_err(reader)?;
        }
    }
    let mut writer_options = Msl::options();
    writer_options.version = (u32::from(options.version / 100), u32::from(options.version % 100)).into();
    writer_options.buffer_size_buffer_index = num_buffers;
    let artifact = compiler.compile(&writer_options).map_err(writer)?;
    if artifact.buffer_requirements().needs_buffer_size_buffer {
        let _ = writeln!(comment, "// buffer {num_buffers}: sizes of storage buffers");
    }
    Ok(format!("{comment}{artifact}"))
}

fn to_hlsl(module: Module<'_>, options: &TextOptions) -> Result<String, TextError> {
    let mut compiler = Compiler::<Hlsl>::new(module).map_err(reader)?;
    let mut comment = String::new();
    if compiler.execution_model().map_err(reader)? == ExecutionModel::GLCompute
        && let Some(id) = compiler.remap_num_workgroups_builtin()
    {
        compiler.set_decoration(id, Decoration::DescriptorSet, Some(0u32)).map_err(reader)?;
        compiler.set_decoration(id, Decoration::Binding, Some(NUM_WORKGROUPS)).map_err(reader)?;
        let _ = writeln!(comment, "// b{NUM_WORKGROUPS}, space 0: number of workgroups");
    }
    let mut writer_options = Hlsl::options();
    writer_options.shader_model = match options.version {
        501 => HlslShaderModel::ShaderModel5_1,
        607 => HlslShaderModel::ShaderModel6_7,
        _ => HlslShaderModel::ShaderModel6_0,
    };
    // In Direct3D the rasteriser sets the size of points.
    writer_options.point_size_compat = true;
    writer_options.point_coord_compat = true;
    // The module may read buffers that it does not write.
    writer_options.force_storage_buffer_as_uav = true;
    let text = compiler.compile(&writer_options).map_err(writer)?.to_string();
    match lacking_of_hlsl(&text) {
        Some(what) => Err(TextError::Lacks(options.language.name(), what.to_owned())),
        None => Ok(format!("{comment}{text}")),
    }
}

/// Returns the reason why a text is invalid HLSL, if it is.
fn lacking_of_hlsl(text: &str) -> Option<&'static str> {
    // SPIRV-Cross declares the parameter of a geometry shader with this type even if it does not define the type.
    if text.contains("SPIRV_Cross_Input stage_input[") && !text.contains("struct SPIRV_Cross_Input\n") {
        return Some("geometry shaders without inputs by way of SPIRV-Cross");
    }
    // Function overloads must differ in more than the normalisation of the format.
    let mut sizes = BTreeSet::new();
    let mut functions =
        text.lines().filter(|line| line.contains(" spvImageSize(") && line.ends_with("out uint Param)"));
    let is_new = |line: &str| sizes.insert(line.replace("snorm ", "").replace("unorm ", ""));
    (!functions.all(is_new)).then_some("sizes of images of normalised and of other formats by way of SPIRV-Cross")
}
