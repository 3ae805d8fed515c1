//! An estimate of the passes that a program takes.
//!
//! After GeForce FX, a pass executes operations in a top and a bottom half, and one lookup. A half has four components,
//! for two operations at most; operations of the bottom half may use results of the top half. GeForce FX executes one
//! operation in a pass.

use crate::isa::Chip;
use crate::isa::fragment::{Class, FragmentOp, Instruction, Precision, Register, SourceKind, Unit};

use super::allocate::units;

/// The demands of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Nothing.
    Free,
    /// This many passes alone.
    Alone(u32),
    /// A lookup, which occupies the top half unless its coordinates are an input.
    Lookup {
        /// Whether the top half remains free.
        is_input: bool,
    },
    /// Components of a half.
    Half {
        /// The unit.
        unit: Unit,
        /// The components.
        components: u8,
    },
}

impl Work {
    /// The demands of an operation after GeForce FX.
    pub(super) fn of(op: FragmentOp, components: u8, precision: Precision, reads_input: bool) -> Work {
        let row = op.row();
        match op {
            FragmentOp::Nrm if precision == Precision::Fp16 => Work::Free,
            FragmentOp::Nrm => Work::Alone(2),
            FragmentOp::Div | FragmentOp::Divsq | FragmentOp::Sin | FragmentOp::Cos => Work::Alone(1),
            FragmentOp::Ddx | FragmentOp::Ddy => Work::Alone(1),
            FragmentOp::If | FragmentOp::Rep | FragmentOp::Loop | FragmentOp::Brk => Work::Alone(4),
            _ if row.class == Class::Texture => Work::Lookup { is_input: reads_input },
            _ if row.unit == Unit::None => Work::Free,
            _ => Work::Half { unit: row.unit, components: components.clamp(1, 4) },
        }
    }

    /// The passes that an operation takes on GeForce FX.
    fn on_nv30(op: FragmentOp) -> u32 {
        match op {
            FragmentOp::Lrp | FragmentOp::Rsq | FragmentOp::Lit | FragmentOp::Pow => 2,
            FragmentOp::Rfl => 4,
            FragmentOp::Nop | FragmentOp::Kil => 0,
            _ => 1,
        }
    }
}

/// The part of a pass that earlier instructions occupy.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pass {
    /// Components and operations of the top and the bottom half.
    halves: [(u8, u8); 2],
    has_lookup: bool,
}

/// The latest place of the operands of an instruction, within the current pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum After {
    /// None of them is computed in the pass.
    #[default]
    Start,
    /// The top half, or a lookup.
    Top,
    /// The bottom half.
    Bottom,
}

impl Pass {
    /// Adds an instruction if the pass can hold it. Returns its place.
    pub(super) fn add(&mut self, work: Work, after: After) -> Option<After> {
        const TOP: usize = 0;
        const BOTTOM: usize = 1;
        let [top, bottom] = self.halves;
        match work {
            Work::Free => Some(after),
            Work::Alone(_) => None,
            Work::Lookup { is_input } => {
                let has_top = is_input || top.1 == 0;
                if self.has_lookup || after != After::Start || bottom.1 != 0 || !has_top {
                    return None;
                }
                self.has_lookup = true;
                if !is_input {
                    self.halves[TOP] = (4, 2);
                }
                Some(After::Top)
            }
            Work::Half { unit, components } => {
                let fits = |(used, operations): (u8, u8)| operations < 2 && used + components <= 4;
                let in_top = unit != Unit::Bottom && after == After::Start && bottom.1 == 0 && fits(top);
                let in_bottom = matches!(unit, Unit::Bottom | Unit::Any) && after != After::Bottom && fits(bottom);
                let half = match (in_top, in_bottom) {
                    (true, _) => TOP,
                    (false, true) => BOTTOM,
                    (false, false) => return None,
                };
                let (used, operations) = &mut self.halves[half];
                (*used, *operations) = (*used + components, *operations + 1);
                Some(if half == TOP { After::Top } else { After::Bottom })
            }
        }
    }

    /// Whether nothing occupies the pass.
    pub(super) fn is_empty(&self) -> bool {
        self.halves == [(0, 0); 2] && !self.has_lookup
    }
}

/// Adds instructions one by one.
#[derive(Clone, Default, Debug)]
pub(super) struct Passes {
    pub(super) current: Pass,
    /// Passes that are complete.
    pub(super) complete: u32,
}

impl Passes {
    /// Adds an instruction. Returns its place, and whether it is the first one of a pass.
    pub(super) fn add(&mut self, work: Work, after: After) -> (After, bool) {
        if let Work::Alone(passes) = work {
            self.close();
            self.complete += passes;
            return (After::Start, true);
        }
        if let Some(place) = self.current.add(work, after) {
            return (place, false);
        }
        self.close();
        (self.current.add(work, After::Start).unwrap_or(After::Bottom), true)
    }

    /// Ends the current pass.
    pub(super) fn close(&mut self) {
        self.complete += u32::from(!self.current.is_empty());
        self.current = Pass::default();
    }
}

/// Estimates the passes of a program, each instruction executed once.
pub(super) fn passes<'i>(instructions: impl IntoIterator<Item = &'i Instruction>, chip: Chip) -> u32 {
    if chip == Chip::Nv30 {
        return instructions.into_iter().map(|instruction| Work::on_nv30(instruction.op)).sum();
    }
    let mut passes = Passes::default();
    // The units written in the current pass, with their places; and the place of the condition registers.
    let mut written: Vec<(std::ops::Range<usize>, After)> = Vec::new();
    let mut condition = After::Start;
    for instruction in instructions {
        let mut after = if instruction.predicate == crate::isa::Predicate::ALWAYS { After::Start } else { condition };
        let mut touch = |register: Register, components: &[u8]| {
            for &component in components {
                let range = units(register, usize::from(component & 3));
                let overlapping =
                    written.iter().filter(|(other, _)| range.start < other.end && other.start < range.end);
                after = overlapping.map(|&(_, place)| place).max().unwrap_or_default().max(after);
            }
        };
        let row = instruction.op.row();
        for (number, source) in instruction.sources.iter().enumerate() {
            if let SourceKind::Register(register) = source.kind
                && row.reads[number] != crate::isa::fragment::Read::No
            {
                touch(register, &source.swizzle.0);
            }
        }
        let components: Vec<u8> = (0..4).filter(|&c| instruction.mask.has(usize::from(c))).collect();
        if let Some(register) = instruction.destination {
            touch(register, &components);
        }
        let reads_input = instruction.sources[0].kind == SourceKind::Input;
        let work = Work::of(instruction.op, components.len() as u8, instruction.precision, reads_input);
        let (place, is_first) = passes.add(work, after);
        if is_first {
            written.clear();
            condition = After::Start;
        }
        if let Some(register) = instruction.destination {
            written.extend(components.iter().map(|&c| (units(register, c.into()), place)));
        }
        if instruction.writes_condition.is_some() {
            condition = condition.max(place);
        }
    }
    passes.close();
    passes.complete
}
