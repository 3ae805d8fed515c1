//! The constants of the shaders: initial values of uniforms, values of the command line, and the time.

use tgsi_compiler::front_end::{Interface, UniformError};

use super::Loaded;
use crate::args::DrawArguments;
use crate::draw_arguments::{ConstantRegister, TimeArgument};
use crate::status::Failure;

/// The constant buffers of the vertex and the fragment shader.
pub(super) struct Constants<'a> {
    buffers: [Vec<Vec<u32>>; 2],
    names: [Option<&'a Interface>; 2],
    time: Option<&'a TimeArgument>,
}

impl<'a> Constants<'a> {
    /// The values that do not depend on the time.
    ///
    /// # Errors
    /// No shader has a uniform of a name, or it has another number of components.
    pub(super) fn new(arguments: &'a DrawArguments, stages: [Option<&'a Loaded>; 2]) -> Result<Constants<'a>, Failure> {
        let names = stages.map(|stage| stage.map(|stage| &stage.names));
        let initial = |names: Option<&Interface>| vec![names.map(Interface::initial_constants).unwrap_or_default()];
        let mut constants = Constants { buffers: names.map(initial), names, time: arguments.time.as_ref() };
        for uniform in &arguments.uniforms {
            set_uniform(&names, &mut constants.buffers, &uniform.name, &uniform.values)?;
        }
        if let Some(TimeArgument::Uniform(name)) = &arguments.time {
            set_uniform(&names, &mut constants.buffers, name, &[0.0])?;
        }
        for constant in &arguments.constants {
            let is_set = [constant.for_vertex, constant.for_fragment];
            for (buffers, _) in constants.buffers.iter_mut().zip(is_set).filter(|(_, is_set)| *is_set) {
                set(buffers, constant.start, 0, &constant.words);
            }
        }
        Ok(constants)
    }

    /// The values at a time.
    pub(super) fn at(&self, seconds: f32) -> [Vec<Vec<u32>>; 2] {
        let mut buffers = self.buffers.clone();
        match self.time {
            Some(TimeArgument::Constant { register, component }) => {
                buffers.iter_mut().for_each(|buffers| set(buffers, *register, *component, &[seconds.to_bits()]));
            }
            // The name was checked.
            Some(TimeArgument::Uniform(name)) => {
                let _ = set_uniform(&self.names, &mut buffers, name, &[seconds.into()]);
            }
            None => {}
        }
        buffers
    }
}

/// Sets words of a constant buffer.
fn set(
    buffers: &mut Vec<Vec<u32>>,
    ConstantRegister { buffer, register }: ConstantRegister,
    first: usize,
    words: &[u32],
) {
    let (buffer, start) = (buffer as usize, 4 * register as usize + first);
    if buffers.len() <= buffer {
        buffers.resize(buffer + 1, Vec::new());
    }
    let content = &mut buffers[buffer];
    // Buffers consist of whole vec4s.
    let end = (start + words.len()).next_multiple_of(4);
    if content.len() < end {
        content.resize(end, 0);
    }
    content[start..start + words.len()].copy_from_slice(words);
}

/// Sets a uniform of the shaders that have it.
fn set_uniform(
    names: &[Option<&Interface>; 2],
    buffers: &mut [Vec<Vec<u32>>; 2],
    name: &str,
    values: &[f64],
) -> Result<(), Failure> {
    let (mut error, mut is_found) = (None::<UniformError>, false);
    for (names, buffers) in names.iter().zip(buffers) {
        let Some(names) = names else { continue };
        let Some(first) = buffers.first_mut() else { continue };
        match names.set(name, values, first) {
            Ok(()) => is_found = true,
            Err(_) if names.is_unused(name) => is_found = true,
            // An error about the value is more helpful than that the other shader lacks the uniform.
            Err(found) if error.is_none() || !matches!(found, UniformError::Unknown { .. }) => error = Some(found),
            Err(_) => {}
        }
    }
    match error {
        Some(error) if !is_found || !matches!(error, UniformError::Unknown { .. }) => {
            Err(Failure::Usage(error.to_string()))
        }
        None if !is_found => Err(Failure::Usage(format!("there is no uniform `{name}`"))),
        _ => Ok(()),
    }
}
