//! Assigns slots to the variables between two stages.

use super::{Global, SLOTS, Slots, by_name, globals, is_used, packing};
use crate::program::Storage;
use crate::stage::StageUnit;

/// Assigns slots to the variables between two stages. Variables of patches have separate slots. If the slots are too few,
/// variables share them by components; arrays of scalars that do so have another type in the IR.
pub(super) fn assign(
    producer: &mut StageUnit,
    consumer: &mut StageUnit,
    of_producer: &mut Slots,
    of_consumer: &mut Slots,
) {
    for is_patch in [false, true] {
        let fits = assign_kind(producer, consumer, is_patch, of_producer, of_consumer);
        if !fits {
            packing::pack(producer, consumer, is_patch, of_producer, of_consumer);
        }
    }
}

/// Returns whether the slots are enough.
fn assign_kind(
    producer: &StageUnit,
    consumer: &StageUnit,
    is_patch: bool,
    of_producer: &mut Slots,
    of_consumer: &mut Slots,
) -> bool {
    let inputs = by_name(consumer, Storage::Input);
    let mut taken = 0u64;
    let mask = |first: u32, count: u32| (((1u128 << count.min(64)) - 1) << first.min(64)) as u64;
    let of_kind = |(_, variable): &Global<'_>| variable.traits.patch == is_patch;
    for (stage, storage) in [(producer, Storage::Output), (consumer, Storage::Input)] {
        for (id, variable) in globals(&stage.program, storage).filter(of_kind) {
            if let Some(location) = variable.traits.location {
                taken |= mask(location, stage.program.slots(id));
            }
        }
    }
    let mut fits = true;
    let mut next = |count: u32| {
        let free = (0..SLOTS).find(|&first| first + count <= SLOTS && taken & mask(first, count) == 0);
        // Beyond the slots, which is an error of assignment.
        let first = free.unwrap_or(SLOTS);
        fits &= free.is_some();
        taken |= mask(first, count);
        first
    };
    for is_shared in [true, false] {
        for (id, output) in globals(&producer.program, Storage::Output).filter(of_kind) {
            let input = inputs
                .get(producer.interner.spelling(output.name))
                .filter(|(_, input)| input.traits.location.is_none() || output.traits.location.is_none());
            let shares = input.is_some_and(|&(input, _)| is_used(consumer, input));
            if shares != is_shared || !shares && !is_used(producer, id) {
                continue;
            }
            let explicit = output.traits.location.or(input.and_then(|(_, input)| input.traits.location));
            let first = explicit.unwrap_or_else(|| next(producer.program.slots(id)));
            of_producer.insert(id, first);
            if let Some(&(input, _)) = input {
                of_consumer.insert(input, first);
            }
        }
    }
    for (id, input) in globals(&consumer.program, Storage::Input).filter(of_kind) {
        if is_used(consumer, id) && !of_consumer.contains_key(&id) {
            let first = input.traits.location.unwrap_or_else(|| next(consumer.program.slots(id)));
            of_consumer.insert(id, first);
        }
    }
    fits
}
