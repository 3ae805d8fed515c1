//! Runs workgroups.

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, SUBGROUP_SIZE, SystemValue};

use crate::buffer::Buffer;
use crate::error::{Refusal, RefusalKind};
use crate::program::Program;
use crate::resources::Registers;

/// Bytes of shared memory at least: variables have no size before they are placed.
const SHARED_BYTES: usize = 1 << 15;

/// Sets the system values of subgroups: lanes are numbered in subgroups of a fixed size.
pub(crate) fn set_subgroups(inputs: &mut Inputs) {
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

/// Runs all workgroups, in order.
pub(crate) fn dispatch(
    program: &Program,
    registers: &Registers,
    groups: [u32; 3],
    buffers: &mut [Buffer],
    line: usize,
) -> Result<(), Refusal> {
    let size = program.ir.info.workgroup_size.map(|side| side.max(1));
    let lanes = size.iter().fold(1usize, |lanes, &side| lanes.saturating_mul(side as usize));
    if lanes > MAX_LANES {
        let reason = format!("workgroups of more than {MAX_LANES} invocations");
        return Err(Refusal::new(line, RefusalKind::Run, reason, format!("{lanes}")));
    }
    let shared_size = (program.ir.info.shared_size as usize).max(SHARED_BYTES);
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 0), shared_size, ..Inputs::default() };
    let each = |value: &dyn Fn(u32) -> u32| -> Vec<u32> { (0..lanes as u32).map(value).collect() };
    let local = |axis: usize| {
        let before = size.iter().take(axis).product::<u32>();
        move |lane: u32| lane / before % size[axis]
    };
    set_subgroups(&mut inputs);
    let values = &mut inputs.system_values;
    values.insert(SystemValue::LocalInvocationId, [0, 1, 2].map(|axis| each(&local(axis))).to_vec());
    values.insert(SystemValue::LocalInvocationIndex, vec![each(&|lane| lane)]);
    values.insert(SystemValue::WorkgroupSize, size.map(|side| each(&|_| side)).to_vec());
    values.insert(SystemValue::NumWorkgroups, groups.map(|count| each(&|_| count)).to_vec());
    registers.set(&mut inputs, buffers);
    for z in 0..groups[2] {
        for y in 0..groups[1] {
            for x in 0..groups[0] {
                let group = [x, y, z];
                let values = &mut inputs.system_values;
                values.insert(SystemValue::WorkgroupId, group.map(|number| each(&|_| number)).to_vec());
                let global = [0, 1, 2].map(|axis| {
                    let (local, first) = (local(axis), group[axis].wrapping_mul(size[axis]));
                    each(&|lane| first.wrapping_add(local(lane)))
                });
                values.insert(SystemValue::GlobalInvocationId, global.to_vec());
                let outputs = program.run(&inputs, &mut registers.images(buffers))?;
                if registers.has_storage() {
                    registers.store(&outputs, buffers);
                    registers.set_storage(&mut inputs, buffers);
                }
            }
        }
    }
    Ok(())
}
