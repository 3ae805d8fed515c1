//! Code for workgroups of one size, and what runs it: the device of this process, or a process of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::device::Device;
use crate::dispatch::{self, Part};
use crate::module::Binding;
use crate::pipeline::Pipeline;
use crate::processes;

/// Seconds after which a run is given up, unless the variable says otherwise. Loops are bounded, so that this is only
/// for drivers that hang, or that need too long to compile.
const SECONDS: u64 = 60;
/// The variable.
const SECONDS_VARIABLE: &str = "TGSIC_VULKAN_SECONDS";

/// What must be known of a device to make code and inputs for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Its name, with the driver's.
    pub name: String,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Most invocations of a workgroup.
    pub max_invocations: u32,
    /// Most bytes of a constant buffer.
    pub max_uniform_bytes: u64,
    /// Whether 32-bit floats may be promised to keep signed zeros, infinities and NaN.
    pub keeps_special: bool,
    /// Whether 32-bit floats may be promised to keep denormals, whatever those of other sizes do.
    pub keeps_denormals: bool,
}

impl Facts {
    /// Those of the device that runs code.
    ///
    /// # Errors
    /// There is none.
    pub fn get() -> Result<&'static Facts, String> {
        static FACTS: OnceLock<Result<Facts, String>> = OnceLock::new();
        let facts = FACTS.get_or_init(|| match processes::are_used() {
            true => processes::facts(),
            false => Device::get().map(|device| device.facts.clone()),
        });
        facts.as_ref().map_err(Clone::clone)
    }
}

/// How long a run may take.
pub fn time_limit() -> Duration {
    static LIMIT: OnceLock<Duration> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let seconds = std::env::var(SECONDS_VARIABLE).ok().and_then(|seconds| seconds.parse().ok());
        Duration::from_secs(seconds.unwrap_or(SECONDS))
    })
}

/// Why there is no result of code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// The device is at work still, and is not to be used again.
    pub is_unended: bool,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { message, is_unended: false }
    }
}

impl Failure {
    /// For a run that takes too long.
    pub fn unended() -> Failure {
        let message = format!("did not end within {} s on Vulkan", time_limit().as_secs());
        Failure { message, is_unended: true }
    }
}

/// Code that can be given to a device.
pub struct SizedCode {
    /// Tells it from other code of this process.
    pub id: u64,
    /// Its words.
    pub words: Vec<u32>,
    /// What is bound to it.
    pub bindings: Vec<Binding>,
    /// The same made ready for the device of this process.
    pipeline: Mutex<Option<Pipeline>>,
}

impl SizedCode {
    /// Code with these bindings.
    pub fn new(words: Vec<u32>, bindings: Vec<Binding>) -> SizedCode {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        SizedCode { id, words, bindings, pipeline: Mutex::default() }
    }

    /// Runs it once. Returns the parts as they are after it.
    ///
    /// # Errors
    /// The device fails, or does not end in time.
    pub fn run(&self, parts: Vec<Part>) -> Result<Vec<Part>, Failure> {
        if processes::are_used() { processes::run(self, parts) } else { self.run_here(parts) }
    }

    /// Runs it once on the device of this process.
    ///
    /// # Errors
    /// The same.
    pub fn run_here(&self, parts: Vec<Part>) -> Result<Vec<Part>, Failure> {
        let device = Device::get()?;
        let mut pipeline = self.pipeline.lock().unwrap_or_else(PoisonError::into_inner);
        let pipeline = match &mut *pipeline {
            Some(pipeline) => pipeline,
            none => none.insert(Pipeline::new(device, &self.words, &self.bindings)?),
        };
        dispatch::run(device, pipeline, parts)
    }
}
