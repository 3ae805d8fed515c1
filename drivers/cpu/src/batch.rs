//! Runs over any number of invocations, split into blocks, on all cores.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;
use tgsi_environment::SystemValue;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs, RunLimits};
use tgsi_ir::ShaderStage;
use tgsi_ir::run::RunError;

use crate::program::Program;
use crate::resources::{HostResources, Shared};

/// Most lanes of a block of vertices or fragments. A component of it takes less than 4 KiB: in blocks of exactly that
/// size the addresses of masks and outputs could have the same low twelve bits in every block, so that loads would wait
/// for stores.
pub const BLOCK_LANES: usize = MAX_LANES - 32;

/// Lanes of a block with lane vectors that must stay in the cache.
const CACHED_LANES: usize = 256;

/// Lanes of a task: few enough that its outputs are still in the cache when they are copied to their destination.
const PART_LANES: usize = 4096;

/// Bytes of buffers that may be copied for each task. With larger buffers, there are fewer and larger tasks.
const PART_BYTES: usize = 4096;

/// The number of such tasks per thread, so that no thread waits long for the last task.
const PARTS_OF_THREAD: usize = 4;

/// Uninitialised memory for the words of a component in some lanes.
type Uninit<'w> = &'w mut [MaybeUninit<u32>];

/// Splits the memory for a file of `lanes` lanes into parts of `size` lanes, each a list of its components. Initialises
/// the padding.
fn parts_of_file(memory: Uninit<'_>, lanes: usize, size: usize) -> Vec<Vec<Uninit<'_>>> {
    let stride = LaneRegisters::stride_of(lanes);
    let components = memory.len() / stride.max(1);
    let mut parts: Vec<Vec<Uninit<'_>>> = (0..lanes.div_ceil(size)).map(|_| Vec::with_capacity(components)).collect();
    for component in memory.chunks_exact_mut(stride) {
        let (component, padding) = component.split_at_mut(lanes);
        padding.fill(MaybeUninit::new(0));
        for (part, words) in parts.iter_mut().zip(component.chunks_mut(size)) {
            part.push(words);
        }
    }
    parts
}

/// Writes a whole part; zeros for components that the file lacks.
fn fill(part: Vec<Uninit<'_>>, file: &LaneRegisters) {
    for (number, component) in part.into_iter().enumerate() {
        let words = file.component(number / 4, number % 4);
        let (there, absent) = component.split_at_mut(words.len().min(component.len()));
        for (slot, &word) in there.iter_mut().zip(words) {
            slot.write(word);
        }
        absent.fill(MaybeUninit::new(0));
    }
}

impl Program {
    /// Returns the lanes of a block of this program, if its lanes are independent.
    pub(crate) fn block_lanes(&self) -> usize {
        if self.program.needs_lane_vectors() { CACHED_LANES } else { BLOCK_LANES }
    }

    /// Runs a vertex or tessellation evaluation shader for any number of vertices, one for each lane of the inputs.
    ///
    /// # Errors
    /// A block exceeds a limit.
    pub fn run_vertices(
        &self,
        inputs: &Inputs,
        resources: &dyn HostResources,
        limits: RunLimits,
    ) -> Result<Outputs, RunError> {
        self.run_blocks(inputs, resources, limits, Outputs::default())
    }

    /// Runs a fragment shader for any number of quads: lanes `4k..4k + 4` of the inputs are a quad. If the number of
    /// lanes is not a multiple of four, the missing lanes of the last quad read as zero.
    ///
    /// # Errors
    /// A block exceeds a limit.
    pub fn run_quads(
        &self,
        inputs: &Inputs,
        resources: &dyn HostResources,
        limits: RunLimits,
    ) -> Result<Outputs, RunError> {
        self.run_blocks(inputs, resources, limits, Outputs::default())
    }

    /// Runs like [`run_vertices`](Self::run_vertices) and [`run_quads`](Self::run_quads), and replaces the results of
    /// an earlier run, reusing its memory: a host that draws frame after frame then allocates none.
    ///
    /// Runs of a few thousand invocations execute in the calling thread. A host that gives each of its threads tiles of
    /// that size, and separate outputs, gains most from threads: results stay in the caches. Larger runs are split into
    /// such parts, and their results are copied to main memory, which two threads hardly fill faster than one.
    ///
    /// # Errors
    /// A block exceeds a limit. The outputs are then empty.
    pub fn run_into(
        &self,
        inputs: &Inputs,
        resources: &dyn HostResources,
        limits: RunLimits,
        outputs: &mut Outputs,
    ) -> Result<(), RunError> {
        let reused = std::mem::take(outputs);
        *outputs = self.run_blocks(inputs, resources, limits, reused)?;
        Ok(())
    }

    /// Runs blocks of independent lanes, in any order if the shader writes no memory, else in sequence. The results
    /// reuse the memory of `reused`.
    fn run_blocks(
        &self,
        inputs: &Inputs,
        resources: &dyn HostResources,
        limits: RunLimits,
        reused: Outputs,
    ) -> Result<Outputs, RunError> {
        let lanes = inputs.lanes;
        let run = |range: Range<usize>, reused: LaneRegisters| {
            self.program.run_blocks(inputs, range, self.block_lanes(), &mut Shared(resources), limits, reused)
        };
        // The buffers that a part needs are copied for it.
        let bytes: usize = inputs.buffers.iter().map(Vec::len).sum();
        let size = if bytes > PART_BYTES {
            let parts = rayon::current_num_threads() * PARTS_OF_THREAD;
            lanes.div_ceil(parts).next_multiple_of(BLOCK_LANES).max(PART_LANES)
        } else {
            PART_LANES
        };
        if self.writes_memory() || lanes <= size || rayon::current_num_threads() == 1 {
            return run(0..lanes, reused.outputs);
        }
        // A finished part is copied to its destination while it is in the cache. The next one reuses its memory.
        let total = LaneRegisters::stride_of(lanes) * 4 * self.output_registers();
        let mut words = reused.outputs.into_words();
        words.clear();
        words.reserve_exact(total);
        let parts = parts_of_file(&mut words.spare_capacity_mut()[..total], lanes, size);
        let mut live = reused.live;
        live.resize(lanes, true);
        let run_part = |memory: &mut LaneRegisters, (number, (part, live)): (usize, (Vec<Uninit<'_>>, &mut [bool]))| {
            let first = number * size;
            let outputs = run(first..lanes.min(first + size), std::mem::take(memory))?;
            fill(part, &outputs.outputs);
            live.copy_from_slice(&outputs.live);
            *memory = outputs.outputs;
            Ok(outputs.steps)
        };
        let parts = parts.into_par_iter().zip(live.par_chunks_mut(size)).enumerate();
        let steps = parts.map_init(LaneRegisters::default, run_part).try_reduce(|| 0, |a, b| Ok(a + b))?;
        // SAFETY: every word was written: padding when the memory was split, all parts of each component after their
        // runs, none of which failed.
        unsafe { words.set_len(total) };
        Ok(Outputs {
            outputs: LaneRegisters::from_words(lanes, words),
            live,
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.clone(),
            steps,
            ..Outputs::default()
        })
    }

    /// Runs a compute shader for a grid of workgroups, in sequence. Constants, buffers, counters and the size of shared
    /// memory are those of `inputs`, which afterwards hold the buffers and counters that the shader left. All
    /// invocations of a workgroup are one block, so a workgroup is limited to the lanes of a block.
    ///
    /// # Errors
    /// A workgroup exceeds a limit.
    pub fn dispatch(
        &self,
        groups: [u32; 3],
        size: [u32; 3],
        inputs: &mut Inputs,
        resources: &dyn HostResources,
        limits: RunLimits,
    ) -> Result<(), RunError> {
        use SystemValue as S;
        debug_assert_eq!(self.stage(), ShaderStage::Compute, "only compute shaders have workgroups");
        let lanes = size.iter().fold(1usize, |product, &size| product.saturating_mul(size as usize));
        if lanes > tgsi_environment::MAX_LANES {
            return Err(RunError::TooManyLanes { lanes });
        }
        inputs.lanes = lanes;
        let id = |dimension: usize| {
            let below: usize = size[..dimension].iter().map(|&size| size as usize).product();
            (0..lanes).map(|lane| (lane / below.max(1)) as u32 % size[dimension].max(1)).collect::<Vec<u32>>()
        };
        let same = |words: [u32; 3]| words.map(|word| vec![word; lanes]).to_vec();
        inputs.system_values.insert(S::LocalInvocationId, vec![id(0), id(1), id(2)]);
        inputs.system_values.insert(S::WorkgroupSize, same(size));
        inputs.system_values.insert(S::NumWorkgroups, same(groups));
        for z in 0..groups[2] {
            for y in 0..groups[1] {
                for x in 0..groups[0] {
                    inputs.system_values.insert(S::WorkgroupId, same([x, y, z]));
                    let run = self.program.run(inputs, &mut Shared(resources), limits)?;
                    (inputs.buffers, inputs.counters) = (run.buffers, run.counters);
                }
            }
        }
        Ok(())
    }
}
