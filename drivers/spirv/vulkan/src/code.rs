//! Code for workgroups of one size, run either by the device of this process or by a separate process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tgsi_compiler::RunError;

use crate::device::Device;
use crate::dispatch::{self, BoundBuffer};
use crate::module::Binding;
use crate::pipeline::Pipeline;
use crate::processes;

/// Seconds after which a run is abandoned by default. Loops are bounded, so only drivers that hang or compile very
/// slowly exceed it.
const SECONDS: u64 = 60;
/// The variable that overrides it.
const SECONDS_VARIABLE: &str = "TGSIC_VULKAN_SECONDS";

/// Properties of a device needed to generate code and inputs for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceProperties {
    /// Its name, with the driver's.
    pub name: String,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Most invocations of a workgroup.
    pub max_invocations: u32,
    /// Most bytes of a constant buffer.
    pub max_uniform_bytes: u64,
    /// Whether code may require that 32-bit floats preserve signed zeros, infinities and NaN.
    pub keeps_special: bool,
    /// Whether code may require that 32-bit floats preserve denormals, independently of other sizes.
    pub keeps_denormals: bool,
}

impl DeviceProperties {
    /// Returns the properties of the device that runs code.
    ///
    /// # Errors
    /// There is no device.
    pub fn get() -> Result<&'static DeviceProperties, String> {
        static PROPERTIES: OnceLock<Result<DeviceProperties, String>> = OnceLock::new();
        let properties = PROPERTIES.get_or_init(|| match processes::are_used() {
            true => processes::properties(),
            false => Device::get().map(|device| device.properties.clone()),
        });
        properties.as_ref().map_err(Clone::clone)
    }
}

/// Returns the time limit of a run.
pub fn time_limit() -> Duration {
    static LIMIT: OnceLock<Duration> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let seconds = std::env::var(SECONDS_VARIABLE).ok().and_then(|seconds| seconds.parse().ok());
        Duration::from_secs(seconds.unwrap_or(SECONDS))
    })
}

/// Returns the error of a run that exceeds the time limit.
pub fn timeout() -> RunError {
    RunError::DeviceLost(format!("did not end within {} s on Vulkan", time_limit().as_secs()))
}

/// Code for a device.
pub struct SizedCode {
    /// Identifies the code within this process.
    pub id: u64,
    /// Its words.
    pub words: Vec<u32>,
    /// Its bindings.
    pub bindings: Vec<Binding>,
    /// The pipeline for the device of this process, once created.
    pipeline: Mutex<Option<Pipeline>>,
}

impl SizedCode {
    /// Creates code with these bindings.
    pub fn new(words: Vec<u32>, bindings: Vec<Binding>) -> SizedCode {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        SizedCode { id, words, bindings, pipeline: Mutex::default() }
    }

    /// Runs it once. Returns the buffers after the run.
    ///
    /// # Errors
    /// The device fails, or does not finish in time.
    pub fn run(&self, parts: Vec<BoundBuffer>) -> Result<Vec<BoundBuffer>, RunError> {
        if processes::are_used() { processes::run(self, parts) } else { self.run_here(parts) }
    }

    /// Runs it once on the device of this process.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_here(&self, parts: Vec<BoundBuffer>) -> Result<Vec<BoundBuffer>, RunError> {
        let device = Device::get()?;
        let mut pipeline = self.pipeline.lock().unwrap_or_else(PoisonError::into_inner);
        let pipeline = match &mut *pipeline {
            Some(pipeline) => pipeline,
            none => none.insert(Pipeline::new(device, &self.words, &self.bindings)?),
        };
        dispatch::run(device, pipeline, parts)
    }
}
