//! Applies algebraic rules.
//!
//! ```text
//! before:                                  after:
//!     %2 = fneg %0                             %4 = fadd %1, %0
//!     %3 = fsub %1, %2
//! ```
//!
//! The rules stand in `rules/*.rules`; [`crate::algebra`] says how they are written and matched. [`opt_algebraic`]
//! brings code to its normal form and simplifies it, as often as one likes; [`opt_algebraic_late`] turns that into what
//! targets have, once at the end; [`opt_algebraic_distribute_src_mods`] pushes negation and absolute value into the
//! operands for targets whose operands take them, after that. [`opt_algebraic_lower`] is for passes after all of them,
//! which make instructions that the target may lack: it applies rules of the first two that ask for a `lower_` switch.
//!
//! One walk over the body, or where little has changed none, and a work list: an instruction is looked at again only
//! when one of its operands was replaced or has lost all uses but one, by this pass or, since it last ran, by others.
//! What a replacement leaves without uses is removed at once, so that rules that ask for a single use see the truth. A
//! shader grows by a bounded number of replacements even if rules should undo each other.

use std::collections::VecDeque;

use crate::algebra::{Class, LATE, MAIN, MODIFIERS, Matcher, replace};
use crate::analysis::float_range::FloatRanges;
use crate::body::{Body, InstData};
use crate::entities::{Def, Inst};
use crate::options::CompilerOptions;
use crate::passes::pass_manager::LOG_TARGET;
use crate::shader::Shader;

/// Replacements for each instruction of a body (and some more) after which the pass stops. What is left then stays for
/// the next call; it is in the log.
const MAX_REPLACEMENTS_PER_INST: usize = 16;

/// Simplifies, and brings code to the form that the other passes expect; see the [module](self).
pub fn opt_algebraic(shader: &mut Shader, options: &CompilerOptions) -> bool {
    apply(shader, Matcher::new(&MAIN, options, shader), MAIN.file)
}

/// Turns the normal form into what targets have; see the [module](self).
pub fn opt_algebraic_late(shader: &mut Shader, options: &CompilerOptions) -> bool {
    apply(shader, Matcher::new(&LATE, options, shader), LATE.file)
}

/// Pushes negation and absolute value into operands; see the [module](self).
pub fn opt_algebraic_distribute_src_mods(shader: &mut Shader, options: &CompilerOptions) -> bool {
    apply(shader, Matcher::new(&MODIFIERS, options, shader), MODIFIERS.file)
}

/// Lowers what the target lacks, and changes nothing else; see the [module](self).
pub fn opt_algebraic_lower(shader: &mut Shader, options: &CompilerOptions) -> bool {
    // What the late rules make of comparisons stays.
    let options = CompilerOptions { lower_scmp: options.lower_scmp && !options.fuse_scmp, ..options.clone() };
    let main = Matcher::new(&MAIN, &options, shader).only_lowering();
    let late = Matcher::new(&LATE, &options, shader).only_lowering();
    apply(shader, main, "lowering by main rules") | apply(shader, late, "lowering by late rules")
}

/// Applies rules. Instructions that did not change since the last time under this name are not looked at.
fn apply(shader: &mut Shader, mut matcher: Matcher, name: &'static str) -> bool {
    let pass = (name, matcher.switches);
    let mut progress = false;
    for body in shader.bodies_mut() {
        let mut work = match body.take_changed(pass) {
            Some(touched) => Work::after(body, &touched),
            None => Work::new(body),
        };
        let (changed, settled) = work.run(body, &mut matcher);
        progress |= changed;
        if settled {
            body.set_mark(pass);
        }
    }
    progress
}

/// Instructions to be looked at, each once.
struct Work {
    /// The next one of a walk over the whole body, which comes before the queue.
    walk: Option<Inst>,
    queue: VecDeque<Inst>,
    /// Whether an instruction is ahead of the walk or in the queue.
    is_waiting: Vec<bool>,
    /// Scratch.
    pending: Vec<Inst>,
}

impl Work {
    /// All of a body.
    fn new(body: &Body) -> Work {
        let walk = body.blocks().find_map(|block| body.first_inst(block));
        Work { walk, queue: VecDeque::new(), is_waiting: vec![true; body.num_insts()], pending: Vec::new() }
    }

    /// The neighbourhood of what was touched.
    fn after(body: &Body, touched: &[Inst]) -> Work {
        let is_waiting = if touched.is_empty() { Vec::new() } else { vec![false; body.num_insts()] };
        let mut work = Work { walk: None, queue: VecDeque::new(), is_waiting, pending: Vec::new() };
        for &inst in touched {
            work.push_around(body, inst);
        }
        work
    }

    /// Takes the next one.
    fn next(&mut self, body: &Body) -> Option<Inst> {
        let Some(inst) = self.walk else {
            let inst = self.queue.pop_front()?;
            self.is_waiting[inst.as_u32() as usize] = false;
            return Some(inst);
        };
        // Rules remove and make nothing after the instruction at hand.
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

    /// Queues what may match now that an instruction changed: rules look a few instructions deep, and some at the
    /// users.
    fn push_around(&mut self, body: &Body, inst: Inst) {
        // It may be gone by now.
        if body.inst_block(inst).is_none() {
            return;
        }
        self.push(body, inst);
        for source in body.sources(inst) {
            self.push(body, body.src_inst(source));
        }
        let Some(def) = body.inst_def(inst) else { return };
        for source in body.uses_of(def) {
            if let Some(user) = body.user(source).inst() {
                self.push(body, user);
                self.push_users(body, user);
            }
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

    /// Whether anything changed, and whether nothing is left to be done.
    fn run(&mut self, body: &mut Body, matcher: &mut Matcher) -> (bool, bool) {
        let mut ranges = FloatRanges::new();
        let mut left = MAX_REPLACEMENTS_PER_INST * (self.is_waiting.len() + 16);
        let mut progress = false;
        let mut users: Vec<Inst> = Vec::new();
        while let Some(inst) = self.next(body) {
            // It may be gone by now.
            if body.inst_block(inst).is_none() {
                continue;
            }
            let Some(m) = matcher.find(body, &mut ranges, inst) else { continue };
            if left == 0 {
                log::warn!(target: LOG_TARGET, "rules of {} find something again and again", matcher.set().file);
                return (progress, false);
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
            // Rules look a few instructions deep: users, and users of users.
            for &user in &users {
                self.push(body, user);
                self.push_users(body, user);
            }
            self.remove_unused(body, inst);
        }
        (progress, true)
    }

    /// Removes an instruction that nobody uses, and what only it used. The last user of an operand is looked at again.
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
                        // The rule that asks for a single use may start further down.
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
