//! Images.
//!
//! Coordinates are signed numbers of 16 bits: x, y and z with the layer after the last dimension, and the sample in w.
//! The address of a texel is [`IMAGES`] and sixteen times the number of the texel in the order of their first use, so
//! that atomic operations on 32 bits at this address read and write the first component.

use std::collections::HashMap;

use tgsi_environment::{ImageTexel, SamplerDim};

use super::environment::Surroundings;
use super::memory::{IMAGES, split};
use super::system::Tables;
use crate::program::{Dimensions, Texture};
use crate::simulator::ImageAccess;

/// The bytes of a texel in the range of addresses.
const TEXEL: u32 = 16;

/// The texels with an address.
#[derive(Default)]
pub(super) struct Texels {
    list: Vec<ImageTexel>,
    numbers: HashMap<ImageTexel, u32>,
}

impl Texels {
    /// The address of a texel.
    fn address(&mut self, texel: ImageTexel) -> u64 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(texel).or_insert(next);
        if number == next {
            self.list.push(texel);
        }
        (u64::from(IMAGES) << 48) + u64::from(number) * u64::from(TEXEL)
    }

    /// The texel at an address, and the byte in the texel.
    fn at(&self, address: u64) -> Option<(ImageTexel, usize)> {
        let (IMAGES, 0, offset) = split(address) else { return None };
        Some((*self.list.get((offset / TEXEL) as usize)?, (offset % TEXEL) as usize))
    }
}

impl Surroundings<'_, '_> {
    /// The texel of an access. `None` if the program lists no image.
    pub(super) fn texel(&self, access: &ImageAccess) -> Option<ImageTexel> {
        let &Texture { dimensions, is_array, .. } = Tables::listed(&self.tables.images, access.image)?;
        let [x, y, z, w] = access.coordinates.map(|word| word as u16 as i16 as u32);
        let count = usize::from(SamplerDim::from(dimensions).num_coords()) + usize::from(is_array);
        let mut coordinates = [x, y, z];
        coordinates.iter_mut().skip(count).for_each(|coordinate| *coordinate = 0);
        Some((access.image, coordinates, if dimensions == Dimensions::Multisampled { w } else { 0 }))
    }

    /// The address of the texel of an access: 0, where there is no memory, for an image that does not exist.
    pub(super) fn texel_address(&mut self, access: &ImageAccess) -> u64 {
        self.texel(access).map_or(0, |texel| self.texels.address(texel))
    }

    /// Loads bytes of a texel. Returns `None` if there is no texel at the address.
    pub(super) fn load_texel(&mut self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let (texel, first) = self.texels.at(address)?;
        let value = u128_of(self.resources.image_load(texel)).to_le_bytes();
        bytes.copy_from_slice(value.get(first..first + bytes.len())?);
        Some(())
    }

    /// Stores bytes to a texel. Returns `None` if there is no texel at the address.
    pub(super) fn store_texel(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        let (texel, first) = self.texels.at(address)?;
        let mut value = u128_of(self.resources.image_load(texel)).to_le_bytes();
        value.get_mut(first..first + bytes.len())?.copy_from_slice(bytes);
        let bits = u128::from_le_bytes(value);
        self.resources.image_store(texel, [0, 32, 64, 96].map(|low| (bits >> low) as u32));
        Some(())
    }
}

/// The bits of four words, the first in the lowest bits.
fn u128_of(words: [u32; 4]) -> u128 {
    words.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word))
}
