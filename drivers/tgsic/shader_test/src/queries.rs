//! Properties of programs that files verify and that reflection or draws have.

use std::collections::BTreeMap;

use tgsi_compiler::front_end::{Interface, ResourceKind};

use crate::stream_output::Primitives;
use crate::words::Words;

/// A property with its expected value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Query {
    /// Of the program.
    Program(String, u32),
    /// Of a block, which the binding before it selects: the interface, and the property.
    Block(String, String, u32),
    /// Of a member of a block: its name, and the property.
    Uniform(String, String, u32),
    /// Counted by a draw.
    Object(String, u32),
}

impl Query {
    /// Parses the words after `verify`.
    pub(crate) fn parse(words: &mut Words) -> Option<Query> {
        if words.eat("program_query") {
            return Some(Query::Program(words.next()?, words.uint()?));
        }
        if words.eat("query_object") {
            return Some(Query::Object(words.next()?, words.uint()?));
        }
        words.eat("program_interface_query").then_some(())?;
        let interface = words.next()?;
        // The name, which SPIR-V need not have.
        words.next()?;
        Some(Query::Block(interface, words.next()?, words.uint()?))
    }

    /// Parses the words after `active uniform`. Names of types have no number here.
    pub(crate) fn uniform(words: &mut Words) -> Option<Query> {
        let (name, property) = (words.next()?, words.next()?);
        Some(Query::Uniform(name, property, words.uint().unwrap_or(0)))
    }

    /// Compares the value. Returns `false` if reflection does not have the property.
    ///
    /// # Errors
    /// The value is another one.
    pub(crate) fn check(
        &self,
        interfaces: &[&Interface],
        binding: Option<u32>,
        primitives: Primitives,
    ) -> Result<bool, String> {
        let (found, expected) = match self {
            Query::Program(property, expected) => (of_program(property, interfaces), *expected),
            Query::Block(interface, property, expected) => {
                let kind = match interface.as_str() {
                    "GL_UNIFORM_BLOCK" => ResourceKind::UniformBlock,
                    "GL_SHADER_STORAGE_BLOCK" => ResourceKind::StorageBlock,
                    _ => return Ok(false),
                };
                let Some(binding) = binding else { return Ok(false) };
                (of_block(kind, property, binding, interfaces)?, *expected)
            }
            Query::Uniform(name, property, expected) => (of_member(name, property, interfaces), *expected),
            Query::Object(object, expected) => match object.as_str() {
                "GL_PRIMITIVES_GENERATED" => (Some(primitives.generated), *expected),
                "GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN" => (Some(primitives.written), *expected),
                _ => return Ok(false),
            },
        };
        match found {
            Some(found) if found != expected => Err(format!("expected {expected}, found {found}")),
            found => Ok(found.is_some()),
        }
    }
}

fn of_program(property: &str, interfaces: &[&Interface]) -> Option<u32> {
    match property {
        "GL_ACTIVE_UNIFORMS" => Some(active_uniforms(interfaces)),
        "GL_ACTIVE_UNIFORM_BLOCKS" => {
            let resources = interfaces.iter().flat_map(|interface| &interface.resources);
            let blocks = resources.filter(|resource| resource.kind == ResourceKind::UniformBlock);
            let blocks: BTreeMap<u32, u32> = blocks.map(|r| (r.descriptor.binding, r.num_registers)).collect();
            Some(blocks.values().sum())
        }
        "GL_TRANSFORM_FEEDBACK_VARYINGS" => interfaces.iter().map(|interface| interface.num_captured).max(),
        _ => None,
    }
}

/// Uniforms, members of uniform blocks, samplers and counters, each of which several stages may have.
fn active_uniforms(interfaces: &[&Interface]) -> u32 {
    let mut found: BTreeMap<(&str, u32, u32), u32> = BTreeMap::new();
    for interface in interfaces {
        for uniform in interface.uniforms.iter().filter(|uniform| !uniform.is_state) {
            for member in &uniform.members {
                let key = match member.location {
                    Some(location) => ("location", location, 0),
                    None => (uniform.name.as_str(), member.register, member.component.into()),
                };
                found.insert(key, member.num_active);
            }
        }
        for sampler in &interface.samplers {
            let key = match sampler.locations.first() {
                Some(&location) => ("location", location, 0),
                None => (sampler.name.as_str(), 0, 0),
            };
            found.insert(key, sampler.num_active);
        }
        for resource in &interface.resources {
            let binding = resource.descriptor.binding;
            match resource.kind {
                ResourceKind::UniformBlock => found.insert(("block", binding, 0), resource.num_active),
                ResourceKind::CounterBuffer => found.insert(("counter", binding, resource.offset), resource.num_active),
                _ => None,
            };
        }
    }
    found.values().sum()
}

/// A property of a member of a block; `None` if there is no such member, or reflection does not have it.
fn of_member(name: &str, property: &str, interfaces: &[&Interface]) -> Option<u32> {
    let members = interfaces.iter().flat_map(|interface| &interface.resources).flat_map(|resource| &resource.members);
    let is_named = |path: &str, is_array: bool| path == name || is_array && name.strip_suffix("[0]") == Some(path);
    let member = members.into_iter().find(|member| is_named(&member.path, member.length.is_some()))?;
    match property {
        "GL_UNIFORM_SIZE" => Some(member.length.unwrap_or(1)),
        "GL_UNIFORM_OFFSET" => Some(member.offset),
        "GL_UNIFORM_ARRAY_STRIDE" => Some(member.array_stride),
        "GL_UNIFORM_MATRIX_STRIDE" => Some(member.matrix_stride),
        "GL_UNIFORM_IS_ROW_MAJOR" => Some(member.row_major.into()),
        _ => None,
    }
}

/// A property of the block at a binding; `None` if reflection does not have it.
fn of_block(
    kind: ResourceKind,
    property: &str,
    binding: u32,
    interfaces: &[&Interface],
) -> Result<Option<u32>, String> {
    let resources = interfaces.iter().flat_map(|interface| &interface.resources);
    let block = resources.filter(|resource| resource.kind == kind).find(|resource| {
        let number = binding.checked_sub(resource.descriptor.binding);
        number.is_some_and(|number| number < resource.num_registers)
    });
    let block = block.ok_or_else(|| format!("no block has binding {binding}"))?;
    Ok(match property {
        "GL_NUM_ACTIVE_VARIABLES" => Some(block.num_active),
        // Buffers end with a whole vector.
        "GL_BUFFER_DATA_SIZE" => Some(block.size.next_multiple_of(16)),
        _ => None,
    })
}
