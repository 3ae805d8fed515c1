//! Random choices.

use tgsi_driver_nv40::isa::{Chip, Condition, Mask, Predicate, Swizzle};
use tgsi_environment::Random;

/// A source of choices.
pub struct Choice(Random);

impl Choice {
    pub fn new(seed: u64) -> Choice {
        Choice(Random::new(seed))
    }

    pub fn bits(&mut self) -> u32 {
        self.0.bits() as u32
    }

    pub fn words(&mut self) -> [u32; 4] {
        [0; 4].map(|_| self.bits())
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.bits() as usize % limit
    }

    pub fn is(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    pub fn chip(&mut self) -> Chip {
        self.of(&Chip::ALL)
    }

    pub fn mask(&mut self) -> Mask {
        Mask(self.below(16) as u8)
    }

    pub fn swizzle(&mut self) -> Swizzle {
        Swizzle([0; 4].map(|_| self.below(4) as u8))
    }

    pub fn predicate(&mut self, registers: u8) -> Predicate {
        Predicate {
            register: self.below(registers.into()) as u8,
            condition: Condition(self.below(8) as u8),
            swizzle: self.swizzle(),
        }
    }
}
