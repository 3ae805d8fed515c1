//! Instructions that do the same to values of their own are put into one, their values into one temporary.
//!
//! ```text
//! UADD TEMP[4].x, CONST[0][0].xxxx, IMM[0].xxxx        UADD TEMP[4].xy, CONST[0][0].xxxx, IMM[0].xyxx
//! I2F TEMP[5].x, TEMP[4].xxxx                    =>    I2F TEMP[5].xy, TEMP[4].xyxx
//! UADD TEMP[6].x, CONST[0][0].xxxx, IMM[0].yyyy        ... TEMP[4].yyyy for TEMP[6].xxxx, TEMP[5].yyyy for TEMP[7].xxxx
//! I2F TEMP[7].x, TEMP[6].xxxx
//! ```
//!
//! Only temporaries that one instruction writes take part, and whose components may stand anywhere. Operands must be the same registers (or constants),
//! so that what is put together are components of vectors that something took apart. The later instruction moves up to the earlier one.

use std::hash::{Hash, Hasher};

use tgsi::shader::{Instruction, Register};
use tgsi::tables::File;

use super::allocate::{Freedom, freedoms};
use super::merge::{merged, with_new_rows};
use super::tracker::Tracker;
use crate::machine::Program;
use crate::machine::access::{Access, Traits};
use crate::machine::flow::block_from;
use crate::machine::hash::FastHasher;
use crate::machine::operands::is_immediate_value;

/// How far an instruction may move.
const WINDOW: usize = 48;

/// No place.
const NONE: u32 = u32::MAX;

/// The places with operations that may be equal: of each bucket the last, and for each place the one before.
struct Chains {
    last: Vec<u32>,
    before: Vec<u32>,
    hashes: Vec<u32>,
}

impl Chains {
    fn new(places: usize) -> Chains {
        // More buckets than places within reach would not make the chains shorter.
        let buckets = places.next_power_of_two().clamp(16, 4 * WINDOW.next_power_of_two());
        Chains { last: vec![NONE; buckets], before: vec![NONE; places], hashes: vec![0; places] }
    }

    fn bucket(&mut self, hash: u32) -> &mut u32 {
        let mask = self.last.len() - 1;
        &mut self.last[hash as usize & mask]
    }

    fn insert(&mut self, place: usize, hash: u32) {
        self.hashes[place] = hash;
        self.before[place] = std::mem::replace(self.bucket(hash), place as u32);
    }
}

/// Hash of the opcode and the operands, but for swizzles and the words of immediates.
fn hash(instruction: &Instruction) -> u32 {
    let mut hasher = FastHasher::default();
    let flags = u64::from(instruction.saturate) | u64::from(instruction.precise) << 1;
    hasher.mix(instruction.opcode as u64 | flags << 8);
    for (number, src) in instruction.src.iter().enumerate() {
        let register = &src.register;
        if is_immediate_value(instruction.opcode, number, src) {
            hasher.mix(u64::MAX);
            continue;
        }
        let flags = u64::from(src.absolute) | u64::from(src.negate) << 1;
        hasher.mix(register.file as u64 | flags << 8 | u64::from(register.index as u32) << 16);
        if register.indirect.is_some() || register.dimension.is_some() {
            (register.indirect, register.dimension).hash(&mut hasher);
        }
    }
    hasher.finish() as u32
}

/// Where the components of the temporaries have gone that were put into others.
struct Renames {
    places: Vec<Option<(i32, [u8; 4])>>,
    count: usize,
}

impl Renames {
    fn concerns(&self, access: &Access) -> bool {
        self.count != 0 && access.reads().iter().any(|r| r.temp().is_some_and(|t| self.places[t].is_some()))
    }

    /// Renames what an instruction reads.
    fn apply(&self, program: &mut Program, place: usize) {
        if !self.concerns(&program.access[place]) {
            return;
        }
        let first_temp = program.first_temp;
        let new = |file: File, index: i32| {
            let temp = u32::try_from(index).ok()?.checked_sub(first_temp).filter(|_| file == File::Temporary)?;
            self.places.get(temp as usize).copied().flatten()
        };
        program.edit(place, |instruction| {
            for src in &mut instruction.src {
                if src.register.indirect.is_none()
                    && let Some((index, places)) = new(src.register.file, src.register.index)
                {
                    src.register.index = index;
                    src.swizzle = src.swizzle.map(|c| places[usize::from(c & 3)]);
                }
            }
            for offset in instruction.texture.iter_mut().flat_map(|t| &mut t.offsets) {
                if let Some((index, places)) = new(offset.file, offset.index) {
                    offset.index = index;
                    offset.swizzle = offset.swizzle.map(|c| places[usize::from(c & 3)]);
                }
            }
        });
    }
}

/// Puts instructions together. Returns whether anything changed.
pub(crate) fn vectorize(program: &mut Program) -> bool {
    let freedom = freedoms(program);
    let mut has_writer = vec![false; program.temps()];
    let mut is_own: Vec<bool> = freedom.iter().map(|&freedom| freedom == Freedom::Any).collect();
    for temp in program.access.iter().filter_map(|a| a.written()?.temp()) {
        is_own[temp] &= !has_writer[temp];
        has_writer[temp] = true;
    }
    // The temporary that an instruction alone writes, and the components.
    let own = |access: &Access| {
        let written = access.written().filter(|_| access.traits.any(Traits::COMPONENTWISE))?;
        let temp = written.temp()?;
        is_own[temp].then_some((temp, written.mask()))
    };
    let mut renames = Renames { places: vec![None; program.temps()], count: 0 };
    let mut dead: Vec<bool> = Vec::new();
    let mut tracker = Tracker::new(program);
    let mut chains = Chains::new(program.instructions.len());
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        'places: for place in block.clone() {
            renames.apply(program, place);
            let Some((temp, mask)) = own(&program.access[place]) else {
                tracker.record(&program.access[place], place);
                continue;
            };
            let hash = hash(&program.instructions[place]);
            let first = block.start.max(place.saturating_sub(WINDOW));
            // How far up it may move is asked for only if there is something there.
            let mut limit = None;
            let mut candidate = *chains.bucket(hash);
            while candidate != NONE && candidate as usize >= first {
                let earlier = candidate as usize;
                candidate = chains.before[earlier];
                if chains.hashes[earlier] != hash {
                    continue;
                }
                if earlier < *limit.get_or_insert_with(|| tracker.limit(&program.access[place])) {
                    break;
                }
                let (a, b) = (&program.instructions[earlier], &program.instructions[place]);
                let Some((into, taken)) = own(&program.access[earlier]) else { continue };
                if into == temp || taken.count_ones() + mask.count_ones() > 4 {
                    continue;
                }
                let (moved, places) = moved_to(b, a.dst[0].register, taken, mask);
                let Some(both) = merged(program, (a, &program.access[earlier]), &moved) else { continue };
                tracker.record(&Access::of(&moved, program.first_temp), earlier);
                renames.places[temp] = Some((both.0.dst[0].register.index, places));
                renames.count += 1;
                let both = with_new_rows(&mut program.immediates, both);
                program.set(earlier, both);
                dead.resize(program.instructions.len(), false);
                dead[place] = true;
                continue 'places;
            }
            tracker.record(&program.access[place], place);
            chains.insert(place, hash);
        }
    }
    if dead.is_empty() {
        return false;
    }
    // Readers that stand before, in loops.
    for place in 0..program.instructions.len() {
        renames.apply(program, place);
    }
    program.remove(&dead);
    true
}

/// An instruction with its result in free components of another temporary, and where each component went.
fn moved_to(instruction: &Instruction, register: Register, taken: u8, mask: u8) -> (Instruction, [u8; 4]) {
    let mut places = [0u8; 4];
    let mut from = [0u8; 4];
    let mut new_mask = 0u8;
    let mut free = (0..4u8).filter(|c| taken & 1 << c == 0);
    for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
        if let Some(place) = free.next() {
            places[usize::from(c)] = place;
            from[usize::from(place)] = c;
            new_mask |= 1 << place;
        }
    }
    let mut moved = instruction.clone();
    crate::machine::operands::permute(&mut moved, new_mask, from);
    moved.dst[0].register = register;
    (moved, places)
}
