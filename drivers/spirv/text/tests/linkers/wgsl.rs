//! WebGPU's rules for the interface of a vertex and a fragment shader: every input of the fragment shader is an output
//! of the vertex shader, at the same location, with the same type and interpolation.

use std::collections::BTreeMap;

use naga::{Binding, Module, ShaderStage, TypeInner};

type Interface = BTreeMap<u32, String>;

fn read(text: &str) -> Result<Module, String> {
    // naga's reader supports the feature, but not the directive.
    let text = text.replace("enable subgroups;\n", "");
    naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))
}

fn add(module: &Module, binding: Option<&Binding>, ty: naga::Handle<naga::Type>, interface: &mut Interface) {
    let inner = &module.types[ty].inner;
    match (binding, inner) {
        (Some(Binding::Location { location, interpolation, sampling, .. }), _) => {
            interface.insert(*location, format!("{inner:?} {interpolation:?} {sampling:?}"));
        }
        (None, TypeInner::Struct { members, .. }) => {
            members.iter().for_each(|member| add(module, member.binding.as_ref(), member.ty, interface));
        }
        _ => {}
    }
}

/// Compares the interfaces.
///
/// # Errors
/// The mismatch.
pub fn link(vertex: &str, fragment: &str) -> Result<(), String> {
    let [vertex, fragment] = [read(vertex)?, read(fragment)?];
    let (mut outputs, mut inputs) = (Interface::new(), Interface::new());
    for entry in vertex.entry_points.iter().filter(|entry| entry.stage == ShaderStage::Vertex) {
        if let Some(result) = &entry.function.result {
            add(&vertex, result.binding.as_ref(), result.ty, &mut outputs);
        }
    }
    for entry in fragment.entry_points.iter().filter(|entry| entry.stage == ShaderStage::Fragment) {
        for argument in &entry.function.arguments {
            add(&fragment, argument.binding.as_ref(), argument.ty, &mut inputs);
        }
    }
    for (location, input) in inputs {
        match outputs.get(&location) {
            Some(output) if *output == input => {}
            output => return Err(format!("location {location}: {output:?}, but {input}")),
        }
    }
    Ok(())
}
