//! System values: words that the inputs specify for each lane.

use tgsi_environment::SystemValue;
use tgsi_environment::{Inputs, SUBGROUP_SIZE};
use tgsi_ir::intrinsics::IntrinsicOp;

use crate::Replacement;
use crate::layout::{Header, SystemSlot};

impl Replacement<'_> {
    pub(crate) fn lift_system_value(&mut self) -> Result<(), &'static str> {
        if !is_known(self.op) {
            return Err(self.op.name());
        }
        let shape = self.shape();
        let component = u32::from(self.shader.main().component(self.inst));
        let slot = SystemSlot { op: self.op, component, components: shape.num_components, bit_size: shape.bit_size };
        let first = self.layout.system_word(slot);
        let mut code = self.code();
        let value = code.compose(shape, |code, number| {
            let row = code.frame.row_bytes;
            let distance = code.mul_word(row, first + number);
            let place = code.lane_address(Header::SystemValues);
            let address = code.add(place, distance);
            code.load(address)
        });
        self.replace(value);
        Ok(())
    }
}

/// Returns whether the inputs of a run specify the value that the intrinsic loads.
fn is_known(op: IntrinsicOp) -> bool {
    use IntrinsicOp as I;
    let derived = matches!(
        op,
        I::LoadFragCoordZw
            | I::LoadPixelCoord
            | I::LoadFrontFaceFsign
            | I::LoadWorkgroupIndex
            | I::LoadGlobalSize
            | I::LoadGlobalInvocationIndex
            | I::LoadIsIndexedDraw
            | I::LoadBaseWorkgroupId
            | I::LoadBaseGlobalInvocationId
            | I::LoadNumSubgroups
            | I::LoadSubgroupId
    );
    derived || op.system_value().is_some()
}

/// Returns a component of a system value in a lane, as the interpreter computes it.
pub(crate) fn value(inputs: &Inputs, slot: &SystemSlot, component: usize, lane: usize) -> u64 {
    use IntrinsicOp as I;
    use SystemValue as S;
    let word = |value, number| word(inputs, value, number, lane);
    let global_size = |dimension| word(S::NumWorkgroups, dimension).wrapping_mul(word(S::WorkgroupSize, dimension));
    let bits = match slot.op {
        I::LoadFragCoordZw => word(S::FragCoord, slot.component as usize & 3).into(),
        I::LoadPixelCoord => u64::from(f32::from_bits(word(S::FragCoord, component)) as u16),
        I::LoadFrontFaceFsign => {
            let front = word(S::FrontFace, 0) != 0;
            (if front { 1f32 } else { -1f32 }).to_bits().into()
        }
        I::LoadWorkgroupIndex => {
            let (id, count) = (|n| word(S::WorkgroupId, n), |n| word(S::NumWorkgroups, n));
            let rows = id(2).wrapping_mul(count(1)).wrapping_add(id(1));
            rows.wrapping_mul(count(0)).wrapping_add(id(0)).into()
        }
        I::LoadGlobalSize => global_size(component).into(),
        I::LoadGlobalInvocationIndex => {
            let id = |n| u64::from(word(S::GlobalInvocationId, n));
            let rows = id(2).wrapping_mul(global_size(1).into()).wrapping_add(id(1));
            rows.wrapping_mul(global_size(0).into()).wrapping_add(id(0))
        }
        I::LoadIsIndexedDraw => truth(word(S::BaseVertex, 0) == word(S::FirstVertex, 0)),
        I::LoadBaseWorkgroupId | I::LoadBaseGlobalInvocationId => 0,
        I::LoadNumSubgroups => inputs.lanes.div_ceil(SUBGROUP_SIZE) as u64,
        I::LoadSubgroupId => (lane / SUBGROUP_SIZE) as u64,
        op => {
            let Some(value) = op.system_value() else { return 0 };
            let masks = [S::SubgroupEqMask, S::SubgroupGeMask, S::SubgroupGtMask, S::SubgroupLeMask, S::SubgroupLtMask];
            let wide = slot.bit_size == 64 && (masks.contains(&value) || value.bit_size() == 64);
            let each = if wide { 2 } else { 1 };
            let bits = u64::from(word(value, component * each));
            match (wide, value.bit_size()) {
                (true, _) => bits | u64::from(word(value, component * each + 1)) << 32,
                (_, 1) => truth(bits != 0),
                _ => bits,
            }
        }
    };
    match slot.bit_size {
        64 => bits,
        size => bits & ((1 << size) - 1),
    }
}

fn truth(truth: bool) -> u64 {
    if truth { u64::MAX } else { 0 }
}

/// Returns a word of a system value; some are derived from others if they are not specified.
fn word(inputs: &Inputs, value: SystemValue, number: usize, lane: usize) -> u32 {
    use SystemValue as S;
    let given = |value: SystemValue, number: usize| {
        let words = inputs.system_values.get(&value)?;
        Some(words.get(number).and_then(|lanes| lanes.get(lane)).copied().unwrap_or(0))
    };
    if let Some(word) = given(value, number) {
        return word;
    }
    let other = |value, number| given(value, number).unwrap_or(0);
    match (value, number) {
        (S::LocalInvocationIndex, 0) => {
            let (size, id) = (|n| other(S::WorkgroupSize, n), |n| other(S::LocalInvocationId, n));
            let rows = id(2).wrapping_mul(size(1)).wrapping_add(id(1));
            rows.wrapping_mul(size(0)).wrapping_add(id(0))
        }
        (S::GlobalInvocationId, 0..=2) => {
            let groups = other(S::WorkgroupId, number).wrapping_mul(other(S::WorkgroupSize, number));
            groups.wrapping_add(other(S::LocalInvocationId, number))
        }
        _ => 0,
    }
}
