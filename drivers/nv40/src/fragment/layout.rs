//! Flow, slots and encoding.
//!
//! A loop executes its body until a `BRK`. The chip repeats 255 times at most, so a loop is two nested repetitions:
//!
//! ```text
//! LOOP                    SFLC RC1.x          (if it may be set)
//!   a                     REP 255
//!   IF (c) BRK ENDIF        REP 255
//!   b                 =>      a
//! ENDLOOP                     STRC RC1.x (c)
//!                             BRK (NE1.x)
//!                             b
//!                           ENDREP
//!                           BRK (NE1.x)
//!                         ENDREP
//! ```
//!
//! The flag is a component of a condition register that the program does not use. A loop thus runs 65025 times at most,
//! and loops are nested two deep at most.

use super::convert::Placed;
use crate::error::Nv40Error;
use crate::isa::fragment::{Flow, FragmentOp, Instruction, Program};
use crate::isa::{Chip, Condition, Mask, Predicate, Swizzle};

/// An element of a program with structured flow.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// An instruction without flow.
    Plain(Placed),
    If(Predicate),
    Else,
    EndIf,
    Loop,
    EndLoop,
    /// Leaves the loop if any component passes.
    Break(Predicate),
    /// Ends the program.
    Return,
}

/// A component of a condition register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) register: u8,
    pub(super) component: u8,
}

impl Flag {
    /// An instruction that sets or clears the flag.
    fn write(self, op: FragmentOp, predicate: Predicate) -> Item {
        let writes_condition = Some(self.register);
        let mask = Mask(1 << self.component);
        let instruction = Instruction { mask, writes_condition, predicate, ..Instruction::new(op) };
        Item::Plain(Placed { instruction, uniform: None })
    }

    fn test(self) -> Predicate {
        Predicate { register: self.register, condition: Condition::NE, swizzle: Swizzle::replicate(self.component) }
    }
}

/// Whether all components test the same one.
fn is_replicated(predicate: Predicate) -> bool {
    predicate.swizzle == Swizzle::replicate(predicate.swizzle.0[0])
}

/// Removes constructs without content, and those that only leave a loop.
pub(super) fn simplify(items: Vec<Item>) -> Vec<Item> {
    let mut simple: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        match (&item, &simple[..]) {
            (Item::EndIf, [.., Item::If(_)]) => {
                simple.pop();
            }
            (Item::EndIf, [.., Item::If(predicate), Item::Break(inner)]) if *inner == Predicate::ALWAYS => {
                let predicate = *predicate;
                simple.truncate(simple.len() - 2);
                simple.push(Item::Break(predicate));
            }
            (Item::EndIf, [.., Item::If(_), Item::Else]) => simple.truncate(simple.len() - 2),
            (Item::EndIf, [.., Item::Else]) => {
                simple.pop();
                simple.push(item);
            }
            _ => simple.push(item),
        }
    }
    simple
}

/// Replaces loops by repetitions. `flags` are free components of condition registers, one for each level.
fn repeat(items: Vec<Item>, chip: Chip, flags: &[Flag]) -> Result<Vec<Item>, Nv40Error> {
    let mut depth = 0usize;
    let mut deepest = 0;
    for item in &items {
        match item {
            Item::Loop => depth += 1,
            Item::EndLoop => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest == 0 {
        return Ok(items);
    }
    let limit = usize::from(chip.limits().fragment.loops) / 2;
    if deepest > limit {
        return Err(Nv40Error::TooMany { what: "nested loops", found: deepest as u32, limit: limit as u32, chip });
    }
    if deepest > flags.len() {
        return Err(Nv40Error::Lacks { inst: None, chip, what: "free component of a condition register".to_owned() });
    }
    let mut repeated = Vec::with_capacity(items.len() + 8);
    let mut open: Vec<Flag> = Vec::new();
    // Flags that may be set.
    let mut used = 0;
    for item in items {
        match (&item, open.last()) {
            (Item::Loop, _) => {
                let flag = flags[open.len()];
                // Loops of an outer loop begin again.
                if used > open.len() || !open.is_empty() {
                    repeated.push(flag.write(FragmentOp::Sfl, Predicate::ALWAYS));
                }
                open.push(flag);
                used = used.max(open.len());
                repeated.extend([Item::Loop, Item::Loop]);
            }
            (Item::EndLoop, Some(&flag)) => {
                open.pop();
                repeated.extend([Item::EndLoop, Item::Break(flag.test()), Item::EndLoop]);
            }
            (&Item::Break(predicate), Some(&flag)) => {
                if predicate == Predicate::ALWAYS {
                    repeated.push(flag.write(FragmentOp::Str, Predicate::ALWAYS));
                    repeated.push(Item::Break(predicate));
                } else if is_replicated(predicate) {
                    repeated.push(flag.write(FragmentOp::Str, predicate));
                    repeated.push(Item::Break(flag.test()));
                } else {
                    repeated.push(Item::If(predicate));
                    repeated.push(flag.write(FragmentOp::Str, Predicate::ALWAYS));
                    repeated.push(Item::Break(Predicate::ALWAYS));
                    repeated.push(Item::EndIf);
                }
            }
            _ => repeated.push(item),
        }
    }
    Ok(repeated)
}

/// Encodes a program.
pub(super) fn encode(items: Vec<Item>, chip: Chip, flags: &[Flag]) -> Result<Program, Nv40Error> {
    let items = repeat(simplify(items), chip, flags)?;
    let mut placed: Vec<Placed> = Vec::with_capacity(items.len() + 1);
    // The open constructs: their instruction, and the slot of the other side, if it has begun.
    let mut open: Vec<(usize, Option<u32>)> = Vec::new();
    let mut slot = 0;
    let mut ends_in_flow = true;
    let mut deepest = 0;
    for item in items {
        ends_in_flow = !matches!(item, Item::Plain(_));
        let instruction = match item {
            Item::Plain(plain) => {
                slot += plain.instruction.slots();
                placed.push(plain);
                continue;
            }
            Item::If(predicate) => {
                open.push((placed.len(), None));
                let flow = Some(Flow::If { otherwise: 0, end: 0 });
                Instruction { predicate, flow, ..flow_instruction(FragmentOp::If) }
            }
            Item::Loop => {
                open.push((placed.len(), None));
                let flow = Some(Flow::Repeat { count: 255, start: 255, step: 255, end: 0 });
                Instruction { flow, ..flow_instruction(FragmentOp::Rep) }
            }
            Item::Else => {
                if let Some((_, otherwise)) = open.last_mut() {
                    *otherwise = Some(slot);
                }
                continue;
            }
            Item::EndIf | Item::EndLoop => {
                if let Some((at, other)) = open.pop() {
                    match &mut placed[at].instruction.flow {
                        Some(Flow::If { otherwise, end }) => (*otherwise, *end) = (other.unwrap_or(slot), slot),
                        Some(Flow::Repeat { end, .. }) => *end = slot,
                        _ => {}
                    }
                }
                continue;
            }
            Item::Break(predicate) => Instruction { predicate, ..flow_instruction(FragmentOp::Brk) },
            Item::Return => flow_instruction(FragmentOp::Ret),
        };
        deepest = deepest.max(open.len());
        placed.push(Placed { instruction, uniform: None });
        slot += 1;
    }
    let ifs = chip.limits().fragment.ifs;
    if deepest > ifs.into() && ifs > 0 {
        return Err(Nv40Error::TooMany { what: "nested constructs", found: deepest as u32, limit: ifs.into(), chip });
    }
    if ends_in_flow {
        placed.push(Placed { instruction: Instruction::new(FragmentOp::Nop), uniform: None });
    }
    if let Some(last) = placed.last_mut() {
        last.instruction.end = true;
    }
    let found = placed.iter().map(|placed| placed.instruction.slots()).sum();
    let limit = chip.limits().fragment.slots;
    if found > limit {
        return Err(Nv40Error::TooMany { what: "instructions and constants", found, limit, chip });
    }
    let mut program = Program::default();
    for Placed { instruction, uniform } in &placed {
        program.push(instruction, *uniform, chip)?;
    }
    Ok(program)
}

/// A flow instruction, with the precision that compilers state.
fn flow_instruction(op: FragmentOp) -> Instruction {
    Instruction { precision: crate::isa::fragment::Precision::Fp16, mask: Mask::NONE, ..Instruction::new(op) }
}
