//! Runs the driver's SPIR-V of a shader of the front end.

use std::collections::BTreeMap;

use tgsi_compiler::front_end::Interface;
use tgsi_compiler::reflection::ResourceKind;
use tgsi_compiler::{Compiler, Source, Stage};
use tgsi_driver_spirv::{Numbers, SpirvOptions};
use tgsi_spirv_vulkan::native::{
    Attribute, BoundContents, Content, NativeInterface, NativeOutputs, NativeRun, TargetPixels, VaryingValue, Work,
};

use crate::interpret::{input_locations, output_locations};
use crate::registers::Registers;
use crate::seed::{SIZE, Setup};

/// The bytes of constant buffers, which may be read as a whole.
const CONSTANT_BYTES: usize = 1 << 16;

/// The options for code that is run: integers keep their bits in outputs.
pub fn options() -> SpirvOptions {
    let mut options = SpirvOptions::default();
    options.color_outputs = [Numbers::Uint; 8];
    options.no_contraction = true;
    options.demote = true;
    options
}

/// Compiles a shader to SPIR-V and runs that with the same contents.
///
/// # Errors
/// It cannot be compiled or run.
pub fn run_translated(
    source: &Source<'_>,
    names: &Interface,
    native: &NativeInterface,
    setup: &Setup,
) -> Result<NativeOutputs, String> {
    let compiler = Compiler::new(options());
    let mut compilation = compiler.start(source.borrowed()).map_err(|error| error.to_string())?;
    let located = input_locations(compilation.ir());
    compilation.advance(Stage::Registers).map_err(|error| error.to_string())?;
    let colors = output_locations(compilation.ir());
    let reflection = compilation.reflect().map_err(|error| error.to_string())?.ok_or("no reflection")?;
    let code = compilation.finish().map_err(|error| error.to_string())?.into_bytes();
    let words: Vec<u32> =
        code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let ours = NativeInterface::new(&words, None)?;
    let registers = Registers::new(names, setup)?;

    let mut bindings = Vec::new();
    // For each binding the original descriptor of each element.
    let mut places = Vec::new();
    for resource in &reflection.resources {
        let mut contents = Vec::new();
        let mut origins = Vec::new();
        for number in 0..resource.count {
            let index = resource.index + number;
            let original = |place: Option<&(usize, usize)>| {
                let &(binding, element) = place.ok_or_else(|| format!("{:?} {index} is unknown", resource.kind))?;
                Ok::<_, String>((setup.bindings[binding].contents[element].clone(), (binding, element)))
            };
            match resource.kind {
                ResourceKind::ConstantBuffer => {
                    let mut bytes = registers.constants.get(&index).cloned().unwrap_or_default();
                    bytes.resize(CONSTANT_BYTES, 0);
                    contents.push(Content::Uniform(bytes));
                    origins.push(None);
                }
                ResourceKind::StorageBuffer => {
                    let (content, place) = original(registers.buffers.get(&index))?;
                    contents.push(content);
                    origins.push(Some(place));
                }
                ResourceKind::Image => {
                    let (content, place) = original(registers.images.get(&index))?;
                    contents.push(content);
                    origins.push(Some(place));
                }
                ResourceKind::CombinedTexture | ResourceKind::Texture => {
                    let (picture, state) =
                        registers.units.get(&index).ok_or_else(|| format!("unit {index} is unknown"))?;
                    let is_alone = picture.shape == tgsi_spirv_vulkan::native::PictureShape::Buffer
                        || resource.kind == ResourceKind::Texture;
                    contents.push(match is_alone {
                        true => Content::Texture(picture.clone()),
                        false => Content::Combined(picture.clone(), *state),
                    });
                    origins.push(None);
                }
                kind => return Err(format!("the driver's code has {kind:?}")),
            }
        }
        bindings.push(BoundContents { set: resource.set, binding: resource.binding, contents });
        places.push(origins);
    }
    let mut push = Vec::new();
    for parameter in &reflection.driver_parameters {
        let value = match parameter.name {
            "frag_height" => (SIZE.1 as f32).to_bits(),
            name => return Err(format!("the driver's code has the parameter {name}")),
        };
        push.resize(push.len().max((parameter.offset + parameter.size) as usize), 0);
        push[parameter.offset as usize..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let work = match &setup.work {
        Work::Groups(groups) => Work::Groups(*groups),
        Work::Vertices { count, attributes } => {
            let classes = ours.inputs.iter().map(|input| (input.location, input.class));
            let classes: BTreeMap<u32, _> = classes.collect();
            let used = attributes.iter().filter_map(|attribute| {
                Some(Attribute { class: *classes.get(&attribute.location)?, ..attribute.clone() })
            });
            Work::Vertices { count: *count, attributes: used.collect() }
        }
        Work::Pixels { size, varyings } => {
            let mut moved: Vec<VaryingValue> = Vec::new();
            for input in &reflection.inputs {
                let Some(location) = located.get(&input.register) else { continue };
                let value = varyings.iter().find(|value| value.location == *location);
                let declared = ours.inputs.iter().find(|other| other.location == input.location);
                let (Some(value), Some(declared)) = (value, declared) else { continue };
                if moved.iter().all(|other| other.location != input.location) {
                    moved.push(VaryingValue { location: input.location, class: declared.class, ..*value });
                }
            }
            Work::Pixels { size: *size, varyings: moved }
        }
    };
    let run = NativeRun { words: &words, interface: &ours, push: &push, bindings: &bindings, work: &work };
    let found = run.run()?;
    let mut outputs = NativeOutputs { bindings: setup.bindings.clone(), targets: Vec::new() };
    for (bound, origins) in found.bindings.iter().zip(&places) {
        for (content, place) in bound.contents.iter().zip(origins) {
            if let &Some((binding, element)) = place {
                outputs.bindings[binding].contents[element] = content.clone();
            }
        }
    }
    let count = found.targets.first().map_or((SIZE.0 * SIZE.1) as usize, |target| target.pixels.len());
    for output in &native.outputs {
        let location = output.location;
        if outputs.targets.iter().any(|target| target.location == location) {
            continue;
        }
        let mut pixels = vec![[0; 4]; count];
        // Several registers may share a location.
        for written in reflection.outputs.iter().filter(|written| colors.get(&written.register) == Some(&location)) {
            let target = found.targets.iter().find(|target| target.location == written.location);
            for (to, from) in pixels.iter_mut().zip(target.into_iter().flat_map(|target| &target.pixels)) {
                let components = written.component as usize..(written.component + written.components).min(4) as usize;
                to[components.clone()].copy_from_slice(&from[components]);
            }
        }
        outputs.targets.push(TargetPixels { location, class: output.class, pixels });
    }
    Ok(outputs)
}
