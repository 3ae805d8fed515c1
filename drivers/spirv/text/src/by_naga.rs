//! By naga: its reader of SPIR-V, its validator, its writers.
//!
//! The bindings of GLSL and MSL count from 0 for each kind of resource, in the order of sets and bindings; a comment at
//! the start of the text has a line for each. WGSL has groups and bindings as SPIR-V does, HLSL spaces and registers of
//! the same numbers.

use std::error::Error;
use std::fmt::Write as _;

use naga::back::{glsl, hlsl, msl, wgsl};
use naga::front::spv;
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ResourceBinding, ShaderStage, TypeInner};
use tgsi_ir::Stage;

use crate::driver::TextTarget;
use crate::error::TextError;
use crate::language::Language;
use crate::name_values::name_values;
use crate::spell::{respell, spell};

const NAGA: &str = "naga";

/// The text of a module.
///
/// # Errors
/// [`TextError`].
pub fn translate(words: &[u32], target: &TextTarget, stage: Stage) -> Result<String, TextError> {
    // The position is that of the source: which way y points is the host's business.
    let options = spv::Options { adjust_coordinate_space: false, ..spv::Options::default() };
    let words = spell(words, target.contract);
    let mut module = spv::Frontend::new(words.into_iter(), &options)
        .parse()
        .map_err(|error| TextError::Reader(NAGA, chain(&error)))?;
    respell(&mut module);
    name_values(&mut module);
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| TextError::Validator(NAGA, chain(error.as_inner())))?;
    let stage = match stage {
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
        _ => ShaderStage::Compute,
    };
    match target.language {
        Language::Wgsl => {
            let mut out = Bounded::default();
            wgsl::Writer::new(&mut out, wgsl::WriterFlags::empty())
                .write(&module, &info)
                .map_err(|error| writer(&error))?;
            Ok(with_directives(with_workgroup_size(out.text)))
        }
        Language::Glsl | Language::Essl => write_glsl(&module, &info, target, stage),
        Language::Msl => write_msl(&module, &info, target, stage),
        Language::Hlsl => write_hlsl(&module, &info, target, stage),
    }
}

/// Most bytes of a text: thousands of times what shaders need.
const MAX_TEXT: usize = 1 << 25;

/// A text that ends the writer when it becomes too long: naga repeats some operands for each use, so that texts of
/// small modules can grow without bound.
#[derive(Debug, Default)]
struct Bounded {
    text: String,
}

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.text.len() + part.len() > MAX_TEXT {
            return Err(std::fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

fn writer(error: &dyn Error) -> TextError {
    TextError::Writer(NAGA, chain(error))
}

/// The text with directives for what naga does not say: subgroups are an extension, and lookups with derivatives and
/// subgroup operations may stand where the source has them, though WGSL cannot prove that control flow is uniform
/// there.
fn with_directives(text: String) -> String {
    let mut directives = String::new();
    if text.contains("subgroup") {
        directives.push_str("enable subgroups;\n");
    }
    // All `enable` come before all else, and naga writes those that it knows.
    let (enables, rest) = text.split_at(
        text.rfind("enable ")
            .map_or(0, |at| text.get(at..).and_then(|rest| rest.find('\n')).map_or(at, |end| at + end + 1)),
    );
    let enables = if enables.lines().all(|line| line.is_empty() || line.starts_with("enable ")) { enables } else { "" };
    let rest = if enables.is_empty() { text.as_str() } else { rest };
    directives.push_str(enables);
    directives.push_str("diagnostic(off, derivative_uniformity);\n");
    if text.contains("subgroup") {
        directives.push_str("diagnostic(off, subgroup_uniformity);\n");
    }
    directives + rest
}

/// The text with a workgroup size of the constants 0, 1, 2 if there are such: naga writes only numbers.
fn with_workgroup_size(text: String) -> String {
    let name = |id: u32| {
        let (_, rest) = text.split_once(&format!("@id({id}) override "))?;
        rest.split_once(':').map(|(name, _)| name)
    };
    match [name(0), name(1), name(2)] {
        [Some(x), Some(y), Some(z)] => {
            text.replacen("@workgroup_size(1, 1, 1)", &format!("@workgroup_size({x}, {y}, {z})"), 1)
        }
        _ => text,
    }
}

/// A message with those of its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// Which numbers a resource may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Uniform,
    Storage,
    Texture,
    Image,
    Sampler,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Uniform => "uniform buffer",
            Kind::Storage => "storage buffer",
            Kind::Texture => "texture",
            Kind::Image => "image",
            Kind::Sampler => "sampler",
        }
    }
}

/// A resource, in the order of sets and bindings.
struct Resource {
    binding: ResourceBinding,
    kind: Kind,
    /// Whether the shader may write it.
    mutable: bool,
}

fn resources(module: &Module) -> Vec<Resource> {
    let mut found: Vec<Resource> = module
        .global_variables
        .iter()
        .filter_map(|(_, variable)| {
            let binding = variable.binding?;
            let (kind, mutable) = match (variable.space, &module.types[variable.ty].inner) {
                (AddressSpace::Uniform, _) => (Kind::Uniform, false),
                (AddressSpace::Storage { access }, _) => (Kind::Storage, access.contains(naga::StorageAccess::STORE)),
                (_, TypeInner::Sampler { .. }) => (Kind::Sampler, false),
                (_, TypeInner::Image { class: naga::ImageClass::Storage { access, .. }, .. }) => {
                    (Kind::Image, access.contains(naga::StorageAccess::STORE))
                }
                _ => (Kind::Texture, false),
            };
            Some(Resource { binding, kind, mutable })
        })
        .collect();
    found.sort_by_key(|resource| (resource.binding.group, resource.binding.binding));
    found
}

/// Numbers from 0 for each of the resources that share numbers, and the comment that says so.
fn numbered(resources: &[Resource], shares: impl Fn(Kind, Kind) -> bool) -> (Vec<u8>, String) {
    let mut comment = String::new();
    let numbers = resources
        .iter()
        .enumerate()
        .map(|(position, own)| {
            let before = resources[..position].iter().filter(|other| shares(own.kind, other.kind)).count();
            let ResourceBinding { group, binding } = own.binding;
            let _ = writeln!(comment, "// {} {before}: set {group}, binding {binding}", own.kind.name());
            u8::try_from(before).unwrap_or(u8::MAX)
        })
        .collect();
    (numbers, comment)
}

fn write_glsl(
    module: &Module,
    info: &ModuleInfo,
    target: &TextTarget,
    stage: ShaderStage,
) -> Result<String, TextError> {
    let version = match target.language {
        Language::Essl => glsl::Version::Embedded { version: target.version, is_webgl: false },
        _ => glsl::Version::Desktop(target.version),
    };
    let resources = resources(module);
    let (numbers, comment) = numbered(&resources, |a, b| a == b);
    let mut options = glsl::Options { version, writer_flags: glsl::WriterFlags::empty(), ..glsl::Options::default() };
    for (resource, number) in resources.iter().zip(numbers) {
        options.binding_map.insert(resource.binding, number);
    }
    let pipeline = glsl::PipelineOptions { shader_stage: stage, entry_point: "main".to_owned(), multiview: None };
    let mut out = Bounded::default();
    glsl::Writer::new(&mut out, module, info, &options, &pipeline, BoundsCheckPolicies::default())
        .map_err(|error| writer(&error))?
        .write()
        .map_err(|error| writer(&error))?;
    // The version stands first.
    let (first, rest) = out.text.split_once('\n').unwrap_or((&out.text, ""));
    Ok(format!("{first}\n{comment}{rest}"))
}

fn write_msl(module: &Module, info: &ModuleInfo, target: &TextTarget, stage: ShaderStage) -> Result<String, TextError> {
    let resources = resources(module);
    let is_buffer = |kind: Kind| matches!(kind, Kind::Uniform | Kind::Storage);
    let (numbers, mut comment) =
        numbered(&resources, |a, b| is_buffer(a) == is_buffer(b) && (a == Kind::Sampler) == (b == Kind::Sampler));
    let mut slots = msl::EntryPointResources::default();
    let mut buffers = 0;
    for (resource, number) in resources.iter().zip(numbers) {
        let mut slot = msl::BindTarget { mutable: resource.mutable, ..msl::BindTarget::default() };
        match resource.kind {
            Kind::Uniform | Kind::Storage => {
                slot.buffer = Some(number);
                buffers = number + 1;
            }
            Kind::Texture | Kind::Image => slot.texture = Some(number),
            Kind::Sampler => slot.sampler = Some(msl::BindSamplerTarget::Resource(number)),
        }
        slots.resources.insert(resource.binding, slot);
    }
    slots.sizes_buffer = Some(buffers);
    let _ = writeln!(comment, "// uniform buffer {buffers}: sizes of storage buffers, if the shader asks for them");
    let options = msl::Options {
        lang_version: ((target.version / 100) as u8, (target.version % 100) as u8),
        per_entry_point_map: std::iter::once(("main".to_owned(), slots)).collect(),
        fake_missing_bindings: false,
        // That loops end is what the source promises as well.
        force_loop_bounding: false,
        ..msl::Options::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((stage, "main".to_owned())),
        allow_and_force_point_size: false,
        ..msl::PipelineOptions::default()
    };
    let mut out = msl::Writer::new(Bounded::default());
    out.write(module, info, &options, &pipeline).map_err(|error| writer(&error))?;
    Ok(comment + &out.finish().text)
}

fn write_hlsl(
    module: &Module,
    info: &ModuleInfo,
    target: &TextTarget,
    stage: ShaderStage,
) -> Result<String, TextError> {
    let shader_model = match target.version {
        501 => hlsl::ShaderModel::V5_1,
        607 => hlsl::ShaderModel::V6_7,
        _ => hlsl::ShaderModel::V6_0,
    };
    // Conditions on indices stand in the module already.
    let options = hlsl::Options {
        shader_model,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..hlsl::Options::default()
    };
    let pipeline = hlsl::PipelineOptions { entry_point: Some((stage, "main".to_owned())) };
    let mut out = Bounded::default();
    hlsl::Writer::new(&mut out, &options, &pipeline).write(module, info, None).map_err(|error| writer(&error))?;
    Ok(out.text)
}
