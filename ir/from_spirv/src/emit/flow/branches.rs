//! Conditional branches and loops.

use tgsi_ir::entities::{Def, If};

use super::{Emitter, Loop, Next, Pending, add};
use crate::error::Finding;
use crate::module::Merge;

/// The blocks that the sides of a branch reach before they leave the construct.
#[derive(Clone, Copy, Default, Debug)]
struct Reach {
    /// By side: whether it reaches the merge block.
    merge: [bool; 2],
    /// The first block that both reach.
    shared: Option<u32>,
}

impl Emitter<'_, '_, '_> {
    /// Searches the blocks that a side reaches without passing `merge` or the end of an open construct. Calls `visit`
    /// with each edge's target. Returns whether it reaches `merge`.
    pub(super) fn search(
        &mut self,
        start: u32,
        merge: Option<u32>,
        side: u8,
        mut visit: impl FnMut(&mut Self, u32, u8),
    ) -> bool {
        let mut reaches = false;
        let mut pending = vec![start];
        let graph = self.flow.graph.clone();
        while let Some(block) = pending.pop() {
            if Some(block) == merge {
                reaches = true;
                continue;
            }
            if self.flow.is_open.get(block as usize).is_some_and(|&open| open > 0) {
                continue;
            }
            let search = self.flow.search;
            let Some(mark) = self.flow.marks.get_mut(block as usize) else { continue };
            if mark.0 != search {
                *mark = (search, 0);
            }
            if mark.1 & side != 0 {
                continue;
            }
            mark.1 |= side;
            let sides = mark.1;
            visit(self, block, sides);
            pending.extend_from_slice(graph.successors(block));
        }
        reaches
    }

    fn reach(&mut self, targets: [u32; 2], merge: Option<u32>) -> Reach {
        self.flow.search += 1;
        let mut shared: Option<u32> = None;
        let graph = self.flow.graph.clone();
        let mut visit = |_: &mut Self, block: u32, sides: u8| {
            if sides == 3 && shared.is_none_or(|known| graph.order(block) < graph.order(known)) {
                shared = Some(block);
            }
        };
        let first = self.search(targets[0], merge, 1, &mut visit);
        let second = self.search(targets[1], merge, 2, &mut visit);
        Reach { merge: [first, second], shared }
    }

    /// Opens the list of a side of an `if`.
    fn enter(&mut self, id: If, side: usize) {
        use tgsi_ir::cursor::Cursor;
        let list = if side == 0 { self.b.body.then_list(id) } else { self.b.body.else_list(id) };
        self.b.cursor = Cursor::BlockEnd(list.last);
        self.is_unreachable = false;
    }

    /// Emits a conditional branch.
    pub(super) fn conditional(
        &mut self,
        from: u32,
        condition: Def,
        targets: [u32; 2],
        merge: Option<u32>,
        stop: Option<u32>,
    ) -> Result<(Next, Pending), Finding> {
        if targets[0] == targets[1] {
            return self.go(from, targets[0], stop);
        }
        // A merge block that ends an outer construct is not a join of this one.
        let merge = merge.filter(|&merge| self.flow.is_open.get(merge as usize) == Some(&0));
        let reach = self.reach(targets, merge);
        match (reach.shared, merge) {
            // The sides meet before the merge block.
            (Some(shared), Some(merge)) => {
                let mut pending = Pending::new();
                self.open_join(merge);
                let first = self.two_sides(from, condition, targets, shared)?;
                if !first.is_empty() {
                    let guard = self.guard(&first);
                    first.iter().for_each(|&join| add(&mut pending, join));
                    self.sequence(shared, Some(merge), false)?.into_iter().for_each(|join| add(&mut pending, join));
                    self.b.end_if(guard);
                    self.flow.lists -= 1;
                } else {
                    pending = self.sequence(shared, Some(merge), false)?;
                }
                let is_reached = !self.is_unreachable || !pending.is_empty();
                self.close_join(&mut pending);
                self.is_unreachable = false;
                let next =
                    if is_reached && self.flow.graph.is_reachable(merge) { Next::Block(merge) } else { Next::End };
                Ok((next, pending))
            }
            (Some(shared), None) => {
                let pending = self.two_sides(from, condition, targets, shared)?;
                Ok((Next::Block(shared), pending))
            }
            (None, Some(merge)) if reach.merge == [true, true] => {
                let pending = self.two_sides(from, condition, targets, merge)?;
                Ok((Next::Block(merge), pending))
            }
            (None, Some(merge)) if reach.merge[0] || reach.merge[1] => {
                let side = usize::from(reach.merge[1]);
                self.one_side(from, condition, targets, (side, merge), stop)
            }
            _ => self.no_side(from, condition, targets, stop),
        }
    }

    /// Both sides reach a join, which follows.
    fn two_sides(&mut self, from: u32, condition: Def, targets: [u32; 2], join: u32) -> Result<Pending, Finding> {
        self.open_join(join);
        let id = self.b.push_if(condition);
        self.flow.lists += 1;
        let mut pending = self.side(from, targets[0], Some(join))?;
        self.enter(id, 1);
        self.side(from, targets[1], Some(join))?.into_iter().for_each(|join| add(&mut pending, join));
        self.b.end_if(id);
        self.flow.lists -= 1;
        self.close_join(&mut pending);
        self.is_unreachable = false;
        Ok(pending)
    }

    /// Only one side reaches the merge block.
    fn one_side(
        &mut self,
        from: u32,
        condition: Def,
        targets: [u32; 2],
        (side, merge): (usize, u32),
        stop: Option<u32>,
    ) -> Result<(Next, Pending), Finding> {
        let id = self.b.push_if(condition);
        self.flow.lists += 1;
        self.enter(id, 1 - side);
        let mut pending = self.side(from, targets[1 - side], stop)?;
        if self.is_unreachable && pending.is_empty() {
            // Whatever follows is reached from the other side alone.
            self.b.end_if(id);
            self.flow.lists -= 1;
            self.is_unreachable = false;
            self.open_join(merge);
            let mut pending = self.side(from, targets[side], Some(merge))?;
            self.close_join(&mut pending);
            self.is_unreachable = false;
            return Ok((Next::Block(merge), pending));
        }
        let is_discard = self.continues_after(targets[1 - side]);
        self.enter(id, side);
        self.open_join(merge);
        let mut before = self.side(from, targets[side], Some(merge))?;
        self.close_join(&mut before);
        self.is_unreachable = false;
        if is_discard {
            self.b.end_if(id);
            self.flow.lists -= 1;
            return Ok((Next::Block(merge), before));
        }
        let guard = if before.is_empty() { None } else { Some(self.guard(&before)) };
        let behind = self.sequence(merge, stop, false)?;
        if let Some(guard) = guard {
            self.b.end_if(guard);
            self.flow.lists -= 1;
        }
        before.into_iter().chain(behind).for_each(|join| add(&mut pending, join));
        self.b.end_if(id);
        self.flow.lists -= 1;
        self.is_unreachable = false;
        Ok((Next::End, pending))
    }

    /// Both sides leave the construct. A side that leaves by a jump comes first, so that the other one need not be
    /// nested.
    fn no_side(
        &mut self,
        from: u32,
        condition: Def,
        targets: [u32; 2],
        stop: Option<u32>,
    ) -> Result<(Next, Pending), Finding> {
        let is_short = |target: u32| {
            let is_jump = self.flow.loops.last().is_some_and(|innermost| {
                innermost.merge == Some(target) || innermost.target == Some(target) && innermost.is_target_empty
            });
            is_jump && stop != Some(target) || self.flow.graph.successors(target).is_empty()
        };
        let first = if !is_short(targets[0]) && is_short(targets[1]) { 1 } else { 0 };
        let id = self.b.push_if(condition);
        self.flow.lists += 1;
        self.enter(id, first);
        let mut pending = self.side(from, targets[first], stop)?;
        if self.is_unreachable && pending.is_empty() {
            self.b.end_if(id);
            self.flow.lists -= 1;
            self.is_unreachable = false;
            return self.go(from, targets[1 - first], stop);
        }
        let first_ends = self.is_unreachable;
        self.enter(id, 1 - first);
        self.side(from, targets[1 - first], stop)?.into_iter().for_each(|join| add(&mut pending, join));
        let ends = first_ends && self.is_unreachable;
        self.b.end_if(id);
        self.flow.lists -= 1;
        self.is_unreachable = ends;
        Ok((Next::End, pending))
    }

    /// Emits a loop.
    pub(super) fn loop_construct(
        &mut self,
        header: u32,
        merge: Option<u32>,
        target: Option<u32>,
    ) -> Result<(Next, Pending), Finding> {
        let id = self.b.push_loop();
        self.flow.lists += 1;
        let target = target.filter(|&target| self.flow.graph.is_reachable(target));
        let is_target_empty = target.is_some_and(|target| target != header && self.is_empty(target, header));
        let joins = self.flow.joins.len();
        self.flow.loops.push(Loop { header, merge, target, is_target_empty, has_break: false, joins });
        merge.into_iter().for_each(|merge| self.open(merge));
        self.open(header);
        let stop = target.unwrap_or(header);
        if stop == header {
            self.sequence(header, Some(header), true)?;
        } else {
            self.open_join(stop);
            let mut pending = self.sequence(header, Some(stop), true)?;
            self.close_join(&mut pending);
            if self.is_unreachable {
                // No iteration reaches the continue construct.
            } else if is_target_empty {
                self.store_phis(stop, header);
            } else {
                self.sequence(stop, Some(header), false)?;
            }
        }
        self.close(header);
        merge.into_iter().for_each(|merge| self.close(merge));
        let has_break = self.flow.loops.pop().is_some_and(|innermost| innermost.has_break);
        self.b.end_loop(id);
        self.flow.lists -= 1;
        self.is_unreachable = !has_break;
        let next = match merge {
            Some(merge) if has_break => Next::Block(merge),
            _ => Next::End,
        };
        Ok((next, Pending::new()))
    }

    /// Whether a block only branches to another one.
    fn is_empty(&self, block: u32, to: u32) -> bool {
        let Some(block) = self.flow.blocks.get(block as usize) else { return false };
        block.first == block.last
            && block.merge == Merge::None
            && self
                .context
                .module
                .terminator(block)
                .is_some_and(|inst| inst.op == spirv::Op::Branch as u16 && self.block_of(inst.word(0)) == Some(to))
    }
}
