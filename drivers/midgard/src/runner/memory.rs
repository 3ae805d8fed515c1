//! Memory with 64-bit addresses.
//!
//! | bits 48 to 63 | bits 32 to 47 | memory |
//! |---|---|---|
//! | 0 | n + 1 | storage buffer n |
//! | 1 | n + 1 | hardware atomic counters of buffer n |
//! | 2 | 0 | storage of the thread: each thread has its own at the same addresses |
//! | 3 | 1 | storage of the workgroup |
//! | 4 | 0 | texels of images, see [`image`](super::image) |
//!
//! The lower 32 bits are the offset, so that all offsets of 32 bits from the start of a buffer are in its range of
//! addresses. A load gives those words that exist and zeros, and a store writes those words that exist. This includes
//! buffers that do not exist, and those with number 0 in bits 32 to 47. Other addresses are invalid.

use tgsi_environment::Inputs;

/// The kinds of memory, in bits 48 to 63.
const STORAGE: u16 = 0;
const COUNTERS: u16 = 1;
const THREAD: u16 = 2;
const WORKGROUP: u16 = 3;
pub(super) const IMAGES: u16 = 4;

/// The storage of a thread.
pub(super) const THREAD_STORAGE: u64 = (THREAD as u64) << 48;
/// The storage of a workgroup.
pub(super) const WORKGROUP_STORAGE: u64 = (WORKGROUP as u64) << 48 | 1 << 32;

/// Whether an address is in the storage of a thread.
pub(super) fn is_thread_storage(address: u64) -> bool {
    address >> 48 == u64::from(THREAD)
}

/// The address of a storage buffer.
pub(super) fn storage_buffer(number: u32) -> u64 {
    (u64::from(number & 0xffff) + 1) << 32
}

/// The address of a buffer of counters.
pub(super) fn counters(number: u32) -> u64 {
    storage_buffer(number) | u64::from(COUNTERS) << 48
}

/// Splits an address into the kind of memory, the number and the offset.
pub(super) fn split(address: u64) -> (u16, u16, u32) {
    ((address >> 48) as u16, (address >> 32) as u16, address as u32)
}

/// The memory of a run.
pub(super) struct Memory {
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) counters: Vec<Vec<u8>>,
    pub(super) workgroup: Vec<u8>,
    /// The storage of all threads.
    threads: Vec<u8>,
    /// The bytes of storage of a thread.
    stack: usize,
}

impl Memory {
    /// The memory at the start, with `stack` bytes for each thread and at least `shared` bytes for the workgroup.
    pub(super) fn new(inputs: &Inputs, stack: u32, shared: u32) -> Memory {
        let stack = stack as usize;
        let bytes = |words: &Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Memory {
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.iter().map(bytes).collect(),
            workgroup: vec![0; inputs.shared_size.max(shared as usize)],
            threads: vec![0; stack.saturating_mul(inputs.lanes)],
            stack,
        }
    }

    /// The bytes of the memory at an address, and the offset of the address. `None` if the address is invalid.
    fn at(&mut self, lane: usize, address: u64) -> Option<(&mut [u8], usize)> {
        let (kind, number, offset) = split(address);
        let numbered = |list| -> Option<&mut [u8]> {
            let list: &mut Vec<Vec<u8>> = list;
            let bytes = usize::from(number).checked_sub(1).and_then(|number| list.get_mut(number));
            Some(bytes.map_or(&mut [], Vec::as_mut_slice))
        };
        let bytes = match kind {
            STORAGE => numbered(&mut self.buffers),
            COUNTERS => numbered(&mut self.counters),
            THREAD if number == 0 => {
                let start = lane.saturating_mul(self.stack);
                Some(self.threads.get_mut(start..start.saturating_add(self.stack)).unwrap_or_default())
            }
            WORKGROUP if number == 0 => Some(&mut [][..]),
            WORKGROUP if number == 1 => Some(self.workgroup.as_mut_slice()),
            _ => None,
        };
        Some((bytes?, offset as usize))
    }

    /// Loads bytes. Returns false if the address is invalid.
    pub(super) fn load(&mut self, lane: usize, address: u64, bytes: &mut [u8]) -> bool {
        let Some((memory, offset)) = self.at(lane, address) else { return false };
        for (word, bytes) in bytes.chunks_mut(4).enumerate() {
            let start = offset.saturating_add(word * 4);
            match memory.get(start..start.saturating_add(bytes.len())) {
                Some(found) => bytes.copy_from_slice(found),
                None => bytes.fill(0),
            }
        }
        true
    }

    /// Stores bytes. Returns false if the address is invalid.
    pub(super) fn store(&mut self, lane: usize, address: u64, bytes: &[u8]) -> bool {
        let Some((memory, offset)) = self.at(lane, address) else { return false };
        for (word, bytes) in bytes.chunks(4).enumerate() {
            let start = offset.saturating_add(word * 4);
            if let Some(target) = memory.get_mut(start..start.saturating_add(bytes.len())) {
                target.copy_from_slice(bytes);
            }
        }
        true
    }
}

/// The words of bytes.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()
}
