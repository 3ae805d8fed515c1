//! Places branches: structured control flow becomes branches of bundles, with their offsets and tags.

use tgsi_vec4::Flow;
use tgsi_vec4::branches::{Step, branches};

use super::{empty, has_branch, repeated_write_out, set_branch};
use crate::MidgardError;
use crate::isa::alu::{Branch, BranchOp, CallMode, Condition, repeat};
use crate::isa::{Body, Bundle, InvalidInstruction, Tag};

/// A bundle, or control flow between bundles.
pub(super) enum Element {
    Bundle(Bundle),
    Flow(Option<Flow>),
}

/// The condition of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Jump {
    Always,
    IfFalse,
    IfTrue,
    /// A write-out, which jumps if the tile buffer does not accept it.
    WriteOut,
}

impl Jump {
    /// The branch, in the extended form if it is far.
    pub(super) fn branch(self, is_far: bool, target: Tag, offset: i32) -> Branch {
        let condition = match self {
            Jump::Always | Jump::WriteOut => Condition::Always,
            Jump::IfFalse => Condition::False,
            Jump::IfTrue => Condition::True,
        };
        // Extended branches without condition do not exist.
        if is_far {
            let (mode, conditions) = (CallMode::Default, repeat(condition));
            return Branch::Extended { op: self.op(), mode, conditions, target, offset };
        }
        let offset = offset.clamp(-64, 63) as i8;
        match self {
            Jump::Always => Branch::Jump { mode: CallMode::Default, target, offset },
            _ => Branch::Conditional { op: self.op(), condition, target, offset },
        }
    }

    fn op(self) -> BranchOp {
        if self == Jump::WriteOut { BranchOp::Writeout } else { BranchOp::Conditional }
    }
}

/// A jump of a bundle: its kind, and the number of the bundle that follows it.
#[derive(Clone, Copy)]
struct Placed {
    jump: Jump,
    target: usize,
    is_far: bool,
}

/// Returns the bundles with their branches and tags.
pub(super) fn place(elements: Vec<Element>) -> Result<Vec<Bundle>, MidgardError> {
    let wrong = InvalidInstruction::Conflict("constructs that are not nested");
    let flows = elements.iter().map(|element| match element {
        Element::Bundle(_) => None,
        Element::Flow(flow) => *flow,
    });
    let steps = branches(flows).map_err(|_| wrong)?;
    let mut sources: Vec<Option<Bundle>> = elements
        .into_iter()
        .map(|element| match element {
            Element::Bundle(bundle) => Some(bundle),
            Element::Flow(_) => None,
        })
        .collect();
    let mut is_target = vec![false; steps.len() + 1];
    for step in &steps {
        if let Step::Unless(_, target) | Step::Always(_, target) = *step
            && let Some(is_target) = is_target.get_mut(target)
        {
            *is_target = true;
        }
    }

    let mut bundles: Vec<Bundle> = Vec::new();
    let mut jumps: Vec<Option<Placed>> = Vec::new();
    // The bundle of each step, or the one after it.
    let mut starts = Vec::with_capacity(steps.len() + 1);
    let mut index = 0;
    while let Some(&step) = steps.get(index) {
        starts.push(bundles.len());
        let (jump, target) = match step {
            Step::Instruction(number) => {
                if let Some(bundle) = sources.get_mut(number).and_then(Option::take) {
                    bundles.push(bundle);
                    jumps.push(None);
                }
                index += 1;
                continue;
            }
            Step::End(_) => (Jump::Always, steps.len()),
            Step::Always(_, target) => (Jump::Always, target),
            Step::Unless(_, target) => match steps.get(index + 1) {
                // A branch around a jump is a jump on the opposite condition.
                Some(&Step::Always(_, other)) if target == index + 2 && !is_target[index + 1] => {
                    starts.push(bundles.len() + 1);
                    index += 1;
                    (Jump::IfTrue, other)
                }
                _ => (Jump::IfFalse, target),
            },
        };
        index += 1;
        // The condition is in the bundle before the branch. Jumps have a bundle alone if others lead to them.
        let first = starts[starts.len() - 1];
        let is_alone = jump == Jump::Always && is_target[index - 1] || first == 0;
        let previous = bundles.last().filter(|bundle| !is_alone && !has_branch(bundle));
        let is_free = previous.is_some() && jumps.last().is_some_and(Option::is_none);
        if !is_free {
            bundles.push(empty());
            jumps.push(None);
        }
        if let (Some(bundle), Some(placed)) = (bundles.last_mut(), jumps.last_mut()) {
            set_branch(bundle, jump);
            *placed = Some(Placed { jump, target, is_far: false });
        }
    }
    starts.push(bundles.len());
    if bundles.is_empty() {
        bundles.push(empty());
        jumps.push(None);
    }
    for placed in jumps.iter_mut().flatten() {
        placed.target = starts.get(placed.target).copied().unwrap_or(bundles.len());
    }
    let end = bundles.len();
    repeat_write_outs(&mut bundles, &mut jumps);
    link(&mut bundles, &mut jumps, end);
    Ok(bundles)
}

/// Adds a bundle for each write-out that repeats it until it succeeds: the bundle of the write-out itself may overwrite
/// its operands. Write-outs before the last one continue after it.
fn repeat_write_outs(bundles: &mut Vec<Bundle>, jumps: &mut Vec<Option<Placed>>) {
    let end = bundles.len();
    for number in 0..end {
        let Some(repeated) = repeated_write_out(&bundles[number]) else { continue };
        let target = bundles.len();
        let placed = Placed { jump: Jump::WriteOut, target, is_far: false };
        jumps[number] = Some(placed);
        bundles.push(repeated);
        jumps.push(Some(placed));
        if number + 1 != end {
            let mut back = empty();
            set_branch(&mut back, Jump::Always);
            bundles.push(back);
            jumps.push(Some(Placed { jump: Jump::Always, target: number + 1, is_far: false }));
        }
    }
}

/// States offsets and tags of a program that ends before bundle `main_end` or at the end of a repeated write-out.
/// Branches that are too far become extended, which can make others too far.
fn link(bundles: &mut [Bundle], jumps: &mut [Option<Placed>], main_end: usize) {
    loop {
        let mut starts = Vec::with_capacity(bundles.len() + 1);
        let mut end = 0i32;
        for bundle in bundles.iter() {
            starts.push(end);
            end += bundle.quadwords() as i32;
        }
        starts.push(end);
        let mut grows = false;
        for (number, placed) in jumps.iter_mut().enumerate() {
            let Some(placed) = placed else { continue };
            let offset = starts[placed.target] - starts[number + 1];
            if !placed.is_far && !(-64..=63).contains(&offset) {
                placed.is_far = true;
                grows = true;
            }
            let is_end = placed.target == main_end && placed.jump != Jump::WriteOut;
            let target = bundles.get(placed.target).filter(|_| !is_end);
            let tag = target.map_or(Tag::Break, Bundle::tag);
            if let Body::Alu(alu) = &mut bundles[number].body {
                alu.branch = Some(placed.jump.branch(placed.is_far, tag, offset));
            }
        }
        if !grows {
            break;
        }
    }
    let tags: Vec<Tag> = bundles.iter().map(Bundle::tag).collect();
    for (number, bundle) in bundles.iter_mut().enumerate() {
        // The program ends with its last bundle, and with the repetition of its last write-out.
        let next = tags.get(number + 1).filter(|_| number + 1 != main_end);
        bundle.next = next.copied().unwrap_or(Tag::Break);
    }
}
