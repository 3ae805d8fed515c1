//! Rules of regions that span two registers, in align1.

use super::Rule;
use super::facts::{Facts, Strides, direct_offset};
use crate::isa::{Chip, Operand, Source, Type};

use arrayvec::ArrayVec;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "source-two-registers",
        message: "a source must not span more than two registers",
        is_broken: |facts| is_subject(facts) && facts.operands().any(|operand| is_source_long(facts, operand)),
    },
    Rule {
        name: "destination-two-registers",
        message: "a destination must not span more than two registers",
        is_broken: |facts| is_subject(facts) && is_destination_long(facts),
    },
    Rule {
        name: "destination-owords",
        message: "where a source spans two registers and the destination one, the destination must be in one half of \
                  the register, or evenly in both",
        is_broken: |facts| Spans::of(facts).is_some_and(|spans| spans.uneven_halves()),
    },
    Rule {
        name: "destination-even",
        message: "a destination in two registers must have as many elements in both",
        is_broken: |facts| Spans::of(facts).is_some_and(|spans| spans.uneven_registers()),
    },
    Rule {
        name: "source-register-match",
        message: "where a source and the destination span two registers, the elements of a register of the \
                  destination must come from one register of the source",
        is_broken: |facts| Spans::of(facts).is_some_and(|spans| spans.mismatch()),
    },
    Rule {
        name: "source-offset-match",
        message: "where a source of two and the destination span two registers, the first byte in both registers of \
                  the source must be the same",
        is_broken: |facts| Spans::of(facts).is_some_and(|spans| spans.other_offset()),
    },
    Rule {
        name: "source-spans-two",
        message: "where the destination spans two registers, sources must span two too, except for single elements, \
                  and for consecutive words as the first source of consecutive elements of 32 bits",
        is_broken: |facts| Spans::of(facts).is_some_and(|spans| spans.short_source(facts)),
    },
];

/// The size of two registers in bytes.
const PAIR: u32 = 64;

/// The size of a register in bytes.
const REGISTER: u32 = 32;

fn is_subject(facts: &Facts<'_>) -> bool {
    facts.is_align1() && !facts.is_ternary() && !facts.opcode().is_send()
}

fn is_source_long(facts: &Facts<'_>, operand: &Operand) -> bool {
    let (Some(offset), Some(region)) = (direct_offset(operand.register), Strides::of(operand)) else { return false };
    let Some(last_row) = (facts.channels / region.width).checked_sub(1) else { return false };
    let last = last_row * region.vertical + (region.width - 1) * region.horizontal;
    last * operand.ty.size() + offset >= PAIR
}

fn is_destination_long(facts: &Facts<'_>) -> bool {
    facts.written().is_some_and(|written| {
        let last = (facts.channels - 1) * written.stride.elements() * written.ty.size();
        direct_offset(written.register).is_some_and(|offset| last + offset >= PAIR)
    })
}

/// The first and last byte of the element of each channel, in two registers.
type Bytes = ArrayVec<(u32, u32), 32>;

fn element(position: u32, size: u32) -> (u32, u32) {
    let first = position % PAIR;
    (first, (first + size - 1).min(PAIR - 1))
}

/// Whether an element reaches into the second register.
fn is_upper(&(_, last): &(u32, u32)) -> bool {
    last >= REGISTER
}

/// The number of registers.
fn registers(bytes: &Bytes) -> u32 {
    if bytes.is_empty() { 0 } else { 1 + u32::from(bytes.iter().any(is_upper)) }
}

fn source_bytes(facts: &Facts<'_>, source: &Source) -> Bytes {
    let operand = source.operand();
    let place = operand.and_then(|operand| Some((operand.ty, direct_offset(operand.register)?, Strides::of(operand)?)));
    let Some((ty, offset, region)) = place else { return Bytes::new() };
    if region.width > facts.channels {
        return Bytes::new();
    }
    (0..facts.channels.min(32))
        .map(|channel| {
            let row = channel / region.width;
            let index = row * region.vertical + channel % region.width * region.horizontal;
            element(offset + index * ty.size(), ty.size())
        })
        .collect()
}

/// The registers that an instruction accesses.
struct Spans {
    destination: Bytes,
    sources: [Bytes; 2],
    offsets: [u32; 2],
    is_dword_packed: bool,
    has_two_sources: bool,
}

impl Spans {
    /// The registers of an instruction whose operands span at most two registers.
    fn of(facts: &Facts<'_>) -> Option<Spans> {
        let written = facts.written().filter(|_| is_subject(facts))?;
        let is_long = is_destination_long(facts) || facts.operands().any(|operand| is_source_long(facts, operand));
        if is_long {
            return None;
        }
        let offset = direct_offset(written.register)?;
        let stride = written.stride.elements();
        let size = match (facts.chip, written.ty) {
            (Chip::Gen7, Type::Df) => 4,
            (_, ty) => ty.size(),
        };
        let destination =
            (0..facts.channels.min(32)).map(|channel| element(offset + channel * stride * size, size)).collect();
        let bytes = |index| facts.sources.get(index).map_or(Bytes::new(), |source| source_bytes(facts, source));
        let offset = |index: usize| {
            let register = facts.sources.get(index).and_then(|source| source.operand()).map(|operand| operand.register);
            register.and_then(direct_offset).unwrap_or(0)
        };
        Some(Spans {
            destination,
            sources: [bytes(0), bytes(1)],
            offsets: [offset(0), offset(1)],
            is_dword_packed: (facts.channels == 1 || stride == 1) && written.ty.size() == 4,
            has_two_sources: facts.sources.len() == 2,
        })
    }

    /// Whether elements are in two parts, of which one has more.
    fn is_uneven(&self, is_upper: impl Fn(&(u32, u32)) -> bool) -> bool {
        let upper = self.destination.iter().filter(|&bytes| is_upper(bytes)).count();
        let lower = self.destination.len() - upper;
        upper != lower
    }

    fn uneven_halves(&self) -> bool {
        let half = REGISTER / 2;
        let is_upper = |&(_, last): &(u32, u32)| last >= half;
        let is_in_one = self.destination.iter().all(is_upper) || !self.destination.iter().any(is_upper);
        let is_concerned =
            registers(&self.destination) == 1 && self.sources.iter().any(|source| registers(source) == 2);
        is_concerned && !is_in_one && self.is_uneven(is_upper)
    }

    fn uneven_registers(&self) -> bool {
        registers(&self.destination) == 2 && self.is_uneven(is_upper)
    }

    /// The sources in two registers, if the destination is in two too.
    fn pairs(&self) -> impl Iterator<Item = (&Bytes, u32)> {
        let is_concerned = registers(&self.destination) == 2;
        let sources = self.sources.iter().zip(self.offsets);
        sources.filter(move |(source, _)| is_concerned && registers(source) == 2)
    }

    fn mismatch(&self) -> bool {
        self.pairs().any(|(source, _)| {
            source.iter().zip(&self.destination).any(|(read, written)| is_upper(read) != is_upper(written))
        })
    }

    fn other_offset(&self) -> bool {
        self.has_two_sources
            && self.pairs().any(|(source, offset)| {
                source
                    .iter()
                    .find(|bytes| is_upper(bytes))
                    .is_some_and(|&(first, _)| first.checked_sub(REGISTER) != Some(offset))
            })
    }

    fn short_source(&self, facts: &Facts<'_>) -> bool {
        registers(&self.destination) == 2
            && (0..).zip(facts.sources).any(|(index, source)| {
                let Some(operand) = source.operand() else { return false };
                let Some(region) = Strides::of(operand) else { return false };
                let is_word = matches!(operand.ty, Type::W | Type::Uw);
                let is_expansion = index == 0 && is_word && region.is_packed() && self.is_dword_packed;
                registers(&self.sources[usize::from(index != 0)]) == 1 && !region.is_scalar() && !is_expansion
            })
    }
}
