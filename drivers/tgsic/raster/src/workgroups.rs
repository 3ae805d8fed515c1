//! The inputs of compute shaders: workgroups with their system values, and those of subgroups in all stages.

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, SUBGROUP_SIZE, SystemValue};

/// Bytes of shared memory at least: variables have no size before they are placed.
const SHARED_BYTES: usize = 1 << 15;

/// Sets the system values of subgroups: lanes are numbered in subgroups of a fixed size.
pub fn set_subgroups(inputs: &mut Inputs) {
    let (lanes, size) = (inputs.lanes, SUBGROUP_SIZE as u64);
    let each =
        |value: &dyn Fn(u64) -> u64| -> Vec<u32> { (0..lanes as u64).map(|lane| value(lane % size) as u32).collect() };
    let all = (1 << size) - 1;
    let values = &mut inputs.system_values;
    values.insert(SystemValue::SubgroupSize, vec![each(&|_| size)]);
    values.insert(SystemValue::SubgroupInvocation, vec![each(&|lane| lane)]);
    let masks: [(SystemValue, &dyn Fn(u64) -> u64); 5] = [
        (SystemValue::SubgroupEqMask, &|lane| 1 << lane),
        (SystemValue::SubgroupGeMask, &|lane| all << lane & all),
        (SystemValue::SubgroupGtMask, &|lane| all << (lane + 1) & all),
        (SystemValue::SubgroupLeMask, &|lane| (2 << lane) - 1),
        (SystemValue::SubgroupLtMask, &|lane| (1 << lane) - 1),
    ];
    for (value, mask) in masks {
        values.insert(value, vec![each(mask), vec![0; lanes]]);
    }
}

/// The workgroups of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workgroups {
    /// Invocations of a workgroup by dimension.
    size: [u32; 3],
    /// Number of workgroups by dimension.
    groups: [u32; 3],
    lanes: usize,
}

impl Workgroups {
    /// The workgroups of a size.
    ///
    /// # Errors
    /// One has more invocations than lanes of a run: their number.
    pub fn new(size: [u32; 3], groups: [u32; 3]) -> Result<Workgroups, usize> {
        let size = size.map(|side| side.max(1));
        let lanes = size.iter().fold(1usize, |lanes, &side| lanes.saturating_mul(side as usize));
        if lanes > MAX_LANES { Err(lanes) } else { Ok(Workgroups { size, groups, lanes }) }
    }

    /// The inputs that all workgroups have, for shaders with this size of shared memory.
    pub fn inputs(&self, shared_bytes: usize) -> Inputs {
        let Workgroups { size, groups, lanes } = *self;
        let shared_size = shared_bytes.max(SHARED_BYTES);
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), shared_size, ..Inputs::default() };
        let each = |value: &dyn Fn(u32) -> u32| -> Vec<u32> { (0..lanes as u32).map(value).collect() };
        let local = |axis: usize| move |lane: u32| self.local(axis, lane);
        set_subgroups(&mut inputs);
        let values = &mut inputs.system_values;
        values.insert(SystemValue::LocalInvocationId, [0, 1, 2].map(|axis| each(&local(axis))).to_vec());
        values.insert(SystemValue::LocalInvocationIndex, vec![each(&|lane| lane)]);
        values.insert(SystemValue::WorkgroupSize, size.map(|side| each(&|_| side)).to_vec());
        values.insert(SystemValue::NumWorkgroups, groups.map(|count| each(&|_| count)).to_vec());
        inputs
    }

    /// The number of an invocation in its workgroup, in one dimension.
    fn local(&self, axis: usize, lane: u32) -> u32 {
        let before = self.size.iter().take(axis).product::<u32>();
        lane / before % self.size[axis]
    }

    /// Runs all workgroups, in order.
    ///
    /// # Errors
    /// The first error of a run.
    pub fn run<E>(&self, inputs: &mut Inputs, mut run: impl FnMut(&mut Inputs) -> Result<(), E>) -> Result<(), E> {
        let Workgroups { size, groups, lanes } = *self;
        let each = |value: &dyn Fn(u32) -> u32| -> Vec<u32> { (0..lanes as u32).map(value).collect() };
        for z in 0..groups[2] {
            for y in 0..groups[1] {
                for x in 0..groups[0] {
                    let group = [x, y, z];
                    let values = &mut inputs.system_values;
                    values.insert(SystemValue::WorkgroupId, group.map(|number| each(&|_| number)).to_vec());
                    let global = [0, 1, 2].map(|axis| {
                        let first = group[axis].wrapping_mul(size[axis]);
                        each(&|lane| first.wrapping_add(self.local(axis, lane)))
                    });
                    values.insert(SystemValue::GlobalInvocationId, global.to_vec());
                    run(inputs)?;
                }
            }
        }
        Ok(())
    }
}
