//! The layout of vertex entries in the buffer between stages (VUE map).
//!
//! | slot | contents |
//! |---|---|
//! | 0 | layer in y, viewport in z, point size in w; x is 0 |
//! | 1 | position |
//! | 2, 3 | clip distances, if there are any |
//! | from an even one on | colours: front and back of the first, then of the second |
//! | next | other varyings, by their numbers |

use std::collections::{BTreeMap, BTreeSet};

use tgsi_ir::slots::VaryingSlot;

/// A varying and the register of the interface. Several registers may have one varying.
type Key = (u8, u32);

/// Returns the varying of each slot, -1 for padding, and the slots of registers.
pub(crate) fn layout(keys: &BTreeSet<Key>) -> (Vec<i32>, BTreeMap<Key, u8>) {
    let mut vue: Vec<i32> = vec![VaryingSlot::PSIZ.into(), VaryingSlot::POS.into()];
    let mut slots = BTreeMap::new();
    let of = |location: u8| keys.range((location, 0)..=(location, u32::MAX)).copied();
    for header in [VaryingSlot::PSIZ, VaryingSlot::LAYER, VaryingSlot::VIEWPORT] {
        slots.extend(of(header).map(|key| (key, 0)));
    }
    slots.extend(of(VaryingSlot::POS).take(1).map(|key| (key, 1)));
    let mut place = |vue: &mut Vec<i32>, key: Key| {
        slots.entry(key).or_insert_with(|| {
            vue.push(key.0.into());
            vue.len() as u8 - 1
        });
    };
    for location in [VaryingSlot::CLIP_DIST0, VaryingSlot::CLIP_DIST1] {
        of(location).for_each(|key| place(&mut vue, key));
    }
    if !vue.len().is_multiple_of(2) {
        vue.push(-1);
    }
    for location in [VaryingSlot::COL0, VaryingSlot::BFC0, VaryingSlot::COL1, VaryingSlot::BFC1] {
        of(location).for_each(|key| place(&mut vue, key));
    }
    keys.iter().for_each(|&key| place(&mut vue, key));
    (vue, slots)
}

/// The component of its slot that is the first one of a varying: the header has several scalars.
pub(crate) fn component(location: u8) -> u8 {
    match location {
        VaryingSlot::LAYER => 1,
        VaryingSlot::VIEWPORT => 2,
        VaryingSlot::PSIZ => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn colours_follow_the_header() {
        let location = [VaryingSlot::VAR0, VaryingSlot::BFC0, VaryingSlot::CLIP_DIST0, VaryingSlot::COL0];
        let keys: BTreeSet<Key> = location.into_iter().chain([VaryingSlot::POS, VaryingSlot::LAYER]).zip(0..).collect();
        let (vue, slots) = layout(&keys);
        let expected = [VaryingSlot::PSIZ, VaryingSlot::POS, VaryingSlot::CLIP_DIST0].map(i32::from).into_iter();
        let expected = expected.chain([-1]);
        let last = [VaryingSlot::COL0, VaryingSlot::BFC0, VaryingSlot::VAR0].map(i32::from);
        assert_eq!(vue, expected.chain(last).collect::<Vec<_>>());
        assert_eq!((slots[&(VaryingSlot::LAYER, 5)], component(VaryingSlot::LAYER)), (0, 1));
        assert_eq!(slots[&(VaryingSlot::VAR0, 0)], 6);
    }

    #[test]
    fn registers_with_the_same_varying_have_slots() {
        let keys = [(VaryingSlot::POS, 0), (VaryingSlot::POS, 1), (VaryingSlot::VAR0, 2), (VaryingSlot::VAR0, 3)];
        let (vue, slots) = layout(&keys.into_iter().collect());
        let mut places: Vec<u8> = slots.values().copied().collect();
        places.sort_unstable();
        assert_eq!((places, vue.len()), (vec![1, 2, 3, 4], 5));
    }
}
