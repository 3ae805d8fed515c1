//! The sink that evaluates.

use arrayvec::ArrayVec;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::{self, AluOp, ExecutionMode};

use crate::{MAX, Sink};

/// A vector that is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Known {
    components: u8,
    bit_size: u8,
    /// Zero beyond the components.
    bits: [u64; MAX],
}

impl Known {
    /// A vector from the bits of its components.
    pub fn new(bit_size: u8, bits: &[u64]) -> Known {
        let mut known = Known { components: bits.len().min(MAX) as u8, bit_size, bits: [0; MAX] };
        for (target, &source) in known.bits.iter_mut().zip(bits) {
            *target = source;
        }
        known
    }

    /// The bits of the components.
    pub fn bits(&self) -> &[u64] {
        self.bits.get(..usize::from(self.components)).unwrap_or_default()
    }
}

/// Evaluates instructions.
pub struct Folder;

impl Sink for Folder {
    type Value = Known;

    fn components(&self, value: Known) -> u8 {
        value.components
    }

    fn bit_size(&self, value: Known) -> u8 {
        value.bit_size
    }

    fn constant(&mut self, bit_size: u8, bits: &[u64]) -> Known {
        Known::new(bit_size, bits)
    }

    fn alu(&mut self, op: AluOp, components: u8, sources: &[(Known, Swizzle)]) -> Known {
        let info = op.info();
        let components = if info.output_size == 0 { components } else { info.output_size };
        let values: ArrayVec<[u64; MAX], MAX> = sources
            .iter()
            .take(MAX)
            .map(|(value, swizzle)| {
                std::array::from_fn(|i| value.bits.get(usize::from(swizzle.get(i))).copied().unwrap_or(0))
            })
            .collect();
        let slices: ArrayVec<&[u64], MAX> = values
            .iter()
            .enumerate()
            .map(|(number, value)| {
                let count = usize::from(op.input_components(number, components)).min(MAX);
                value.get(..count).unwrap_or_default()
            })
            .collect();
        // As the builder: the first source of unsized type gives the bit size.
        let unsized_source = info.input_types.iter().zip(sources).find(|(ty, _)| ty.is_unsized());
        let bit_size = unsized_source.map_or(32, |(_, (value, _))| value.bit_size);
        let mut bits = [0; MAX];
        alu::evaluate(op, bit_size, components, &slices, ExecutionMode::DEFAULT, &mut bits);
        let bit_size = if info.output_type.is_unsized() { bit_size } else { info.output_type.bit_size };
        Known::new(bit_size, bits.get(..usize::from(components).min(MAX)).unwrap_or_default())
    }

    fn set_exact(&mut self, _: bool) -> bool {
        false
    }

    // A product that is added has the same value in one instruction and in two.
    fn factors(&self, _: Known) -> Option<[(Known, Swizzle); 2]> {
        None
    }

    // No instruction is replaced, but the forms are those of code that need not be exact.
    fn is_exact(&self) -> bool {
        false
    }
}
