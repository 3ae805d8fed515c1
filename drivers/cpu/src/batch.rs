//! Runs over any number of invocations: cut into blocks, on all cores.

use std::ops::Range;

use rayon::prelude::*;
use tgsi_ir::Stage;
use tgsi_ir::run::{Inputs, LaneRegisters, Outputs, RunError, RunLimits};
use tgsi_ir::system_value::SystemValue;

use crate::program::Program;
use crate::resources::{HostResources, Shared};

/// Lanes of a block of vertices or fragments.
pub const BLOCK_LANES: usize = 64;

/// Lanes of a task: few enough that its outputs stay in the cache until they are joined.
const PART_LANES: usize = 1024;

/// Bytes of buffers that may be copied for each task. If there are more, there are fewer and larger tasks.
const PART_BYTES: usize = 4096;

/// Tasks for each thread then, so that none waits long for the last.
const PARTS_OF_THREAD: usize = 4;

/// Bounds of a run of many invocations.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most operations that one block executes before the run is given up as endless.
    pub steps: u64,
    /// Most bytes for the planes of one block.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 4_000_000, memory: 1 << 28 }
    }
}

impl Limits {
    fn of_block(self) -> RunLimits {
        RunLimits { steps: self.steps, memory: self.memory }
    }
}

/// The lanes of several files with as many registers, one file behind the other. Components are copied side by side.
fn concat(files: &[&LaneRegisters]) -> LaneRegisters {
    let lanes = files.iter().map(|file| file.lanes()).sum();
    let registers = files.first().map_or(0, |file| file.len());
    let stride = LaneRegisters::stride_of(lanes);
    let total = stride * 4 * registers;
    let mut words: Vec<u32> = Vec::with_capacity(total);
    let room = &mut words.spare_capacity_mut()[..total];
    room.par_chunks_mut(stride.max(1)).enumerate().for_each(|(number, mut room)| {
        for file in files {
            let (lanes, rest) = room.split_at_mut(file.lanes());
            let words = file.component(number / 4, number % 4);
            let (there, absent) = lanes.split_at_mut(words.len().min(lanes.len()));
            for (slot, &word) in there.iter_mut().zip(words) {
                slot.write(word);
            }
            for slot in absent {
                slot.write(0);
            }
            room = rest;
        }
        for padding in room {
            padding.write(0);
        }
    });
    // SAFETY: every word was written above: the chunks are all of the room, and each is written from end to end.
    unsafe { words.set_len(total) };
    LaneRegisters::from_words(lanes, words)
}

impl Program {
    /// Runs a vertex or tessellation evaluation shader for any number of vertices, one a lane of the inputs.
    ///
    /// # Errors
    /// A block exceeds a limit.
    pub fn run_vertices(
        &self,
        inputs: &Inputs,
        resources: &dyn HostResources,
        limits: Limits,
    ) -> Result<Outputs, RunError> {
        self.run_blocks(inputs, resources, limits)
    }

    /// Runs a fragment shader for any number of quads: lanes `4k..4k + 4` of the inputs are one. A number of lanes that
    /// is no multiple of four ends in a quad with lanes missing, which read as zero.
    ///
    /// # Errors
    /// A block exceeds a limit.
    pub fn run_quads(
        &self,
        inputs: &Inputs,
        resources: &dyn HostResources,
        limits: Limits,
    ) -> Result<Outputs, RunError> {
        self.run_blocks(inputs, resources, limits)
    }

    /// Blocks of independent lanes, in any order if the shader changes no memory, else one after the other.
    fn run_blocks(&self, inputs: &Inputs, resources: &dyn HostResources, limits: Limits) -> Result<Outputs, RunError> {
        let lanes = inputs.lanes;
        let run = |range: Range<usize>| {
            self.program.run_blocks(inputs, range, BLOCK_LANES, &mut Shared(resources), limits.of_block())
        };
        // What a part needs of buffers is copied for it.
        let bytes: usize = inputs.buffers.iter().map(Vec::len).sum();
        let size = if bytes > PART_BYTES {
            let parts = rayon::current_num_threads() * PARTS_OF_THREAD;
            lanes.div_ceil(parts).next_multiple_of(BLOCK_LANES).max(PART_LANES)
        } else {
            PART_LANES
        };
        if self.writes_memory() || lanes <= size {
            return run(0..lanes);
        }
        let starts: Vec<usize> = (0..lanes).step_by(size).collect();
        let parts: Result<Vec<Outputs>, RunError> =
            starts.par_iter().map(|&first| run(first..lanes.min(first + size))).collect();
        let parts = parts?;
        let files: Vec<&LaneRegisters> = parts.iter().map(|part| &part.outputs).collect();
        Ok(Outputs {
            outputs: concat(&files),
            live: parts.iter().map(|part| &part.live[..]).collect::<Vec<_>>().concat(),
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.clone(),
            steps: parts.iter().map(|part| part.steps).sum(),
            ..Outputs::default()
        })
    }

    /// Runs a compute shader for a grid of workgroups, one after the other. Constants, buffers, counters and the size
    /// of shared memory are those of `inputs`, which afterwards hold the buffers and counters that the shader left. All
    /// invocations of a workgroup are one block, so a workgroup may have as many as a block may have lanes.
    ///
    /// # Errors
    /// A workgroup exceeds a limit.
    pub fn dispatch(
        &self,
        groups: [u32; 3],
        size: [u32; 3],
        inputs: &mut Inputs,
        resources: &dyn HostResources,
        limits: Limits,
    ) -> Result<(), RunError> {
        use SystemValue as S;
        debug_assert_eq!(self.stage(), Stage::Compute, "only compute shaders have workgroups");
        let lanes = size.iter().fold(1usize, |product, &size| product.saturating_mul(size as usize));
        if lanes > tgsi_ir::run::MAX_LANES {
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
                    let run = self.program.run(inputs, &mut Shared(resources), limits.of_block())?;
                    (inputs.buffers, inputs.counters) = (run.buffers, run.counters);
                }
            }
        }
        Ok(())
    }
}
