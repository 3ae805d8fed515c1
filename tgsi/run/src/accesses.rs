//! Reports the accesses of a run, for checks that a translation accesses nothing that its source does not.
//!
//! An observer hears of every access whose target depends on more than the instruction, lane by lane, for lanes that
//! execute: registers named by an index register, constants, memory, images and textures. Lanes that were killed go on
//! here for the sake of their neighbours, but need not do so elsewhere: nothing is heard of them. Runs without observer
//! pay one comparison for each such operand.

use tgsi_environment::{ImageTexel, TextureLookup, TextureRequest};

use super::machine::Machine;
use super::memory::Resource;
use super::program::{Address, Cell};
use tgsi::tables::{File, Opcode};

/// An access of one lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Access {
    /// The lane.
    pub lane: usize,
    /// Number of the instruction.
    pub instruction: usize,
    /// Its opcode.
    pub opcode: Opcode,
    /// The thing that is accessed.
    pub target: AccessTarget,
}

/// The target of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessTarget {
    /// A register.
    Register {
        /// Its file.
        file: File,
        /// Vertex, or constant buffer.
        outer: Option<i64>,
        /// Its number.
        index: i64,
        /// Whether it is declared, and in the array that the operand names; constants always are.
        exists: bool,
    },
    /// A word of memory: `BUFFER`, `MEMORY`, constants that are read as bytes (`CONST`), counters (`HWATOMIC`).
    Word {
        /// The kind of memory.
        file: File,
        /// Number of the buffer.
        unit: i64,
        /// Address in bytes, or the number of the counter.
        address: u64,
    },
    /// A texel that integers name: of an image (`IMAGE`), or of a texture (`SAMP`).
    Texel {
        /// `IMAGE` or `SAMP`.
        file: File,
        /// Image or texture.
        unit: u32,
        /// Its coordinates, and the sample or level.
        coordinates: [u32; 4],
    },
    /// A texture that is sampled; for sizes and handles the sampler is 0.
    Sample {
        /// The texture.
        texture: u32,
        /// The sampler.
        sampler: u32,
    },
    /// The size or handle of a resource.
    Query {
        /// The kind of resource.
        file: File,
        /// Its number.
        unit: i64,
    },
}

/// Called for every access of a run.
pub type AccessObserver<'a> = &'a mut dyn FnMut(Access);

impl Machine<'_> {
    /// Tells the observer, if there is one.
    pub(super) fn observe(&mut self, lane: usize, target: AccessTarget) {
        if let Some(observer) = &mut self.observer
            && self.killed[lane] == 0
            && let Some(op) = self.program.code.get(self.current)
        {
            observer(Access { lane, instruction: self.current, opcode: op.opcode, target });
        }
    }

    /// Tells the observer of a register of this cell in a lane.
    pub(super) fn observe_register(&mut self, address: &Address, cell: Cell, lane: usize) {
        if self.observer.is_none() || self.exec[lane] == 0 {
            return;
        }
        // Here a constant buffer is named, no register of it.
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

    /// Tells the observer of `count` words of what `resource` names, if that is memory.
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

    /// Tells the observer of a texel of an image.
    pub(super) fn observe_texel(&mut self, lane: usize, (unit, [x, y, z], sample): ImageTexel) {
        self.observe(lane, AccessTarget::Texel { file: File::Image, unit, coordinates: [x, y, z, sample] });
    }

    /// Tells the observer of a lookup.
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

    /// Tells the observer that sizes or handles of a resource are asked for.
    pub(super) fn observe_query(&mut self, lane: usize, file: File, unit: i64) {
        self.observe(lane, AccessTarget::Query { file, unit });
    }

    /// Tells the observer of `count` words of memory.
    fn observe_words(&mut self, lane: usize, file: File, unit: i64, start: u32, count: usize) {
        if self.observer.is_some() {
            for word in 0..count {
                let address = u64::from(start) + 4 * word as u64;
                self.observe(lane, AccessTarget::Word { file, unit, address });
            }
        }
    }
}
