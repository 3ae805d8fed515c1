//! Assigns bundles to outputs.

use super::super::access::{AccessCounts, Traits};
use super::super::{Flow, Program, RegisterCopy};
use super::{Allocate, Allocation, IDENTITY, Permutation, SwizzleConstraint, permutations};

/// By bundle: the greatest [restriction](Allocate::output_restriction) of the results in it.
fn restrictions<M: Allocate>(program: &Program<M>, allocation: &Allocation) -> Vec<u8> {
    if !program.machine.restricts_outputs() {
        return Vec::new();
    }
    let mut restrictions = vec![0; allocation.bundles.len()];
    for (access, instruction) in program.access.iter().zip(&program.instructions) {
        if let Some(temp) = access.written().and_then(|w| w.temp()) {
            let known = &mut restrictions[allocation.bundle_of[temp] as usize];
            *known = program.machine.output_restriction(instruction).max(*known);
        }
    }
    restrictions
}

/// The uses of a bundle.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    None,
    /// A single copy to an output.
    Copy(RegisterCopy),
    Other,
}

/// Replaces a bundle by an output if its only use is one copy to that output at the end of the program.
///
/// The copy must be outside all control flow, so that it is always executed, and must be the only write to those
/// components of the output.
pub(super) fn become_outputs<M: Allocate>(program: &Program<M>, allocation: &mut Allocation) {
    let to_output = Traits::WRITES_OUTPUT;
    let unknown = Traits::READS_OUTPUT.with(Traits::WRITES_OUTPUT_SOMEWHERE);
    let mut traits = program.access.iter().map(|access| access.traits);
    if !traits.clone().any(|t| t.any(Traits::COPY) && t.any(to_output)) || traits.any(|t| t.any(unknown)) {
        return;
    }
    let mut readers = vec![Reader::None; allocation.bundles.len()];
    let restrictions = restrictions(program, allocation);
    let mut writes: Vec<AccessCounts> = Vec::new();
    let mut depth = 0i32;
    for (index, access) in program.access.iter().enumerate() {
        match program.flow(index) {
            Some(Flow::If | Flow::Loop) => depth += 1,
            Some(Flow::EndIf | Flow::EndLoop) => depth -= 1,
            _ => {}
        }
        if let Some((output, mask)) = access.written().and_then(|w| Some((w.register().as_output()?, w.mask()))) {
            if output >= writes.len() {
                writes.resize(output + 1, AccessCounts::default());
            }
            writes[output].add(mask);
        }
        let copy = access.traits.any(Traits::COPY).then(|| {
            let copy = program.machine.register_copy(&program.instructions[index], program.first_temp());
            copy.filter(|copy| !copy.saturates)
        });
        let copy = copy.flatten();
        let last = copy.filter(|copy| depth == 0 && copy.to.as_output().is_some());
        for temp in access.reads().iter().filter_map(|read| read.temp()) {
            let bundle = allocation.bundle_of[temp] as usize;
            // The destination of a guarded instruction may be an output, unless it is an operand, too.
            let is_destination = access.written().and_then(|written| written.temp()) == Some(temp);
            let reads = access.reads().iter().filter(|read| read.temp() == Some(temp));
            if access.traits.any(Traits::GUARDED) && is_destination && reads.count() == 1 {
                continue;
            }
            let is_within = copy.is_some_and(|copy| {
                copy.to.as_temp().is_some_and(|to| {
                    let positions = (&allocation.position_of[to], &allocation.position_of[temp]);
                    allocation.bundle_of[to] as usize == bundle
                        && copy.components().all(|(c, of)| positions.0[c] == positions.1[of])
                })
            });
            if is_within {
                continue;
            }
            readers[bundle] = match (readers[bundle], last) {
                (Reader::None, Some(copy)) => Reader::Copy(copy),
                _ => Reader::Other,
            };
        }
    }
    for (number, reader) in readers.iter().enumerate() {
        let Reader::Copy(copy) = *reader else { continue };
        let (Some(temp), Some(output)) = (copy.from.as_temp(), copy.to.as_output()) else { continue };
        let counts = writes.get(output).copied().unwrap_or_default();
        let restriction = restrictions.get(number).copied().unwrap_or(0);
        if program.machine.output_limit(output).is_none_or(|limit| restriction > limit) {
            continue;
        }
        let mut to: [Option<u8>; 4] = [None; 4];
        let mut taken = 0u8;
        let mut fits = true;
        for (c, of) in copy.components() {
            let position = usize::from(allocation.position_of[temp][of]);
            fits &= to[position].is_none() && counts.are_one(1 << c);
            to[position] = Some(c as u8);
            taken |= 1 << c;
        }
        let bundle = &allocation.bundles[number];
        fits &= (0..4).all(|p| bundle.is_empty(p) || to[p].is_some());
        if !fits {
            continue;
        }
        let mut permutation = IDENTITY;
        for p in 0..4 {
            permutation[p] = to[p].unwrap_or_else(|| {
                let free = (0..4u8).find(|c| taken & 1 << c == 0).unwrap_or(0);
                taken |= 1 << free;
                free
            });
        }
        if bundle.freedom != SwizzleConstraint::Any {
            // Find an allowed permutation that agrees on the non-empty positions.
            let is_same = |q: &&Permutation| (0..4).all(|p| bundle.is_empty(p) || q[p] == permutation[p]);
            let Some(&found) = permutations(bundle.freedom).iter().find(is_same) else { continue };
            permutation = found;
        }
        allocation.bundles[number].output = Some(copy.to);
        allocation.permute_members(number, permutation);
    }
}
