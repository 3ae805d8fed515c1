//! The register file of fragment programs.

use super::half;
use crate::isa::Mask;
use crate::isa::fragment::Register;

/// The registers of a fragment. R and H registers share their bits; numbers out of range read as zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers([[u32; 4]; 48]);

impl Default for Registers {
    fn default() -> Registers {
        Registers([[0; 4]; 48])
    }
}

/// The word and the shift of a component of an H register.
fn place(number: u8, component: usize) -> (usize, usize, u32) {
    let word = usize::from(number & 1) * 2 + component / 2;
    (usize::from(number / 2), word, component as u32 % 2 * 16)
}

impl Registers {
    /// Returns the value of a register.
    pub fn get(&self, register: Register) -> [f32; 4] {
        match register {
            Register::R(number) => self.bits(number).map(f32::from_bits),
            Register::H(number) => [0, 1, 2, 3].map(|component| {
                let (row, word, shift) = place(number, component);
                half::to_float((self.0.get(row).map_or(0, |words| words[word]) >> shift) as u16)
            }),
        }
    }

    /// Returns the bits of an R register.
    pub fn bits(&self, number: u8) -> [u32; 4] {
        self.0.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// Writes components of a register. Values for H registers are converted.
    pub fn set(&mut self, register: Register, values: [f32; 4], mask: Mask) {
        for component in (0..4).filter(|&component| mask.has(component)) {
            let value = values[component];
            match register {
                Register::R(number) => {
                    if let Some(words) = self.0.get_mut(usize::from(number)) {
                        words[component] = value.to_bits();
                    }
                }
                Register::H(number) => {
                    let (row, word, shift) = place(number, component);
                    if let Some(words) = self.0.get_mut(row) {
                        let half = u32::from(half::from_float(value));
                        words[word] = words[word] & !(0xffff << shift) | half << shift;
                    }
                }
            }
        }
    }
}
