//! Random choices.

/// A source of choices (SplitMix64).
pub struct Choice(u64);

impl Choice {
    pub fn new(seed: u64) -> Choice {
        Choice(seed)
    }

    pub fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as u32
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.bits() % limit
    }

    pub fn is(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }

    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Choice) -> T) -> Option<T> {
        self.is().then(|| value(self))
    }
}
