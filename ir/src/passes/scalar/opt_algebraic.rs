//! Applies algebraic rules.
//!
//! ```text
//! before:                                  after:
//!     %2 = fneg %0                             %4 = fadd %1, %0
//!     %3 = fsub %1, %2
//! ```
//!
//! The rules are in `rules/*.rules`; [`crate::algebra`] describes how they are written and matched. [`opt_algebraic`]
//! simplifies code and brings it to its normal form; it may run any number of times. [`opt_algebraic_late`] turns the
//! normal form into opcodes of the target, once at the end. [`opt_algebraic_distribute_src_mods`] then pushes negation
//! and absolute value into the operands, for targets with such modifiers. [`opt_algebraic_lower`] is for passes that
//! run after all of these and emit instructions that the target may lack: it applies those rules of the first two that
//! require a `lower_` switch.
//!
//! The pass walks over the body once and then processes a worklist: an instruction is revisited only when one of its
//! operands has been replaced or has lost all uses except one. Unused results of a replacement are removed at once, so
//! that rules that require a single use apply. The number of replacements is bounded, so a shader grows by a bounded
//! amount even if rules undo each other.

use std::collections::VecDeque;

use crate::algebra::{Class, LATE, MAIN, MODIFIERS, Matcher, replace};
use crate::analysis::float_range::FloatRanges;
use crate::body::{Body, InstData};
use crate::entities::{Def, Inst};
use crate::options::CompilerOptions;
use crate::passes::pass_manager::LOG_TARGET;
use crate::shader::Shader;

/// The pass stops after this number of replacements for each instruction of a body (and some more). The rest is left
/// for the next call; the log reports it.
const MAX_REPLACEMENTS_PER_INST: usize = 16;

/// Simplifies code and brings it to the form that the other passes expect; see the [module](self).
pub fn opt_algebraic(shader: &mut Shader, options: &CompilerOptions) -> bool {
    apply(shader, Matcher::new(&MAIN, options, shader))
}

/// Turns the normal form into opcodes of the target; see the [module](self).
pub fn opt_algebraic_late(shader: &mut Shader, options: &CompilerOptions) -> bool {
    apply(shader, Matcher::new(&LATE, options, shader))
}

/// Pushes negation and absolute value into operands; see the [module](self).
pub fn opt_algebraic_distribute_src_mods(shader: &mut Shader, options: &CompilerOptions) -> bool {
    apply(shader, Matcher::new(&MODIFIERS, options, shader))
}

/// Lowers opcodes that the target lacks, and changes nothing else; see the [module](self).
pub fn opt_algebraic_lower(shader: &mut Shader, options: &CompilerOptions) -> bool {
    // Keeps comparisons created by the late rules.
    let options = CompilerOptions { lower_scmp: options.lower_scmp && !options.fuse_scmp, ..options.clone() };
    let main = Matcher::new(&MAIN, &options, shader).only_lowering();
    let late = Matcher::new(&LATE, &options, shader).only_lowering();
    apply(shader, main) | apply(shader, late)
}

/// Applies the rules of a matcher.
fn apply(shader: &mut Shader, mut matcher: Matcher) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= WorkList::new(body).run(body, &mut matcher);
    }
    progress
}

/// Instructions to visit, each once.
struct WorkList {
    /// The next instruction of a walk over the whole body, which precedes the queue.
    walk: Option<Inst>,
    queue: VecDeque<Inst>,
    /// Whether an instruction is ahead of the walk or in the queue.
    is_waiting: Vec<bool>,
    /// Scratch.
    pending: Vec<Inst>,
}

impl WorkList {
    /// Starts with all instructions of a body.
    fn new(body: &Body) -> WorkList {
        let walk = body.blocks().find_map(|block| body.first_inst(block));
        WorkList { walk, queue: VecDeque::new(), is_waiting: vec![true; body.num_insts()], pending: Vec::new() }
    }

    /// Returns the next instruction.
    fn next(&mut self, body: &Body) -> Option<Inst> {
        let Some(inst) = self.walk else {
            let inst = self.queue.pop_front()?;
            self.is_waiting[inst.as_u32() as usize] = false;
            return Some(inst);
        };
        // A replacement neither removes nor adds instructions after the current one.
        self.walk = body.next_inst(inst).or_else(|| {
            let mut block = body.inst_block(inst);
            std::iter::from_fn(|| {
                block = body.next_block(block?);
                block
            })
            .find_map(|block| body.first_inst(block))
        });
        self.is_waiting[inst.as_u32() as usize] = false;
        Some(inst)
    }

    fn push(&mut self, body: &Body, inst: Inst) {
        if !matches!(body.inst(inst), InstData::Alu { .. }) {
            return;
        }
        let index = inst.as_u32() as usize;
        if index >= self.is_waiting.len() {
            self.is_waiting.resize(body.num_insts().next_power_of_two(), false);
        }
        if !std::mem::replace(&mut self.is_waiting[index], true) {
            self.queue.push_back(inst);
        }
    }

    fn push_users(&mut self, body: &Body, inst: Inst) {
        let alu = matches!(body.inst(inst), InstData::Alu { .. });
        let Some(def) = body.inst_def(inst).filter(|_| alu) else { return };
        for source in body.uses_of(def) {
            if let Some(user) = body.user(source).inst() {
                self.push(body, user);
            }
        }
    }

    /// Processes all instructions. Returns whether anything changed.
    fn run(&mut self, body: &mut Body, matcher: &mut Matcher) -> bool {
        let mut ranges = FloatRanges::new();
        let mut left = MAX_REPLACEMENTS_PER_INST * (self.is_waiting.len() + 16);
        let mut progress = false;
        let mut users: Vec<Inst> = Vec::new();
        while let Some(inst) = self.next(body) {
            // It may have been removed since.
            if body.inst_block(inst).is_none() {
                continue;
            }
            let Some(m) = matcher.find(body, &mut ranges, inst) else { continue };
            if left == 0 {
                log::warn!(target: LOG_TARGET, "the rules of {} reach no fixpoint", matcher.set().file);
                return progress;
            }
            left -= 1;
            let before = body.prev_inst(inst);
            users.clear();
            if let Some(def) = body.inst_def(inst) {
                users.extend(body.uses_of(def).filter_map(|source| body.user(source).inst()));
            }
            if replace(body, matcher, &m, inst).is_none() {
                continue;
            }
            progress = true;
            let rule = &matcher.set().rules[usize::from(m.rule)];
            log::trace!(target: LOG_TARGET, "{inst}: {}:{}", matcher.set().file, rule.line);
            if rule.class >= Class::Inexact {
                ranges.forget();
            }
            let mut new = match before {
                Some(before) => body.next_inst(before),
                None => body.inst_block(inst).and_then(|block| body.first_inst(block)),
            };
            while let Some(inst_new) = new.filter(|&n| n != inst) {
                self.push(body, inst_new);
                new = body.next_inst(inst_new);
            }
            // Rules match a few instructions deep: users, and users of users.
            for &user in &users {
                self.push(body, user);
                self.push_users(body, user);
            }
            self.remove_unused(body, inst);
        }
        progress
    }

    /// Removes an unused instruction, and operands that only it used. Revisits the last user of an operand.
    fn remove_unused(&mut self, body: &mut Body, inst: Inst) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.push(inst);
        while let Some(inst) = pending.pop() {
            let removable = matches!(body.inst(inst), InstData::Alu { .. } | InstData::LoadConst { .. });
            let Some(def) = body.inst_def(inst) else { continue };
            if !removable || body.inst_block(inst).is_none() || !body.is_unused(def) {
                continue;
            }
            let operands: arrayvec::ArrayVec<Def, 16> =
                body.sources(inst).take(16).map(|source| body.src_def(source)).collect();
            body.remove_inst(inst);
            for operand in operands {
                if let Some(last) = body.single_use(operand) {
                    if let Some(user) = body.user(last).inst() {
                        self.push(body, user);
                        // The root of a rule that requires a single use may be a user of it.
                        self.push_users(body, user);
                    }
                } else if body.is_unused(operand) {
                    pending.push(body.def_inst(operand));
                }
            }
        }
        self.pending = pending;
    }
}
