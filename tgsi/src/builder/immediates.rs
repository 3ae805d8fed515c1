//! Immediates: values reuse existing ones, or are packed into their unused components.

use arrayvec::ArrayVec;

use super::{BuildError, MAX_OPERAND_INDEX, PendingImmediate, ShaderBuilder};
use crate::shader::{Register, Src};
use crate::tables::{File, ImmediateType};

/// How many existing immediates are tried when packing a vector.
const PACKING_CANDIDATES: usize = 8;

impl ShaderBuilder {
    /// Returns a source with one to four floats.
    pub fn immediate_f32(&mut self, values: &[f32]) -> Src {
        let words: ArrayVec<u32, 4> = values.iter().take(4).map(|v| v.to_bits()).collect();
        self.immediate_checked(ImmediateType::Float32, &words, values.len())
    }

    /// Returns a source with one to four unsigned integers.
    pub fn immediate_u32(&mut self, values: &[u32]) -> Src {
        self.immediate(ImmediateType::Uint32, values)
    }

    /// Returns a source with one or two doubles.
    pub fn immediate_f64(&mut self, values: &[f64]) -> Src {
        let words = values.iter().map(|v| v.to_bits());
        self.immediate_64(ImmediateType::Float64, words, values.len())
    }

    /// Returns a source with one or two unsigned 64-bit integers.
    pub fn immediate_u64(&mut self, values: &[u64]) -> Src {
        self.immediate_64(ImmediateType::Uint64, values.iter().copied(), values.len())
    }

    fn immediate_64(&mut self, data_type: ImmediateType, values: impl Iterator<Item = u64>, count: usize) -> Src {
        let words: ArrayVec<u32, 4> = values.take(2).flat_map(|v| [v as u32, (v >> 32) as u32]).collect();
        self.immediate_checked(data_type, &words, 2 * count)
    }

    /// Returns a source with the words of an immediate of type `data_type`: one to four, for 64-bit types two or four
    /// (low word first). Channels beyond the given words repeat the first value. Words are packed into existing
    /// immediates of the same type where they occur or still fit.
    pub fn immediate(&mut self, data_type: ImmediateType, words: &[u32]) -> Src {
        self.immediate_checked(data_type, words, words.len())
    }

    /// Whether one immediate of a 32-bit type has all of these words, so that [`immediate`](Self::immediate) allocates
    /// no components. Tries only a few of the immediates that contain the first word.
    pub fn has_immediate(&self, data_type: ImmediateType, words: &[u32]) -> bool {
        let Some(&first) = words.first() else { return false };
        let holders = self.immediate_values.get(&(data_type, u64::from(first))).into_iter().flatten();
        holders.take(PACKING_CANDIDATES).filter_map(|&position| self.immediates.get(position as usize)).any(|holder| {
            let held = holder.words.get(..holder.used).unwrap_or_default();
            words.iter().all(|word| held.contains(word))
        })
    }

    fn immediate_checked(&mut self, data_type: ImmediateType, words: &[u32], asked: usize) -> Src {
        let step = if data_type.is_64bit() { 2 } else { 1 };
        if words.is_empty() || asked > 4 || asked & (step - 1) != 0 {
            self.fail(BuildError::ImmediateSize(asked));
            return Src::new(Register::new(File::Immediate, 0));
        }
        let key = (data_type, words.iter().copied().collect::<ArrayVec<u32, 4>>());
        if let Some(&src) = self.immediate_vectors.get(&key) {
            return src;
        }
        let (position, swizzle) = self.pack(data_type, words, step);
        let src = Src::new(Register::new(File::Immediate, position as i32)).swizzled(swizzle);
        self.immediate_vectors.insert(key, src);
        src
    }

    /// Finds or allocates `words`, `step` words per value; returns the immediate and the swizzle.
    fn pack(&mut self, data_type: ImmediateType, words: &[u32], step: usize) -> (u32, [u8; 4]) {
        let value = |words: &[u32]| words.iter().rev().fold(0u64, |v, &w| v << 32 | u64::from(w));
        // Prefer immediates that already contain one of the values, then those with unused components. Only a few of
        // each are tried, because common values such as 0 would make this quadratic.
        let holders = self.immediate_values.get(&(data_type, value(&words[..step]))).into_iter().flatten();
        let open = self.open_immediates.get(&data_type).into_iter().flat_map(|open| open.iter().rev());
        let candidates = holders.take(PACKING_CANDIDATES).chain(open.take(PACKING_CANDIDATES));
        let found = candidates.copied().find_map(|position| {
            let pending = self.immediates.get(position as usize)?;
            fit(pending, words, step).map(|(after, used, swizzle)| (position, after, used, swizzle))
        });
        let (position, after, used, swizzle) = match found {
            Some(found) => found,
            None => {
                let empty = PendingImmediate { data_type, words: [0; 4], used: 0 };
                // Any four words fit into an empty immediate.
                let (after, used, swizzle) = fit(&empty, words, step).unwrap_or(([0; 4], 4, [0; 4]));
                let position = self.immediates.len() as u32;
                if position > MAX_OPERAND_INDEX {
                    self.fail(BuildError::TooManyRegisters(File::Immediate));
                    return (0, [0; 4]);
                }
                self.immediates.push(empty);
                self.open_immediates.entry(data_type).or_default().insert(position);
                (position, after, used, swizzle)
            }
        };
        let Some(pending) = self.immediates.get_mut(position as usize) else { return (0, [0; 4]) };
        let before = std::mem::replace(&mut pending.used, used);
        pending.words = after;
        for new in after[before.min(used)..used].chunks(step) {
            let holders = self.immediate_values.entry((data_type, value(new))).or_default();
            if holders.last() != Some(&position) {
                holders.push(position);
            }
        }
        if used == 4
            && before < 4
            && let Some(open) = self.open_immediates.get_mut(&data_type)
        {
            open.remove(&position);
        }
        (position, swizzle)
    }
}

/// Fits `words` (values of `step` words) into `pending`: each value is found in it or appended. Returns the resulting
/// words, the number of them in use, and the swizzle that selects the values; channels beyond them repeat the first.
fn fit(pending: &PendingImmediate, words: &[u32], step: usize) -> Option<([u32; 4], usize, [u8; 4])> {
    let (mut after, mut used) = (pending.words, pending.used);
    let mut swizzle = [0u8; 4];
    for (number, value) in words.chunks(step).enumerate() {
        let at = match (0..used).step_by(step).find(|&at| after.get(at..at + step) == Some(value)) {
            Some(at) => at,
            None => {
                let room = after.get_mut(used..used + step)?;
                room.copy_from_slice(value);
                used += step;
                used - step
            }
        };
        for word in 0..step {
            swizzle[number * step + word] = (at + word) as u8;
        }
    }
    let given = swizzle;
    for channel in words.len()..4 {
        swizzle[channel] = given[channel % step];
    }
    Some((after, used, swizzle))
}
