//! Runs SPIR-V on Vulkan, as the runner of the SPIR-V driver.
//!
//! The code must be that of a [`HarnessTarget`]: a compute shader with its environment in a storage buffer, and the
//! layout of that buffer in a string. The code alone is thus sufficient to run it.
//!
//! | file | holds |
//! |---|---|
//! | `target` | the target for runs |
//! | `module` | parsing of the code: bindings, workgroup size, layout |
//! | `device` | the one device of the process |
//! | `code` | code for one size of workgroups, the properties of the device, the time limit |
//! | `pipeline` | pipelines for the device |
//! | `dispatch` | buffers, and a run |
//! | `processes`, `messages` | runs in separate processes |
//! | [`draw`] | a picture by a vertex and a fragment shader, without the harness |
//! | [`native`] | a module as it is, bound by reflection |
//!
//! - The Vulkan library is loaded on the first run. If it is missing, the run fails with an error that explains how to
//!   install one.
//! - The variable `TGSIC_VULKAN_DEVICE` selects the device by a part of its name. The default is a CPU device, or else
//!   the first device.
//! - A run that does not end within a minute, or within `TGSIC_VULKAN_SECONDS` seconds, is an error. The device, still
//!   busy, is then abandoned: later runs in this process do not use it.
//! - A program that calls [`run_in_processes`] loses no device: it starts separate processes for its runs, one for each
//!   concurrent run. Processes that hang are killed, and later runs start new ones.

mod code;
mod device;
mod dispatch;
pub mod draw;
mod messages;
mod module;
pub mod native;
mod pipeline;
mod processes;
mod target;

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tgsi_compiler::{Code, RunError, Runner, Target};
use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};
use tgsi_spirv_harness::{BUFFER, decode, encode};

pub use processes::{run_in_processes, serve};
pub use target::{HarnessTarget, run_target};

use code::{DeviceProperties, SizedCode};
use dispatch::{Bound, BoundBuffer};
use module::{BindingKind, Module};

/// Most iterations of all loops of a lane, whatever the limits are.
const MAX_ITERATIONS: u64 = 1 << 20;
/// Bytes bound for every constant buffer, if the device allows it: the most that shaders may declare.
const CONSTANT_BYTES: u64 = 1 << 16;
/// The sets of constant buffers and of storage buffers.
const CONSTANT_SET: u32 = 0;
const STORAGE_SET: u32 = 2;

/// Returns a runner for code of a [`HarnessTarget`]; `None` if the target is another one.
///
/// Vulkan is initialised on the first run.
///
/// # Errors
/// The code is not code of the harness.
pub fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    let _: &HarnessTarget = (target as &dyn Any).downcast_ref()?;
    let Code::Binary(bytes) = code else { return None };
    Some(VulkanRunner::new(bytes).map(|runner| Box::new(runner) as Box<dyn Runner>))
}

/// Returns the reason why no code can be run here; `None` if it can.
pub fn unavailable() -> Option<String> {
    DeviceProperties::get().err()
}

/// Returns the name of the device, and of its driver with its version.
///
/// # Errors
/// There is no device.
pub fn device_name() -> Result<String, String> {
    DeviceProperties::get().map(|properties| properties.name.clone())
}

/// A runner for a module.
struct VulkanRunner {
    module: Module,
    /// Code by number of invocations.
    codes: Mutex<HashMap<u32, Arc<SizedCode>>>,
    /// The error of a run that did not end. Later runs fail with the same error without being tried.
    timeout: OnceLock<RunError>,
}

impl VulkanRunner {
    fn new(bytes: &[u8]) -> Result<VulkanRunner, RunError> {
        let module = Module::new(bytes).map_err(RunError::Code)?;
        Ok(VulkanRunner { module, codes: Mutex::default(), timeout: OnceLock::new() })
    }

    fn code(&self, properties: &DeviceProperties, invocations: u32) -> Arc<SizedCode> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let code = codes.entry(invocations).or_insert_with(|| {
            let words = self.module.with_invocations(invocations, properties);
            Arc::new(SizedCode::new(words, self.module.bindings.clone()))
        });
        code.clone()
    }
}

impl Runner for VulkanRunner {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        if let Some(error) = self.timeout.get() {
            return Err(error.clone());
        }
        let properties = DeviceProperties::get()?;
        let layout = &self.module.layout;
        // Quads are subgroups if lanes communicate; otherwise idle invocations are unnecessary.
        let distance = if layout.quads { properties.subgroup_size } else { 4 };
        let invocations = inputs.lanes.div_ceil(4) as u32 * distance;
        if invocations > properties.max_invocations {
            return Err(RunError::Failed(format!(
                "{} lanes need {invocations} invocations; the device has {}",
                inputs.lanes, properties.max_invocations
            )));
        }
        if inputs.lanes == 0 {
            return Err(RunError::Failed("a run without lanes".to_owned()));
        }
        let limits = RunLimits { steps: limits.steps.min(MAX_ITERATIONS), ..limits };
        let mut words = encode(layout, inputs, resources, limits, distance)?;
        let harness: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut parts = Vec::new();
        for binding in &self.module.bindings {
            for element in 0..binding.count {
                let index = binding.binding + element;
                let bytes = match (binding.kind, binding.set) {
                    (BindingKind::Constant, CONSTANT_SET) => constants(properties, inputs, index),
                    (BindingKind::Storage, STORAGE_SET) if index == BUFFER => harness.clone(),
                    (BindingKind::Storage, STORAGE_SET) => {
                        inputs.buffers.get(index as usize).cloned().unwrap_or_default()
                    }
                    _ => return Err(RunError::Code(format!("unknown resource: set {} binding {index}", binding.set))),
                };
                let bound = Bound { set: binding.set, binding: binding.binding, element, kind: binding.kind };
                parts.push(BoundBuffer { bound, index, bytes });
            }
        }
        let parts = self.code(properties, invocations).run(parts).inspect_err(|error| {
            if matches!(error, RunError::DeviceLost(_)) {
                // Another thread may have set it first.
                let _ = self.timeout.set(error.clone());
            }
        })?;
        let mut buffers = inputs.buffers.clone();
        for part in parts.into_iter().filter(|part| part.bound.kind == BindingKind::Storage) {
            if part.index == BUFFER {
                for (word, bytes) in words.iter_mut().zip(part.bytes.chunks_exact(4)) {
                    *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            } else if let Some(buffer) = buffers.get_mut(part.index as usize) {
                *buffer = part.bytes;
            }
        }
        Ok(decode(layout, inputs, &words, buffers, resources)?)
    }
}

/// Returns the bytes of a constant buffer, padded with zeros.
fn constants(properties: &DeviceProperties, inputs: &Inputs, index: u32) -> Vec<u8> {
    let words = inputs.constants.get(index as usize).map_or(&[][..], |words| words);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(CONSTANT_BYTES.min(properties.max_uniform_bytes) as usize, 0);
    bytes
}
