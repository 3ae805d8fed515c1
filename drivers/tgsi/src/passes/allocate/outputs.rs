//! Bundles that are outputs.

use tgsi::tables::{BlockPart, Opcode};

use super::{Allocation, Freedom, IDENTITY, placements};
use crate::machine::Program;
use crate::machine::access::{Access, Counts, OUTPUTS, Traits};

/// The bundles that hold results which may not go to outputs directly.
fn restricted_bundles(program: &Program, allocation: &Allocation) -> Vec<bool> {
    if program.rules.allow_all() {
        return Vec::new();
    }
    let mut restricted = vec![false; allocation.bundles.len()];
    for (access, instruction) in program.access.iter().zip(&program.instructions) {
        if let Some(temp) = access.written().and_then(|w| w.temp())
            && !program.rules.may_write_outputs(instruction.opcode)
        {
            restricted[allocation.bundle_of[temp] as usize] = true;
        }
    }
    restricted
}

/// Bundles that are only collected to be copied to an output at the end of the program are that output.
///
/// The copy must be outside of all control flow, so that it happens in any case, and nothing else may write those components of the output.
pub(super) fn become_outputs(program: &Program, allocation: &mut Allocation) {
    #[derive(Clone, Copy, PartialEq)]
    enum Reader {
        None,
        Copy(usize),
        Other,
    }
    let to_output = |access: &&Access| access.opcode == Opcode::Mov && access.traits.any(Traits::WRITES_OUTPUT);
    let unknown = Traits::READS_OUTPUT.with(Traits::WRITES_OUTPUT_SOMEWHERE);
    if program.access.iter().find(to_output).is_none() || program.access.iter().any(|a| a.traits.any(unknown)) {
        return;
    }
    let mut readers = vec![Reader::None; allocation.bundles.len()];
    let restricted = restricted_bundles(program, allocation);
    let mut writes: Vec<Counts> = Vec::new();
    let mut depth = 0i32;
    for (place, access) in program.access.iter().enumerate() {
        match access.opcode.block() {
            Some(BlockPart::Opens) => depth += 1,
            Some(BlockPart::Closes) => depth -= 1,
            Some(BlockPart::Divides) | None => {}
        }
        if let Some(written) = access.written().filter(|w| w.is_output()) {
            let output = written.register() - OUTPUTS as usize;
            if output >= writes.len() {
                writes.resize(output + 1, Counts::default());
            }
            writes[output].add(written.mask());
        }
        let instruction = &program.instructions[place];
        let is_copy = access.opcode == Opcode::Mov
            && !instruction.saturate
            && instruction.src.first().is_some_and(|s| !s.negate && !s.absolute && s.register.indirect.is_none());
        let to_output = is_copy && depth == 0 && access.traits.any(Traits::WRITES_OUTPUT);
        let target = access.written().filter(|_| is_copy).and_then(|w| w.temp());
        for temp in access.reads().iter().filter_map(|read| read.temp()) {
            let bundle = allocation.bundle_of[temp] as usize;
            let within = target.is_some_and(|t| {
                allocation.bundle_of[t] as usize == bundle
                    && (0..4).all(|c| {
                        instruction.dst[0].write_mask & 1 << c == 0
                            || allocation.place_of[t][c]
                                == allocation.place_of[temp][usize::from(instruction.src[0].swizzle[c] & 3)]
                    })
            });
            if within {
                continue;
            }
            readers[bundle] = match readers[bundle] {
                Reader::None if to_output => Reader::Copy(place),
                _ => Reader::Other,
            };
        }
    }
    for (number, reader) in readers.iter().enumerate() {
        let Reader::Copy(place) = *reader else { continue };
        let copy = &program.instructions[place];
        let (dst, src) = (&copy.dst[0], &copy.src[0]);
        let Some(temp) = program.temp(src.register.file, src.register.index) else { continue };
        let output = usize::try_from(dst.register.index).ok();
        let counts = output.and_then(|o| writes.get(o)).copied().unwrap_or_default();
        if restricted.get(number).copied().unwrap_or(false) || program.rules.restricts_output(dst.register.index) {
            continue;
        }
        let mut to: [Option<u8>; 4] = [None; 4];
        let mut taken = 0u8;
        let mut fits = true;
        for c in (0..4u8).filter(|c| dst.write_mask & 1 << c != 0) {
            let position = usize::from(allocation.place_of[temp][usize::from(src.swizzle[usize::from(c)] & 3)]);
            fits &= to[position].is_none() && counts.are_one(1 << c);
            to[position] = Some(c);
            taken |= 1 << c;
        }
        let bundle = &allocation.bundles[number];
        fits &= (0..4).all(|p| bundle.is_empty(p) || to[p].is_some());
        if !fits {
            continue;
        }
        let mut placement = IDENTITY;
        for p in 0..4 {
            placement[p] = to[p].unwrap_or_else(|| {
                let free = (0..4u8).find(|c| taken & 1 << c == 0).unwrap_or(0);
                taken |= 1 << free;
                free
            });
        }
        let allowed = match bundle.freedom {
            Freedom::Any => true,
            freedom => placements(freedom).iter().any(|q| (0..4).all(|p| bundle.is_empty(p) || q[p] == placement[p])),
        };
        if !allowed {
            continue;
        }
        allocation.bundles[number].output = Some(dst.register.index);
        allocation.permute_members(number, placement);
    }
}
