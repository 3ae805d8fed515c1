//! The convention of targets without integers: integers declared at the interface of a source are floats.

use std::collections::BTreeMap;

use crate::{Inputs, LaneRegisters, Outputs, SystemValue, Vec4};

/// The key for all registers, or all constant buffers, where the index is dynamic.
pub const EVERY_REGISTER: u32 = u32::MAX;

/// The integers at the interface of a shader that a target without integers reads and writes as floats, as component
/// masks. System values that [are integers](is_integer) are floats there, too.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct InterfaceIntegers {
    /// By constant buffer and index in it.
    pub constants: BTreeMap<(u32, u32), u8>,
    /// By input register.
    pub inputs: BTreeMap<u32, u8>,
    /// By output register.
    pub outputs: BTreeMap<u32, u8>,
    /// The outputs that hold integers in some runs and floats in others, depending on an index or a condition.
    pub mixed_outputs: BTreeMap<u32, u8>,
}

/// Returns whether a system value holds integers, not floats or booleans.
pub fn is_integer(value: SystemValue) -> bool {
    use SystemValue::*;
    let is_float = matches!(
        value,
        FragCoord
            | PointCoord
            | SamplePos
            | TessCoord
            | TessLevelOuter
            | TessLevelInner
            | TessLevelOuterDefault
            | TessLevelInnerDefault
    );
    !is_float && value.bit_size() == 32
}

impl InterfaceIntegers {
    /// Replaces the words of constants and inputs that are integers. System values are unchanged.
    pub fn map_inputs(&self, inputs: &mut Inputs, change: impl Fn(u32) -> u32) {
        if !self.constants.is_empty() {
            for (buffer, words) in (0..).zip(&mut inputs.constants) {
                let (rows, _) = words.as_chunks_mut::<4>();
                for (index, row) in (0..).zip(rows) {
                    let keys = [buffer, EVERY_REGISTER].map(|buffer| [index, EVERY_REGISTER].map(|row| (buffer, row)));
                    let mask =
                        keys.iter().flatten().filter_map(|key| self.constants.get(key)).fold(0, |all, m| all | m);
                    map_components(row, mask, &change);
                }
            }
        }
        map_lanes(&mut inputs.inputs, &self.inputs, &change);
        inputs.vertices.iter_mut().for_each(|vertex| map_registers(vertex, &self.inputs, &change));
    }

    /// Converts inputs of the source to inputs of the target.
    pub fn to_floats(&self, inputs: &mut Inputs) {
        self.map_inputs(inputs, as_float);
        let values = inputs.system_values.iter_mut().filter(|(value, _)| is_integer(**value));
        values.flat_map(|(_, columns)| columns).flatten().for_each(|word| *word = as_float(*word));
    }

    /// Converts outputs of the target to outputs of the source. A float that is not a whole number stays unchanged, and
    /// so differs from every small integer, as do outputs that are [mixed](Self::mixed_outputs).
    pub fn to_integers(&self, outputs: &mut Outputs) {
        let always = |(&register, &mask): (&u32, &u8)| (register, mask & !mask_of(&self.mixed_outputs, register));
        let masks = self.outputs.iter().map(always).collect();
        map_lanes(&mut outputs.outputs, &masks, &as_integer);
        let vertices = outputs.vertices.iter_mut().chain(outputs.emitted.iter_mut().flatten().flatten());
        vertices.for_each(|vertex| map_registers(vertex, &masks, &as_integer));
    }

    /// Converts the words of [mixed](Self::mixed_outputs) outputs to integers where the source writes integers.
    pub fn mixed_to_integers(&self, outputs: &mut Outputs, source: &Outputs) {
        let masks = &self.mixed_outputs;
        if masks.is_empty() {
            return;
        }
        let convert = |word: &mut u32, wanted: u32| {
            if as_integer(*word) == wanted {
                *word = wanted;
            }
        };
        for register in 0..outputs.outputs.len().min(source.outputs.len()) {
            let mask = mask_of(masks, register as u32);
            for component in (0..4).filter(|c| mask >> c & 1 != 0) {
                let wanted = source.outputs.component(register, component);
                let words = outputs.outputs.component_mut(register, component).iter_mut();
                words.zip(wanted).for_each(|(word, &wanted)| convert(word, wanted));
            }
        }
        let vertices = outputs.vertices.iter_mut().zip(&source.vertices);
        let streams = outputs.emitted.iter_mut().zip(&source.emitted);
        let primitives = streams.flat_map(|(ours, wanted)| ours.iter_mut().zip(wanted));
        let emitted = primitives.flat_map(|(ours, wanted)| ours.iter_mut().zip(wanted));
        for (vertex, wanted) in vertices.chain(emitted) {
            for (register, (words, wanted)) in (0..).zip(vertex.iter_mut().zip(wanted)) {
                let mask = mask_of(masks, register);
                let components = words.iter_mut().zip(wanted).enumerate().filter(|(c, _)| mask >> c & 1 != 0);
                components.for_each(|(_, (word, &wanted))| convert(word, wanted));
            }
        }
    }
}

fn as_float(word: u32) -> u32 {
    (word as i32 as f32).to_bits()
}

fn as_integer(word: u32) -> u32 {
    let float = f32::from_bits(word);
    let integer = float as i32;
    if integer as f32 == float { integer as u32 } else { word }
}

/// Returns the components of a register that are integers: its own mask and the mask of every register, which may
/// overlap.
fn mask_of(masks: &BTreeMap<u32, u8>, register: u32) -> u8 {
    [register, EVERY_REGISTER].iter().filter_map(|key| masks.get(key)).fold(0, |all, mask| all | mask)
}

fn map_components(words: &mut Vec4, mask: u8, change: &impl Fn(u32) -> u32) {
    words.iter_mut().enumerate().filter(|(c, _)| mask >> c & 1 != 0).for_each(|(_, word)| *word = change(*word));
}

fn map_registers(registers: &mut [Vec4], masks: &BTreeMap<u32, u8>, change: &impl Fn(u32) -> u32) {
    if !masks.is_empty() {
        (0..).zip(registers).for_each(|(register, words)| map_components(words, mask_of(masks, register), change));
    }
}

fn map_lanes(file: &mut LaneRegisters, masks: &BTreeMap<u32, u8>, change: &impl Fn(u32) -> u32) {
    let registers = if masks.is_empty() { 0 } else { file.len() };
    for register in 0..registers {
        let mask = mask_of(masks, register as u32);
        for component in (0..4).filter(|c| mask >> c & 1 != 0) {
            file.component_mut(register, component).iter_mut().for_each(|word| *word = change(*word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_floats_and_integers_again() {
        let integers = InterfaceIntegers {
            // Overlapping entries must convert a word only once.
            constants: [((0, 1), 0b0010), ((0, EVERY_REGISTER), 0b0010), ((EVERY_REGISTER, 1), 0b0010)].into(),
            inputs: [(EVERY_REGISTER, 0b0001), (1, 0b0001)].into(),
            outputs: [(0, 0b0101), (7, 0xf)].into(),
            mixed_outputs: BTreeMap::new(),
        };
        let mut inputs = Inputs { lanes: 4, inputs: LaneRegisters::new(4, 2), ..Inputs::default() };
        inputs.constants = vec![vec![3; 8], vec![3; 8]];
        inputs.vertices = vec![vec![[5; 4]; 2]];
        inputs.inputs.set(1, 0, 2, -7i32 as u32);
        inputs.system_values.insert(SystemValue::InstanceId, vec![vec![2; 4]]);
        inputs.system_values.insert(SystemValue::FrontFace, vec![vec![u32::MAX; 4]]);
        integers.to_floats(&mut inputs);
        let three = 3f32.to_bits();
        let second = vec![3, 3, 3, 3, 3, three, 3, 3];
        assert_eq!(inputs.constants, [vec![3, three, 3, 3, 3, three, 3, 3], second]);
        assert_eq!(inputs.vertices, [vec![[5f32.to_bits(), 5, 5, 5]; 2]]);
        assert_eq!(inputs.inputs.component(1, 0), [0, 0, (-7f32).to_bits(), 0]);
        assert_eq!(inputs.system_values[&SystemValue::InstanceId], [vec![2f32.to_bits(); 4]]);
        assert_eq!(inputs.system_values[&SystemValue::FrontFace], [vec![u32::MAX; 4]]);

        let mut outputs = Outputs { outputs: LaneRegisters::new(1, 1), ..Outputs::default() };
        for (component, value) in [-1.0f32, -1.0, 2.5, 2.5].into_iter().enumerate() {
            outputs.outputs.set(0, component, 0, value.to_bits());
        }
        integers.to_integers(&mut outputs);
        let found: Vec<u32> = (0..4).map(|component| outputs.outputs.get(0, component, 0)).collect();
        assert_eq!(found, [u32::MAX, (-1f32).to_bits(), 2.5f32.to_bits(), 2.5f32.to_bits()]);
        assert_eq!(outputs.outputs.len(), 1);
    }

    #[test]
    fn mixed_outputs_are_what_the_source_writes() {
        let integers = InterfaceIntegers {
            outputs: [(0, 0b0111)].into(),
            mixed_outputs: [(0, 0b0110)].into(),
            ..InterfaceIntegers::default()
        };
        let outputs = |words: [u32; 4]| {
            let mut outputs = Outputs { outputs: LaneRegisters::new(1, 1), ..Outputs::default() };
            (0..).zip(words).for_each(|(component, word)| outputs.outputs.set(0, component, 0, word));
            outputs.vertices = vec![vec![words]];
            outputs
        };
        let one = 1f32.to_bits();
        let mut found = outputs([one; 4]);
        integers.to_integers(&mut found);
        assert_eq!(found.vertices, [[[1, one, one, one]]]);
        integers.mixed_to_integers(&mut found, &outputs([2, 1, one, 1]));
        assert_eq!(found.vertices, [[[1, 1, one, one]]]);
        assert_eq!([0, 1, 2, 3].map(|c| found.outputs.get(0, c, 0)), [1, 1, one, one]);
    }
}
