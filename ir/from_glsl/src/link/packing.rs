//! Lets variables between two stages share slots, where each with slots that no other has would exceed them.
//!
//! ```text
//! float a; float b; vec2 c;   ->   slot 0: a b c c
//! float d[6];                 ->   slot 1: d[0] d[1] d[2] d[3]   slot 2: d[4] d[5] - -
//! ```
//!
//! An array of scalars becomes an array of vectors, four scalars in each. Other scalars and vectors of 32-bit components
//! get a first component, as by `layout(component = ...)`. Variables share a slot if they have the same kind of components
//! and the same interpolation. Variables with a location and of other types take whole slots, and arrays of scalars that
//! transform feedback captures a component of each.

use rustc_hash::FxHashSet;

use super::{SLOTS, Slots, by_name, globals, is_used};
use crate::program::{Interpolation, Program, Storage, Variable, VariableId};
use crate::stage::StageUnit;
use crate::types::{Scalar, TypeData};

/// Components of a slot.
const WIDTH: u32 = 4;

/// The properties in which all variables of a slot agree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Kind {
    is_float: bool,
    interpolation: Interpolation,
    centroid: bool,
    sample: bool,
    invariant: bool,
    stream: u32,
}

/// A variable of one or both stages.
struct Item {
    output: Option<VariableId>,
    input: Option<VariableId>,
    kind: Kind,
    /// Whether it becomes an array of vectors.
    is_packed: bool,
    /// Components in each slot.
    width: u32,
    slots: u32,
    /// Whether both stages use it.
    is_shared: bool,
}

/// The slots between two stages.
struct Table {
    /// The components that are taken, and the kind of the variables there.
    slots: [(u8, Option<Kind>); SLOTS as usize],
    /// The shapes that did not fit: no further variable of the same shape does.
    failed: FxHashSet<(u32, u32, Kind)>,
}

impl Table {
    /// The first slot and component for an item.
    fn place(&mut self, item: &Item) -> Option<(u32, u32)> {
        let shape = (item.width, item.slots, item.kind);
        if item.slots > SLOTS || self.failed.contains(&shape) {
            return None;
        }
        for first in 0..=SLOTS - item.slots {
            for component in 0..=WIDTH - item.width {
                let mask = ((1u8 << item.width) - 1) << component;
                let range = first as usize..(first + item.slots) as usize;
                let Some(slots) = self.slots.get_mut(range) else { continue };
                if slots.iter().all(|(taken, kind)| taken & mask == 0 && kind.is_none_or(|kind| kind == item.kind)) {
                    slots.iter_mut().for_each(|(taken, kind)| (*taken, *kind) = (*taken | mask, Some(item.kind)));
                    return Some((first, component));
                }
            }
        }
        self.failed.insert(shape);
        None
    }
}

/// Assigns slots and components, and marks arrays that share vectors, in both stages.
pub(super) fn pack(
    producer: &mut StageUnit,
    consumer: &mut StageUnit,
    is_patch: bool,
    of_producer: &mut Slots,
    of_consumer: &mut Slots,
) {
    let mut table = Table { slots: [(0, None); SLOTS as usize], failed: FxHashSet::default() };
    let mut items = items(producer, consumer, is_patch, &mut table);
    // The widest first; the sort is stable.
    items.sort_by_key(|item| (!item.is_shared, std::cmp::Reverse((item.width, item.slots))));
    let (mut changes_producer, mut changes_consumer) = (false, false);
    for item in &items {
        // Beyond the slots, which is an error of assignment.
        let (first, component) = table.place(item).unwrap_or((SLOTS, 0));
        let component = (item.width < WIDTH).then_some(component);
        if let Some(id) = item.output {
            of_producer.insert(id, first);
            producer.program.share_slots(id, component, item.is_packed);
            changes_producer |= item.is_packed;
        }
        if let Some(id) = item.input {
            of_consumer.insert(id, first);
            consumer.program.share_slots(id, component, item.is_packed);
            changes_consumer |= item.is_packed;
        }
    }
    if changes_producer {
        producer.emit_again();
    }
    if changes_consumer {
        consumer.emit_again();
    }
}

/// The variables that need slots. Slots of explicit locations are taken in the table.
fn items(producer: &StageUnit, consumer: &StageUnit, is_patch: bool, table: &mut Table) -> Vec<Item> {
    let inputs = by_name(consumer, Storage::Input);
    let mut reserve = |program: &Program, id: VariableId, location: u32| {
        let end = location.saturating_add(program.slots(id)).min(SLOTS);
        let range = location.min(end) as usize..end as usize;
        table.slots.get_mut(range).unwrap_or_default().fill((0b1111, None));
    };
    let mut items = Vec::new();
    let mut matched = FxHashSet::default();
    for (id, output) in globals(&producer.program, Storage::Output) {
        let input = inputs.get(producer.interner.spelling(output.name)).copied();
        // Locations of both stages match without the names.
        let input = input.filter(|(_, input)| input.traits.location.is_none() || output.traits.location.is_none());
        if output.traits.patch != is_patch {
            continue;
        }
        matched.extend(input.map(|(id, _)| id));
        if let Some(location) = output.traits.location.or(input.and_then(|(_, input)| input.traits.location)) {
            reserve(&producer.program, id, location);
            continue;
        }
        let is_shared = input.is_some_and(|(id, _)| is_used(consumer, id));
        if is_shared || is_used(producer, id) {
            let kind = kind(&producer.program, id, [output, input.map_or(output, |(_, input)| input)]);
            let mut item = item(&producer.program, id, kind);
            (item.output, item.input, item.is_shared) = (Some(id), input.map(|(id, _)| id), is_shared);
            items.push(item);
        }
    }
    for (id, input) in globals(&consumer.program, Storage::Input) {
        if input.traits.patch != is_patch || matched.contains(&id) {
            continue;
        }
        if let Some(location) = input.traits.location {
            reserve(&consumer.program, id, location);
        } else if is_used(consumer, id) {
            let kind = kind(&consumer.program, id, [input, input]);
            let mut item = item(&consumer.program, id, kind);
            item.input = Some(id);
            items.push(item);
        }
    }
    items
}

/// The kind of a variable, from its declarations in both stages.
fn kind(program: &Program, id: VariableId, [output, input]: [&Variable; 2]) -> Kind {
    let inner = program.types.without_arrays(program.type_of_vertex(id));
    Kind {
        is_float: program.types.scalar(inner) == Some(Scalar::Float),
        interpolation: input.traits.interpolation,
        centroid: input.traits.centroid,
        sample: input.traits.sample,
        invariant: output.traits.invariant,
        stream: output.traits.stream.unwrap_or(0),
    }
}

/// The shape of a variable.
fn item(program: &Program, id: VariableId, kind: Kind) -> Item {
    let ty = program.type_of_vertex(id);
    let inner = program.types.without_arrays(ty);
    let vector = program.types.as_vector(inner).filter(|(scalar, _)| !scalar.is_wide());
    let mut item = Item {
        output: None,
        input: None,
        kind,
        is_packed: false,
        width: vector.map_or(WIDTH, |(_, components)| components.into()),
        slots: program.slots(id),
        is_shared: false,
    };
    if let TypeData::Array { element, length: Some(length) } = program.types.get(ty)
        && element == inner
        && item.width == 1
        && program.variable(id).capture.is_none()
    {
        (item.is_packed, item.width, item.slots) = (true, WIDTH, length.div_ceil(WIDTH));
    }
    item
}

#[cfg(test)]
mod tests;
