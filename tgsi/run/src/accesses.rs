//! Reports the accesses of a run, to check that a translation makes no access that its source does not make.
//!
//! An observer is called for every access with a target that depends on more than the instruction, for each executing
//! lane: registers with an indirect index, constants, memory, images and textures. Killed lanes continue here for the
//! derivatives of their neighbours but need not do so elsewhere, so their accesses are not reported. Runs without an
//! observer pay one comparison for each such operand.

use tgsi_environment::{ImageTexel, TextureLookup, TextureRequest};

use super::machine::Machine;
use super::memory::Resource;
use super::program::{Address, Cell};
use tgsi::tables::{File, Opcode};

/// An access of one lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneAccess {
    /// The lane.
    pub lane: usize,
    /// Number of the instruction.
    pub instruction: usize,
    /// Its opcode.
    pub opcode: Opcode,
    /// The target of the access.
    pub target: AccessTarget,
}

/// The target of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessTarget {
    /// A register.
    Register {
        /// The file.
        file: File,
        /// The vertex, or the constant buffer.
        outer: Option<i64>,
        /// The number.
        index: i64,
        /// Whether it is declared, and in the array that the operand names. Always true for constants.
        exists: bool,
    },
    /// A word of memory: `BUFFER`, `MEMORY`, constants read as bytes (`CONST`), counters (`HWATOMIC`).
    Word {
        /// The kind of memory.
        file: File,
        /// Number of the buffer.
        unit: i64,
        /// Address in bytes, or the number of the counter.
        address: u64,
    },
    /// A texel addressed by integers, of an image (`IMAGE`) or a texture (`SAMP`).
    Texel {
        /// `IMAGE` or `SAMP`.
        file: File,
        /// The image or texture.
        unit: u32,
        /// The coordinates, and the sample or level.
        coordinates: [u32; 4],
    },
    /// A sampled texture. The sampler is 0 for sizes and handles.
    Sample {
        /// The texture.
        texture: u32,
        /// The sampler.
        sampler: u32,
    },
    /// A query of the size or handle of a resource.
    Query {
        /// The kind of resource.
        file: File,
        /// The number of the resource.
        unit: i64,
    },
}

/// Called for every access of a run.
pub type AccessObserver<'a> = &'a mut dyn FnMut(LaneAccess);

impl Machine<'_> {
    /// Reports an access to the observer, if there is one.
    pub(super) fn observe(&mut self, lane: usize, target: AccessTarget) {
        if let Some(observer) = &mut self.observer
            && self.killed[lane] == 0
            && let Some(op) = self.program.code.get(self.current)
        {
            observer(LaneAccess { lane, instruction: self.current, opcode: op.opcode, target });
        }
    }

    /// Reports a register access of a lane.
    pub(super) fn observe_register(&mut self, address: &Address, cell: Cell, lane: usize) {
        if self.observer.is_none() || self.exec[lane] == 0 {
            return;
        }
        // The operand names a constant buffer, not one of its registers.
        if matches!(self.program.code.get(self.current), Some(op) if matches!(op.opcode, Opcode::Load | Opcode::Resq)) {
            return;
        }
        let (index, outer) = self.resource_number(address, lane);
        let target = AccessTarget::Register {
            file: address.file,
            outer: address.outer.map(|_| i64::from(outer)),
            index: i64::from(index),
            exists: cell != Cell::Nowhere,
        };
        self.observe(lane, target);
    }

    /// Reports accesses to `count` words of `resource`, if it is memory.
    pub(super) fn observe_memory(&mut self, lane: usize, resource: Resource, start: u32, count: usize) {
        let (file, unit) = match resource {
            Resource::Buffer(number) => (File::Buffer, number as i64),
            Resource::Shared => (File::Memory, 0),
            Resource::Constants(number) => (File::Constant, number as i64),
            Resource::Counter(buffer, counter) => {
                let address = u64::from((counter as u32).wrapping_add(start));
                return self
                    .observe(lane, AccessTarget::Word { file: File::HwAtomic, unit: i64::from(buffer), address });
            }
            Resource::Image(_) | Resource::Nothing => return,
        };
        self.observe_words(lane, file, unit, start, count);
    }

    /// Reports an access to a texel of an image.
    pub(super) fn observe_texel(&mut self, lane: usize, (unit, [x, y, z], sample): ImageTexel) {
        self.observe(lane, AccessTarget::Texel { file: File::Image, unit, coordinates: [x, y, z, sample] });
    }

    /// Reports a texture lookup.
    pub(super) fn observe_lookup(&mut self, quad: usize, request: &TextureRequest) {
        if self.observer.is_none() {
            return;
        }
        for number in 0..4 {
            let lane = quad + number;
            if self.exec.get(lane).is_none_or(|&executes| executes == 0) {
                continue;
            }
            let unit = request.texture;
            let to = if request.lookup == TextureLookup::Fetch {
                let [x, y, z, _] = request.coordinate.map(|words| words[number]);
                let coordinates = [x, y, z, request.lod[number]];
                AccessTarget::Texel { file: File::Sampler, unit, coordinates }
            } else {
                AccessTarget::Sample { texture: unit, sampler: request.sampler }
            };
            self.observe(lane, to);
        }
    }

    /// Reports a query of the size or handle of a resource.
    pub(super) fn observe_query(&mut self, lane: usize, file: File, unit: i64) {
        self.observe(lane, AccessTarget::Query { file, unit });
    }

    /// Reports accesses to `count` words of memory.
    fn observe_words(&mut self, lane: usize, file: File, unit: i64, start: u32, count: usize) {
        if self.observer.is_some() {
            for word in 0..count {
                let address = u64::from(start) + 4 * word as u64;
                self.observe(lane, AccessTarget::Word { file, unit, address });
            }
        }
    }
}
