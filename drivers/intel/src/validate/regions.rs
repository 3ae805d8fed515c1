//! Rules of regions.

use super::Rule;
use super::facts::{Facts, Strides, direct_offset};
use crate::isa::{AccessMode, Chip, HorizontalStride, Operand, Region, VerticalStride};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "align16-destination-stride",
        message: "in align16 the stride of the destination must be 1",
        is_broken: |facts| {
            is_align16(facts) && facts.written().is_some_and(|written| written.stride != HorizontalStride::S1)
        },
    },
    Rule {
        name: "align16-vertical-stride",
        message: "in align16 the vertical stride must be 0 or 4, or on Gen7.5 2",
        is_broken: |facts| {
            is_align16(facts) && facts.operands().any(|operand| !has_align16_stride(operand, facts.chip))
        },
    },
    Rule {
        name: "width-within-size",
        message: "the width must not be larger than the execution size",
        is_broken: |facts| any(facts, |facts, region| facts.channels < region.width),
    },
    Rule {
        name: "single-row-stride",
        message: "if the width is the execution size, the vertical stride must be the width times the horizontal \
                  stride",
        is_broken: |facts| {
            any(facts, |facts, region| {
                facts.channels == region.width
                    && region.horizontal != 0
                    && region.vertical != region.width * region.horizontal
            })
        },
    },
    Rule {
        name: "width-1-stride",
        message: "the horizontal stride of a width of 1 must be 0",
        is_broken: |facts| any(facts, |_, region| region.width == 1 && region.horizontal != 0),
    },
    Rule {
        name: "single-channel-strides",
        message: "an instruction for one channel with a width of 1 must have strides of 0",
        is_broken: |facts| {
            any(facts, |facts, region| {
                facts.channels == 1 && region.width == 1 && (region.vertical != 0 || region.horizontal != 0)
            })
        },
    },
    Rule {
        name: "scalar-width",
        message: "the width of strides of 0 must be 1",
        is_broken: |facts| any(facts, |_, region| region.vertical == 0 && region.horizontal == 0 && region.width != 1),
    },
    Rule {
        name: "row-within-register",
        message: "a row must not cross the end of a register",
        is_broken: |facts| operands(facts).any(|(operand, region)| crosses(facts, operand, region)),
    },
    Rule {
        name: "destination-stride-0",
        message: "in align1 the stride of the destination must not be 0",
        is_broken: |facts| {
            facts.is_align1()
                && !facts.is_ternary()
                && facts.written().is_some_and(|written| written.stride == HorizontalStride::S0)
        },
    },
];

fn is_align16(facts: &Facts<'_>) -> bool {
    facts.instruction.access == AccessMode::Align16 && !facts.is_ternary()
}

fn has_align16_stride(operand: &Operand, chip: Chip) -> bool {
    let (Region::Align16 { vertical, .. } | Region::Align1 { vertical, .. }) = operand.region;
    match vertical {
        VerticalStride::S0 | VerticalStride::S4 => true,
        VerticalStride::S2 => chip == Chip::Gen75,
        _ => false,
    }
}

/// The sources in registers with their regions, in align1.
fn operands<'i>(facts: &Facts<'i>) -> impl Iterator<Item = (&'i Operand, Strides)> {
    let is_subject = facts.is_align1() && !facts.is_ternary();
    facts.operands().filter(move |_| is_subject).filter_map(|operand| Some((operand, Strides::of(operand)?)))
}

fn any(facts: &Facts<'_>, is_broken: impl Fn(&Facts<'_>, Strides) -> bool) -> bool {
    operands(facts).any(|(_, region)| is_broken(facts, region))
}

/// The size of a register in bytes.
const REGISTER: u32 = 32;

/// Whether a row crosses the end of a register.
fn crosses(facts: &Facts<'_>, operand: &Operand, region: Strides) -> bool {
    let Some(offset) = direct_offset(operand.register) else { return false };
    let size = facts.region_size(operand.ty);
    let rows = facts.channels / region.width;
    (0..rows).any(|row| {
        // Two registers are all that a source reads; the position in both counts.
        let first = (offset + row * region.vertical * size) % (2 * REGISTER);
        let last = first + (region.width - 1) * region.horizontal * size + size - 1;
        first / REGISTER != last / REGISTER
    })
}
