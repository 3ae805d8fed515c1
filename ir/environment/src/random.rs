//! Pseudo-random numbers for generated inputs of runs and generated programs.
//!
//! The sequence of a seed never changes, on any machine or in any version, so that a seed in a report or a test remains
//! reproducible.

/// A pseudo-random number generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Makes a generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers for seed 0, as published with the algorithm.
    #[test]
    fn a_seed_keeps_its_meaning() {
        let mut random = Random::new(0);
        let numbers = [random.bits(), random.bits(), random.bits()];
        assert_eq!(numbers, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }
}
